# The figures of a pool as Python has them. Included by _backend.pyx.

cdef dict figures_as_dict(const cpp.MemoryStats* s):
    cdef size_t cached = s.cached_bytes - s.pinned_cached_bytes
    cdef object largest = None, fragmentation = None
    if s.largest_cached_bytes >= 0:
        largest = s.largest_cached_bytes
        fragmentation = 1 - largest / cached if cached else 0.0
    return {
        "live_bytes": s.live_bytes,
        "cached_bytes": s.cached_bytes,
        "peak_bytes": s.peak_bytes,
        "limit": s.limit,
        "exported_bytes": s.exported_bytes,
        "allocations": s.allocations,
        "reuses": s.reuses,
        "deallocations": s.deallocations,
        "failures": s.failures,
        "allocated_bytes": s.allocated_bytes,
        "pinned_live_bytes": s.pinned_live_bytes,
        "pinned_cached_bytes": s.pinned_cached_bytes,
        "pinned_limit": s.pinned_limit,
        "largest_cached_bytes": largest,
        "fragmentation": fragmentation,
    }


def memory_stats(backend: Backend) -> dict[str, Any]:
    """The figures of the backend's pool, as Backend.memory.stats() gives them."""
    cdef Backend owner = as_backend(backend, "Backend.memory.stats")
    cdef cpp.MemoryStats s
    settle()
    with nogil:
        s = owner.c.memory()
    return figures_as_dict(&s)


def empty_cache(backend: Backend) -> None:
    """Frees the cached memory of the backend."""
    cdef Backend owner = as_backend(backend, "Backend.memory.empty_cache")
    with nogil:
        owner.c.empty_cache()
    settle()
