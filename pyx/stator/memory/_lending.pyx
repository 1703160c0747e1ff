# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Memory of a backend's pool for other libraries. Used by python/stator/memory/_allocators.py."""
from libc.stdint cimport int64_t, uintptr_t

from stator._backend cimport Backend
from stator._convert cimport to_int
from stator.cpp cimport allocator as cpp

from stator.errors import InvalidValueError


cdef int64_t to_stream(object value, str op) except? -1:
    cdef int64_t number
    if hasattr(value, "__cuda_stream__"):
        value = value.__cuda_stream__()[1]
    number = to_int(value, op, "stream")
    if number < 0:
        raise InvalidValueError(f"stream={number}", op=op, remedy="Give a cudaStream_t as an integer, or 0.")
    return number


def lend(backend: Backend, nbytes: int, stream: object) -> int:
    """What PoolAllocator.allocate does."""
    cdef int64_t count = to_int(nbytes, "memory.PoolAllocator.allocate", "nbytes")
    cdef int64_t on = to_stream(stream, "memory.PoolAllocator.allocate")
    cdef Backend owner = <Backend?>backend
    cdef uintptr_t out
    if count < 0:
        raise InvalidValueError(f"nbytes={count}", op="memory.PoolAllocator.allocate", remedy="Give at least 0.")
    with nogil:
        out = <uintptr_t>cpp.lend_memory(owner.c, <size_t>count, <void*><uintptr_t>on)
    return out


def take_back(address: int, stream: object) -> None:
    """What PoolAllocator.deallocate does."""
    cdef int64_t at = to_int(address, "memory.PoolAllocator.deallocate", "address")
    cdef int64_t on = to_stream(stream, "memory.PoolAllocator.deallocate")
    with nogil:
        cpp.return_memory(<void*><uintptr_t>at, <void*><uintptr_t>on)


def serve(backend: Backend) -> None:
    """Makes stator_allocate() use the backend for its device."""
    cdef Backend owner = <Backend?>backend
    with nogil:
        cpp.serve_allocations(owner.c)
