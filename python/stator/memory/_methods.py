"""The methods of Backend about its pool and about memory that runs out. The first call loads what they need."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, cast

from stator._recovery.hook import unraisable
from stator.errors import DTypeError, InvalidValueError, require_open

if TYPE_CHECKING:
    from stator.backend import Backend

FAILURE_ROUNDS = 16  # of an allocation, in which the failure callback is asked; the spill callback has the others too


def whole_number(value: object, name: str, op: str, remedy: str) -> int:
    """An argument that is an integer of any library, but no bool. DTypeError with the remedy for others."""
    try:
        if not isinstance(value, bool):
            return index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise DTypeError(f"Got {name} of type {type(value).__name__}", op=op, remedy=remedy)


def byte_count(value: object, name: str, op: str, least: int = 0) -> int:
    """An argument that is a number of bytes."""
    count = whole_number(value, name, op, "Give a number of bytes.")
    if not least <= count < 2**63:
        raise InvalidValueError(f"{name}={count}", op=op, remedy=f"Give {least} to 2**63 - 1 bytes.")
    return count


class MemoryCallbacks:
    """What a backend asks for memory. It owns them and C++ does not, so that all can be collected."""

    failure: Callable[[int], object] | None = None
    spill: Callable[[int], object] | None = None

    def ask(self, nbytes: int, attempt: int) -> bool:
        """Whether something was freed, so that the allocation is to be tried again. Raises only interrupts."""
        from stator.scopes._outside import outside

        try:
            with outside():
                if self.failure is not None and attempt < FAILURE_ROUNDS and self.failure(nbytes):
                    return True
                if self.spill is None:
                    return False
                moved = self.spill(nbytes)
                return isinstance(moved, int) and moved > 0
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            unraisable(error)
        return False


def callbacks_of(backend: Backend) -> MemoryCallbacks:
    """The backend's callbacks, which the first call installs."""
    from stator.memory import _memory

    if "_memory_callbacks" not in backend.__dict__:
        holder = weakref.ref(backend.__dict__.setdefault("_memory_callbacks", MemoryCallbacks()))

        def ask(nbytes: int, attempt: int) -> bool:
            callbacks = holder()
            return callbacks is not None and callbacks.ask(nbytes, attempt)

        _memory.set_memory_hook(backend, ask)
    return cast("MemoryCallbacks", backend.__dict__["_memory_callbacks"])


class BackendMemory:
    """A base class of Backend."""

    def set_allocation_failure_callback(
        self, callback: Callable[[int], object] | None, /
    ) -> Callable[[int], object] | None:
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
        ...     before = other.set_allocation_failure_callback(lambda nbytes: bool(cache) and not cache.clear())
        ...     other.zeros(2**17).nbytes, len(cache)
        (1048576, 0)
        """
        return self._set_memory_callback("failure", callback, "Backend.set_allocation_failure_callback")

    def set_spill_callback(self, callback: Callable[[int], object] | None, /) -> Callable[[int], object] | None:
        """Sets what moves memory to the host when none is left; None for nothing. Returns the previous one.

        callback(nbytes) moves what it can spare, at best nbytes bytes, copies arrays to NumPy and lets go of them, and
        returns how many bytes that freed; while that is more than 0 the allocation is tried again, at most 32 times. It
        is asked after the failure callback, and the same holds for it. On cpu copy the values, numpy.array(x), since
        to_numpy() shares the memory.

        >>> import numpy
        >>> def spill(nbytes):
        ...     name, array = device.popitem()
        ...     host[name] = numpy.array(array.to_numpy())
        ...     return array.nbytes
        >>> host = {}
        >>> with stator.Backend("cpu", memory_limit="1 MiB") as other:
        ...     device = {"a": other.ones(2**17)}
        ...     before = other.set_spill_callback(spill)
        ...     other.zeros(2**17).nbytes, host["a"].sum().item()
        (1048576, 131072.0)
        """
        return self._set_memory_callback("spill", callback, "Backend.set_spill_callback")

    def trim_memory(self, keep: int = 0) -> int:
        """Gives cached memory back until at most `keep` bytes are cached; returns how many were freed.

        Whole blocks are freed, the largest first, page-locked memory last. What pool_policy="arena" reserved, and
        memory_pool_size bytes of the driver's pool, stay. Does not wait: on cuda the device has the memory when the
        streams have come so far. DTypeError and InvalidValueError for what is not a number of bytes.

        >>> with stator.Backend("cpu") as other:
        ...     x, y = other.empty(2**17), other.empty(2**18)
        ...     del x, y
        ...     other.trim_memory(2**20), other.memory_stats()["cached_bytes"]
        (2097152, 1048576)
        """
        return self._trim(keep, False, "Backend.trim_memory")

    def trim_pinned_memory(self, keep: int = 0) -> int:
        """As trim_memory(), but only of page-locked memory. Waits for copies that still use what is freed.

        >>> with stator.Backend("cpu") as other:
        ...     x = other.asarray([1.0, 2.0], pinned=True)
        ...     other.synchronize()
        ...     other.trim_pinned_memory(), other.memory_stats()["pinned_cached_bytes"]
        (512, 0)
        """
        return self._trim(keep, True, "Backend.trim_pinned_memory")

    def reset_peak_memory_stats(self) -> None:
        """Lets peak_bytes of memory_stats() start from what is live now. Does not wait.

        >>> with stator.Backend("cpu") as other:
        ...     other.zeros(2**17).tolist()[:1]
        ...     other.reset_peak_memory_stats()
        ...     other.memory_stats()["peak_bytes"]
        [0.0]
        0
        """
        from stator.memory import _memory

        _memory.reset_peak_memory(cast("Backend", self))

    def _trim(self, keep: object, pinned: bool, op: str) -> int:
        from stator.memory import _memory

        return _memory.trim_memory(cast("Backend", self), byte_count(keep, "keep", op), pinned)

    def _set_memory_callback(
        self, name: str, callback: Callable[[int], object] | None, op: str
    ) -> Callable[[int], object] | None:
        if callback is not None and not callable(callback):
            raise DTypeError(
                f"Got callback of type {type(callback).__name__}", op=op, remedy="Give a function or None."
            )
        backend = cast("Backend", self)
        require_open(backend, op)
        callbacks = callbacks_of(backend)
        before: Callable[[int], object] | None = getattr(callbacks, name)
        setattr(callbacks, name, callback)
        return before
