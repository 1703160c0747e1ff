"""The methods of Backend for managed memory. The module beside this one is loaded by the first call."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, cast

from stator.errors import StatorError, renamed

if TYPE_CHECKING:
    from stator._array import Array
    from stator._typing import DTypeLike, StreamLike
    from stator.backend import Backend, Device
    from stator.memory import UnifiedAllocation


_extension: ModuleType | None = None


def _calls() -> ModuleType:
    """stator.memory._managed, kept since a prefetch takes less than an import statement."""
    global _extension
    from stator.memory import _managed

    _extension = _managed
    return _managed


class BackendManaged:
    """A base class of Backend."""

    def managed(self, shape: int | Sequence[int], dtype: DTypeLike | None = None) -> Array:
        """An uninitialised array in managed memory, which stator.memory.host_view() shows to NumPy without a copy.

        dtype: None is float64. On cuda its pages go to where they are used; where the device does not let the host use
        such memory at the same time (Windows, WSL), it is page-locked memory of the host, which the device reaches over
        the bus; on the cpu it is memory like any other. Counts toward the memory limit, and as "managed" among
        resources(). OutOfMemoryError. Does not synchronise.

        >>> x = be.managed((2, 3), "float32")
        >>> stator.memory.host_view(x)[...] = 2
        >>> stator.sum(x).item()
        12.0
        """
        from stator.memory import _managed

        return _managed.managed(self._managed_self(), shape, dtype)

    def supports_unified_memory(self) -> bool:
        """Whether managed memory is the device's and the host's at once: False where page-locked memory stands in.

        >>> stator.Backend("cpu").supports_unified_memory()
        True
        """
        from stator.memory import _managed

        try:
            return _managed.kind(self._managed_self()) != "pinned"
        except StatorError as error:
            raise renamed(error, "Backend.supports_unified_memory") from None

    def allocate_unified(self, size: int) -> UnifiedAllocation:
        """Managed memory of `size` bytes, at least 1, as managed() has it, in a holder that frees it at its end.

        Raises: InvalidValueError for other sizes; OutOfMemoryError. Does not synchronise.

        >>> allocation = be.allocate_unified(1024)
        >>> allocation.host_view("float32").shape
        (256,)
        >>> be.deallocate_unified(allocation)
        """
        from stator.memory._unified import allocate

        return allocate(self._managed_self(), size)

    def deallocate_unified(self, allocation: UnifiedAllocation) -> None:
        """Frees what allocate_unified() made, after the work that uses it. ResourceClosedError the second time.

        NumPy's views of it keep the memory until they are gone.
        """
        from stator.memory._unified import deallocate

        deallocate(self._managed_self(), allocation)

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

        >>> x = be.managed(1000)
        >>> be.prefetch_to_device(x)
        """
        (_extension or _calls()).prefetch_to_device(self, memory, device, stream)

    def prefetch_to_host(self, memory: Array | UnifiedAllocation, *, stream: StreamLike | None = None) -> None:
        """Moves the pages of managed memory to the host, in the order of a stream; else as prefetch_to_device()."""
        (_extension or _calls()).prefetch_to_host(self, memory, stream)

    def set_memory_advice(
        self, memory: Array | UnifiedAllocation, advice: str, device: int | str | Device | None = None
    ) -> None:
        """Tells the driver how managed memory will be used; results do not depend on it. Does not synchronise.

        memory: as for prefetch_to_device(). advice: "read_mostly", "preferred_location" or "accessed_by", which set
        it, or one of them with "unset_" before it. device: whose location or access is meant, as an index, a name or a
        Device, "cpu" for the host; None is the backend's own. The advice on "read_mostly" uses none. Nothing is kept on
        the cpu and where page-locked memory stands in.

        >>> x = be.managed(1000)
        >>> be.set_memory_advice(x, "read_mostly")
        """
        from stator.memory._unified import advise

        advise(self._managed_self(), memory, advice, device)

    def _managed_self(self) -> Backend:
        return cast("Backend", self)
