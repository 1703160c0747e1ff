"""Memory shared with other libraries: allocators that a backend takes its memory from, and its pool for others."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from stator.errors import DTypeError

if TYPE_CHECKING:
    from stator._backend import Backend
    from stator._device import Device


chosen: dict[str, DeviceAllocator] = {}  # by set_allocator(), for each device


class DeviceAllocator(Protocol):
    """The protocol of Backend(allocator=): an object that allocates and frees device memory.

    allocate(nbytes, stream) returns the address of nbytes bytes on the backend's device, aligned to 256 bytes (64 on
    the cpu), for work that is enqueued in the stream afterwards. deallocate(address, nbytes, stream) frees each address
    once, in the order of that stream. stream: a cudaStream_t as an integer with __cuda_stream__(); a deallocation with
    0 means that no work uses the memory any more; on the cpu it has no meaning.
    Both must be thread-safe and must not call the backend that they serve. If allocate() raises, the backend frees its
    cached memory and calls it once more; what that raises becomes .allocator_error of an OutOfMemoryError.
    """

    def allocate(self, nbytes: int, stream: int, /) -> int:
        """The address of nbytes bytes on the device."""

    def deallocate(self, address: int, nbytes: int, stream: int, /) -> object:
        """Frees memory of allocate()."""


class NativeStream(int):
    """A cudaStream_t as an integer, which other libraries take as a stream, too."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self)


def _check_allocator(allocator: object, op: str) -> None:
    """DTypeError for what has not the methods of a DeviceAllocator."""
    for name in ("allocate", "deallocate"):
        if not callable(getattr(allocator, name, None)):
            raise DTypeError(
                f"Got allocator of type {type(allocator).__name__}, which has no method {name}",
                op=op,
                remedy="Give an object with allocate(nbytes, stream) and deallocate(address, nbytes, stream).",
            )


def allocator_functions(allocator: DeviceAllocator) -> tuple[Callable[[int, int], int], Callable[[int, int, int], Any]]:
    """The functions of an allocator as a backend calls them, with streams as integers."""
    _check_allocator(allocator, "Backend")
    stream_of: Callable[[int], Any] = NativeStream
    if type(allocator).__module__.partition(".")[0] == "rmm":
        made = import_module("rmm.pylibrmm.stream").Stream  # the only type that RMM's resources take

        def stream_of(stream: int) -> Any:
            return made(NativeStream(stream))

    def allocate(nbytes: int, stream: int) -> int:
        return allocator.allocate(nbytes, stream_of(stream))

    def deallocate(address: int, nbytes: int, stream: int) -> object:
        return allocator.deallocate(address, nbytes, stream_of(stream))

    return allocate, deallocate


def _device_name(device: Device | str, op: str) -> str:
    """The name of a device with its index, such as "cuda:0"."""
    from stator._device import Device
    from stator.errors import StatorError, renamed

    try:
        return str(Device.parse(str(device)))
    except StatorError as error:
        raise renamed(error, op) from None


def set_allocator(allocator: DeviceAllocator | None, /, *, device: Device | str = "cuda") -> None:
    """Sets the allocator of backends that are opened on a device from now on; None restores stator's pool.

    allocator: as for Backend(allocator=), which takes precedence. device: a name or a Device; "cuda" is "cuda:0". No
    backend is opened. Raises: DTypeError for an object without allocate() and deallocate(); InvalidValueError while the
    device's shared backend, which functions without a backend use, is open with another allocator.

    >>> stator.memory.set_allocator(rmm.mr.get_current_device_resource())  # doctest: +SKIP
    """
    from stator import _shared
    from stator.errors import InvalidValueError

    op = "memory.set_allocator"
    if allocator is not None:
        _check_allocator(allocator, op)
    name = _device_name(device, op)
    with _shared.lock:
        shared = _shared.open_backend(name)
        if shared is not None and vars(shared)["_allocator"] is not allocator:
            raise InvalidValueError(
                f"The shared backend of {name} is open and has another allocator",
                op=op,
                remedy="Call it before the device is used, close that backend, or pass Backend(allocator=).",
            )
        if allocator is None:
            chosen.pop(name, None)
        else:
            chosen[name] = allocator


def get_allocator(device: Device | str = "cuda", /) -> DeviceAllocator | None:
    """The allocator that set_allocator() set for a device; None if stator's own pool is used."""
    return chosen.get(_device_name(device, "memory.get_allocator"))


class TorchAllocator:
    """The caching allocator of PyTorch as a DeviceAllocator, for Backend(allocator=): both then share one pool.

    device: as torch takes it, such as "cuda:0"; None is torch's current device. ImportError without torch.

    >>> be = stator.Backend("cuda", allocator=stator.memory.TorchAllocator("cuda:0"))  # doctest: +SKIP
    """

    def __init__(self, device: int | str | None = None) -> None:
        self._cuda: Any = import_module("torch").cuda
        self._device = device

    def allocate(self, nbytes: int, stream: int, /) -> int:
        """The address of nbytes bytes, for work of the stream."""
        return int(self._cuda.caching_allocator_alloc(nbytes, self._device, int(stream)))

    def deallocate(self, address: int, nbytes: int, stream: int, /) -> None:
        """Frees the memory in torch's allocator."""
        self._cuda.caching_allocator_delete(address)


class PoolAllocator:
    """The pool of a backend as an allocator for other libraries, such as RMM's CallbackMemoryResource.

    device: the backend, or a device, whose shared backend is used. Its allocations count as exported memory of the
    backend, and may outlive it.

    >>> pool = stator.memory.PoolAllocator(be)
    >>> address = pool.allocate(1024)
    >>> be.memory.stats()["exported_bytes"]
    1024
    >>> pool.deallocate(address)
    """

    def __init__(self, device: Backend | Device | str | None = None) -> None:
        from stator._backend import resolve_backend

        self.backend = resolve_backend(device, "memory.PoolAllocator")

    def allocate(self, nbytes: int, stream: object = 0) -> int:
        """The address of nbytes bytes on the device, for work that is enqueued in the stream afterwards. Asynchronous.

        stream: on cuda a cudaStream_t as an integer, 0 for the legacy default stream, or an object with
        __cuda_stream__(). Raises: OutOfMemoryError; CaptureError while the stream is being captured into a graph.
        """
        from stator.memory._lending import lend

        return lend(self.backend, nbytes, stream)

    def deallocate(self, address: int, nbytes: int = 0, stream: object = 0) -> None:
        """Frees memory of allocate() after the work that was enqueued in the stream so far.

        nbytes is ignored. Asynchronous while the backend is open. Raises: InvalidValueError for another address.
        """
        from stator.memory._lending import take_back

        take_back(address, stream)


class AllocatorLibrary(NamedTuple):
    """A shared library with two C functions of the form that pluggable allocators have, by their names."""

    path: str
    allocate: str
    deallocate: str


def allocator_library(device: Backend | Device | str | None = None) -> AllocatorLibrary:
    """The library whose C functions allocate from a cuda backend's pool, for torch's CUDAPluggableAllocator.

    void* stator_allocate(ssize_t size, int device, cudaStream_t stream) returns null, with a warning, if no memory is
    left; void stator_deallocate(void*, ssize_t size, int device, cudaStream_t stream) frees. From this call on they use
    the backend for its device while it is open. Raises: BackendMismatchError for a backend that is not on cuda.

    >>> torch.cuda.memory.change_current_allocator(  # doctest: +SKIP
    ...     torch.cuda.memory.CUDAPluggableAllocator(*stator.memory.allocator_library("cuda"))
    ... )
    """
    from stator import _backend
    from stator._backend import resolve_backend
    from stator.errors import StatorError, renamed
    from stator.memory._lending import serve

    op = "memory.allocator_library"
    try:
        serve(resolve_backend(device, op))
    except StatorError as error:
        raise renamed(error, op) from None
    return AllocatorLibrary(
        os.path.join(os.path.dirname(_backend.__file__), "lib/libstator.so"), "stator_allocate", "stator_deallocate"
    )
