from stator._array cimport Array
from stator._backend cimport Backend
from stator.cpp.random cimport State


cdef class Generator:
    cdef readonly Backend backend
    cdef State own   # when it is not the backend's
    cdef object lock
    cdef State* state(self) noexcept
