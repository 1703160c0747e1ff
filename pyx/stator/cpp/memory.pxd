# stator/memory/memory.hpp
from libc.stdint cimport uint32_t

from stator.cpp.backend cimport Backend
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport string


cdef extern from "stator/memory/memory.hpp" namespace "stator" nogil:
    int most_hook_rounds
    size_t trim_memory(const Backend&, size_t) except +translate_exception
    size_t trim_pinned_memory(const Backend&, size_t) except +translate_exception
    void reset_peak_memory(const Backend&) except +translate_exception
    void open_budget(const Backend&, uint32_t, uint32_t, string, size_t) except +translate_exception
    void close_budget(const Backend&, uint32_t) noexcept
