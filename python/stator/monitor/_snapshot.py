"""Snapshots: what Backend.telemetry.top() gives, and the file through which another process asks for one.

The reader puts an empty file PATH.request beside the path; the process that monitors sees it at its next sample,
writes the snapshot to PATH in one step, and removes the request. So nothing is written without a reader.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stator._backend import device_properties
from stator.monitor import _figures
from stator.telemetry import _telemetry
from stator.telemetry._figures import NO_CALL

if TYPE_CHECKING:
    from stator._backend import Backend

FORMAT = 1
LARGEST = 10
SHOWN_HISTORY = 60


def snapshot(backend: Backend) -> dict[str, Any]:
    """See Backend.telemetry.top."""
    from stator.monitor._sampler import monitor_of

    monitor = monitor_of(backend)
    properties = device_properties(backend)
    live = sorted(backend.resources(), key=lambda resource: -resource["bytes"])
    ops: list[dict[str, Any]] = []
    if _telemetry.options(backend)[0]:
        figures: dict[str, Any] = {name or NO_CALL: found for name, found in _telemetry.figures(backend).items()}
        busiest = sorted(figures, key=lambda name: -figures[name]["wall_seconds"])[:LARGEST]
        ops = [
            {"op": name, "calls": figures[name]["calls"], "wall_seconds": figures[name]["wall_seconds"]}
            for name in busiest
        ]
    return {
        "format": FORMAT,
        "time": time.time(),
        "pid": os.getpid(),
        "program": " ".join(sys.argv)[:200],
        "device": backend.device_name,
        "name": properties["name"],
        "total_memory": properties["total_memory"],
        "usage": asdict(_figures.usage(backend, monitor.clock)),
        "limits": asdict(_figures.limits(backend, monitor.threshold)),
        "statistics": asdict(_figures.statistics(backend)),
        "counters": {key: value for key, value in backend.statistics().items() if key != "calls"},
        "largest": live[:LARGEST],
        "ops": ops,
        "history": [asdict(sample) for sample in monitor.history()[-SHOWN_HISTORY:]],
    }


def request_of(path: Path) -> Path:
    """The file that asks for a snapshot."""
    return path.with_name(path.name + ".request")


def write(backend: Backend, path: Path) -> None:
    """Writes a snapshot in one step, so that no reader gets a half of it. OSError where that fails."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x", encoding="utf-8") as file:  # a new file, and through no link
            file.write(json.dumps(snapshot(backend)))
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def answer(backend: Backend, path: Path) -> None:
    """Writes a snapshot where one was asked for. A folder that is gone, or full, ends nothing."""
    request = request_of(path)
    with contextlib.suppress(OSError):
        if os.path.lexists(request):
            write(backend, path)
            request.unlink(missing_ok=True)
