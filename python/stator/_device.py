"""Devices by name, and which of them can be used."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass, field

from stator import _backend
from stator._backend import Backend
from stator.errors import StatorError, renamed


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
        if backend is None or backend.closed or vars(backend)["_process"] != os.getpid():
            return None
        return backend

    @classmethod
    def parse(cls, text: str) -> Device:
        """The device of a name: "cpu", "cuda" or "cuda:1"."""
        try:
            kind, _, index = _backend.parse_device(text).partition(":")
        except StatorError as error:
            raise renamed(error, "Device.parse") from None
        return cls(kind, int(index or 0))


def device_of(backend: Backend) -> Device:
    """The device of a backend, which means that backend as a `device=` argument."""
    parsed = Device.parse(backend.device_name)
    return Device(parsed.type, parsed.index, weakref.ref(backend))


def is_available(device: str) -> bool:
    """Whether a Backend for the device can be opened. Creates no context."""
    try:
        parsed = Device.parse(str(device))
    except StatorError as error:
        raise renamed(error, "is_available") from None
    return _backend.available(parsed.type)[0] and parsed.index < _backend.device_count(parsed.type)


def choose() -> tuple[str, str]:
    """The device of "auto", and the reason for the choice."""
    usable, reason = _backend.available("cuda")
    if usable and _backend.emulated("cuda"):
        return "cpu", "the GPU is emulated"
    return ("cuda:0", "a usable GPU is there") if usable else ("cpu", reason)
