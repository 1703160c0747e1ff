# stator/interop.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Backend, BackendOptions, Event, Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport string_view


cdef extern from "stator/creation.hpp" namespace "stator" nogil:
    cdef cppclass ForeignMemory:
        void* data
        DType dtype
        Dims shape, strides
        cbool host_shared, read_only


cdef extern from "stator/interop.hpp" namespace "stator::interop" nogil:
    void* export_memory(const Array&) except +translate_exception
    void unexport(Array&) noexcept
    void unexport(Array&, void*) noexcept
    void* legacy_stream()
    void require_reachable(const Backend&, const void*, const char*) except +translate_exception
    cbool read_only(const Array&) except +translate_exception
    Stream last_stream(const Array&) except +translate_exception
    void order(const Backend&, void*, void*, const char*) except +translate_exception
    void order_after_uses(const Array&, void*, const char*) except +translate_exception
    Array pinned(const Backend&, size_t) except +translate_exception
    Array register_host(const Backend&, void*, size_t, void*, void (*)(void*) noexcept) except +translate_exception
    void unregister_host(const Array&) noexcept
    Array from_owner(const Backend&, const ForeignMemory&, void*, void (*)(void*) noexcept) except +translate_exception
    cdef struct AllocatorCalls:
        void* (*allocate)(void*, size_t, void*) noexcept
        void (*deallocate)(void*, void*, size_t, void*) noexcept
        void (*release)(void*) noexcept

    Backend open_with "stator::interop::open"(string_view, const BackendOptions&, void*,
                                              const AllocatorCalls&) except +translate_exception
    Stream external_stream(const Backend&, void*, void*, void (*)(void*) noexcept) except +translate_exception
    void add_callback(const Stream&, void*, void (*)(void*) noexcept,
                      void (*)(void*) noexcept) except +translate_exception
    void set_memory_hook(const Backend&, void*, cbool (*)(void*, size_t, int) noexcept,
                         void (*)(void*) noexcept) except +translate_exception
    void release_later(Array&) noexcept
    void release_later(Backend&) noexcept
    void release_later(Stream&) noexcept
    void release_later(Event&) noexcept
    void drain_releases() noexcept
    cbool owners_waiting() noexcept
    void release_owners() except +translate_exception
    void set_binding(void*) noexcept
