"""Backends: which one a call uses, and how one is opened, made current and closed."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, overload

from stator import _backend, _creation, _libraries, _random, _scheduling
from stator._backend import Entered, Event, Stream
from stator._backend_graphs import BackendGraphs
from stator._backend_monitor import BackendMonitor
from stator._backend_telemetry import BackendTelemetry
from stator._dask import tell
from stator._recovery.methods import BackendErrors
from stator.config import BackendConfig, default_device, resolve
from stator.errors import DTypeError, StatorError, renamed
from stator.hardware.backend_methods import BackendDevices
from stator.hardware.first_use import tell_first_use
from stator.memory._managed_methods import BackendManaged
from stator.memory._methods import BackendMemory
from stator.scopes._methods import BackendResources

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self, Unpack

    from stator._array import Array
    from stator._typing import ArrayLike, DTypeLike, StreamLike
    from stator.config import Options
    from stator.memory._allocators import DeviceAllocator
    from stator.programs import Kernel, KernelDescriptor, ProgramCacheInfo
    from stator.programs.programs import ProgramCache
    from stator.streams import StreamPool

log = logging.getLogger("stator")
log.addHandler(logging.NullHandler())

_default: Backend | None = None
# STATOR_DEVICE, and what it meant last, since to look takes microseconds
_found: tuple[str, Backend | None] = "", None
_shared: dict[tuple[int, str], Backend] = {}
_allocators: dict[str, DeviceAllocator] = {}  # what memory.set_allocator() chose, by device
_lock = threading.RLock()
_open: weakref.WeakSet[Backend] = weakref.WeakSet()
_seed: int | None = None


@dataclass(frozen=True, eq=False)
class Device:
    """A device for arrays: .type is "cpu" or "cuda"; it is equal to its text, such as "cuda:0".

    As a `device=` argument, the Device of an array or a backend means that very backend as long as it is open; a
    pickled Device, and any other one, means the process's shared backend of the device.
    """

    type: str
    index: int = 0
    _backend: weakref.ref[Backend] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.type if self.type == "cpu" else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, (Device, str)) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return Device, (self.type, self.index)

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self

    @property
    def backend(self) -> Backend | None:
        """The backend that it means as an argument; None for the shared one."""
        backend = self._backend() if self._backend is not None else None
        return None if backend is None or backend.closed or backend._process != os.getpid() else backend

    @classmethod
    def parse(cls, text: str) -> Device:
        """The device of a name: "cpu", "cuda" or "cuda:1"."""
        try:
            kind, _, index = _backend.parse_device(text).partition(":")
        except StatorError as error:
            raise renamed(error, "Device.parse") from None
        return cls(kind, int(index or 0))


def is_available(device: str) -> bool:
    """Whether a Backend for the device can be opened. Creates no context."""
    try:
        parsed = Device.parse(str(device))
    except StatorError as error:
        raise renamed(error, "is_available") from None
    return _backend.available(parsed.type)[0] and parsed.index < _backend.device_count(parsed.type)


def _choose() -> tuple[str, str]:
    """The device of "auto", and the reason for the choice."""
    usable, reason = _backend.available("cuda")
    if usable and _backend.emulated("cuda"):
        return "cpu", "the GPU is emulated"
    return ("cuda:0", "a usable GPU is there") if usable else ("cpu", reason)


class Backend(
    _backend.Backend,
    BackendDevices,
    BackendGraphs,
    BackendTelemetry,
    BackendErrors,
    BackendResources,
    BackendManaged,
    BackendMemory,
    BackendMonitor,
):
    """One opened device with its memory pool, streams and libraries.

    `with backend:` makes it the current backend and closes it at the end.
    """

    nn: ClassVar[ModuleType]
    fft: ClassVar[ModuleType]
    linalg: ClassVar[ModuleType]
    sparse: ClassVar[ModuleType]
    special: ClassVar[ModuleType]
    ops: ClassVar[Any]
    _allocator: DeviceAllocator | None
    _process: int  # the process that opened it
    _cache_of_programs: ProgramCache | None

    def __new__(
        cls,
        device: str | Device | None = None,
        *,
        config: BackendConfig | None = None,
        allocator: DeviceAllocator | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Opens a backend.

        device: "auto" (cuda:0 when usable, else cpu), "cpu", "cuda" or "cuda:1". options: the other fields of
        BackendConfig, which describes them. What the call does not say comes from config, else from the variables
        STATOR_DEVICE, STATOR_MEMORY_LIMIT, ..., else from the table [backend] of the TOML file that STATOR_CONFIG
        names, else it is the default. allocator: where the device memory comes from, an object with allocate(nbytes,
        stream) -> address and deallocate(address, nbytes, stream), such as a memory resource of RMM; see
        stator.memory.DeviceAllocator. None: what memory.set_allocator() chose for the device, else stator's own.
        Raises: ConfigurationError, which lists every value that cannot be used; DeviceUnavailableError;
        OutOfMemoryError where a device has less than memory_pool_size.
        """
        _libraries.register()
        chosen = resolve(config, {"device": device, **options}).to_dict()
        wanted = chosen.pop("device")
        _backend.set_jit_cache(chosen.get("jit_cache_path"), chosen.get("jit_cache_size"))  # before _choose()
        name, reason = _choose() if wanted == "auto" else (_backend.parse_device(wanted), "asked for")
        allocator = _allocators.get(name) if allocator is None else allocator
        functions = None
        if allocator is not None:
            from stator.memory._allocators import allocator_functions

            functions = allocator_functions(allocator)
        self = super().__new__(cls, name, allocator=functions, **chosen)
        self._allocator = allocator
        self._process = os.getpid()
        self._cache_of_programs = None
        self.random.seed(int.from_bytes(os.urandom(8)) if _seed is None else _seed)
        _open.add(self)
        tell_first_use(self.device_name)
        log.info("opened %s with the kernels %s: %s", self.device_name, self.kernels, reason)
        return self

    @property
    def device(self) -> Device:
        """The device of its arrays; as a `device=` argument it means this very backend while it is open."""
        parsed = Device.parse(self.device_name)
        return Device(parsed.type, parsed.index, weakref.ref(self))

    @property
    def config(self) -> BackendConfig:
        """What it was opened with, from whatever source: Backend(config=be.config) opens one of the same."""
        return BackendConfig(self.device_name, **self.options)

    @property
    def random(self) -> _random.Generator:
        """The backend's generator of random numbers."""
        return _random.Generator(self)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """All streams of the pool; the first is the default one."""
        return tuple(self.stream(i) for i in range(self.stream_count))

    @property
    def current_stream(self) -> Stream:
        """The stream that ops use: that of the innermost `with stream:`, else stream 0."""
        return _backend.current_stream(self)

    def stream_pool(self, count: int, /, *, priority: int = 0) -> StreamPool:
        """Streams after the default one that are returned in turn.

        count: 1 to 7. priority: of them all, see stream(). Pools may share streams. InvalidValueError where the backend
        has fewer streams that have the priority or were not used yet.

        >>> pool = be.stream_pool(2)
        >>> [pool.next().index for _ in range(3)]
        [1, 2, 1]
        """
        from stator.streams import StreamPool

        return StreamPool(self._pool_streams(count, priority))

    def write_ranges(self, ranges: Sequence[tuple[Array, int, object]], *, stream: StreamLike | None = None) -> None:
        """Copies many pieces of host memory into arrays: (array, offset in bytes, host). Asynchronous on cuda.

        What follows each other in memory of the device is one copy. host: as for Array.copy_from, read on return. Of
        more than 256 MiB the call waits for earlier copies.

        >>> x = be.zeros(6, dtype="uint8")
        >>> be.write_ranges([(x, 0, bytes([1, 2])), (x, 4, bytes([3]))])
        >>> x.tolist()
        [1, 2, 0, 0, 3, 0]
        """
        from stator.transfers._transfers import write_ranges

        write_ranges(self, ranges, stream)

    def read_ranges(self, ranges: Sequence[tuple[Array, int, object]], *, stream: StreamLike | None = None) -> None:
        """Copies many pieces of arrays into host memory: (array, offset in bytes, host). Synchronises once.

        What follows each other in memory of the device is one copy.
        """
        from stator.transfers._transfers import read_ranges

        read_ranges(self, ranges, stream)

    def close(self) -> None:
        """Runs the cleanups of resources, synchronises, and releases every resource, newest first. Idempotent.

        CleanupError where cleanups raised, once all is closed.
        """
        self._close_after_cleanups(super().close)

    def use(self) -> AbstractContextManager[Self]:
        """Makes it the current backend inside a `with`, and leaves it open at the end."""
        return Entered(partial(_backend.add_backend, self), _backend.remove_backend)

    def forbid_host_copies(self) -> AbstractContextManager[None]:
        """Makes copies of the backend's memory to the host raise HostCopyError inside a `with`.

        The error names the op. It holds in every thread that uses the backend. Views that share memory on cpu copy
        nothing.
        """
        return Entered(partial(self._forbid_host_copies, True), partial(self._forbid_host_copies, False))

    def namespace(self) -> ModuleType:
        """The namespace of the array API whose functions take the backend's arrays: the module stator.

        Functions that make new arrays use the current backend, or that of `device=`.
        """
        import stator

        return stator

    @property
    def _programs(self) -> ProgramCache:
        """The cache of compiled programs, made at first use."""
        if self._cache_of_programs is None:
            from stator.programs.programs import ProgramCache

            with _lock:
                self._cache_of_programs = self._cache_of_programs or ProgramCache()
        return self._cache_of_programs

    @overload
    def compile(self, source: str | bytes, name: str, options: Sequence[str] = ()) -> Kernel: ...
    @overload
    def compile(
        self, source: str | bytes, name: list[str] | tuple[str, ...], options: Sequence[str] = ()
    ) -> tuple[Kernel, ...]: ...
    def compile(
        self, source: str | bytes, name: str | list[str] | tuple[str, ...], options: Sequence[str] = ()
    ) -> Kernel | tuple[Kernel, ...]:
        """Compiles kernels of your own, on cuda.

        source: CUDA C++, PTX (text that begins with .version), or as bytes a cubin, a fat binary or PTX. name: a
        kernel, or several, of which a tuple is returned; of CUDA C++ also instances of templates ("axpy<float>"), of
        other code the names that it has. options: NVRTC's; the folders of CUDA's headers and the device's architecture
        are added. What was compiled is kept by source, names and options (program_cache_info).
        Raises: CompileError with the compiler's log; LibraryNotFoundError without NVRTC; UnsupportedError on the cpu.

        >>> kernel = be.compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }", "twice")  # doctest: +SKIP
        >>> kernel.launch(1, 4, x)  # doctest: +SKIP
        """
        from stator.programs.programs import compile_program

        return compile_program(self, source, name, options)

    def create_kernel(self, descriptor: KernelDescriptor) -> Kernel:
        """As compile(), of one kernel that a stator.programs.KernelDescriptor describes."""
        from stator.programs.programs import create_kernel

        return create_kernel(self, descriptor)

    def execute_kernel(
        self,
        kernel: Kernel,
        buffers: Sequence[Array],
        uniform_data: bytes,
        workgroup_size: tuple[int, ...],
        workgroup_count: tuple[int, ...],
        *,
        stream: StreamLike | None = None,
    ) -> None:
        """Launches a kernel whose parameters are pointers, followed by the values in uniform_data.

        buffers: the arrays. uniform_data: the bytes of the other parameters, laid out as a structure in C.
        workgroup_size: threads of a block. workgroup_count: blocks. Asynchronous.
        """
        from stator.programs.programs import uniform_values

        values = uniform_values(self, kernel, buffers, uniform_data)
        kernel.launch(workgroup_count, workgroup_size, *buffers, *values, stream=stream)

    def program_cache_info(self) -> ProgramCacheInfo:
        """Hits, misses, evictions, programs and limit of the cache that compile() uses."""
        return self._programs.info()

    def clear_program_cache(self) -> None:
        """Drops what compile() keeps; kernels that are in use stay loaded as long."""
        self._programs.clear()

    is_cooperative_groups_supported = _scheduling.is_cooperative_groups_supported
    suggest_cooperative_config = _scheduling.suggest_cooperative_config
    launch_cooperative_kernel = _scheduling.launch_cooperative_kernel
    finish_cooperative_kernel = _scheduling.finish_cooperative_kernel
    read_selected = _scheduling.read_selected
    batched = _scheduling.batched
    diagnostics = _scheduling.diagnostics
    work_queue = _scheduling.work_queue
    sequence = _scheduling.sequence

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle: the device and the options, which give a backend of the same in the process that reads it."""
        from stator._pickling import reduce_backend

        return reduce_backend(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<stator.Backend {self.device_name}{' closed' if self.closed else ''}>"

    def empty(self, shape: int | Sequence[int], *, dtype: DTypeLike | None = None) -> Array:
        """As stator.empty."""
        return _creation.empty(shape, dtype=dtype, device=self)

    def zeros(self, shape: int | Sequence[int], *, dtype: DTypeLike | None = None) -> Array:
        """As stator.zeros."""
        return _creation.zeros(shape, dtype=dtype, device=self)

    def ones(self, shape: int | Sequence[int], *, dtype: DTypeLike | None = None) -> Array:
        """As stator.ones."""
        return _creation.ones(shape, dtype=dtype, device=self)

    def full(self, shape: int | Sequence[int], fill_value: complex | Array, *, dtype: DTypeLike | None = None) -> Array:
        """As stator.full."""
        return _creation.full(shape, fill_value, dtype=dtype, device=self)

    def arange(
        self, start: float, /, stop: float | None = None, step: float = 1, *, dtype: DTypeLike | None = None
    ) -> Array:
        """As stator.arange."""
        return _creation.arange(start, stop, step, dtype=dtype, device=self)

    def asarray(
        self, obj: ArrayLike, /, *, dtype: DTypeLike | None = None, copy: bool | None = None, pinned: bool = False
    ) -> Array:
        """As stator.asarray."""
        return _creation.asarray(obj, dtype=dtype, device=self, copy=copy, pinned=pinned)


def _open_shared_backend(name: str) -> Backend | None:
    """The process's shared backend of a device where it is open; a forked child has its own."""
    backend = _shared.get((os.getpid(), name))
    return None if backend is None or backend.closed else backend


def _shared_backend(name: str) -> Backend:
    """The process's shared backend of a device, opened at first use."""
    with _lock:
        backend = _open_shared_backend(name)
        if backend is None:
            backend = _shared[os.getpid(), name] = Backend(name)
            tell()
        return backend


def default_backend() -> Backend:
    """The current backend.

    That of the innermost `with`, else of set_default_backend, else of the environment variable STATOR_DEVICE, else of
    the file that STATOR_CONFIG names, else of "auto".
    """
    entered = _backend.current_backends()
    if entered:
        return entered[-1]  # type: ignore[return-value]  # all are of this class
    if _default is not None:
        return _default
    global _found
    name = os.environ.get("STATOR_DEVICE") or "auto"
    last, backend = _found
    if last != name or backend is None or backend.closed or backend._process != os.getpid():
        wanted = name
        if name == "auto" and os.environ.get("STATOR_CONFIG"):
            wanted = default_device()
        backend = _resolve(_choose()[0] if wanted == "auto" else wanted)
        _found = name, backend
    return backend


def set_default_backend(backend: Backend | Device | str | None) -> None:
    """Sets the backend that is current outside any `with`; None undoes it."""
    global _default
    _default = None if backend is None else _resolve(backend, "set_default_backend")


def _resolve(device: Backend | Device | str | None, op: str = "device") -> Backend:
    """The backend of the argument `device` of an op."""
    if device is None:
        return default_backend()
    if isinstance(device, Backend):
        return device
    if isinstance(device, (str, Device)):
        own = device.backend if isinstance(device, Device) else None
        if own is not None:
            return own
        name = str(device)
        try:
            return _shared_backend(_choose()[0] if name == "auto" else _backend.parse_device(name))
        except StatorError as error:
            raise renamed(error, op) from None
    raise DTypeError(
        f"A device cannot be of type {type(device).__name__}",
        op=op,
        remedy="Give a Backend, a Device or a string such as 'cpu' or 'cuda:0'.",
    )


def seed_all(seed: int) -> None:
    """Seeds the generators of all open and future backends."""
    global _seed
    seed = _random.checked_seed(seed)
    with _lock:
        for backend in list(_open):
            backend.random.seed(seed)
        _seed = seed


_backend.set_resolver(_resolve)

__all__ = ["Backend", "Device", "Event", "Stream", "default_backend", "is_available", "set_default_backend"]


def __dir__() -> list[str]:
    return [*__all__]
