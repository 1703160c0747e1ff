# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Counters of calls, traces, and reports of calls that wait, as python/stator/telemetry/__init__.py uses them."""
from libc.stdint cimport uint64_t

from stator._backend cimport Backend, as_backend
from stator._convert cimport to_flag
from stator.cpp cimport telemetry as cpp
from stator.cpp.std cimport decoded, vector


def set_options(backend: Backend, count: bool, device_time: bool, nvtx: bool) -> None:
    """What is counted from now on."""
    cdef Backend owner = as_backend(backend, "Telemetry.enable")
    cdef cpp.TelemetryOptions options
    options.count = count
    options.device_time = to_flag(device_time, "Telemetry.enable", "device_time")
    options.nvtx = to_flag(nvtx, "Telemetry.enable", "nvtx")
    with nogil:
        cpp.set_telemetry(owner.c, options)


def options(backend: Backend) -> tuple[bool, bool, bool]:
    """Whether calls are counted, with their time on the device, and marked for profilers."""
    cdef cpp.TelemetryOptions found = cpp.telemetry_options(as_backend(backend, "Backend.telemetry").c)
    return found.count, found.device_time, found.nvtx


def begin_counting(backend: Backend) -> bool:
    """Counts calls from now on; whether they were counted before."""
    counted, _, _ = options(backend)
    if not counted:
        set_options(backend, True, False, False)
    return counted


def end_counting(backend: Backend, counted: bool) -> None:
    """Ends what begin_counting() began, unless calls were counted before."""
    if not counted and not (<Backend>backend).c.closed():
        set_options(backend, False, False, False)


def figures(backend: Backend) -> dict[str, dict[str, int | float | None]]:
    """The figures of each op."""
    cdef Backend owner = as_backend(backend, "Telemetry.snapshot")
    cdef vector[cpp.OpTelemetry] found
    cdef cpp.OpTelemetry* t
    cdef size_t i
    cdef dict out = {}
    with nogil:
        found = cpp.telemetry(owner.c)
    for i in range(found.size()):
        t = &found[i]
        out[decoded(t.op)] = {
            "calls": t.calls,
            "dispatches": t.dispatches,
            "untimed_dispatches": t.untimed_dispatches,
            "kernel_launches": t.launches,
            "library_calls": t.library_calls,
            "graph_launches": t.graph_launches,
            "copies": t.copies,
            "fills": t.fills,
            "allocations": t.allocations,
            "synchronisations": t.synchronisations,
            "h2d_bytes": t.h2d_bytes,
            "d2h_bytes": t.d2h_bytes,
            "d2d_bytes": t.d2d_bytes,
            "thread_slots": t.thread_slots,
            "idle_thread_slots": None if t.idle_thread_slots < 0 else t.idle_thread_slots,
            "wall_seconds": t.wall_seconds,
            "longest_wall_seconds": t.longest_wall_seconds,
            "device_seconds": t.device_seconds,
            "longest_device_seconds": t.longest_device_seconds,
        }
    return out


def reset(backend: Backend) -> None:
    """Sets all counters to zero."""
    cdef Backend owner = as_backend(backend, "Telemetry.reset")
    with nogil:
        cpp.reset_telemetry(owner.c)


def begin_trace(backend: Backend) -> None:
    """From now on every call is noted."""
    cdef Backend owner = as_backend(backend, "Backend.telemetry.profile")
    with nogil:
        cpp.begin_trace(owner.c)


def end_trace(backend: Backend) -> tuple[list[tuple[str, int, float, float, int, float, float]], int]:
    """The calls since begin_trace, and the number of those that it had no room for."""
    cdef Backend owner = as_backend(backend, "Backend.telemetry.profile")
    cdef vector[cpp.TraceRange] found
    cdef uint64_t dropped = 0
    cdef size_t i
    with nogil:
        found = cpp.end_trace(owner.c, &dropped)
    return [(decoded(found[i].op), found[i].thread, found[i].begin, found[i].end, found[i].stream,
             found[i].device_begin, found[i].device_end) for i in range(found.size())], dropped


cdef class SyncDebug:
    """What Backend.telemetry.sync_debug() returns: the end of a `with` statement ends what begin() began."""
    cdef Backend _owner
    cdef int _before
    cdef bint _begun

    def __init__(self, backend: Backend) -> None:
        self._owner = as_backend(backend, "Backend.telemetry.sync_debug")

    def begin(self, reports: int) -> None:
        """0: calls that wait are not reported, 1: they warn, 2: they raise."""
        self._before = <int>cpp.report_waits(self._owner.c, <cpp.WaitReports><int>reports)
        self._begun = True

    def end(self) -> None:
        """Calls are reported as before."""
        if self._begun and not self._owner.c.closed():
            cpp.report_waits(self._owner.c, <cpp.WaitReports>self._before)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.end()
