"""Backends: which one a call uses, and how one is opened, made current and closed."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from stator import _backend, _creation, _random, _libraries
from stator._backend import Event, Stream
from stator.errors import DTypeError

if TYPE_CHECKING:
    from typing import Self

    from stator._array import Array
    from stator._typing import DTypeLike

log = logging.getLogger("stator")
log.addHandler(logging.NullHandler())

_current: ContextVar[tuple[Backend, ...]] = ContextVar("stator.backends", default=())
_default: Backend | None = None
_shared: dict[tuple[int, str], Backend] = {}
_lock = threading.RLock()
_open: weakref.WeakSet[Backend] = weakref.WeakSet()
_seed: int | None = None


@dataclass(frozen=True, eq=False)
class Device:
    """A place for arrays: .type is "cpu" or "cuda". Equal to its text: "cpu", "cuda:0".

    The one that an array or a backend gives stands for that very backend as long as it is open; a pickled one, and any
    other, for the process's shared backend.
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
        """The backend that it stands for; None: the shared one."""
        backend = self._backend() if self._backend is not None else None
        return None if backend is None or backend.closed or backend._process != os.getpid() else backend

    @classmethod
    def parse(cls, text: str) -> Device:
        """The device that "cpu", "cuda" or "cuda:1" names."""
        kind, _, index = _backend.parse_device(text).partition(":")
        return cls(kind, int(index or 0))


def is_available(device: str) -> bool:
    """Whether a Backend for the device can be opened. Creates no context."""
    place = Device.parse(str(device))
    return _backend.available(place.type)[0] and place.index < _backend.device_count(place.type)


def _choose() -> tuple[str, str]:
    """The device of "auto", and why."""
    usable, reason = _backend.available("cuda")
    return ("cuda:0", "a usable GPU is there") if usable else ("cpu", reason)


class Backend(_backend.Backend):
    """One opened device with its memory pool, streams and libraries. `with` makes it current and closes it."""

    nn: ClassVar[ModuleType]
    fft: ClassVar[ModuleType]
    linalg: ClassVar[ModuleType]
    sparse: ClassVar[ModuleType]
    special: ClassVar[ModuleType]
    ops: ClassVar[Any]
    _process: int  # that opened it

    def __new__(
        cls,
        device: str | Device = "auto",
        *,
        allow_tf32: bool = False,
        deterministic: bool = False,
        check_indices: str = "lazy",
        memory_limit: int | None = None,
    ) -> Self:
        """device: "auto", "cpu", "cuda", "cuda:1". check_indices: "lazy" or "eager". memory_limit: bytes."""
        _libraries.register()
        name, reason = _choose() if str(device) == "auto" else (str(device), "asked for")
        self = super().__new__(
            cls,
            name,
            allow_tf32=allow_tf32,
            deterministic=deterministic,
            check_indices=check_indices,
            memory_limit=memory_limit,
        )
        self._process = os.getpid()
        self.random.seed(secrets.randbits(64) if _seed is None else _seed)
        _open.add(self)
        log.info("opened %s with the kernels %s: %s", self.device_name, self.kernels, reason)
        return self

    @property
    def device(self) -> Device:
        """Where its arrays are: as `device=`, this very backend while it is open."""
        place = Device.parse(self.device_name)
        return Device(place.type, place.index, weakref.ref(self))

    @property
    def random(self) -> _random.Generator:
        """The backend's random numbers."""
        return _random.Generator(self)

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Every stream of the pool; the first is the default one."""
        return tuple(self.stream(i) for i in range(self.stream_count))

    def __enter__(self) -> Self:
        _current.set((*_current.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.set(_current.get()[:-1])
        self.close()

    @contextmanager
    def use(self) -> Iterator[Self]:
        """Makes it the current backend, and leaves it open."""
        token = _current.set((*_current.get(), self))
        try:
            yield self
        finally:
            _current.reset(token)

    @contextmanager
    def forbid_host_copies(self) -> Iterator[None]:
        """Inside, whatever would copy the backend's memory to the host raises HostCopyError, which names the op.

        It counts for every thread that uses the backend. Views that share memory on cpu copy nothing.
        """
        self._forbid_host_copies(True)
        try:
            yield
        finally:
            self._forbid_host_copies(False)

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

    def full(self, shape: int | Sequence[int], fill_value: complex, *, dtype: DTypeLike | None = None) -> Array:
        """As stator.full."""
        return _creation.full(shape, fill_value, dtype=dtype, device=self)

    def arange(
        self, start: float, /, stop: float | None = None, step: float = 1, *, dtype: DTypeLike | None = None
    ) -> Array:
        """As stator.arange."""
        return _creation.arange(start, stop, step, dtype=dtype, device=self)

    def asarray(
        self, obj: object, /, *, dtype: DTypeLike | None = None, copy: bool | None = None, pinned: bool = False
    ) -> Array:
        """As stator.asarray."""
        return _creation.asarray(obj, dtype=dtype, device=self, copy=copy, pinned=pinned)


def _shared_backend(name: str) -> Backend:
    """The process's backend of a device, opened on first use; a child of fork has its own."""
    key = os.getpid(), name
    with _lock:
        backend = _shared.get(key)
        if backend is None or backend.closed:
            backend = _shared[key] = Backend(name)
        return backend


def default_backend() -> Backend:
    """The current backend: of the innermost `with`, else set_default_backend, else STATOR_DEVICE, else as "auto"."""
    entered = _current.get()
    if entered:
        return entered[-1]
    if _default is not None:
        return _default
    name = os.environ.get("STATOR_DEVICE") or "auto"
    return _resolve(_choose()[0] if name == "auto" else name)


def set_default_backend(backend: Backend | Device | str | None) -> None:
    """What default_backend gives outside any `with`; None undoes it."""
    global _default
    _default = None if backend is None else _resolve(backend)


def _resolve(device: Backend | Device | str | None) -> Backend:
    """The backend that a `device=` means."""
    if device is None:
        return default_backend()
    if isinstance(device, Backend):
        return device
    if isinstance(device, (str, Device)):
        own = device.backend if isinstance(device, Device) else None
        if own is not None:
            return own
        name = str(device)
        return _shared_backend(_choose()[0] if name == "auto" else _backend.parse_device(name))
    raise DTypeError(
        f"device={device!r}", op="device", remedy="Give a Backend, a Device or a string such as 'cpu' or 'cuda:0'."
    )


def seed_all(seed: int) -> None:
    """Reseeds all open and future backends."""
    global _seed
    with _lock:
        for backend in list(_open):
            backend.random.seed(seed)
        _seed = seed


_backend.set_resolver(_resolve)

__all__ = ["Backend", "Device", "Event", "Stream", "default_backend", "is_available", "set_default_backend"]
