"""python -m stator top PATH: a live table of the backend that a process monitors."""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from stator.errors import InvalidValueError
from stator.monitor._snapshot import FORMAT, request_of

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "path", type=Path, help="the path that the process gave to Backend.enable_monitoring(snapshot=)"
    )
    parser.add_argument("--once", action="store_true", help="one table, not a live one")
    parser.add_argument("--interval", type=float, default=1.0, metavar="S", help="seconds between two tables")
    parser.add_argument("--timeout", type=float, default=5.0, metavar="S", help="seconds to wait for the process")


def size(number: int | None) -> str:
    """Bytes as people read them."""
    if number is None:
        return "-"
    value, unit = float(number), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{number} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def _part(number: float | None, form: str) -> str:
    return "-" if number is None else form.format(number)


def read(path: Path) -> dict[str, Any]:
    """The snapshot of a file. InvalidValueError for what is none."""
    remedy = "Give the path that Backend.enable_monitoring(snapshot=) has."
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValueError(f"{path} cannot be read: {error}", op="python -m stator top", remedy=remedy) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidValueError(f"{path} is no snapshot of this version", op="python -m stator top", remedy=remedy)
    return found


def ask(path: Path, timeout: float, pause: Callable[[float], None] = time.sleep) -> dict[str, Any]:
    """Asks the process for a snapshot, and waits for it. InvalidValueError where none comes."""
    request = request_of(path)
    try:
        request.touch()
    except OSError as error:
        raise InvalidValueError(
            f"no snapshot can be asked for at {path}: {error}",
            op="python -m stator top",
            remedy="Give the path that Backend.enable_monitoring(snapshot=) has.",
        ) from None
    end = time.monotonic() + timeout
    while request.exists():
        if time.monotonic() > end:
            with contextlib.suppress(OSError):
                request.unlink()
            raise InvalidValueError(
                f"no process wrote a snapshot to {path} within {timeout:g} seconds",
                op="python -m stator top",
                remedy="Call Backend.enable_monitoring(snapshot=) there, or wait longer with --timeout.",
            )
        pause(0.02)
    return read(path)


def tables(found: dict[str, Any]) -> Group:
    """The snapshot as tables."""
    usage, limits, statistics, counters = (found[k] for k in ("usage", "limits", "statistics", "counters"))
    budget = limits["max_memory"] or found["total_memory"]
    title = f"process {found['pid']}: {found['program']}, {found['device']} ({found['name']})"
    main = Table(title=escape(title), show_header=False, title_justify="left")
    for _ in range(4):
        main.add_column()
    rows = (
        ("memory", f"{size(usage['memory_used'])} of {size(budget)}", "cached", size(usage["memory_cached"])),
        ("peak", size(statistics["peak_memory_usage"]), "buffers", str(usage["buffers_allocated"])),
        ("cpu", _part(usage["cpu_percent"], "{:.0f} %"), "gpu", _part(usage["gpu_percent"], "{:.0f} %")),
        ("streams", str(usage["active_streams"]), "programs", str(usage["kernels_cached"])),
        (
            "allocations",
            f"{statistics['total_allocations']}, {statistics['allocation_failure_count']} failed",
            "from the cache",
            _part(statistics["cache_hit_rate"] and 100 * statistics["cache_hit_rate"], "{:.0f} %"),
        ),
        ("launches", str(counters["kernel_launches"]), "library calls", str(counters["library_calls"])),
    )
    for row in rows:
        main.add_row(*row)
    largest = Table("kind", "size", "age", "from", title="largest", title_justify="left")
    for resource in found["largest"]:
        largest.add_row(
            resource["kind"], size(resource["bytes"]), f"{resource['age']:.1f} s", escape(resource["origin"])
        )
    ops = Table("op", "calls", "time of the host", title="busiest ops", title_justify="left")
    for op in found["ops"]:
        ops.add_row(escape(op["op"]), str(op["calls"]), f"{1e3 * op['wall_seconds']:.1f} ms")
    return Group(main, *(table for table in (largest, ops) if table.row_count))


def run(args: argparse.Namespace, console: Console) -> int:
    """The command: with --json one snapshot, with --once one table, else a table until it is interrupted."""
    found = ask(args.path, args.timeout)
    if args.json:
        print(json.dumps(found))
    elif args.once:
        console.print(tables(found))
    else:
        with contextlib.suppress(KeyboardInterrupt), Live(tables(found), console=console) as live:
            while True:
                time.sleep(max(args.interval, 0.05))
                live.update(tables(ask(args.path, args.timeout)))
    return 0
