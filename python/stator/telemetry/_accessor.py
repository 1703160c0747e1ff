"""Backend.telemetry."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from stator import fft, linalg
from stator._accessor import Accessor
from stator._backend import Entered, memory_stats
from stator.config._file_paths import file_path
from stator.errors import DTypeError, InvalidValueError, require_open
from stator.graphs.graphs import totals
from stator.monitor import _figures, _snapshot
from stator.monitor._sampler import checked_interval, existing_monitor, monitor_of
from stator.programs.programs import cache_of
from stator.telemetry import _telemetry
from stator.telemetry._figures import NO_CALL, Figures, Snapshot, cache_difference, difference, prometheus, total
from stator.telemetry._trace import Profile

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from stator._backend import Backend
    from stator.monitor import PressureEvent, ResourceLimits, ResourceStatistics, ResourceUsage, Sample

REPORTS = (None, "warn", "error")


class Telemetry(Accessor):
    """Counters of calls, launches, bytes, waits and times, per op, as Backend.telemetry. Off until enable().

    An op is what was called: what it calls itself, on the same thread, is counted as its own. Counts are of what was
    enqueued, into graphs too; the nodes of a graph that is launched count as one graph launch.

    >>> be.telemetry.enable()
    >>> y = be.ones(3) + 1
    >>> be.telemetry.snapshot()["ops"]["add"]["kernel_launches"]
    1
    >>> be.telemetry.disable()
    """

    __slots__ = ()

    def enable(self, *, device_time: bool = False, nvtx: bool = False) -> None:
        """Counts from now on, for calls that begin later, in every thread.

        device_time: two events around the work of each call, in the stream of its first work; the time between them is
        known when the work has finished. nvtx: a range of NVTX around each call, in the domain "stator"; where no
        profiler takes ranges, UnsupportedError says what to do. Each call sets both; counters go on from where they
        were.

        >>> be.telemetry.enable(device_time=True)
        >>> y = be.ones(3) + 1
        >>> be.synchronize()
        >>> be.telemetry.snapshot()["ops"]["add"]["untimed_dispatches"]
        0
        """
        _telemetry.set_options(self._backend, True, device_time, nvtx)

    def disable(self) -> None:
        """Counts nothing from now on. The counters stay."""
        _telemetry.set_options(self._backend, False, False, False)

    @property
    def enabled(self) -> bool:
        """Whether calls are counted."""
        return _telemetry.options(self._backend)[0]

    def snapshot(self) -> Snapshot:
        """The counters since the backend was opened or reset() was called, as dicts. Does not wait.

        "ops": for each op that was called its figures, under "(none)" what no call did, such as releases. "total": the
        same of all ops. "caches": hits, misses and entries; "pool", "programs" and "programs_on_disk" are the
        backend's, the others those of the process, and "graphs" is of the functions of stator.graph that are alive.
        What is not known is None.

        idle_thread_slots: threads of launches beyond the number of elements, which only elementwise ops declare; None
        where another op launched a kernel. Times are in seconds. Work that has not finished is not in device_seconds,
        but among the untimed_dispatches.
        """
        backend = self._backend
        ops = {name or NO_CALL: figures for name, figures in _telemetry.figures(backend).items()}
        return {"device": backend.device_name, "ops": ops, "total": total(ops), "caches": _caches(backend)}

    def reset(self) -> None:
        """Sets the counters of ops to zero; those of caches go on."""
        _telemetry.reset(self._backend)

    def measure(self) -> Measurement:
        """Counts in a `with` block, whose `difference` is afterwards what the block added to a snapshot.

        Where telemetry is off, it is on in the block. The longest times are None where they were before it.

        >>> with be.telemetry.measure() as m:
        ...     y = be.ones(3) + 1
        >>> m.difference["total"]["kernel_launches"]
        2
        """
        return Measurement(self)

    def to_json(self) -> str:
        """snapshot() as JSON."""
        return json.dumps(self.snapshot())

    def to_prometheus(self) -> str:
        """snapshot() in the text format of Prometheus. What is not known is left out.

        >>> be.telemetry.enable()
        >>> y = be.ones(3)
        >>> 'stator_calls_total{device="%s",op="full"} 1' % be.device_name in be.telemetry.to_prometheus()
        True
        """
        return prometheus(self.snapshot())

    def profile(self, path: str | os.PathLike[str]) -> AbstractContextManager[None]:
        """Writes a trace of the calls of a `with` block, which ui.perfetto.dev and chrome://tracing show.

        A JSON file: the calls of each thread, and their work in each stream of the device. Synchronises at both ends
        of the block. Holds the first 1,048,576 calls; otherData says how many more there were.
        Raises: OSError where the file cannot be written, DTypeError for what is no path, InvalidValueError inside
        another profile and for a path with a NUL or a lone surrogate.

        >>> with be.telemetry.profile(path):
        ...     y = be.ones(3) + 1
        >>> with open(path) as file:
        ...     "add" in file.read()
        True
        """
        return Profile(self._backend, file_path(path, "Backend.telemetry.profile"))

    def sync_debug(self, mode: Literal["warn", "error"] | None) -> AbstractContextManager[None]:
        """Reports calls that make the host wait for the device: as a RuntimeWarning, an error, or not at all (None).

        It holds from the call on, in every thread; as a `with` statement, until its end. "error" raises
        SynchronizationError before the call waits. close() waits in any case. On the cpu small results are read without
        waiting, but a call that would wait on a GPU is reported all the same. Not seen is what a vendor library waits
        for by itself, as cuSPARSE does in sparse.spgemm.

        >>> x = be.ones(3)
        >>> with be.telemetry.sync_debug("error"):
        ...     y = x + x
        >>> y.tolist()
        [2.0, 2.0, 2.0]
        """
        if mode is not None and not isinstance(mode, str):
            raise DTypeError(
                f"Got mode={type(mode).__name__}",
                op="Backend.telemetry.sync_debug",
                remedy='Give "warn", "error" or None.',
            )
        if mode not in REPORTS:
            raise InvalidValueError(
                f"mode={mode!r}", op="Backend.telemetry.sync_debug", remedy='Give "warn", "error" or None.'
            )
        reports = _telemetry.SyncDebug(self._backend)
        try:
            reports.begin(REPORTS.index(mode))
            return reports
        except BaseException:  # an interrupt, which leaves nothing begun
            reports.end()
            raise

    def resource_usage(self) -> ResourceUsage:
        """Memory, buffers, programs and streams in use, and how busy the process and the GPU are. Does not wait.

        >>> be.telemetry.resource_usage().memory_used >= 0
        True
        """
        return _figures.usage(self._backend, monitor_of(self._backend).clock)

    def resource_statistics(self) -> ResourceStatistics:
        """Allocations, failures and the hit rate of the pool's cache since the backend was opened. Does not wait."""
        return _figures.statistics(self._backend)

    def resource_limits(self) -> ResourceLimits:
        """The limits that hold now."""
        return _figures.limits(self._backend, monitor_of(self._backend).threshold)

    def set_resource_limits(self, limits: ResourceLimits, /) -> None:
        """Sets limits from now on; cached memory and programs beyond them are given up.

        InvalidValueError for a max_memory below what is in use, and then no limit is changed.

        >>> from stator.monitor import ResourceLimits
        >>> be.telemetry.set_resource_limits(ResourceLimits(max_memory=2**40))
        >>> be.memory.stats()["limit"] == 2**40
        True
        >>> be.telemetry.set_resource_limits(ResourceLimits())
        """
        backend, monitor = self._backend, monitor_of(self._backend)
        before = _figures.limits(backend, monitor.threshold)
        try:
            _figures.set_limits(backend, monitor, limits)
        except BaseException:  # an interrupt may have come between two of them
            _figures.set_limits(backend, monitor, before)
            raise

    def enable_monitoring(self, interval: float = 1.0, *, snapshot: str | os.PathLike[str] | None = None) -> None:
        """Reads figures on a thread from now on, for history and callbacks. Off, as at first, it costs nothing.

        interval: seconds between two samples. snapshot: the path at which `python -m stator top PATH` may ask for
        snapshots. Called again, it replaces the previous thread; a closed backend ends it at the next sample.
        """
        seconds = checked_interval(interval)
        op = "Backend.telemetry.enable_monitoring"
        path = None if snapshot is None else file_path(snapshot, op, "snapshot").absolute()
        require_open(self._backend, op)
        monitor_of(self._backend).start(seconds, path)

    def disable_monitoring(self) -> None:
        """Ends the thread. The history stays."""
        if (monitor := existing_monitor(self._backend)) is not None:
            monitor.stop()

    @property
    def is_monitoring_enabled(self) -> bool:
        """Whether the thread of enable_monitoring() runs."""
        monitor = existing_monitor(self._backend)
        return monitor is not None and monitor.enabled

    def resource_history(self) -> list[Sample]:
        """The last 600 samples of enable_monitoring(), the oldest first."""
        monitor = existing_monitor(self._backend)
        return [] if monitor is None else monitor.history()

    def on_memory_pressure(
        self, callback: Callable[[PressureEvent], object], /, threshold: float | None = None
    ) -> Callable[[], None]:
        """Calls a function when a sample finds more memory in use than a part of the limit, else of the device.

        It is called on the thread of enable_monitoring(), once for each time that the threshold is reached. What it
        raises goes to sys.unraisablehook. threshold: None is that of the resource limits. Returns a function that takes
        the callback away.
        """
        return monitor_of(self._backend).watch(callback, threshold)

    def top(self) -> dict[str, Any]:
        """A snapshot of usage, limits, statistics, the largest objects and busiest ops, for JSON. Does not wait.

        "ops" is empty unless telemetry is on, "history" unless monitoring is.

        >>> be.telemetry.top()["device"] == be.device_name
        True
        """
        return _snapshot.snapshot(self._backend)


class Measurement(Entered):
    """What Telemetry.measure() returns."""

    def __init__(self, telemetry: Telemetry) -> None:
        backend = telemetry._backend
        begin, end = partial(_telemetry.begin_counting, backend), partial(_telemetry.end_counting, backend)
        super().__init__(begin, end, gives_itself=True)
        self.difference: Snapshot = {}
        self._telemetry = telemetry
        self._earlier: Snapshot = {}

    def _before(self) -> None:
        """Notes what was counted before the block."""
        self._earlier = self._telemetry.snapshot()

    def _after(self, ended: None) -> None:
        """What the block added."""
        later, earlier = self._telemetry.snapshot(), self._earlier
        nothing = total({})
        ops = {name: difference(earlier["ops"].get(name, nothing), f) for name, f in later["ops"].items()}
        self.difference = {
            "device": later["device"],
            "ops": {name: f for name, f in ops.items() if any(f.values())},
            "total": difference(earlier["total"], later["total"]),
            "caches": {name: cache_difference(earlier["caches"].get(name), f) for name, f in later["caches"].items()},
        }


def _caches(backend: Backend) -> dict[str, Figures]:
    def figures(hits: int, misses: int, entries: int | None) -> Figures:
        return {"hits": hits, "misses": misses, "entries": entries}

    pool, plans, products, programs = (
        memory_stats(backend),
        fft.cache_info(),
        linalg.matmul_cache_info(),
        cache_of(backend).info(),
    )
    return {
        "pool": figures(pool["reuses"], pool["allocations"], None),
        "fft": figures(plans.hits, plans.misses, plans.plans),
        "matmul": figures(products.hits, products.misses, products.plans),
        "programs": figures(programs.hits, programs.misses, programs.programs),
        "programs_on_disk": figures(programs.disk_hits, programs.disk_misses, None),
        "graphs": figures(*totals()),
    }
