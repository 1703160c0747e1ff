from stator._array cimport Array
from stator._backend cimport Backend

cdef object make_capsule(Array x, bint versioned, bint copied)
cdef Array take_capsule(object capsule, Backend backend)
# DLPack's (type, index) of a capsule's memory.
cdef tuple capsule_device(object capsule)
