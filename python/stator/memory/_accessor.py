"""Backend.memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stator import _backend
from stator._accessor import Accessor
from stator.errors import DTypeError, StatorError, renamed, require_open
from stator.memory import _managed, _memory
from stator.memory._arguments import byte_count
from stator.memory._callbacks import callbacks_of

if TYPE_CHECKING:
    from stator._array import Array
    from stator._device import Device
    from stator._typing import DTypeLike, StreamLike
    from stator.memory import BufferArena, BufferDescriptor, UnifiedAllocation
    from stator.memory._timeline import MemorySnapshot
    from stator.scopes import ScopedResource


class MemoryAccessor(Accessor):
    """The memory of a backend, as Backend.memory: pool, managed memory, buffers, arenas, a record of allocations."""

    __slots__ = ()

    def stats(self) -> dict[str, Any]:
        """The pool's figures by name. Does not wait.

        live_bytes, cached_bytes, peak_bytes: bytes in use, bytes that were freed and that the pool keeps, and the most
        that was in use at once. exported_bytes: shared with other libraries. limit: memory_limit; 0 if none is set.
        allocations, deallocations: counts since the backend was opened; reuses: allocations that the cache served;
        failures: allocations that raised; allocated_bytes: of the others, rounded up to the pool's blocks.
        pinned_live_bytes, pinned_cached_bytes, pinned_limit: of page-locked memory, which the others include.
        largest_cached_bytes: the largest block of cached device memory; fragmentation: the part of that memory in other
        blocks, 0.0 to 1.0. Both are None if CUDA's driver keeps the cache (pool_policy="driver").

        >>> x = be.zeros(1000)
        >>> be.memory.stats()["live_bytes"] >= x.nbytes
        True
        """
        return _backend.memory_stats(self._backend)

    def empty_cache(self) -> None:
        """Frees all cached memory, so that other processes can allocate it. As trim(0)."""
        _backend.empty_cache(self._backend)

    def set_failure_callback(self, callback: Callable[[int], object] | None, /) -> Callable[[int], object] | None:
        """Sets the function that an allocation calls when no memory is left; None removes it. Returns the previous one.

        callback(nbytes) frees memory, such as arrays of a cache, and returns whether to try the allocation of nbytes
        bytes again, at most 16 times. If it returns False, the spill callback is called; without one, or if that frees
        no memory, the allocation raises OutOfMemoryError.

        It runs on the thread that allocates, without a lock, after cached memory was freed and pending work was waited
        for. It may call stator: an allocation that fails in it raises and calls no callback, arrays that it makes
        belong to no scope, close() of the backend raises UnsupportedError, and on cuda using a stream that is being
        captured raises CaptureError. An exception in it goes to sys.unraisablehook and counts as False. RMM's
        counterpart is failure_callback_resource_adaptor.
        Raises: DTypeError for a callback that is not callable; BackendClosedError.

        >>> with stator.Backend("cpu", memory_limit="1 MiB") as other:
        ...     cache = [other.zeros(2**17)]
        ...     before = other.memory.set_failure_callback(lambda nbytes: bool(cache) and not cache.clear())
        ...     other.zeros(2**17).nbytes, len(cache)
        (1048576, 0)
        """
        return self._set_memory_callback("failure", callback, "Backend.memory.set_failure_callback")

    def set_spill_callback(self, callback: Callable[[int], object] | None, /) -> Callable[[int], object] | None:
        """Sets what moves memory to the host when none is left; None for nothing. Returns the previous one.

        callback(nbytes) moves what it can spare, at best nbytes bytes, copies arrays with to_numpy(), drops them, and
        returns how many bytes that freed; while that is more than 0 the allocation is tried again, at most 32 times. It
        is asked after the failure callback, and the same holds for it.

        >>> def spill(nbytes):
        ...     name, array = device.popitem()
        ...     host[name] = array.to_numpy()
        ...     return array.nbytes
        >>> host = {}
        >>> with stator.Backend("cpu", memory_limit="1 MiB") as other:
        ...     device = {"a": other.ones(2**17)}
        ...     before = other.memory.set_spill_callback(spill)
        ...     other.zeros(2**17).nbytes, host["a"].sum().item()
        (1048576, 131072.0)
        """
        return self._set_memory_callback("spill", callback, "Backend.memory.set_spill_callback")

    def trim(self, keep: int = 0) -> int:
        """Frees cached memory until at most `keep` bytes are cached; returns how many were freed.

        Whole blocks are freed, the largest first, page-locked and managed memory last. The reservation of
        pool_policy="arena" and memory_pool_size bytes of the driver's pool stay. Device memory is freed in the order of
        the streams, without waiting; page-locked and managed memory after the work that still uses it, which is waited
        for. Raises: DTypeError and InvalidValueError for a keep that is not a number of bytes.

        >>> with stator.Backend("cpu") as other:
        ...     x, y = other.empty(2**17), other.empty(2**18)
        ...     del x, y
        ...     other.memory.trim(2**20), other.memory.stats()["cached_bytes"]
        (2097152, 1048576)
        """
        return self._trim(keep, False, "Backend.memory.trim")

    def trim_pinned(self, keep: int = 0) -> int:
        """As trim(), but only of page-locked memory. Waits for copies that still use what is freed.

        >>> with stator.Backend("cpu") as other:
        ...     x = other.asarray([1.0, 2.0], pinned=True)
        ...     other.synchronize()
        ...     other.memory.trim_pinned(), other.memory.stats()["pinned_cached_bytes"]
        (512, 0)
        """
        return self._trim(keep, True, "Backend.memory.trim_pinned")

    def reset_peak(self) -> None:
        """Sets peak_bytes of stats() to the bytes that are live now. Does not wait.

        >>> with stator.Backend("cpu") as other:
        ...     other.zeros(2**17).tolist()[:1]
        ...     other.memory.reset_peak()
        ...     other.memory.stats()["peak_bytes"]
        [0.0]
        0
        """
        _memory.reset_peak_memory(self._backend)

    def managed(self, shape: int | Sequence[int], dtype: DTypeLike | None = None) -> Array:
        """An uninitialised array in managed memory, which stator.memory.host_view() shows to NumPy without a copy.

        dtype: None is float64. On cuda pages migrate to the processor that uses them; on devices without concurrent
        access from the host (Windows, WSL) it is page-locked host memory, which the device reads over the bus. On the
        cpu it is ordinary memory. It counts toward the memory limit, and as "managed" in resources(). Does not
        synchronise. Raises: OutOfMemoryError.

        >>> x = be.memory.managed((2, 3), "float32")
        >>> stator.memory.host_view(x)[...] = 2
        >>> stator.sum(x).item()
        12.0
        """
        return _managed.managed(self._backend, shape, dtype)

    def supports_unified(self) -> bool:
        """Whether host and device can use managed memory at the same time; if False, it is page-locked host memory.

        >>> stator.Backend("cpu").memory.supports_unified()
        True
        """
        try:
            return _managed.kind(self._backend) != "pinned"
        except StatorError as error:
            raise renamed(error, "Backend.memory.supports_unified") from None

    def allocate_unified(self, size: int) -> UnifiedAllocation:
        """`size` bytes of managed memory, as of managed(), in a holder that frees it at its end.

        size: at least 1. Does not synchronise. Raises: InvalidValueError; OutOfMemoryError.

        >>> allocation = be.memory.allocate_unified(1024)
        >>> allocation.host_view("float32").shape
        (256,)
        >>> be.memory.deallocate_unified(allocation)
        """
        from stator.memory._unified import allocate

        return allocate(self._backend, size)

    def deallocate_unified(self, allocation: UnifiedAllocation) -> None:
        """Frees an allocation of allocate_unified(), after the work that uses it.

        NumPy views of it keep the memory alive. Raises: ResourceClosedError if it was freed already.
        """
        from stator.memory._unified import deallocate

        deallocate(self._backend, allocation)

    def prefetch_to_device(
        self,
        memory: Array | UnifiedAllocation,
        device: int | str | Device | None = None,
        *,
        stream: StreamLike | None = None,
    ) -> None:
        """Moves the pages of managed memory to a device, in the order of a stream. Asynchronous.

        memory: a contiguous array of managed() or a UnifiedAllocation. device: an index, a name or a Device; None is
        the backend's own. stream: None is the current one. Nothing moves on the cpu, nor if supports_unified() is
        False. Raises: InvalidValueError for other memory and for a device that does not exist; CaptureError while the
        stream is being captured.

        >>> x = be.memory.managed(1000)
        >>> be.memory.prefetch_to_device(x)
        """
        _managed.prefetch_to_device(self._backend, memory, device, stream)

    def prefetch_to_host(self, memory: Array | UnifiedAllocation, *, stream: StreamLike | None = None) -> None:
        """Moves the pages of managed memory to the host, in the order of a stream. See prefetch_to_device()."""
        _managed.prefetch_to_host(self._backend, memory, stream)

    def advise(self, memory: Array | UnifiedAllocation, advice: str, device: int | str | Device | None = None) -> None:
        """Tells the driver how managed memory will be used; results do not depend on it. Does not synchronise.

        memory: as for prefetch_to_device(). advice: "read_mostly", "preferred_location" or "accessed_by" as of
        cudaMemAdvise; the prefix "unset_" undoes it. device: the location, or the processor that accesses the memory,
        as an index, a name or a Device, "cpu" for the host; None is the backend's own; "read_mostly" ignores it. The
        advice has no effect on the cpu, nor if supports_unified() is False.

        >>> x = be.memory.managed(1000)
        >>> be.memory.advise(x, "read_mostly")
        """
        from stator.memory._unified import advise

        advise(self._backend, memory, advice, device)

    def create_buffer(self, descriptor: BufferDescriptor) -> Array:
        """An uninitialised vector of the size and dtype of a stator.memory.BufferDescriptor. Asynchronous.

        >>> be.memory.create_buffer(stator.memory.BufferDescriptor(64, dtype="float32")).shape
        (16,)
        """
        from stator.memory._buffers import create_buffer

        return create_buffer(self._backend, descriptor)

    def create_scoped_buffer(self, descriptor: BufferDescriptor) -> ScopedResource[Array]:
        """As create_buffer(), in a holder that frees the memory at its end, even if the array is still referenced.

        >>> with be.memory.create_scoped_buffer(stator.memory.BufferDescriptor(64)) as buffer:
        ...     buffer.nbytes
        64
        """
        from stator.memory._buffers import create_scoped_buffer

        return create_scoped_buffer(self._backend, descriptor)

    def copy_buffer(
        self,
        src: Array,
        src_offset: int,
        dst: Array,
        dst_offset: int,
        size: int,
        *,
        stream: StreamLike | None = None,
    ) -> None:
        """Copies `size` bytes between two arrays of the backend, from one offset in bytes to another. Asynchronous.

        src, dst: contiguous arrays of any shapes and dtypes. They may be the same array and the ranges may overlap, as
        for memmove. stream: None is the current one.
        Raises: InvalidValueError for a range outside its array, for arrays that are not contiguous, and for a read-only
        dst; BackendMismatchError for arrays of another backend.

        >>> x, y = be.arange(4, dtype="int32"), be.zeros(4, dtype="int32")
        >>> be.memory.copy_buffer(x, 4, y, 0, 8)
        >>> y.tolist()
        [1, 2, 0, 0]
        """
        from stator.memory._buffers import copy_buffer

        copy_buffer(self._backend, src, src_offset, dst, dst_offset, size, stream)

    def create_sub_buffer(self, parent: Array, offset: int, descriptor: BufferDescriptor) -> Array:
        """A vector in the memory of another array, beginning at an offset in bytes. It keeps that memory alive.

        parent: a contiguous array of the backend. Raises: InvalidValueError for a range outside it, and for an offset
        at which elements of the descriptor's dtype are not aligned.

        >>> whole = be.zeros(8, dtype="uint8")
        >>> part = be.memory.create_sub_buffer(whole, 4, stator.memory.BufferDescriptor(4, dtype="int16"))
        >>> part[...] = 1
        >>> whole.tolist()
        [0, 0, 0, 0, 1, 0, 1, 0]
        """
        from stator.memory._arena import create_sub_buffer

        return create_sub_buffer(self._backend, parent, offset, descriptor)

    def create_arena(self, size: int, *, alignment: int = 256) -> BufferArena:
        """One buffer of `size` bytes, from which BufferArena.take() cuts named arrays. Asynchronous.

        alignment: of the parts' offsets, in bytes, a power of two up to 2**20; the buffer itself is aligned to 256
        bytes on cuda, and to 64 on the cpu. Raises: InvalidValueError; OutOfMemoryError.

        >>> arena = be.memory.create_arena(1024)
        >>> arena.take("a", (4, 4), dtype="float32").shape, arena.free
        ((4, 4), 960)
        """
        from stator.memory._arena import BufferArena

        return BufferArena(self._backend, size, alignment)

    def record(self, enabled: bool = True, *, max_events: int = 1_000_000) -> None:
        """Begins or ends a record of the backend's allocations, for snapshot() and timeline().

        Beginning one drops the previous record; memory that is live by then is not in it. Events beyond max_events are
        only counted, as dropped. Does not synchronise. While no record is made, it costs an allocation one branch.

        >>> be.memory.record()
        >>> x = be.zeros(1000)
        >>> be.memory.record(False)
        >>> [(event.bytes, event.op) for event in be.memory.snapshot().events]
        [(8000, 'zeros')]
        """
        from stator.memory._timeline import record_memory

        record_memory(self._backend, enabled, max_events)

    def snapshot(self) -> MemorySnapshot:
        """The record that record() made: time, bytes and op of each allocation and release. Does not synchronise."""
        from stator.memory._timeline import memory_snapshot

        return memory_snapshot(self._backend)

    def timeline(self, path: str | os.PathLike[str]) -> None:
        """Writes the record of record() as an HTML page: live bytes over time by op, and the largest owners.

        The page is one file and loads nothing from the network. Raises: OSError if the file cannot be written.

        >>> be.memory.record()
        >>> x = be.ones(1000) + 1
        >>> be.memory.timeline("memory.html")  # doctest: +SKIP
        """
        from stator.memory._timeline import memory_timeline

        memory_timeline(self._backend, path)

    def _trim(self, keep: object, pinned: bool, op: str) -> int:
        return _memory.trim_memory(self._backend, byte_count(keep, "keep", op), pinned)

    def _set_memory_callback(
        self, name: str, callback: Callable[[int], object] | None, op: str
    ) -> Callable[[int], object] | None:
        if callback is not None and not callable(callback):
            raise DTypeError(
                f"Got callback of type {type(callback).__name__}", op=op, remedy="Give a function or None."
            )
        backend = self._backend
        require_open(backend, op)
        callbacks = callbacks_of(backend)
        before: Callable[[int], object] | None = getattr(callbacks, name)
        setattr(callbacks, name, callback)
        return before
