# For `cimport stator` of other projects; include directories: stator.get_include().
from stator._array cimport Array
from stator._backend cimport Backend, Event, Stream
from stator._dtype cimport DType
