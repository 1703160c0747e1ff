# stator/random.hpp
from libc.stdint cimport uint64_t

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims


cdef extern from "stator/random.hpp" namespace "stator::random" nogil:
    cdef cppclass State:
        uint64_t seed, offset

    Array uniform(const Backend&, State&, const Dims&, double, double, DType, const Stream&) except +translate_exception
    Array normal(const Backend&, State&, const Dims&, double, double, DType, const Stream&) except +translate_exception
