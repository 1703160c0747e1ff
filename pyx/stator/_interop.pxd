from stator._array cimport Array
from stator._backend cimport Backend

cdef Array copied(Array x)
cdef Array from_cuda_array_interface(object source, Backend backend)
