# stator/memory/managed.hpp
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector


cdef extern from "stator/memory/managed.hpp" namespace "stator" nogil:
    ctypedef enum ManagedKind:
        pass

    ctypedef enum Advice:
        pass

    cdef cppclass AdviceState:
        cbool read_mostly
        int preferred
        vector[int] accessed_by

    cdef cppclass Migrations:
        uint64_t to_device, to_device_bytes, to_host, to_host_bytes
        int last

    int host_place "stator::location::host"
    int no_place "stator::location::none"

    ManagedKind managed_kind(const Backend&) except +translate_exception
    Array managed(const Backend&, const Dims&, DType) except +translate_exception
    void* lend_to_host(const Array&) except +translate_exception
    void prefetch(const Array&, int, const Stream&) except +translate_exception
    void advise(const Array&, Advice, int) except +translate_exception
    optional[AdviceState] advice_state(const Array&) except +translate_exception
    Migrations migrations(const Array&) except +translate_exception
