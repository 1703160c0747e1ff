"""Memory shared with other libraries: allocators that a backend takes its memory from, and its pool for others."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from stator.errors import DTypeError

if TYPE_CHECKING:
    from stator.backend import Backend, Device


class DeviceAllocator(Protocol):
    """What Backend(allocator=) takes: an object that gives device memory and takes it back.

    allocate(nbytes, stream) returns the address of nbytes of memory of the backend's device, aligned to 256 bytes (64
    on the cpu), for work that the stream is given from then on. deallocate(address, nbytes, stream) gets each address
    back once, in the order of that stream. stream: a cudaStream_t as an integer that has __cuda_stream__(); 0 says that
    nothing uses the memory any more, and on the cpu the stream has no meaning. Any thread calls them, several at once
    too, and they call no function of the backend that they serve. What allocate() raises becomes .allocator_error of an
    OutOfMemoryError, after what the backend kept was given back and it was asked once more.
    """

    def allocate(self, nbytes: int, stream: int, /) -> int:
        """The address of nbytes of memory of the device."""

    def deallocate(self, address: int, nbytes: int, stream: int, /) -> object:
        """Takes back what allocate() gave."""


class NativeStream(int):
    """A cudaStream_t as an integer, which other libraries take as a stream, too."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self)


def allocator_functions(allocator: DeviceAllocator) -> tuple[Callable[[int, int], int], Callable[[int, int, int], Any]]:
    """The functions of an allocator as a backend calls them, with streams as integers."""
    for name in ("allocate", "deallocate"):
        if not callable(getattr(allocator, name, None)):
            raise DTypeError(
                f"Got allocator of type {type(allocator).__name__}, which has no method {name}",
                op="Backend",
                remedy="Give an object with allocate(nbytes, stream) and deallocate(address, nbytes, stream).",
            )
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
    close before it is given back.

    >>> pool = stator.memory.PoolAllocator(be)
    >>> address = pool.allocate(1024)
    >>> be.memory_stats()["exported_bytes"]
    1024
    >>> pool.deallocate(address)
    """

    def __init__(self, device: Backend | Device | str | None = None) -> None:
        from stator.backend import _resolve

        self.backend = _resolve(device, "memory.PoolAllocator")

    def allocate(self, nbytes: int, stream: object = 0) -> int:
        """The address of nbytes of memory of the device, for work that the stream is given from now on. Asynchronous.

        stream: cuda: a cudaStream_t as an integer, 0 for the legacy default stream, or an object with
        __cuda_stream__(). OutOfMemoryError; CaptureError where the stream is being captured into a graph.
        """
        from stator.execution._lending import lend

        return lend(self.backend, nbytes, stream)

    def deallocate(self, address: int, nbytes: int = 0, stream: object = 0) -> None:
        """Takes memory back, once the stream has done what it was given so far. InvalidValueError for other memory.

        nbytes is not looked at. Asynchronous while the backend is open.
        """
        from stator.execution._lending import take_back

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
    from stator.backend import _resolve
    from stator.errors import StatorError, renamed
    from stator.execution._lending import serve

    op = "memory.allocator_library"
    try:
        serve(_resolve(device, op))
    except StatorError as error:
        raise renamed(error, op) from None
    return AllocatorLibrary(
        str(Path(_backend.__file__).parent / "lib/libstator.so"), "stator_allocate", "stator_deallocate"
    )
