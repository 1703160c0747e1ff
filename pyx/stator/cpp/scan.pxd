# stator/scan.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/scan.hpp" namespace "stator" nogil:
    cdef cppclass ScanOptions:
        optional[int64_t] axis
        optional[DType] dtype
        cbool include_initial, reverse
        const Array* out

    Array cumulative_sum(const Array&, const ScanOptions&, const Stream&) except +translate_exception
    Array cumulative_prod(const Array&, const ScanOptions&, const Stream&) except +translate_exception
    Array logcumsumexp(const Array&, const ScanOptions&, const Stream&) except +translate_exception

    cdef cppclass Extremes:
        Array values, indices

    Extremes cumulative_max(const Array&, optional[int64_t], cbool, const Stream&) except +translate_exception
    Extremes cumulative_min(const Array&, optional[int64_t], cbool, const Stream&) except +translate_exception

    cdef cppclass DiffOptions:
        int64_t axis, n
        const Array* prepend
        const Array* append

    Array diff(const Array&, const DiffOptions&, const Stream&) except +translate_exception
