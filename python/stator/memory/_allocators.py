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
    """What Backend(allocator=) takes: an object that gives device memory and takes it back.

    allocate(nbytes, stream) returns the address of nbytes of memory of the backend's device, aligned to 256 bytes (64
    on the cpu), for work that the stream is given from then on. deallocate(address, nbytes, stream) gets each address
    back once, in the order of that stream. stream: a cudaStream_t as an integer that has __cuda_stream__(); 0 says that
    nothing uses the memory any more, and on the cpu the stream has no meaning. Any thread calls them, several at once
    too, and they call no function of the backend that they serve. What allocate() raises becomes .allocator_error of an
    OutOfMemoryError, after what the backend kept was freed and it was asked once more.
    """

    def allocate(self, nbytes: int, stream: int, /) -> int:
        """The address of nbytes of memory of the device."""

    def deallocate(self, address: int, nbytes: int, stream: int, /) -> object:
        """Takes back what allocate() gave."""


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
    """Sets where backends of a device that are opened from now on take device memory from; None undoes it.

    allocator: as for Backend(allocator=), which goes before it. device: a device's name, or its Device; "cuda" is
    "cuda:0". Opens nothing. InvalidValueError while the shared backend of the device, which functions use that get
    no backend, is open with memory of its own.

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
                remedy="Call it before the device is used, close that backend, or give Backend(allocator=).",
            )
        if allocator is None:
            chosen.pop(name, None)
        else:
            chosen[name] = allocator


def get_allocator(device: Device | str = "cuda", /) -> DeviceAllocator | None:
    """What set_allocator() chose for a device; None for stator's own pool."""
    return chosen.get(_device_name(device, "memory.get_allocator"))


class TorchAllocator:
    """The caching allocator of PyTorch as a DeviceAllocator, for Backend(allocator=): both then share one pool.

    device: as torch takes it, such as "cuda:0". Needs torch with CUDA.
    """

    def __init__(self, device: int | str | None = None) -> None:
        self._cuda: Any = import_module("torch").cuda
        self._device = device

    def allocate(self, nbytes: int, stream: int, /) -> int:
        """The address of nbytes of memory, for work of the stream."""
        return int(self._cuda.caching_allocator_alloc(nbytes, self._device, int(stream)))

    def deallocate(self, address: int, nbytes: int, stream: int, /) -> None:
        """Gives the memory back to torch."""
        self._cuda.caching_allocator_delete(address)


class PoolAllocator:
    """The pool of a backend as an allocator for other libraries, such as RMM's CallbackMemoryResource.

    device: the backend, or a device's shared one. What it lends counts as exported memory of the backend, which may
    close before it is freed.

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
        """The address of nbytes of memory of the device, for work that the stream is given from now on. Asynchronous.

        stream: cuda: a cudaStream_t as an integer, 0 for the legacy default stream, or an object with
        __cuda_stream__(). OutOfMemoryError; CaptureError where the stream is being captured into a graph.
        """
        from stator.memory._lending import lend

        return lend(self.backend, nbytes, stream)

    def deallocate(self, address: int, nbytes: int = 0, stream: object = 0) -> None:
        """Takes memory back, once the stream has done what it was given so far. InvalidValueError for other memory.

        nbytes is ignored. Asynchronous while the backend is open.
        """
        from stator.memory._lending import take_back

        take_back(address, stream)


class AllocatorLibrary(NamedTuple):
    """A shared library with two C functions of the form that pluggable allocators have, by their names."""

    path: str
    allocate: str
    deallocate: str


def allocator_library(device: Backend | Device | str | None = None) -> AllocatorLibrary:
    """The library whose C functions give memory of a cuda backend's pool, for torch's CUDAPluggableAllocator.

    void* stator_allocate(ssize_t size, int device, cudaStream_t stream) returns null where there is no memory, with a
    warning; void stator_deallocate(void*, ssize_t size, int device, cudaStream_t stream). From this call on they use
    the backend for its device, as long as it is open. BackendMismatchError for one that is not on cuda.

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
