# stator/execution/transfers.hpp
from libc.stdint cimport int64_t

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.error cimport translate_exception


cdef extern from "stator/execution/transfers.hpp" namespace "stator" nogil:
    cdef cppclass ByteRange:
        ByteRange()
        const Array* array
        int64_t offset, size
        void* host

    cdef cppclass RangeSpan "std::span<const stator::ByteRange>":
        RangeSpan(const ByteRange*, size_t)

    void write_ranges(RangeSpan, const Stream&) except +translate_exception
    void read_ranges(RangeSpan, const Stream&) except +translate_exception
