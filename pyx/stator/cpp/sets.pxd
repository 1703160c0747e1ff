# stator/sets.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Scalar
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional, pair

ctypedef pair[double, double] Range


cdef extern from "stator/sets.hpp" namespace "stator" nogil:
    ctypedef enum UniqueOp "stator::Op":
        op_unique_all "stator::Op::unique_all"
        op_unique_counts "stator::Op::unique_counts"
        op_unique_inverse "stator::Op::unique_inverse"
        op_unique_values "stator::Op::unique_values"
        op_unique_consecutive "stator::Op::unique_consecutive"

    cdef cppclass SearchOptions:
        cbool right
        const Array* sorter

    cdef cppclass UniqueOptions:
        optional[int64_t] size
        Scalar fill

    cdef cppclass Unique:
        Array values, indices, inverse, counts

    Array searchsorted(const Array&, const Array&, const SearchOptions&, const Stream&) except +translate_exception
    Array isin(const Array&, const Array&, cbool, const Stream&) except +translate_exception
    Unique unique(UniqueOp, const Array&, const UniqueOptions&, const Stream&) except +translate_exception


cdef extern from "stator/sets.hpp" namespace "stator" nogil:
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
