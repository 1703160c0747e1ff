# stator/transfers/transfers.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Event, Stream
from stator.cpp.error cimport translate_exception


cdef extern from "stator/transfers/transfers.hpp" namespace "stator" nogil:
    cdef cppclass ByteRange:
        ByteRange()
        const Array* array
        int64_t offset, size
        void* host

    cdef cppclass RangeSpan "std::span<const stator::ByteRange>":
        RangeSpan(const ByteRange*, size_t)

    ctypedef enum HostMemory:
        copied "stator::HostMemory::copied"
        staged "stator::HostMemory::staged"
        lent "stator::HostMemory::lent"

    void write_ranges(RangeSpan, const Stream&, HostMemory) except +translate_exception
    void read_ranges(RangeSpan, const Stream&) except +translate_exception
    void check_ranges(RangeSpan, cbool) except +translate_exception

    cdef cppclass PendingReads:
        PendingReads()
        void finish() except +translate_exception
        const Event& event() except +translate_exception

    PendingReads begin_reads "stator::PendingReads::begin"(RangeSpan, const Stream&,
                                                           HostMemory) except +translate_exception
