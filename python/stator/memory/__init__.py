"""Memory: buffers, allocators, managed memory, and page-locked memory. Most parts are loaded on first use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from stator._creation import PinnedMemory
from stator._dtype import dtype as to_dtype
from stator._namespace import on_first_use
from stator.errors import DTypeError, ShapeError, renamed
from stator.memory._allocators import (
    AllocatorLibrary,
    PoolAllocator,
    allocator_library,
    get_allocator,
    set_allocator,
)

if TYPE_CHECKING:
    from stator._array import Array
    from stator._backend import Backend
    from stator._device import Device
    from stator._typing import DTypeLike
    from stator.memory._allocators import DeviceAllocator, TorchAllocator
    from stator.memory._arena import BufferArena
    from stator.memory._buffers import BufferDescriptor
    from stator.memory._registration import RegisteredMemory
    from stator.memory._unified import AccessHints, MigrationStatistics, UnifiedAllocation


def pinned_empty(
    shape: int | Sequence[int], dtype: DTypeLike = "float64", *, device: Backend | Device | str | None = None
) -> np.ndarray[Any, Any]:
    """An uninitialised NumPy array in page-locked memory: copies between it and the device overlap with other work.

    device: the backend whose device the memory is for, or its device; None is the current backend. On the cpu the
    memory is ordinary. Does not synchronise.
    Raises: DTypeError and ShapeError for other shapes; OutOfMemoryError beyond pinned_memory_limit, and if the system
    lets no more memory be page-locked.

    >>> stator.memory.pinned_empty((2, 3), "float32").shape
    (2, 3)
    """
    try:
        if isinstance(shape, (str, bytes, dict)):
            raise TypeError
        extents = tuple(map(index, shape)) if isinstance(shape, Iterable) else (index(shape),)
    except TypeError:
        raise DTypeError(
            f"Got shape={shape!r:.80} of type {type(shape).__name__}",
            op="memory.pinned_empty",
            remedy="Give an integer or a sequence of integers.",
        ) from None
    try:
        kind = to_dtype(dtype).numpy()
    except DTypeError as error:
        raise renamed(error, "memory.pinned_empty") from None
    size = math.prod(extents) * kind.itemsize
    if any(n < 0 for n in extents) or len(extents) > 32 or size >= 2**63:
        raise ShapeError(
            f"shape={extents}",
            op="memory.pinned_empty",
            remedy="Give at most 32 lengths of at least 0, and less than 2**63 bytes.",
        )
    held = PinnedMemory(max(1, size), device)
    made: np.ndarray[Any, Any] = np.frombuffer(memoryview(held), np.uint8, size)
    return made.view(kind).reshape(extents)


def host_view(x: Array, /) -> np.ndarray[Any, Any]:
    """A NumPy array that shares the memory of an array in managed memory. Waits for the work that uses x.

    x: an array of Backend.memory.managed(), or a view of one; InvalidValueError for others. The NumPy array keeps the
    memory alive, also after the backend is closed. On cuda, work that is enqueued afterwards is not waited for: call
    host_view() again, or synchronise, before NumPy uses the memory again. On the cpu, ops of x wait by themselves.

    >>> x = be.memory.managed(3)
    >>> seen = stator.memory.host_view(x)
    >>> seen[:] = [1, 2, 3]
    >>> (x * 2).tolist()
    [2.0, 4.0, 6.0]
    """
    from stator.memory._managed import HostView

    view = HostView(x)
    made: np.ndarray[Any, Any] = np.asarray(view)
    return made.view(x.dtype.numpy())


def register_host(array: np.ndarray[Any, Any], /, *, device: Backend | Device | str | None = None) -> RegisteredMemory:
    """Page-locks the memory of a NumPy array, so that copies between it and the device overlap with work.

    array: contiguous and writable. It stays page-locked, and referenced, until close(), the end of the `with` block (as
    whose target it is returned), the end of the scope, or the close of the backend, whichever comes first; each waits
    for the backend's streams. On the cpu copies do not become faster; the memory is still counted, as kind "pinned".
    Raises: InvalidValueError if a part of the memory is registered already, and for arrays that are read-only, not
    contiguous or empty; OutOfMemoryError if the system lets no more memory be page-locked.

    >>> x = numpy.zeros(1000)
    >>> with stator.memory.register_host(x) as registered:
    ...     be.zeros(1000).copy_to(registered)
    """
    from stator._backend import resolve_backend
    from stator.memory._registration import register

    return register(resolve_backend(device, "memory.register_host"), array)


__all__ = [
    "AccessHints",
    "AllocatorLibrary",
    "BufferArena",
    "BufferDescriptor",
    "DeviceAllocator",
    "MigrationStatistics",
    "PoolAllocator",
    "TorchAllocator",
    "UnifiedAllocation",
    "allocator_library",
    "get_allocator",
    "host_view",
    "pinned_empty",
    "register_host",
    "set_allocator",
]

__getattr__ = on_first_use(
    __name__,
    {
        "AccessHints": "_unified",
        "BufferArena": "_arena",
        "BufferDescriptor": "_buffers",
        "DeviceAllocator": "_allocators",
        "MigrationStatistics": "_unified",
        "TorchAllocator": "_allocators",
        "UnifiedAllocation": "_unified",
    },
)


def __dir__() -> list[str]:
    return [*__all__]
