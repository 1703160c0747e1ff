from stator._array cimport Array
from stator._backend cimport Backend

cdef object make_capsule(Array x, bint versioned, bint copied)
# Shares the memory, or copies it where the kernels could not read it and copy is not False.
cdef Array take_capsule(object capsule, Backend backend, object copy)
# DLPack's (type, index) of a capsule's memory.
cdef tuple capsule_device(object capsule)
