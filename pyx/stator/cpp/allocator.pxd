# stator/memory/allocator.hpp
from stator.cpp.backend cimport Backend
from stator.cpp.error cimport translate_exception


cdef extern from "stator/memory/allocator.hpp" namespace "stator" nogil:
    void* lend_memory(const Backend&, size_t, void*) except +translate_exception
    void return_memory(void*, void*) except +translate_exception
    void serve_allocations(const Backend&) except +translate_exception
