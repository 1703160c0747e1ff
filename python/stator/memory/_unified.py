"""UnifiedAllocation: managed memory by its size in bytes, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stator._array import Array
from stator.errors import (
    BackendMismatchError,
    DTypeError,
    InvalidValueError,
    ResourceClosedError,
    StatorError,
    renamed,
)
from stator.memory import _managed
from stator.memory._arguments import byte_count
from stator.scopes._held import ScopedResource, hold

if TYPE_CHECKING:
    from stator._backend import Backend
    from stator._device import Device
    from stator._typing import DTypeLike


@dataclass(frozen=True)
class AccessHints:
    """The advice on an allocation that Backend.memory.advise() set.

    read_mostly: whether each device may keep a copy for reading. accessed_by: the devices that keep a mapping, "cpu"
    for the host. Both are None if the memory does not migrate, since no advice is kept then.
    """

    read_mostly: bool | None = None
    accessed_by: tuple[str, ...] | None = None


@dataclass(frozen=True)
class MigrationStatistics:
    """The prefetches of an allocation: calls and bytes to devices and to the host, and the target of the last one.

    page_faults: always None, since CUDA does not report to a program which pages migrated on access; Nsight Systems
    shows them.
    """

    prefetches_to_device: int = 0
    bytes_to_device: int = 0
    prefetches_to_host: int = 0
    bytes_to_host: int = 0
    last_prefetch: str | None = None
    page_faults: int | None = None


class UnifiedAllocation(ScopedResource[Array]):
    """Managed memory of Backend.memory.allocate_unified(); get() is the array of its bytes.

    It is freed by Backend.memory.deallocate_unified(), close() or the end of a `with`, when it is no longer referenced,
    at the end of the scope that made it, and when its backend closes. Using the memory afterwards raises
    ResourceClosedError.

    >>> with be.memory.allocate_unified(16) as memory:
    ...     memory.nbytes
    16
    """

    _owner: Backend
    _size: int
    _time: datetime
    _kind: str

    def __init__(self) -> None:
        raise TypeError("UnifiedAllocation has no constructor. Use Backend.memory.allocate_unified().")

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._size

    @property
    def ptr(self) -> int:
        """The address, for the host and the device. Does not synchronise."""
        return self._array("ptr").data_ptr

    @property
    def allocation_time(self) -> datetime:
        """When it was made, in UTC."""
        return self._time

    @property
    def metadata(self) -> dict[str, Any]:
        """The device, the size in bytes, and the kind of memory: "managed", "pinned" (page-locked) or "host"."""
        return {"device": self._owner.device_name, "size": self._size, "memory": self._kind}

    @property
    def preferred_location(self) -> str | None:
        """The device that advise() set as the preferred location, "cpu" for the host; None if none is set."""
        state = _managed.advice_state(self._array("preferred_location"))
        return None if state is None else state[1]

    @property
    def access_hints(self) -> AccessHints:
        """The advice that holds for the whole allocation. Advice on only a part of it is not reported."""
        state = _managed.advice_state(self._array("access_hints"))
        return AccessHints() if state is None else AccessHints(state[0], state[2])

    @property
    def migration_stats(self) -> MigrationStatistics:
        """The prefetches so far."""
        return MigrationStatistics(*_managed.migrations(self._array("migration_stats")))

    def host_view(self, dtype: DTypeLike = "uint8") -> np.ndarray[Any, Any]:
        """The memory as a NumPy vector of a dtype, without a copy: see stator.memory.host_view. Synchronises."""
        from stator.memory import host_view

        try:
            return host_view(self._array("host_view").view(dtype))
        except StatorError as error:
            raise renamed(error, "UnifiedAllocation.host_view") from None

    def copy_from_host(self, data: object, /, *, offset: int = 0) -> None:
        """Copies a NumPy array, or another object with a contiguous buffer, to the bytes from `offset` on.

        data has been read on return; the copy is in the order of the current stream, and asynchronous on cuda.
        Raises: InvalidValueError if it does not fit between offset and the end.
        """
        array = self._array("copy_from_host")
        try:
            array.copy_from(_bytes(data), offset=offset)
        except StatorError as error:
            raise renamed(error, "UnifiedAllocation.copy_from_host") from None

    def copy_to_host(self, out: object, /, *, offset: int = 0) -> None:
        """Copies bytes from `offset` on to a NumPy array, or another object with a contiguous buffer. Synchronises."""
        array = self._array("copy_to_host")
        try:
            array.copy_to(_bytes(out), offset=offset)
        except StatorError as error:
            raise renamed(error, "UnifiedAllocation.copy_to_host") from None

    def _array(self, method: str) -> Array:
        return self._found(self._entry.look(), method)


def _bytes(host: object) -> object:
    """A NumPy array as its bytes, since the memory has no dtype; anything else as it is."""
    if isinstance(host, np.ndarray) and host.flags.c_contiguous:
        return host.reshape(-1).view(np.uint8)
    return host


def allocate(backend: Backend, size: int) -> UnifiedAllocation:
    """See Backend.memory.allocate_unified. The array has a scope of its own, as that of create_scoped_buffer."""
    from stator.scopes._scope import end, scope_of_its_own, stack_of

    op = "Backend.memory.allocate_unified"
    size = byte_count(size, "size", op, 1)
    stack = stack_of(backend, op)
    try:
        with scope_of_its_own(backend) as scope:
            array = _managed.managed(backend, size, "uint8")
    except StatorError as error:
        raise renamed(error, op) from None
    made: UnifiedAllocation = hold(UnifiedAllocation, array, lambda _: end(backend, scope.number, op), stack, backend)
    made._size, made._time, made._kind = size, datetime.now(UTC), _managed.kind(backend)
    return made


def deallocate(backend: Backend, allocation: UnifiedAllocation) -> None:
    """See Backend.memory.deallocate_unified."""
    op = "Backend.memory.deallocate_unified"
    if not isinstance(allocation, UnifiedAllocation):
        raise DTypeError(
            f"Got allocation of type {type(allocation).__name__}", op=op, remedy="Give what allocate_unified() made."
        )
    array_of(backend, allocation, op)
    allocation.close()


def advise(backend: Backend, memory: Array | UnifiedAllocation, advice: str, device: int | str | Device | None) -> None:
    """See Backend.memory.advise."""
    op = "Backend.memory.advise"
    array = array_of(backend, memory, op)
    host = str(device) == "cpu" and backend.device_name != "cpu"
    _managed.advise(array, advice, None if host else device_index(backend, device, op))


def array_of(backend: Backend, memory: object, op: str) -> Array:
    """The array of an allocation or an array of the backend; errors name the call."""
    if isinstance(memory, UnifiedAllocation):
        held = memory._entry.look()
        if held is None:
            raise ResourceClosedError(
                "The allocation was freed, or its array was taken", op=op, remedy="Use it before, and free it once."
            )
        memory = held[0]
    if not isinstance(memory, Array):
        raise DTypeError(
            f"Got memory of type {type(memory).__name__}", op=op, remedy="Give a UnifiedAllocation or an Array."
        )
    if memory.backend is not backend:
        raise BackendMismatchError("Got memory of another backend", op=op, remedy="Call the method of its backend.")
    return memory


def device_index(backend: Backend, device: object, op: str) -> int:
    """The index of a device of the backend's type; None is its own."""
    kind, _, own = backend.device_name.partition(":")
    if device is None:
        return int(own or 0)
    try:
        return _index(device, kind)
    except StatorError as error:
        raise renamed(error, op) from None
    except TypeError:
        raise DTypeError(
            f"Got device of type {type(device).__name__}", op=op, remedy="Give an index, a name or a Device."
        ) from None


def _index(device: object, kind: str) -> int:
    from stator._device import Device

    if isinstance(device, (str, Device)):
        parsed = Device.parse(str(device))
        if parsed.type != kind:
            raise InvalidValueError(f"device={str(device)!r}", op="", remedy=f"Give a device of {kind}.")
        return parsed.index
    place = index(cast(int, device))
    if isinstance(device, bool):
        raise TypeError
    if not 0 <= place < 2**31:
        raise InvalidValueError(f"device={place}", op="", remedy="Give the index of a device.")
    return place
