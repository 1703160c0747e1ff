# stator/backend.hpp
from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool as cbool

from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport pair, string, string_view, vector


cdef extern from "stator/backend.hpp" namespace "stator" nogil:
    ctypedef enum DeviceType:
        cpu "stator::DeviceType::cpu"
        cuda "stator::DeviceType::cuda"

    cdef cppclass Device:
        DeviceType type
        int index
        string str() except +translate_exception

    Device parse_device "stator::Device::parse"(string_view) except +translate_exception
    cbool is_available(DeviceType, string*) except +translate_exception
    int device_count(DeviceType) except +translate_exception
    cbool is_emulated(DeviceType) except +translate_exception

    cdef cppclass DeviceInfo:
        string name
        int compute_major, compute_minor
        size_t total_memory
        int driver_version, runtime_version, multiprocessors

    ctypedef enum PoolPolicy:
        caching "stator::PoolPolicy::caching"
        none "stator::PoolPolicy::none"
        driver "stator::PoolPolicy::driver"
        arena "stator::PoolPolicy::arena"

    cdef cppclass BackendOptions:
        cbool allow_tf32, deterministic, eager_indices, profiling
        PoolPolicy pool_policy
        size_t memory_limit, memory_pool_size, pinned_memory_limit, blas_workspace_size, jit_cache_size
        string jit_cache_path
        int stream_pool_size, checks, require_libraries

    int stream_limit "stator::Backend::stream_limit"
    void set_jit_cache(const string&, size_t) except +translate_exception

    cdef cppclass Resource:
        string kind, origin
        size_t bytes
        double age
        cbool exported

    cdef cppclass MemoryStats:
        size_t live_bytes, cached_bytes, peak_bytes, limit, exported_bytes
        uint64_t allocations, reuses, deallocations, failures, allocated_bytes
        size_t pinned_live_bytes, pinned_cached_bytes, pinned_limit
        int64_t largest_cached_bytes

    cdef cppclass Statistics:
        uint64_t kernel_launches, library_calls, h2d_bytes, d2h_bytes, d2d_bytes
        vector[pair[string, uint64_t]] calls

    cdef cppclass Context:
        pass

    cdef cppclass ContextRef "stator::Ref<stator::Context>":
        Context* get()

    cdef cppclass PriorityRange:
        int least, greatest

    cdef cppclass Event:
        Event()
        cbool done() except +translate_exception
        void synchronize() except +translate_exception
        float milliseconds_since(const Event&) except +translate_exception

    cdef cppclass Stream:
        Stream()
        Event record() except +translate_exception
        void wait(const Event&) except +translate_exception
        void synchronize() except +translate_exception
        cbool done() except +translate_exception
        int priority()
        int index()
        cbool external()
        void close() except +translate_exception
        void* native() except +translate_exception

    cdef cppclass Backend:
        Backend()
        void close() except +translate_exception
        cbool closed()
        Device device() except +translate_exception
        DeviceInfo info() except +translate_exception
        const BackendOptions& options() except +translate_exception
        string kernels() except +translate_exception
        int stream_count() except +translate_exception
        Stream stream(int) except +translate_exception
        Stream stream(int, int) except +translate_exception
        PriorityRange priority_range() except +translate_exception
        vector[Stream] streams(int, int) except +translate_exception
        void synchronize() except +translate_exception
        vector[Resource] resources() except +translate_exception
        MemoryStats memory() except +translate_exception
        void set_memory_limit(size_t) except +translate_exception
        Statistics statistics() except +translate_exception
        void forbid_host_copies(cbool) except +translate_exception
        void empty_cache() except +translate_exception
        cbool poll_division_by_zero() except +translate_exception
        const ContextRef& context()

    Backend open_backend "stator::Backend::open"(string_view, const BackendOptions&) except +translate_exception
    void shutdown() noexcept
