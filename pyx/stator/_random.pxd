from stator._array cimport Array
from stator._backend cimport Backend
from stator.cpp.random cimport State


cdef class Generator:
    cdef readonly Backend backend
    cdef State own   # of a generator other than the backend's
    cdef object lock
    cdef State* state(self) noexcept
