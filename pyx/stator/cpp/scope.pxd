# stator/scopes/scope.hpp
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Event
from stator.cpp.error cimport translate_exception


cdef extern from "stator/scopes/scope.hpp" namespace "stator" nogil:
    uint32_t new_scope() noexcept
    uint32_t enter_scope(uint32_t) noexcept
    cbool end_scope(const Backend&, uint32_t, double, size_t*) except +translate_exception
    void change_scope(const Array&, uint32_t, uint32_t) except +translate_exception
    void change_scope(const Event&, uint32_t, uint32_t) except +translate_exception
