# core/testing.hpp, which is not installed
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.backend cimport Backend, DeviceType
from stator.cpp.error cimport translate_exception


cdef extern from "core/testing.hpp" namespace "stator::testing" nogil:
    cdef cppclass Injection:
        int64_t fail_at
        cbool until_lifted, allocations
        int64_t drop_wait_at

    cdef cppclass Counts "std::array<int64_t, 6>":
        int64_t& operator[](int)

    void inject(const Backend&, const Injection&) except +translate_exception
    int64_t lift(const Backend&) except +translate_exception
    void fault_next_launch(const Backend&) except +translate_exception
    int64_t hold_warnings(cbool)
    void leak_buffer(const Backend&, size_t) except +translate_exception
    Counts outstanding(DeviceType) except +translate_exception
    void set_block_seed(const Backend&, uint64_t) except +translate_exception
