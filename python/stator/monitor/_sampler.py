"""A thread that reads a backend's figures at intervals: history, callbacks at thresholds, snapshots on request."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from stator._backend import device_properties, memory_stats
from stator._shared import kept
from stator.errors import BackendClosedError, DTypeError, InvalidValueError
from stator.monitor import _snapshot
from stator.monitor._figures import CpuClock, Sample, check_threshold, gpu_percent

if TYPE_CHECKING:
    from stator._backend import Backend

HISTORY = 600  # samples that are kept


@dataclass(frozen=True)
class PressureEvent:
    """What a callback gets: the part of the memory that was reached, and the figures of that moment in bytes."""

    threshold: float
    memory_used: int
    memory_budget: int


@dataclass(eq=False)
class _Watch:
    callback: Callable[[PressureEvent], object]
    threshold: float | None
    reached: bool = False


class Monitor:
    """The monitoring of one backend, on or off; see Backend.telemetry.enable_monitoring. Thread-safe."""

    def __init__(self, backend: Backend) -> None:
        self.threshold = 0.9
        self.clock = CpuClock()
        self._backend = weakref.ref(backend)
        self._own_clock = CpuClock()
        self._watches: list[_Watch] = []
        self._samples: deque[Sample] = deque(maxlen=HISTORY)
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def enabled(self) -> bool:
        """Whether the thread runs; not in a child of the process, which has no thread of its parent."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, interval: float, snapshot: Path | None) -> None:
        """Starts the thread, in the place of one that runs."""
        self.stop()
        self._end = threading.Event()
        self._thread = threading.Thread(
            target=_run, args=(weakref.ref(self), self._end, interval, snapshot), name="stator-monitor", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, and waits for it unless it is the caller. The history stays."""
        self._end.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def history(self) -> list[Sample]:
        """The last samples, the oldest first."""
        with self._lock:
            return list(self._samples)

    def watch(self, callback: Callable[[PressureEvent], object], threshold: float | None) -> Callable[[], None]:
        """See Backend.telemetry.on_memory_pressure."""
        op = "Backend.telemetry.on_memory_pressure"
        if not callable(callback):
            raise DTypeError(f"Got callback={callback!r}", op=op, remedy="Give a function of one argument.")
        if threshold is not None:
            threshold = check_threshold(threshold, "threshold", op)
        entry = _Watch(callback, threshold)
        with self._lock:
            self._watches.append(entry)

        def remove() -> None:
            with self._lock:
                if entry in self._watches:
                    self._watches.remove(entry)

        return remove

    def sample(self, backend: Backend) -> None:
        """Takes one sample, and calls the callbacks whose threshold was reached since the one before."""
        memory = memory_stats(backend)
        used = memory["live_bytes"]
        sample = Sample(
            time.time(),
            used,
            memory["cached_bytes"],
            memory["allocations"],
            self._own_clock.percent(),
            gpu_percent(backend),
        )
        budget = memory["limit"] or device_properties(backend)["total_memory"]
        due = []
        with self._lock:
            self._samples.append(sample)
            for entry in self._watches:
                threshold = self.threshold if entry.threshold is None else entry.threshold
                reached = used >= threshold * budget
                if reached and not entry.reached:
                    due.append((entry.callback, PressureEvent(threshold, used, budget)))
                entry.reached = reached
        for callback, event in due:
            try:
                callback(event)
            except Exception as error:
                sys.unraisablehook(
                    SimpleNamespace(
                        exc_type=type(error),
                        exc_value=error,
                        exc_traceback=error.__traceback__,
                        err_msg="Exception ignored in a callback of Backend.telemetry.on_memory_pressure",
                        object=callback,
                    )
                )


def checked_interval(interval: object) -> float:
    """The seconds between two samples."""
    op = "Backend.telemetry.enable_monitoring"
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        raise DTypeError(f"Got interval={interval!r}", op=op, remedy="Give a number of seconds.")
    if not 0.001 <= interval <= 86400:
        raise InvalidValueError(f"interval={interval}", op=op, remedy="Give 0.001 to 86400 seconds.")
    return float(interval)


def _run(owner: weakref.ref[Monitor], end: threading.Event, interval: float, snapshot: Path | None) -> None:
    """The thread. Between samples it holds neither the monitor nor the backend, so that both can be collected."""
    while not end.is_set():
        monitor = owner()
        backend = monitor._backend() if monitor is not None else None
        if monitor is None or backend is None or backend.closed:
            return
        try:
            monitor.sample(backend)
            if snapshot is not None:
                _snapshot.answer(backend, snapshot)
        except BackendClosedError:
            return
        del monitor, backend
        end.wait(interval)


def existing_monitor(backend: Backend) -> Monitor | None:
    """The backend's monitor, if it was used."""
    found: Monitor | None = vars(backend).get("_monitor")
    return found


def monitor_of(backend: Backend) -> Monitor:
    """The backend's monitor, made at first use."""
    return kept(backend, "_monitor", partial(Monitor, backend))
