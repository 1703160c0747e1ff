"""The methods of Backend for its life and its resources. The modules beside this one are loaded by the first call."""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from stator import _backend
from stator.errors import BackendClosedError, InvalidValueError, StatorError

if TYPE_CHECKING:
    from typing import Self

    from stator._array import Array
    from stator._typing import StreamLike
    from stator.backend import Backend, Device
    from stator.memory import BufferArena, BufferDescriptor
    from stator.memory._timeline import MemorySnapshot
    from stator.scopes import ManagedResource, Scope, ScopedResource
    from stator.scopes._cleanups import CleanupStack

T = TypeVar("T")

KINDS = ("buffer", "pinned", "managed", "event", "graph", "stream", "library", "program")
# What a backend makes for itself and keeps.
OWN = {"stream", "library", "program"}


def cleanups_of(backend: Backend) -> CleanupStack:
    """The backend's cleanups, made at first use."""
    if backend._cleanups is None:
        from stator.scopes._cleanups import CleanupStack

        backend.__dict__.setdefault("_cleanups", CleanupStack())
    found = backend._cleanups
    assert found is not None
    return found


def stack_of(backend: Backend, op: str) -> CleanupStack:
    """The cleanups of the backend's innermost scope, else its own. BackendClosedError where it is closed."""
    from stator.scopes._scope import innermost

    if backend.closed:
        raise BackendClosedError(f"The backend on {backend.device_name} is closed", op=op, remedy="Open a new Backend.")
    scope = innermost(backend)[1]
    return cleanups_of(backend) if scope is None else scope._cleanups


def shutdown() -> None:
    """Runs the cleanups of resources and closes every backend that Python opened, as its end does. Waits.

    On the cpu, work whose results cannot be read is waited for half a second, and dropped where it has not begun.
    """
    cleanups = sys.modules.get("stator.scopes._cleanups")  # loaded where there are any
    if cleanups is not None:
        cleanups.run_all()
    _backend.shutdown()


class BackendResources:
    """A base class of Backend."""

    _cleanups: CleanupStack | None = None

    def is_initialized(self) -> bool:
        """Whether the backend is open."""
        return not self._self().closed

    def initialize(self) -> None:
        """Nothing for an open backend, since the constructor opens it; BackendClosedError for a closed one."""
        if self._self().closed:
            raise BackendClosedError(
                "The backend is closed", op="Backend.initialize", remedy="Call reopen(), which gives a new one like it."
            )

    def shutdown(self) -> None:
        """As close()."""
        self._self().close()

    def reopen(self) -> Backend:
        """A new backend on the device and with the options of this one, which is closed. Its arrays stay closed.

        An allocator serves the new one too.
        InvalidValueError where it is open: another one beside it is Backend(device).

        >>> other = stator.Backend("cpu", deterministic=True)
        >>> other.close()
        >>> with other.reopen() as again:
        ...     again.options["deterministic"]
        True
        """
        backend = self._self()
        if not backend.closed:
            raise InvalidValueError(
                "The backend is open", op="Backend.reopen", remedy="Call close() first, or open another Backend."
            )
        options: dict[str, Any] = backend.options
        return type(backend)(backend.device_name, allocator=backend._allocator, **options)

    async def __aenter__(self) -> Self:
        self._self().__enter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from asyncio import to_thread

        _backend.remove_backend(self._self())
        await to_thread(self._self().close)

    def scoped(self, *, budget: int | None = None, name: str | None = None) -> Scope:
        """A `with` block that frees at its end what it made: arrays, page-locked memory, events, graphs, resources.

        What was made inside is closed, also where it still has a name: using it then raises BackendClosedError.
        Scope.keep() lets results outlive the block. It holds for the calls of this thread or asyncio task, and of
        asyncio.to_thread() in it; other threads' arrays are their own. Scopes nest. Streams, libraries, compiled
        kernels and graphs that stator.graph keeps stay the backend's. Memory that NumPy or another library shares is
        freed when they let go of it. Asynchronous, but the end waits for calls of other threads that are under way:
        InFlightError, and nothing is freed, where they take more than five seconds.

        budget: how many bytes of device and page-locked memory the block, with the scopes in it, may have at once, as
        the pool rounds them; None: as many as there are. An allocation beyond it asks the callbacks of
        set_allocation_failure_callback(), and then raises OutOfMemoryError, which has the name and what holds the most
        in the scope; the scope can be used on. What keep() was given counts no more, and workspaces of libraries never.

        >>> with be.scoped() as scope:
        ...     x = be.ones(1000)
        ...     total = scope.keep(stator.sum(x))
        >>> total.item()
        1000.0
        >>> x.tolist()
        Traceback (most recent call last):
        stator.errors.BackendClosedError: ...
        """
        from stator.scopes._scope import Scope

        return Scope(self._self(), budget, name)

    def create_resource_with_cleanup(
        self, factory: Callable[[Device], T], cleanup: Callable[[T], object]
    ) -> ManagedResource[T]:
        """What factory(device) returns, with a cleanup that runs once: by its holder, or at the latest by close().

        cleanup(resource) runs at the end of the holder's `with`, when the holder is collected, at the end of the scope
        that it was made in, when the backend closes, or at the end of the process, whichever comes first; of several
        the newest first. One that raises stops no other: close() then raises CleanupError when all is closed, and at
        the end of the process sys.unraisablehook is called.

        >>> log = []
        >>> other = stator.Backend("cpu")
        >>> a = other.create_resource_with_cleanup(lambda device: "a", log.append)
        >>> b = other.create_resource_with_cleanup(lambda device: "b", log.append)
        >>> other.close()
        >>> log
        ['b', 'a']
        """
        from stator.scopes._held import ManagedResource, hold, require_function

        op = "Backend.create_resource_with_cleanup"
        backend = self._self()
        require_function(factory, op, "factory")
        require_function(cleanup, op, "cleanup")
        stack_of(backend, op)
        resource = factory(backend.device)
        try:
            stack = stack_of(backend, op)
        except BackendClosedError:  # by another thread, or the factory
            cleanup(resource)
            raise
        made: ManagedResource[T] = hold(ManagedResource, resource, cleanup, stack, backend)
        return made

    def create_buffer(self, descriptor: BufferDescriptor) -> Array:
        """An uninitialised vector of as many bytes as a stator.memory.BufferDescriptor says. Asynchronous.

        >>> be.create_buffer(stator.memory.BufferDescriptor(64, dtype="float32")).shape
        (16,)
        """
        from stator.memory._buffers import create_buffer

        return create_buffer(self._self(), descriptor)

    def create_scoped_buffer(self, descriptor: BufferDescriptor) -> ScopedResource[Array]:
        """As create_buffer(), in a holder that frees the memory at its end, also where the array still has a name.

        >>> with be.create_scoped_buffer(stator.memory.BufferDescriptor(64)) as buffer:
        ...     buffer.nbytes
        64
        """
        from stator.memory._buffers import create_scoped_buffer

        return create_scoped_buffer(self._self(), descriptor)

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
        >>> be.copy_buffer(x, 4, y, 0, 8)
        >>> y.tolist()
        [1, 2, 0, 0]
        """
        from stator.memory._buffers import copy_buffer

        copy_buffer(self._self(), src, src_offset, dst, dst_offset, size, stream)

    def create_sub_buffer(self, parent: Array, offset: int, descriptor: BufferDescriptor) -> Array:
        """A vector in the memory of another array, from an offset in bytes on, which keeps that alive.

        parent: a contiguous array of the backend. InvalidValueError for a range that is not inside it, and for an
        offset at which no element of the descriptor's dtype can begin.

        >>> whole = be.zeros(8, dtype="uint8")
        >>> part = be.create_sub_buffer(whole, 4, stator.memory.BufferDescriptor(4, dtype="int16"))
        >>> part[...] = 1
        >>> whole.tolist()
        [0, 0, 0, 0, 1, 0, 1, 0]
        """
        from stator.memory._arena import create_sub_buffer

        return create_sub_buffer(self._self(), parent, offset, descriptor)

    def create_arena(self, size: int, *, alignment: int = 256) -> BufferArena:
        """One buffer of `size` bytes, from which BufferArena.take() cuts named arrays. Asynchronous.

        alignment: of the parts' offsets in bytes, a power of two; the buffer itself begins at a multiple of 256 bytes
        on cuda, and of 64 on the cpu. InvalidValueError; OutOfMemoryError.

        >>> arena = be.create_arena(1024)
        >>> arena.take("a", (4, 4), dtype="float32").shape, arena.free
        ((4, 4), 960)
        """
        from stator.memory._arena import BufferArena

        return BufferArena(self._self(), size, alignment)

    def record_memory(self, enabled: bool = True, *, max_events: int = 1_000_000) -> None:
        """Begins or ends a record of the backend's allocations, for memory_snapshot() and memory_timeline().

        What is live already is not seen, and what was recorded before is forgotten. Beyond max_events nothing more is
        noted, and counted as dropped. Does not synchronise; while nothing is recorded, an allocation costs a branch
        more.

        >>> be.record_memory()
        >>> x = be.zeros(1000)
        >>> be.record_memory(False)
        >>> [(event.bytes, event.op) for event in be.memory_snapshot().events]
        [(8000, 'zeros')]
        """
        from stator.memory._timeline import record_memory

        record_memory(self._self(), enabled, max_events)

    def memory_snapshot(self) -> MemorySnapshot:
        """What record_memory() noted: each allocation and its end with time, bytes and op. Does not synchronise."""
        from stator.memory._timeline import memory_snapshot

        return memory_snapshot(self._self())

    def memory_timeline(self, path: str | os.PathLike[str]) -> None:
        """Writes what record_memory() noted as an HTML page: live bytes over time by op, and the largest owners.

        The page needs nothing else, and no network.

        >>> be.record_memory()
        >>> x = be.ones(1000) + 1
        >>> be.memory_timeline("memory.html")  # doctest: +SKIP
        """
        from stator.memory._timeline import memory_timeline

        memory_timeline(self._self(), path)

    def active_resource_count(self) -> dict[str, int]:
        """How many objects of each kind are alive, as resources() lists them; "resource": those with a cleanup.

        >>> x = be.ones(3)
        >>> be.active_resource_count()["buffer"]
        1
        """
        found = Counter(resource["kind"] for resource in self._self().resources())
        counts = {kind: found.pop(kind, 0) for kind in KINDS} | dict(found)
        return counts | {"resource": 0 if self._cleanups is None else len(self._cleanups)}

    def _close_after_cleanups(self, close: Callable[[], None]) -> None:
        if self._cleanups is None:
            return close()
        from stator.scopes._cleanups import raise_collected

        raised = self._cleanups.run()
        close()
        raise_collected(raised, "Backend.close")

    def __del__(
        self, finalizing: Callable[[], bool] = sys.is_finalizing, process: Callable[[], int] = os.getpid
    ) -> None:
        if finalizing():  # names of this module may be gone
            return
        backend = self._self()
        if getattr(backend, "_process", None) != process() or backend.closed:
            return
        try:
            counts = {kind: count for kind, count in self.active_resource_count().items() if count and kind not in OWN}
            # Raises in a callback of a stream, where what was released is still counted.
            answers = bool(counts) and backend.priority_range is not None
        except StatorError:
            return
        if answers:
            text = ", ".join(f"{count} of kind {kind}" for kind, count in counts.items())
            warnings.warn(
                f"unclosed {backend!r} with live resources: {text}", ResourceWarning, source=self, stacklevel=2
            )

    def _self(self) -> Backend:
        return cast("Backend", self)
