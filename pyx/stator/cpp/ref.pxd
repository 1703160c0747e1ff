# stator/ref.hpp
from libc.stdint cimport int64_t

from stator.cpp.error cimport translate_exception


cdef extern from "stator/ref.hpp" namespace "stator" nogil:
    cdef cppclass Dims:
        Dims()
        Dims(int, int64_t) except +translate_exception
        Dims(const Dims&)
        int size()
        const int64_t* data()
        int64_t& operator[](int) except +translate_exception  # may copy values that are shared

cdef extern from "<span>" nogil:
    cdef cppclass Int64Span "std::span<const int64_t>":
        Int64Span()
        Int64Span(const int64_t*, size_t)
