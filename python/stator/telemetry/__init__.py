"""Telemetry: counters of what calls cost, as dicts, JSON and Prometheus text; traces; reports of calls that wait."""

from __future__ import annotations

import json
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from stator import fft, linalg
from stator._backend import Entered
from stator.errors import StatorError
from stator.telemetry import _telemetry

if TYPE_CHECKING:
    from stator.backend import Backend

__all__ = ["Telemetry"]


def __dir__() -> list[str]:
    return [*__all__]


Figures = dict[str, Any]
Snapshot = dict[str, Any]

COUNTERS = {
    "calls": "Calls of users.",
    "dispatches": "Calls that enqueued work.",
    "untimed_dispatches": "Calls that enqueued work whose time on the device is not known.",
    "kernel_launches": "Launches of kernels, those into graphs included.",
    "library_calls": "Calls of vendor libraries that enqueue work.",
    "graph_launches": "Launches of graphs.",
    "copies": "Copies.",
    "fills": "Fills.",
    "allocations": "Allocations of the runtime, without those that the pool served from its cache.",
    "synchronisations": "Waits of the host for the device.",
    "h2d_bytes": "Bytes copied from the host to the device.",
    "d2h_bytes": "Bytes copied from the device to the host.",
    "d2d_bytes": "Bytes copied within the device.",
    "thread_slots": "Threads of kernel launches.",
    "idle_thread_slots": "Threads of kernel launches beyond the number of elements.",
    "wall_seconds": "Time of the host from the beginning of calls to their end.",
    "device_seconds": "Time of the device from the beginning of the work of calls to its end.",
}
MAXIMA = {
    "longest_wall_seconds": "The longest call on the host.",
    "longest_device_seconds": "The longest work of a call on the device.",
}
CACHE_COUNTERS = {"hits": "Look-ups that found an entry.", "misses": "Look-ups that made one."}
NOBODY = "(none)"  # stands for what no call of a user did


class Telemetry:
    """Counters of one backend; see Backend.telemetry.

    An op is what was called: what it calls itself, on the same thread, is counted as its own. Counts are of what was
    enqueued, into graphs too; the nodes of a graph that is launched count as one graph launch.
    """

    _backend: Backend | None = None

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

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
        _telemetry.set_options(self._owner("enable"), True, device_time, nvtx)

    def disable(self) -> None:
        """Counts nothing from now on. The counters stay."""
        _telemetry.set_options(self._owner("disable"), False, False, False)

    @property
    def enabled(self) -> bool:
        """Whether calls are counted."""
        return _telemetry.options(self._owner("enabled"))[0]

    def snapshot(self) -> Snapshot:
        """The counters since the backend was opened or reset() was called, as dicts. Does not wait.

        "ops": for each op that was called its figures, under "(none)" what no call did, such as releases. "total": the
        same of all ops. "caches": hits, misses and entries; "pool" and "programs" are the backend's, the others those
        of the process, and "graphs" is of the functions of stator.graph that are alive. What is not known is None.

        idle_thread_slots: threads of launches beyond the number of elements, which only elementwise ops declare; None
        where another op launched a kernel. Times are in seconds. Work that has not finished is not in device_seconds,
        but among the untimed_dispatches.
        """
        backend = self._owner("snapshot")
        ops = {name or NOBODY: figures for name, figures in _telemetry.figures(backend).items()}
        return {"device": backend.device_name, "ops": ops, "total": _total(ops), "caches": _caches(backend)}

    def reset(self) -> None:
        """Sets the counters of ops to zero; those of caches go on."""
        _telemetry.reset(self._owner("reset"))

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
        found = self.snapshot()
        device = found["device"]
        lines: list[str] = []

        def family(name: str, text: str, kind: str, label: str, values: dict[str, Any]) -> None:
            known = {key: value for key, value in values.items() if value is not None}
            if known:
                lines.extend((f"# HELP {name} {text}", f"# TYPE {name} {kind}"))
            for key, value in known.items():
                lines.append(f'{name}{{device="{_escaped(device)}",{label}="{_escaped(key)}"}} {value}')

        def column(table: dict[str, Figures], key: str) -> dict[str, Any]:
            return {name: figures[key] for name, figures in table.items()}

        for key, text in COUNTERS.items():
            family(f"stator_{key}_total", text, "counter", "op", column(found["ops"], key))
        for key, text in MAXIMA.items():
            family(f"stator_{key}", text, "gauge", "op", column(found["ops"], key))
        for key, text in CACHE_COUNTERS.items():
            family(f"stator_cache_{key}_total", text, "counter", "cache", column(found["caches"], key))
        family("stator_cache_entries", "Entries that are kept.", "gauge", "cache", column(found["caches"], "entries"))
        return "\n".join([*lines, ""])

    def __repr__(self) -> str:
        if self._backend is None:
            return "<stator.Telemetry of no backend>"
        return f"<stator.Telemetry of {self._backend.device_name}>"

    def _owner(self, method: str) -> Backend:
        if self._backend is None:
            raise StatorError("No backend", op=f"Telemetry.{method}", remedy="Use Backend.telemetry.")
        return self._backend


class Measurement(Entered):
    """What Telemetry.measure() returns."""

    def __init__(self, telemetry: Telemetry) -> None:
        backend = telemetry._owner("measure")
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
        nothing = _total({})
        ops = {name: _difference(earlier["ops"].get(name, nothing), f) for name, f in later["ops"].items()}
        self.difference = {
            "device": later["device"],
            "ops": {name: f for name, f in ops.items() if any(f.values())},
            "total": _difference(earlier["total"], later["total"]),
            "caches": {name: _cache_difference(earlier["caches"].get(name), f) for name, f in later["caches"].items()},
        }


class Profile(Entered):
    """What Backend.profile() returns."""

    def __init__(self, backend: Backend, path: str) -> None:
        super().__init__(partial(_telemetry.begin_trace, backend), partial(_telemetry.end_trace, backend))
        self._backend, self._path = backend, path

    def _before(self) -> None:
        """Makes the file, so that a wrong path is reported before the block."""
        with open(self._path, "w"):
            pass

    def _after(self, ended: tuple[list[tuple[Any, ...]], int]) -> None:
        """Writes the calls that were noted."""
        with open(self._path, "w", encoding="utf-8") as file:
            json.dump(_trace(self._backend, *ended), file)


def _trace(backend: Backend, calls: list[tuple[Any, ...]], dropped: int) -> dict[str, Any]:
    """The calls as Chrome's trace events: process 1 is the host, process 2 the device. Times are in microseconds."""
    known = {t.native_id: t.name for t in threading.enumerate()}
    events: list[dict[str, Any]] = []

    def name(kind: str, pid: int, tid: int, text: str) -> None:
        events.append({"name": f"{kind}_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": text}})

    def span(op: str, pid: int, tid: int, begin: float, end: float) -> None:
        events.append({"name": op, "ph": "X", "pid": pid, "tid": tid, "ts": begin, "dur": max(end - begin, 0)})

    name("process", 1, 0, f"host, process {os.getpid()}")
    name("process", 2, 0, backend.device_name)
    for thread in sorted({call[1] for call in calls}):
        name("thread", 1, thread, known.get(thread, f"thread {thread}"))
    for stream in sorted({call[4] for call in calls if call[4] >= 0}):
        name("thread", 2, stream, f"stream {stream}")
    for op, thread, begin, end, stream, device_begin, device_end in calls:
        span(op or NOBODY, 1, thread, begin, end)
        if stream >= 0:
            span(op or NOBODY, 2, stream, device_begin, device_end)
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"dropped_calls": dropped}}


def _total(ops: dict[str, Figures]) -> Figures:
    out: Figures = {}
    for key in COUNTERS:
        values = [figures[key] for figures in ops.values()]
        out[key] = None if None in values else sum(values)
    for key in MAXIMA:
        out[key] = max((figures[key] for figures in ops.values()), default=0.0)
    return out


def _difference(before: Figures, after: Figures) -> Figures:
    out: Figures = {}
    for key in COUNTERS:
        known = before[key] is not None and after[key] is not None
        out[key] = after[key] - before[key] if known else None
    for key in MAXIMA:
        out[key] = after[key] if after[key] > before[key] else None
    return out


def _cache_difference(before: Figures | None, after: Figures) -> Figures:
    counts = {key: max(after[key] - (before[key] if before else 0), 0) for key in CACHE_COUNTERS}
    return {**counts, "entries": after["entries"]}


def _caches(backend: Backend) -> dict[str, Figures]:
    from stator.graphs.graphs import totals

    def figures(hits: int, misses: int, entries: int | None) -> Figures:
        return {"hits": hits, "misses": misses, "entries": entries}

    pool, plans, products, programs = (
        backend.memory_stats(),
        fft.cache_info(),
        linalg.matmul_cache_info(),
        backend.program_cache_info(),
    )
    return {
        "pool": figures(pool["reuses"], pool["allocations"], None),
        "fft": figures(plans.hits, plans.misses, plans.plans),
        "matmul": figures(products.hits, products.misses, products.plans),
        "programs": figures(programs.hits, programs.misses, programs.programs),
        "graphs": figures(*totals()),
    }


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
