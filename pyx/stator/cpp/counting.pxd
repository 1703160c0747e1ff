# stator/counting.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional, pair

ctypedef pair[double, double] Range


cdef extern from "stator/counting.hpp" namespace "stator" nogil:
    cdef cppclass HistogramOptions:
        optional[Range] range
        const Array* edges
        const Array* weights
        cbool density

    cdef cppclass Histogram:
        Array counts, edges

    cdef cppclass BincountOptions:
        const Array* weights
        int64_t minlength
        optional[int64_t] size

    Array histc(const Array&, int64_t, double, double, const Stream&) except +translate_exception
    Histogram histogram(const Array&, int64_t, const HistogramOptions&, const Stream&) except +translate_exception
    Array bincount(const Array&, const BincountOptions&, const Stream&) except +translate_exception
