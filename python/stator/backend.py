"""Backends: which one a call uses, and how one is opened, made current and closed."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar, overload

from stator import _backend, _creation, _libraries, _random, _shared
from stator._accessor import AccessorAttribute
from stator._backend import Entered, Event, Stream
from stator._dask import tell
from stator._device import Device, choose, device_of, is_available
from stator._package import root
from stator.config import BackendConfig, default_device, resolve
from stator.errors import DTypeError, InvalidValueError, StatorError, renamed

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Self, Unpack

    from stator._array import Array
    from stator._typing import ArrayLike, DTypeLike, StreamLike
    from stator.config import Options
    from stator.graphs import Graph, GraphFunction
    from stator.graphs._accessor import GraphAccessor
    from stator.hardware._accessor import DeviceAccessor
    from stator.memory._accessor import MemoryAccessor
    from stator.memory._allocators import DeviceAllocator
    from stator.programs import Kernel
    from stator.programs._accessor import ProgramAccessor
    from stator.scopes import Scope
    from stator.scopes._accessor import ScopeAccessor
    from stator.scopes._cleanups import CleanupStack
    from stator.streams._accessor import StreamAccessor
    from stator.telemetry import Telemetry
    from stator.transfers._accessor import TransferAccessor

log = logging.getLogger("stator")
log.addHandler(logging.NullHandler())

P = ParamSpec("P")
R = TypeVar("R")

_default: Backend | None = None
# STATOR_DEVICE, and what it meant last, since to look takes microseconds
_found: tuple[str, Backend | None] = "", None
# Kinds of objects that a backend makes for itself and keeps.
_OWN = {"stream", "library", "program"}


class Backend(_backend.Backend):
    """One opened device with its memory pool, streams and libraries.

    `with backend:` makes it the current backend and closes it at the end. What a service does for it is an attribute:
    devices, graphs, memory, programs, scopes, streams, telemetry, transfers.
    """

    nn: ClassVar[ModuleType]
    fft: ClassVar[ModuleType]
    linalg: ClassVar[ModuleType]
    sparse: ClassVar[ModuleType]
    special: ClassVar[ModuleType]
    ops: ClassVar[Any]

    devices: AccessorAttribute[DeviceAccessor] = AccessorAttribute(
        "The device and what it can run: properties, capabilities, support of ops.", "hardware"
    )
    graphs: AccessorAttribute[GraphAccessor] = AccessorAttribute(
        "Loops and branches on the device, captures by hand, saved graphs, and a cache of graphs."
    )
    memory: AccessorAttribute[MemoryAccessor] = AccessorAttribute(
        "The pool, managed memory, buffers, arenas, and a record of allocations."
    )
    programs: AccessorAttribute[ProgramAccessor] = AccessorAttribute(
        "The cache of compiled programs; cooperative launches, batches, queues and sequences of kernels."
    )
    scopes: AccessorAttribute[ScopeAccessor] = AccessorAttribute(
        "Resources with a cleanup, and counts of live objects."
    )
    streams: AccessorAttribute[StreamAccessor] = AccessorAttribute(
        "All streams of the pool, the first being the default one; pools and streams of other libraries."
    )
    telemetry: AccessorAttribute[Telemetry] = AccessorAttribute(
        "Counters of what calls cost, traces, reports of waits, limits and monitoring."
    )
    transfers: AccessorAttribute[TransferAccessor] = AccessorAttribute(
        "Copies of selected elements and of ranges between arrays and the host."
    )

    _allocator: DeviceAllocator | None
    _process: int  # the process that opened it
    _cleanups: CleanupStack | None = None  # made at first use, by stator.scopes

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
        _backend.set_jit_cache(chosen.get("jit_cache_path"), chosen.get("jit_cache_size"))  # before choose()
        name, reason = choose() if wanted == "auto" else (_backend.parse_device(wanted), "asked for")
        allocators = sys.modules.get("stator.memory._allocators")  # loaded where one was chosen
        if allocator is None and allocators is not None:
            allocator = allocators.chosen.get(name)
        functions = None
        if allocator is not None:
            from stator.memory._allocators import allocator_functions

            functions = allocator_functions(allocator)
        self = super().__new__(cls, name, allocator=functions, **chosen)
        self._allocator = allocator
        self._process = os.getpid()
        self.random.seed(int.from_bytes(os.urandom(8)) if _shared.seed is None else _shared.seed)
        _shared.opened.add(self)
        if name != "cpu":
            from stator.hardware.first_use import tell_first_use

            tell_first_use(name)
        log.info("opened %s with the kernels %s: %s", self.device_name, self.kernels, reason)
        return self

    @property
    def device(self) -> Device:
        """The device of its arrays; as a `device=` argument it means this very backend while it is open."""
        return device_of(self)

    @property
    def config(self) -> BackendConfig:
        """What it was opened with, from whatever source: Backend(config=be.config) opens one of the same."""
        return BackendConfig(self.device_name, **self.options)

    @property
    def random(self) -> _random.Generator:
        """The backend's generator of random numbers."""
        return _random.Generator(self)

    @property
    def current_stream(self) -> Stream:
        """The stream that ops use: that of the innermost `with stream:`, else stream 0."""
        return _backend.current_stream(self)

    def close(self) -> None:
        """Runs the cleanups of resources, synchronises, and releases every resource, newest first. Idempotent.

        CleanupError where cleanups raised, once all is closed.
        """
        if self._cleanups is None:
            return super().close()
        from stator.scopes._cleanups import raise_collected

        raised = self._cleanups.run()
        super().close()
        raise_collected(raised, "Backend.close")

    def reopen(self) -> Self:
        """A new backend on the device and with the options of this one, which is closed. Its arrays stay closed.

        An allocator serves the new one too.
        InvalidValueError where it is open: another one beside it is Backend(device).

        >>> other = stator.Backend("cpu", deterministic=True)
        >>> other.close()
        >>> with other.reopen() as again:
        ...     again.options["deterministic"]
        True
        """
        if not self.closed:
            raise InvalidValueError(
                "The backend is open", op="Backend.reopen", remedy="Call close() first, or open another Backend."
            )
        options: dict[str, Any] = self.options
        return type(self)(self.device_name, allocator=self._allocator, **options)

    async def __aenter__(self) -> Self:
        self.__enter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from asyncio import to_thread

        _backend.remove_backend(self)
        await to_thread(self.close)

    def use(self) -> AbstractContextManager[Self]:
        """Makes it the current backend inside a `with`, and leaves it open at the end."""
        return _backend.use_backend(self)

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
        memory.set_failure_callback(), and then raises OutOfMemoryError, which has the name and what holds the most
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

        return Scope(self, budget, name)

    def forbid_host_copies(self) -> AbstractContextManager[None]:
        """Makes copies of the backend's memory to the host raise HostCopyError inside a `with`.

        The error names the op. It holds in every thread that uses the backend. Views that share memory on cpu copy
        nothing.
        """
        return Entered(partial(self._forbid_host_copies, True), partial(self._forbid_host_copies, False))

    def error_context(self, text: str, *, convert: bool = False) -> AbstractContextManager[None]:
        """Adds the text and the device as a note to whatever a `with` block raises (PEP 678); tracebacks show it.

        convert: exceptions of other libraries come out as stator's, as of stator.errors.convert_error().

        >>> with be.error_context("while reading the weights"):
        ...     be.ones(3) + be.ones(4)
        Traceback (most recent call last):
        stator.errors.ShapeError: ...
        """
        from stator._recovery.context import noted, noting

        op = "Backend.error_context"
        if not isinstance(convert, bool):
            raise DTypeError(f"Got convert of type {type(convert).__name__}", op=op, remedy="Give True or False.")
        return noting(noted(text, self.device_name, op, "text"), convert, op)

    def namespace(self) -> ModuleType:
        """The namespace of the array API whose functions take the backend's arrays: the module stator.

        Functions that make new arrays use the current backend, or that of `device=`.
        """
        return root()

    def capture(self, *, stream: StreamLike | None = None, record: bool = False) -> AbstractContextManager[Graph]:
        """Captures the work of a `with` block into a graph, instead of running it.

        Arrays that the block makes get their values when the graph is launched, and new ones at every launch; the
        arrays that it uses are kept alive, and their values are read at every launch. The stream, by default the
        current one, is current in the block, and captured only for this thread: other threads use it as before.
        Streams that wait for its events are captured too. What needs values on the host raises CaptureError, and so
        does an op whose entry in the op table says not_capturable. record: the calls of stator's functions are noted
        for Graph.save, which keeps every array alive that they make.

        >>> x = be.ones(3)
        >>> with be.capture() as graph:
        ...     y = x + 1
        >>> graph.launch()
        >>> y.tolist()
        [2.0, 2.0, 2.0]
        """
        from stator.graphs.graphs import capture

        return capture(self, stream, (), record)

    def graph(
        self, function: Callable[P, R], /, *, max_graphs: int = 64, max_bytes: int | None = None
    ) -> GraphFunction[P, R]:
        """As stator.graph, for arrays of this backend."""
        from stator.graphs.graphs import GraphFunction

        return GraphFunction(function, self, max_graphs, max_bytes)

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
        are added. What was compiled is kept by source, names and options (programs.info()).
        Raises: CompileError with the compiler's log; LibraryNotFoundError without NVRTC; UnsupportedError on the cpu.

        >>> kernel = be.compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }", "twice")  # doctest: +SKIP
        >>> kernel.launch(1, 4, x)  # doctest: +SKIP
        """
        from stator.programs.programs import compile_program

        return compile_program(self, source, name, options)

    def __del__(
        self, finalizing: Callable[[], bool] = sys.is_finalizing, process: Callable[[], int] = os.getpid
    ) -> None:
        if finalizing():  # names of this module may be gone
            return
        if getattr(self, "_process", None) != process() or self.closed:
            return
        try:
            counts = Counter(resource["kind"] for resource in self.resources() if resource["kind"] not in _OWN)
            if self._cleanups:
                counts["resource"] = len(self._cleanups)
            # Raises in a callback of a stream, where what was released is still counted.
            answers = bool(counts) and _backend.priority_range(self) is not None
        except StatorError:
            return
        if answers:
            text = ", ".join(f"{count} of kind {kind}" for kind, count in counts.items())
            warnings.warn(f"unclosed {self!r} with live resources: {text}", ResourceWarning, source=self, stacklevel=2)

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


def _shared_backend(name: str) -> Backend:
    """The process's shared backend of a device, opened at first use."""
    with _shared.lock:
        backend = _shared.open_backend(name)
        if backend is None:
            backend = _shared.backends[os.getpid(), name] = Backend(name)
            tell()
        assert isinstance(backend, Backend)
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
        backend = _resolve(choose()[0] if wanted == "auto" else wanted)
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
        if isinstance(own, Backend):
            return own
        name = str(device)
        try:
            return _shared_backend(choose()[0] if name == "auto" else _backend.parse_device(name))
        except StatorError as error:
            raise renamed(error, op) from None
    raise DTypeError(
        f"A device cannot be of type {type(device).__name__}",
        op=op,
        remedy="Give a Backend, a Device or a string such as 'cpu' or 'cuda:0'.",
    )


def shutdown() -> None:
    """Runs the cleanups of resources and closes every backend that Python opened, as its end does. Waits.

    On the cpu, work whose results cannot be read is waited for half a second, and dropped where it has not begun.
    """
    cleanups = sys.modules.get("stator.scopes._cleanups")  # loaded where there are any
    if cleanups is not None:
        cleanups.run_all()
    _backend.shutdown()


_backend.set_resolver(_resolve)

__all__ = ["Backend", "Device", "Event", "Stream", "default_backend", "is_available", "set_default_backend", "shutdown"]


def __dir__() -> list[str]:
    return [*__all__]
