# stator/memory/memory_record.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.backend cimport Backend
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string, vector


cdef extern from "stator/memory/memory_record.hpp" namespace "stator" nogil:
    cdef cppclass MemoryEvent:
        double seconds
        int64_t bytes
        string op

    cdef cppclass MemoryHistory:
        cbool recording
        uint64_t dropped
        vector[MemoryEvent] events

    void record_memory(const Backend&, size_t) except +translate_exception
    MemoryHistory memory_history(const Backend&) except +translate_exception
