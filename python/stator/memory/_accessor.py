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
    """The memory of a backend, as Backend.memory: its pool, managed memory, buffers, arenas, and a record of all."""

    __slots__ = ()

    def stats(self) -> dict[str, Any]:
        """Bytes that are live, cached, exported and at peak; the limit (0: none); counts since the backend was opened.

        allocations: what was asked of the pool; reuses: of them those that its cache served; failures: those that
        raised; allocated_bytes: of the others, rounded up to the pool's blocks; deallocations: what was freed.
        pinned_live_bytes, pinned_cached_bytes, pinned_limit: of page-locked memory, which the others include.
        largest_cached_bytes: the largest block of cached device memory; fragmentation: how much of that memory lies in
        other blocks, 0.0 to 1.0. Both are None where CUDA's driver keeps it (pool_policy="driver"). Does not wait.
        """
        return _backend.memory_stats(self._backend)

    def empty_cache(self) -> None:
        """Gives cached memory back to the device."""
        _backend.empty_cache(self._backend)

    def set_failure_callback(self, callback: Callable[[int], object] | None, /) -> Callable[[int], object] | None:
        """Sets what allocations call when no memory is left; None for nothing. Returns the previous one.

        callback(nbytes) frees something, such as arrays of a cache, and returns True to have the allocation of nbytes
        bytes tried again, at most 16 times; or False, and then the spill callback is asked, and else
        OutOfMemoryError raised. It is called when cached memory was freed and work waited for, on the thread that
        allocates, without a lock. It may call stator; allocations that fail in it raise and call no callback, what it
        makes belongs to no scope, and close() of the backend raises UnsupportedError in it. What it raises goes to
        sys.unraisablehook, and counts as False. On cuda, what it does with a stream that is being captured raises
        CaptureError. It is RMM's failure_callback_resource_adaptor. DTypeError for what cannot be called.

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

        Whole blocks are freed, the largest first, page-locked memory last. What pool_policy="arena" reserved, and
        memory_pool_size bytes of the driver's pool, stay. Does not wait: on cuda the device has the memory when the
        streams have come so far. DTypeError and InvalidValueError for what is not a number of bytes.

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
        """Makes peak_bytes of stats() start from what is live now. Does not wait.

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

        dtype: None is float64. On cuda its pages go to where they are used; where the device does not let the host use
        such memory at the same time (Windows, WSL), it is page-locked memory of the host, which the device reaches over
        the bus; on the cpu it is memory like any other. Counts toward the memory limit, and as "managed" among
        resources(). OutOfMemoryError. Does not synchronise.

        >>> x = be.memory.managed((2, 3), "float32")
        >>> stator.memory.host_view(x)[...] = 2
        >>> stator.sum(x).item()
        12.0
        """
        return _managed.managed(self._backend, shape, dtype)

    def supports_unified(self) -> bool:
        """Whether managed memory is the device's and the host's at once: False where page-locked memory stands in.

        >>> stator.Backend("cpu").memory.supports_unified()
        True
        """
        try:
            return _managed.kind(self._backend) != "pinned"
        except StatorError as error:
            raise renamed(error, "Backend.memory.supports_unified") from None

    def allocate_unified(self, size: int) -> UnifiedAllocation:
        """Managed memory of `size` bytes, at least 1, as managed() has it, in a holder that frees it at its end.

        Raises: InvalidValueError for other sizes; OutOfMemoryError. Does not synchronise.

        >>> allocation = be.memory.allocate_unified(1024)
        >>> allocation.host_view("float32").shape
        (256,)
        >>> be.memory.deallocate_unified(allocation)
        """
        from stator.memory._unified import allocate

        return allocate(self._backend, size)

    def deallocate_unified(self, allocation: UnifiedAllocation) -> None:
        """Frees what allocate_unified() made, after the work that uses it. ResourceClosedError the second time.

        NumPy's views of it keep the memory until they are gone.
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

        memory: a contiguous array of the backend or an allocation. device: an index, a name or a Device; None is the
        backend's own. Nothing moves on the cpu and where page-locked memory stands in. InvalidValueError for other
        memory and for a device that does not exist, CaptureError in a capture.

        >>> x = be.memory.managed(1000)
        >>> be.memory.prefetch_to_device(x)
        """
        _managed.prefetch_to_device(self._backend, memory, device, stream)

    def prefetch_to_host(self, memory: Array | UnifiedAllocation, *, stream: StreamLike | None = None) -> None:
        """Moves the pages of managed memory to the host, in the order of a stream; else as prefetch_to_device()."""
        _managed.prefetch_to_host(self._backend, memory, stream)

    def advise(self, memory: Array | UnifiedAllocation, advice: str, device: int | str | Device | None = None) -> None:
        """Tells the driver how managed memory will be used; results do not depend on it. Does not synchronise.

        memory: as for prefetch_to_device(). advice: "read_mostly", "preferred_location" or "accessed_by", which set
        it, or one of them with "unset_" before it. device: whose location or access is meant, as an index, a name or a
        Device, "cpu" for the host; None is the backend's own. The advice on "read_mostly" uses none. Nothing is kept on
        the cpu and where page-locked memory stands in.

        >>> x = be.memory.managed(1000)
        >>> be.memory.advise(x, "read_mostly")
        """
        from stator.memory._unified import advise

        advise(self._backend, memory, advice, device)

    def create_buffer(self, descriptor: BufferDescriptor) -> Array:
        """An uninitialised vector of as many bytes as a stator.memory.BufferDescriptor says. Asynchronous.

        >>> be.memory.create_buffer(stator.memory.BufferDescriptor(64, dtype="float32")).shape
        (16,)
        """
        from stator.memory._buffers import create_buffer

        return create_buffer(self._backend, descriptor)

    def create_scoped_buffer(self, descriptor: BufferDescriptor) -> ScopedResource[Array]:
        """As create_buffer(), in a holder that frees the memory at its end, also where the array still has a name.

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

        src, dst: contiguous arrays of any shapes and dtypes; the same one too, also where the ranges overlap: dst then
        has what src had before the call.
        Raises: InvalidValueError for a range that lies outside its array, and for arrays that are not contiguous or, as
        dst, read-only; BackendMismatchError for arrays of another backend.

        >>> x, y = be.arange(4, dtype="int32"), be.zeros(4, dtype="int32")
        >>> be.memory.copy_buffer(x, 4, y, 0, 8)
        >>> y.tolist()
        [1, 2, 0, 0]
        """
        from stator.memory._buffers import copy_buffer

        copy_buffer(self._backend, src, src_offset, dst, dst_offset, size, stream)

    def create_sub_buffer(self, parent: Array, offset: int, descriptor: BufferDescriptor) -> Array:
        """A vector in the memory of another array, from an offset in bytes on, which keeps that alive.

        parent: a contiguous array of the backend. InvalidValueError for a range that is not inside it, and for an
        offset at which no element of the descriptor's dtype can begin.

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

        alignment: of the parts' offsets in bytes, a power of two; the buffer itself begins at a multiple of 256 bytes
        on cuda, and of 64 on the cpu. InvalidValueError; OutOfMemoryError.

        >>> arena = be.memory.create_arena(1024)
        >>> arena.take("a", (4, 4), dtype="float32").shape, arena.free
        ((4, 4), 960)
        """
        from stator.memory._arena import BufferArena

        return BufferArena(self._backend, size, alignment)

    def record(self, enabled: bool = True, *, max_events: int = 1_000_000) -> None:
        """Begins or ends a record of the backend's allocations, for snapshot() and timeline().

        What is live already is not seen, and what was recorded before is forgotten. Beyond max_events nothing more is
        noted, and counted as dropped. Does not synchronise; while nothing is recorded, an allocation costs a branch
        more.

        >>> be.memory.record()
        >>> x = be.zeros(1000)
        >>> be.memory.record(False)
        >>> [(event.bytes, event.op) for event in be.memory.snapshot().events]
        [(8000, 'zeros')]
        """
        from stator.memory._timeline import record_memory

        record_memory(self._backend, enabled, max_events)

    def snapshot(self) -> MemorySnapshot:
        """What record() noted: each allocation and its end with time, bytes and op. Does not synchronise."""
        from stator.memory._timeline import memory_snapshot

        return memory_snapshot(self._backend)

    def timeline(self, path: str | os.PathLike[str]) -> None:
        """Writes what record() noted as an HTML page: live bytes over time by op, and the largest owners.

        The page needs nothing else, and no network.

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
