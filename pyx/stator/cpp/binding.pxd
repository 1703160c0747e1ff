# stator/binding.hpp
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, Stream
from stator.cpp.error cimport translate_exception


cdef extern from "stator/binding.hpp" namespace "stator::interop" nogil:
    void bind(const Backend&) except +translate_exception
    void end_binding() noexcept
    cbool binding_ended() noexcept
    void set_interrupt_check(cbool (*)() noexcept, unsigned long) noexcept
    void wait_before_close(const Backend&) except +translate_exception
    cbool take_fault() noexcept
    void run_deleters() except +translate_exception
    void note_order(const Array&, const Stream&) except +translate_exception
    cbool let_go(Array&) noexcept
