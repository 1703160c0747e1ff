"""The methods of Backend that say what it uses. What they do is in stator.monitor, which the first call loads."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from stator.errors import DTypeError, require_open

if TYPE_CHECKING:
    from stator.backend import Backend
    from stator.monitor import Monitor, PressureEvent, ResourceLimits, ResourceStatistics, ResourceUsage, Sample


class BackendMonitor:
    """A base class of Backend."""

    _own_monitor: Monitor | None = None

    def resource_usage(self) -> ResourceUsage:
        """Memory, buffers, programs and streams in use, and how busy the process and the GPU are. Does not wait.

        >>> be.resource_usage().memory_used >= 0
        True
        """
        from stator.monitor import _figures

        return _figures.usage(self._monitored(), self._monitor.clock)

    def resource_statistics(self) -> ResourceStatistics:
        """Allocations, failures and the hit rate of the pool's cache since the backend was opened. Does not wait."""
        from stator.monitor import _figures

        return _figures.statistics(self._monitored())

    def resource_limits(self) -> ResourceLimits:
        """The limits that hold now."""
        from stator.monitor import _figures

        return _figures.limits(self._monitored(), self._monitor.threshold)

    def set_resource_limits(self, limits: ResourceLimits, /) -> None:
        """Sets limits from now on; cached memory and programs beyond them are freed.

        InvalidValueError for a max_memory below what is in use, and then no limit is changed.

        >>> from stator.monitor import ResourceLimits
        >>> be.set_resource_limits(ResourceLimits(max_memory=2**40))
        >>> be.memory_stats()["limit"] == 2**40
        True
        >>> be.set_resource_limits(ResourceLimits())
        """
        from stator.monitor import _figures

        backend, monitor = self._monitored(), self._monitor
        before = _figures.limits(backend, monitor.threshold)
        try:
            _figures.set_limits(backend, monitor, limits)
        except BaseException:  # an interrupt may have come between two of them
            _figures.set_limits(backend, monitor, before)
            raise

    def cleanup_resources(self) -> int:
        """Frees cached memory and cached programs that are not in use; returns the bytes of memory freed."""
        backend = self._monitored()
        require_open(backend, "Backend.cleanup_resources")
        before: int = backend.memory_stats()["cached_bytes"]
        backend.clear_program_cache()
        backend.empty_cache()
        after: int = backend.memory_stats()["cached_bytes"]
        return max(0, before - after)

    def enable_monitoring(self, interval: float = 1.0, *, snapshot: str | os.PathLike[str] | None = None) -> None:
        """Reads figures on a thread from now on, for history and callbacks. Off, as at first, it costs nothing.

        interval: seconds between two samples. snapshot: the path at which `python -m stator top PATH` may ask for
        snapshots. Once more, it takes the place of the one before; a closed backend ends it at the next sample.
        """
        from pathlib import Path

        from stator.monitor._sampler import checked_interval

        seconds = checked_interval(interval)
        try:
            path = None if snapshot is None else Path(snapshot).absolute()
        except TypeError:
            raise DTypeError(
                f"Got snapshot of type {type(snapshot).__name__}",
                op="Backend.enable_monitoring",
                remedy="Give the path of a file.",
            ) from None
        require_open(self._monitored(), "Backend.enable_monitoring")
        self._monitor.start(seconds, path)

    def disable_monitoring(self) -> None:
        """Ends the thread. The history stays."""
        if self._own_monitor is not None:
            self._own_monitor.stop()

    @property
    def is_monitoring_enabled(self) -> bool:
        """Whether the thread of enable_monitoring() runs."""
        return self._own_monitor is not None and self._own_monitor.enabled

    def resource_history(self) -> list[Sample]:
        """The last 600 samples of enable_monitoring(), the oldest first."""
        return [] if self._own_monitor is None else self._own_monitor.history()

    def on_memory_pressure(
        self, callback: Callable[[PressureEvent], object], /, threshold: float | None = None
    ) -> Callable[[], None]:
        """Calls a function when a sample finds more memory in use than a part of the limit, else of the device.

        It is called on the thread of enable_monitoring(), once for each time that the threshold is reached. What it
        raises goes to sys.unraisablehook. threshold: None is that of the resource limits. Returns a function that takes
        the callback away.
        """
        return self._monitor.watch(callback, threshold)

    def top(self) -> dict[str, Any]:
        """A snapshot of usage, limits, statistics, the largest objects and busiest ops, for JSON. Does not wait.

        "ops" is empty unless telemetry is on, "history" unless monitoring is.

        >>> be.top()["device"] == be.device_name
        True
        """
        from stator.monitor import _snapshot

        return _snapshot.snapshot(self._monitored())

    @property
    def _monitor(self) -> Monitor:
        if self._own_monitor is None:
            from stator.monitor import Monitor

            self._own_monitor = Monitor(self._monitored())
        return self._own_monitor

    def _monitored(self) -> Backend:
        return cast("Backend", self)
