"""python -m stator top PATH: a live table of the backend that a process monitors."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from stator.errors import InvalidValueError
from stator.monitor._snapshot import FORMAT, LARGEST, request_of

LARGEST_FILE = 2**24  # bytes of a snapshot, which has some thousands
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "path", type=Path, help="the path that the process gave to Backend.telemetry.enable_monitoring(snapshot=)"
    )
    parser.add_argument("--once", action="store_true", help="one table, not a live one")
    parser.add_argument("--interval", type=float, default=1.0, metavar="S", help="seconds between two tables")
    parser.add_argument("--timeout", type=float, default=5.0, metavar="S", help="seconds to wait for the process")


def _number(value: Any) -> float:
    """A figure of a snapshot, which may have anything in it."""
    if type(value) not in (int, float) or not abs(value) < 2**63:
        raise TypeError(f"{value!r:.40} is not a figure")
    return value  # type: ignore[no-any-return]


def _text(value: Any) -> str:
    """Text of a snapshot without what a terminal would do something for."""
    if type(value) is not str:
        raise TypeError(f"{value!r:.40} is not text")
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in value))


def size(number: int | None) -> str:
    """Bytes as people read them."""
    if number is None:
        return "-"
    value, unit = float(_number(number)), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{number} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def _part(number: float | None, form: str) -> str:
    return "-" if number is None else form.format(_number(number))


def _invalid(path: object, why: object) -> InvalidValueError:
    return InvalidValueError(
        f"{path} {why}",
        op="python -m stator top",
        remedy="Give the path that Backend.telemetry.enable_monitoring(snapshot=) has.",
    )


def read(path: Path) -> dict[str, Any]:
    """The snapshot of a file. InvalidValueError for what is none."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as file:  # a FIFO would never be open
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
                raise ValueError("it is not a file of a snapshot")
            found = json.loads(file.read(LARGEST_FILE))
    except (OSError, ValueError, RecursionError) as error:
        raise _invalid(path, f"cannot be read: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise _invalid(path, "is not a snapshot of this version")
    return found


def ask(path: Path, timeout: float, pause: Callable[[float], None] = time.sleep) -> dict[str, Any]:
    """Asks the process for a snapshot, and waits for it. InvalidValueError where none comes."""
    request = request_of(path)
    try:
        os.close(os.open(request, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))  # through no link
    except FileExistsError:
        pass  # another process has asked
    except (OSError, ValueError) as error:
        raise InvalidValueError(
            f"no snapshot can be asked for at {path}: {error}",
            op="python -m stator top",
            remedy="Give the path that Backend.telemetry.enable_monitoring(snapshot=) has.",
        ) from None
    end = time.monotonic() + timeout
    while os.path.lexists(request):
        if time.monotonic() > end:
            with contextlib.suppress(OSError):
                request.unlink()
            raise InvalidValueError(
                f"no process wrote a snapshot to {path} within {timeout:g} seconds",
                op="python -m stator top",
                remedy="Call Backend.telemetry.enable_monitoring(snapshot=) there, or wait longer with --timeout.",
            )
        pause(0.02)
    return read(path)


def tables(found: dict[str, Any]) -> Group:
    """The snapshot as tables. InvalidValueError where something in it is not as stator writes it."""
    try:
        return _tables(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _invalid("the file", f"is not a snapshot of this version: {error!r:.80}") from None


def _tables(found: dict[str, Any]) -> Group:
    usage, limits, statistics, counters = (found[k] for k in ("usage", "limits", "statistics", "counters"))
    budget = limits["max_memory"] or found["total_memory"]
    pid, rate = _number(found["pid"]), statistics["cache_hit_rate"]
    title = f"process {pid}: {_text(found['program'])}, {_text(found['device'])} ({_text(found['name'])})"
    main = Table(title=title, show_header=False, title_justify="left")
    for _ in range(4):
        main.add_column()
    rows = (
        ("memory", f"{size(usage['memory_used'])} of {size(budget)}", "cached", size(usage["memory_cached"])),
        ("peak", size(statistics["peak_memory_usage"]), "buffers", _part(usage["buffers_allocated"], "{}")),
        ("cpu", _part(usage["cpu_percent"], "{:.0f} %"), "gpu", _part(usage["gpu_percent"], "{:.0f} %")),
        ("streams", _part(usage["active_streams"], "{}"), "programs", _part(usage["kernels_cached"], "{}")),
        (
            "allocations",
            f"{_number(statistics['total_allocations'])}, {_number(statistics['allocation_failure_count'])} failed",
            "from the cache",
            _part(None if rate is None else 100 * _number(rate), "{:.0f} %"),
        ),
        ("launches", _part(counters["kernel_launches"], "{}"), "library calls", _part(counters["library_calls"], "{}")),
    )
    for row in rows:
        main.add_row(*row)
    largest = Table("kind", "size", "age", "from", title="largest", title_justify="left")
    for resource in found["largest"][:LARGEST]:
        largest.add_row(
            _text(resource["kind"]),
            size(resource["bytes"]),
            _part(resource["age"], "{:.1f} s"),
            _text(resource["origin"]),
        )
    ops = Table("op", "calls", "time of the host", title="busiest ops", title_justify="left")
    for op in found["ops"][:LARGEST]:
        ops.add_row(_text(op["op"]), _part(op["calls"], "{}"), f"{1e3 * _number(op['wall_seconds']):.1f} ms")
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
