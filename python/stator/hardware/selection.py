"""The choice of a device by a stated rule."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from stator.errors import DeviceUnavailableError, DTypeError, InvalidValueError
from stator.hardware.device_info import DeviceInfo
from stator.hardware.enumeration import devices
from stator.hardware.kinds import BackendType


@dataclass(frozen=True)
class DeviceRequirements:
    """What find_best_device() asks of a device. A fact that is not known fulfils no requirement.

    device_type: a BackendType or its name. min_memory, min_free_memory: bytes. min_gflops: 10^9 operations per second
    of float32. min_compute_capability: such as (8, 0). double_precision, fast_math, async_memory: True where they are
    needed. emulated: True admits emulated devices. provider: whose devices.
    """

    device_type: object = None
    min_memory: int | None = None
    min_free_memory: int | None = None
    min_gflops: float | None = None
    min_compute_capability: tuple[int, int] | None = None
    double_precision: bool = False
    fast_math: bool = False
    async_memory: bool = False
    emulated: bool = False
    provider: str | None = None

    def __post_init__(self) -> None:
        wrong = []
        if self.device_type is not None:
            try:
                BackendType.parse(self.device_type)
            except (DTypeError, InvalidValueError):
                wrong.append(f"device_type={self.device_type!r} is not a type of devices")
        for name in ("min_memory", "min_free_memory", "min_gflops"):
            value = getattr(self, name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, Real) or not operator.ge(value, 0):
                wrong.append(f"{name}={value!r} is not a number of at least 0")
        pair = self.min_compute_capability
        if pair is not None and not (isinstance(pair, tuple) and [type(n) for n in pair] == [int, int]):
            wrong.append(f"min_compute_capability={pair!r} is not a pair of integers")
        for name in ("double_precision", "fast_math", "async_memory", "emulated"):
            if not isinstance(getattr(self, name), bool):
                wrong.append(f"{name}={getattr(self, name)!r} is neither True nor False")
        if wrong:
            raise InvalidValueError(
                "; ".join(wrong), op="DeviceRequirements", remedy="Correct these fields, or leave them out."
            )

    def missing(self, device: DeviceInfo) -> list[str]:
        """What the device lacks, in words; empty where it fulfils all. DTypeError for what is not a DeviceInfo."""
        if not isinstance(device, DeviceInfo):
            raise DTypeError(
                f"Got device of type {type(device).__name__}",
                op="DeviceRequirements.missing",
                remedy="Give a DeviceInfo, as stator.devices() lists them.",
            )
        lacks = []
        kind = None if self.device_type is None else BackendType.parse(self.device_type)
        if kind not in (None, BackendType.AUTO, device.type):
            lacks.append(f"is not a {kind} device")
        if device.emulated and not self.emulated:
            lacks.append("is emulated")
        if self.provider is not None and device.provider != self.provider:
            lacks.append(f"is not of the provider {self.provider}")
        least: dict[str, tuple[Any, Any]] = {
            "bytes of memory": (self.min_memory, device.memory_total),
            "bytes of free memory": (self.min_free_memory, device.memory_free),
            "GFLOPS": (self.min_gflops, device.peak_gflops.get("float32")),
            "compute capability": (self.min_compute_capability, device.compute_capability),
        }
        for what, (needed, has) in least.items():
            if needed is not None and (has is None or has < needed):
                lacks.append(f"{what}: needs {needed}, has {'an unknown number' if has is None else has}")
        for name in ("double_precision", "fast_math", "async_memory"):
            if getattr(self, name) and not getattr(device, name):
                lacks.append(f"no {name}")
        return lacks


def _requirements(given: DeviceRequirements | Mapping[str, Any] | None) -> DeviceRequirements:
    if isinstance(given, DeviceRequirements):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise DTypeError(
            f"Got requirements of type {type(given).__name__}",
            op="find_best_device",
            remedy="Give a DeviceRequirements, or a dict of its fields.",
        )
    values = dict(given or {})
    known = [each.name for each in fields(DeviceRequirements)]
    unknown = sorted(str(name) for name in values if name not in known)
    if unknown:
        raise InvalidValueError(
            f"unknown requirements {', '.join(unknown)}", op="find_best_device", remedy=f"There are {', '.join(known)}."
        )
    return DeviceRequirements(**values)


# What comes first wins. A fact that is not known counts as the least.
_RANK: tuple[Callable[[DeviceInfo], Any], ...] = (
    lambda d: d.type is not BackendType.CPU,
    lambda d: not d.emulated,
    lambda d: d.provider == "stator",
    lambda d: d.peak_gflops.get("float32") or 0.0,
    lambda d: d.memory_total or 0,
    lambda d: -d.index,
)


def find_best_device(requirements: DeviceRequirements | Mapping[str, Any] | None = None) -> DeviceInfo:
    """The first device, of those that fulfil the requirements, by this order. Creates no context.

    GPUs before the host; then real devices before emulated ones, which are candidates only where requirements ask for
    them; then stator's own before those of providers; then the greatest peak of float32, the most memory, and the
    lowest index. requirements: a DeviceRequirements, or a dict of its fields.
    Raises: DeviceUnavailableError that says what each device lacks; InvalidValueError for unknown or wrong fields.

    >>> stator.find_best_device({"device_type": "cpu"}).device
    'cpu'
    """
    needed = _requirements(requirements)
    found = devices()
    lacks = {each: needed.missing(each) for each in found}
    fitting = [each for each in found if not lacks[each]]
    if not fitting:
        each_lacks = "; ".join(f"{each.device} {', '.join(lacks[each])}" for each in found)
        raise DeviceUnavailableError(
            f"No device fulfils the requirements: {each_lacks}", op="find_best_device", remedy="Ask for less."
        )
    return max(fitting, key=lambda device: tuple(rank(device) for rank in _RANK))
