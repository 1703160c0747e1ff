"""What child processes report, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Device:
    """A device that the driver lists. compute_mode: CUcomputemode, 0 for the default one."""

    name: str
    capability: tuple[int, int]
    compute_mode: int = 0
    uuid: str = ""


@dataclass(frozen=True)
class Driver:
    """What libcuda.so.1 says before any context exists.

    failure: how the process that asked ended, if not well. error: why the library does not open. init: the status of
    cuInit. version: 13000 for CUDA 13.0. What is not known is None.
    """

    failure: str = ""
    path: str | None = None
    error: str = ""
    init: int | None = None
    version: int | None = None
    devices: tuple[Device, ...] = ()


@dataclass(frozen=True)
class Library:
    """What stator's loader says of a vendor library, which is not opened for it."""

    name: str
    path: str  # empty where it would be left to the system's search
    remedy: str
    substitute: str
    wheel_file: str

    @property
    def soname(self) -> str:
        return self.wheel_file.rpartition("/")[2]


@dataclass(frozen=True)
class Package:
    """What a process that imports stator reports.

    failure: why the import fails, else empty. cuda_reason: why no cuda device is usable. cpu_error: what opening a cpu
    backend and multiplying two matrices raised. variables: those of the configuration, and what they come to.
    """

    failure: str = ""
    version: str = ""
    cuda_built: bool = False
    cuda_usable: bool = False
    cuda_reason: str = ""
    emulated: bool = False
    cpu_error: str = ""
    libraries: tuple[Library, ...] = ()
    variables: tuple[str, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    configuration_error: str = ""
