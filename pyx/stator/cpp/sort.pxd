# stator/sort.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Int64Span
from stator.cpp.std cimport optional, vector


cdef extern from "<span>" nogil:
    cdef cppclass DoubleSpan "std::span<const double>":
        DoubleSpan(const double*, size_t)


cdef extern from "stator/sort.hpp" namespace "stator" nogil:
    cdef cppclass SortOptions:
        int64_t axis
        cbool descending

    cdef cppclass Ranked:
        Array values, indices

    cdef cppclass Modes:
        Array values, counts

    ctypedef enum QuantileMethod:
        linear "stator::QuantileMethod::linear"

    cdef cppclass QuantileOptions:
        optional[vector[int64_t]] axes
        cbool keepdims
        QuantileMethod method

    Array sort(const Array&, const SortOptions&, const Stream&) except +translate_exception
    Array argsort(const Array&, const SortOptions&, const Stream&) except +translate_exception
    Ranked topk(const Array&, int64_t, int64_t, cbool, const Stream&) except +translate_exception
    Ranked kthvalue(const Array&, int64_t, int64_t, cbool, const Stream&) except +translate_exception
    Array partition(const Array&, Int64Span, int64_t, const Stream&) except +translate_exception
    Array quantile(const Array&, DoubleSpan, cbool, const QuantileOptions&, const Stream&) except +translate_exception
    Array median(const Array&, const QuantileOptions&, const Stream&) except +translate_exception
    Modes mode(const Array&, int64_t, cbool, const Stream&) except +translate_exception
