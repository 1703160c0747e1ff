"""Traces of calls, as Backend.telemetry.profile() writes them."""

from __future__ import annotations

import json
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from stator._backend import Entered
from stator.telemetry import _telemetry
from stator.telemetry._figures import NO_CALL

if TYPE_CHECKING:
    from pathlib import Path

    from stator._backend import Backend


class Profile(Entered):
    """What Backend.telemetry.profile() returns."""

    def __init__(self, backend: Backend, path: Path) -> None:
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
        span(op or NO_CALL, 1, thread, begin, end)
        if stream >= 0:
            span(op or NO_CALL, 2, stream, device_begin, device_end)
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"dropped_calls": dropped}}
