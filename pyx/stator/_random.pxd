from libc.stdint cimport uint64_t

from stator._array cimport Array
from stator._backend cimport Backend
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.random cimport State


cdef class Generator:
    cdef readonly Backend backend
    cdef State own   # of a generator other than the backend's
    cdef object lock
    # InvalidValueError for a generator whose __init__ did not run.
    cdef State* state(self) except NULL
    cdef State* real_state(self) noexcept


# The draws of one generator in a capture. They are made with a seed and a counter that stand for those of the launches.
cdef class CapturedDraws:
    cdef Generator generator
    cdef State first, state


# The draws of the generator in the capture that the stream belongs to, or None.
cdef CapturedDraws draws_in(Generator generator, const CppStream& on)
cdef uint64_t to_uint64(object value, str op, str name) except? 0
cdef State to_state(object value, str op, str name) except *
cdef object from_state(State state, Backend backend)
