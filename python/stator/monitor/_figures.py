"""Figures of a backend, read from what it counts in any case. What cannot be known is None."""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

from stator._backend import memory_stats
from stator._device import Device
from stator.config._problems import Problem, raise_all, shown
from stator.errors import DTypeError, InvalidValueError, StatorError, renamed
from stator.memory._arguments import byte_count
from stator.programs.programs import cache_of

if TYPE_CHECKING:
    from stator._backend import Backend
    from stator.monitor import Monitor


@dataclass(frozen=True)
class ResourceUsage:
    """What a backend uses now.

    memory_used: bytes of live device and page-locked memory. memory_cached: freed bytes that the pool keeps.
    buffers_allocated: live buffers. kernels_cached: programs that Backend.compile() keeps. active_streams: streams that
    were opened. cpu_percent: processor time of the process since the last reading, where 100 is one core; None where
    that was less than 10 ms ago. gpu_percent: how much of the time the GPU ran kernels, of whatever process, as NVML
    says.
    """

    memory_used: int
    memory_cached: int
    buffers_allocated: int
    kernels_cached: int
    active_streams: int
    cpu_percent: float | None
    gpu_percent: float | None


@dataclass(frozen=True)
class ResourceLimits:
    """What a backend may use.

    max_memory: bytes of live and cached memory; None: what the device has. max_kernels: programs that
    Backend.compile() keeps, at least 1. memory_pressure_threshold: the part of the memory, above 0 and at most 1, at
    which callbacks are called that name no other. ConfigurationError, which lists every value that cannot be used.
    """

    max_memory: int | None = None
    max_kernels: int = 128
    memory_pressure_threshold: float = 0.9

    def __post_init__(self) -> None:
        op, problems = "ResourceLimits", []
        for name in ("max_memory", "max_kernels"):
            value = getattr(self, name)
            if value is None and name == "max_memory":
                continue
            try:
                object.__setattr__(self, name, byte_count(value, name, op, 1))
            except StatorError:
                rule = "it is a whole number from 1 to 2**63 - 1"
                problems.append(Problem(name, shown(value), rule, "Give 1 to 2**63 - 1."))
        try:
            part = check_threshold(self.memory_pressure_threshold, "memory_pressure_threshold", op)
            object.__setattr__(self, "memory_pressure_threshold", part)
        except StatorError as error:
            value = shown(self.memory_pressure_threshold)
            problems.append(Problem("memory_pressure_threshold", value, "it is a part of the memory", error.remedy))
        raise_all(problems, op)


@dataclass(frozen=True)
class ResourceStatistics:
    """What a backend did since it was opened.

    cache_hit_rate: allocations that the pool served from its cache, and average_buffer_size: bytes of an allocation as
    the pool rounds them; both None before the first. allocation_failure_count: allocations that raised.
    """

    peak_memory_usage: int
    total_allocations: int
    total_deallocations: int
    average_buffer_size: float | None
    cache_hit_rate: float | None
    allocation_failure_count: int


@dataclass(frozen=True)
class Sample:
    """One line of the history: seconds since the epoch, and figures of that moment."""

    time: float
    memory_used: int
    memory_cached: int
    allocations: int
    cpu_percent: float | None
    gpu_percent: float | None


def check_threshold(value: object, name: str, op: str) -> float:
    """A part of the memory, above 0 and at most 1."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise DTypeError(f"Got {name}={value!r}", op=op, remedy="Give a part of the memory, such as 0.9.")
    if not (operator.gt(value, 0) and operator.le(value, 1)):
        raise InvalidValueError(f"{name}={value}", op=op, remedy="Give a part above 0 and at most 1, such as 0.9.")
    return float(value)


class CpuClock:
    """Processor time of this process between readings."""

    LEAST = 0.01  # seconds between readings; processor time is counted in steps, which make a figure of less a guess

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), time.process_time()

    def percent(self) -> float | None:
        """Since the last reading that was not None, where 100 is one core; None where less than LEAST has passed."""
        wall, cpu = time.monotonic(), time.process_time()
        passed, used = wall - self._wall, cpu - self._cpu
        if passed < self.LEAST:
            return None
        self._wall, self._cpu = wall, cpu
        return 100 * used / passed


def gpu_percent(backend: Backend) -> float | None:
    """The utilisation of the backend's GPU; None on other devices, and where NVML does not say."""
    from stator.hardware import nvml

    device = Device.parse(backend.device_name)
    return nvml.gpu_percent(device.index) if device.type == "cuda" else None


def usage(backend: Backend, clock: CpuClock) -> ResourceUsage:
    """See Backend.telemetry.resource_usage."""
    memory = memory_stats(backend)
    kinds = [resource["kind"] for resource in backend.resources()]
    return ResourceUsage(
        memory_used=memory["live_bytes"],
        memory_cached=memory["cached_bytes"],
        buffers_allocated=sum(map(kinds.count, ("buffer", "pinned", "managed"))),
        kernels_cached=cache_of(backend).info().programs,
        active_streams=kinds.count("stream"),
        cpu_percent=clock.percent(),
        gpu_percent=gpu_percent(backend),
    )


def statistics(backend: Backend) -> ResourceStatistics:
    """See Backend.telemetry.resource_statistics."""
    memory = memory_stats(backend)
    asked = memory["allocations"]
    served = asked - memory["failures"]
    return ResourceStatistics(
        peak_memory_usage=memory["peak_bytes"],
        total_allocations=asked,
        total_deallocations=memory["deallocations"],
        average_buffer_size=memory["allocated_bytes"] / served if served else None,
        cache_hit_rate=memory["reuses"] / asked if asked else None,
        allocation_failure_count=memory["failures"],
    )


def limits(backend: Backend, threshold: float) -> ResourceLimits:
    """See Backend.telemetry.resource_limits."""
    return ResourceLimits(
        max_memory=memory_stats(backend)["limit"] or None,
        max_kernels=cache_of(backend).info().limit,
        memory_pressure_threshold=threshold,
    )


def set_limits(backend: Backend, monitor: Monitor, wanted: ResourceLimits) -> None:
    """See Backend.telemetry.set_resource_limits: the memory first, since it may be refused."""
    if not isinstance(wanted, ResourceLimits):
        raise DTypeError(
            f"Got limits of type {type(wanted).__name__}",
            op="Backend.telemetry.set_resource_limits",
            remedy="Give a stator.monitor.ResourceLimits.",
        )
    try:
        backend._set_memory_limit(wanted.max_memory)
    except StatorError as error:
        raise renamed(error, "Backend.telemetry.set_resource_limits") from None
    cache_of(backend).resize(wanted.max_kernels)
    monitor.threshold = wanted.memory_pressure_threshold
