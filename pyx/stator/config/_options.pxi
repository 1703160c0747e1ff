# The options of a backend: from values of Python, and back. What python/stator/config has checked arrives here.

cdef tuple POLICY_NAMES = ("caching", "none", "driver", "arena")
cdef cpp.PoolPolicy[4] POLICIES = [cpp.caching, cpp.none, cpp.driver, cpp.arena]


cdef size_t to_size(object value, str name) except? 0:
    # Of an option that is 0 in C++ where it is not given.
    cdef int64_t number
    if value is None:
        return 0
    number = to_int(value, "Backend", name)
    if number <= 0:
        raise InvalidValueError(f"{name}={value}", op="Backend", remedy="Give a positive number of bytes.")
    return <size_t>number


cdef int read_flags(cpp.BackendOptions* options, object allow_tf32, object deterministic, object check_indices,
                    object pool_policy, object profiling, object require_libraries) except -1:
    options.allow_tf32 = to_flag(allow_tf32, "Backend", "allow_tf32")
    options.deterministic = to_flag(deterministic, "Backend", "deterministic")
    options.eager_indices = to_choice(check_indices, ("lazy", "eager"), "Backend", "check_indices") == 1
    options.pool_policy = POLICIES[to_choice(pool_policy, POLICY_NAMES, "Backend", "pool_policy")]
    options.profiling = to_flag(profiling, "Backend", "profiling")
    options.checks = -1
    options.require_libraries = -1
    if require_libraries is not None:
        options.require_libraries = to_flag(require_libraries, "Backend", "require_libraries")
    return 0


cdef int read_sizes(cpp.BackendOptions* options, object memory_limit, object memory_pool_size,
                    object pinned_memory_limit, object stream_pool_size, object blas_workspace_size) except -1:
    options.memory_limit = to_size(memory_limit, "memory_limit")
    options.memory_pool_size = to_size(memory_pool_size, "memory_pool_size")
    options.pinned_memory_limit = to_size(pinned_memory_limit, "pinned_memory_limit")
    options.stream_pool_size = <int>min(max(to_int(stream_pool_size, "Backend", "stream_pool_size"), 0), 2**31 - 1)
    options.blas_workspace_size = to_size(blas_workspace_size, "blas_workspace_size")
    return 0


cdef int read_jit_cache(cpp.BackendOptions* options, object path, object size) except -1:
    cdef bytes folder = to_text(path or "", "Backend", "jit_cache_path")
    options.jit_cache_path = string(<const char*>folder, len(folder))
    options.jit_cache_size = to_size(size, "jit_cache_size")
    return 0


cdef dict options_as_dict(const cpp.BackendOptions* options):
    return {
        "allow_tf32": options.allow_tf32,
        "deterministic": options.deterministic,
        "check_indices": "eager" if options.eager_indices else "lazy",
        "memory_limit": options.memory_limit or None,
        "memory_pool_size": options.memory_pool_size or None,
        "pinned_memory_limit": options.pinned_memory_limit or None,
        "pool_policy": POLICY_NAMES[<int>options.pool_policy],
        "stream_pool_size": options.stream_pool_size,
        "profiling": options.profiling,
        "blas_workspace_size": options.blas_workspace_size or None,
        "jit_cache_path": decoded(options.jit_cache_path) or None,
        "jit_cache_size": options.jit_cache_size or None,
        "require_libraries": options.require_libraries == 1,
    }
