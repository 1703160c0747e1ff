"""python -m stator info | ops | demo."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import stator
from stator import _backend, _libraries, _table

_UNCUT = 10_000  # columns of output that goes to no terminal, so that names and paths are not cut


def gather_info() -> dict[str, Any]:
    """Facts about devices, driver, toolkit, libraries and build. Opens a backend on each device."""
    _libraries.register()
    devices = []
    for kind in ("cpu", "cuda"):
        usable, reason = _backend.available(kind)
        if not usable:
            devices.append({"device": kind, "usable": False, "reason": reason})
            continue
        for index in range(_backend.device_count(kind)):
            with stator.Backend(kind if kind == "cpu" else f"{kind}:{index}") as be:
                devices.append({"device": str(be.device), "usable": True, "kernels": be.kernels, **be.info()})
    return {
        "build": {**_table.build(), "python": platform.python_version(), "numpy": np.__version__},
        "devices": devices,
        "libraries": _table.libraries(False),
    }


def version(number: int) -> str:
    """The text of a CUDA version number: "13.0" for 13000."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else "none"


def show_info(args: argparse.Namespace, console: Console) -> int:
    info = gather_info()
    if args.json:
        print(json.dumps(info))
        return 0
    build = info["build"]
    console.print(
        f"stator {build['version']}, {'with' if build['cuda'] else 'without'} the cuda target, {build['compiler']}, "
        f"Python {build['python']}, NumPy {build['numpy']}"
    )
    devices = Table("device", "name", "kernels", "memory", "driver", "runtime", title="devices")
    for d in info["devices"]:
        if d["usable"]:
            memory = f"{d['total_memory'] / 2**30:.1f} GiB"
            cells = (d["name"], d["kernels"], memory, version(d["driver_version"]), version(d["runtime_version"]))
        else:
            cells = (d["reason"], "-", "-", "-", "-")
        devices.add_row(d["device"], *map(escape, cells))
    console.print(devices)
    libraries = Table("library", "where", "remedy", title="libraries")
    for lib in info["libraries"]:
        where, remedy = lib["path"] or "not found", "" if lib["found"] else lib["remedy"]
        libraries.add_row(lib["name"], escape(where), escape(remedy))  # "stator[cuda]" must not be read as markup
    console.print(libraries)
    return 0


def show_ops(args: argparse.Namespace, console: Console) -> int:
    entries = stator.op_table()
    if args.json:
        print(json.dumps(entries))
        return 0
    columns = ("call", "summary", "family", "targets", "sync", "capture", "determinism", "launches", "dtypes")
    table = Table(*columns, title=f"{len(entries)} ops")
    for entry in entries:
        launches = sorted(set(entry["launches"].values()))
        cells = {**entry, "launches": " or ".join(map(str, launches))}
        table.add_row(*(escape(" ".join(v) if isinstance(v := cells[c], list) else str(v)) for c in columns))
    console.print(table)
    return 0


def run_demo(args: argparse.Namespace, console: Console) -> int:
    from stator import demo

    bar = Progress(
        TextColumn("training on {task.fields[device]}"),
        BarColumn(),
        TextColumn("epoch {task.completed}/{task.total}  loss {task.fields[loss]:.4f}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=args.json,
    )
    with bar:
        task = bar.add_task("demo", total=None, device=args.device, loss=float("nan"))
        report = demo.run(
            args.device, lambda done, total, loss: bar.update(task, completed=done, total=total, loss=loss)
        )
    result = report.as_dict()
    if not args.json:
        show_values(console, "demo", result)
    proof = prove(args) if args.prove else None
    if args.json:
        print(json.dumps(result if proof is None else result | {"proof": proof}))
    elif proof is not None:
        for name, values in proof.items():
            if isinstance(values, dict):
                show_values(console, name.replace("_", " "), values)
        console.print(f"proved: {proof['proved']}")
    return 0 if proof is None or proof["proved"] else 1


def show_values(console: Console, title: str, values: dict[str, Any]) -> None:
    table = Table(show_header=False, title=title)
    for name, value in values.items():
        table.add_row(name.replace("_", " "), f"{value:.4f}" if isinstance(value, float) else f"{value}")
    console.print(table)


def prove(args: argparse.Namespace) -> dict[str, Any]:
    """Runs the three proofs, with a line that shows their progress."""
    from stator import prove

    line = Progress(
        TextColumn("proving: {task.description}"),
        TextColumn("{task.completed}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        disable=args.json,
    )
    with line:
        task = line.add_task("", total=None)
        return prove.run(args.device, lambda what, count: line.update(task, description=what, completed=count))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m stator", description=stator.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function, text in (
        ("info", show_info, "devices, driver, toolkit, libraries found and where, build"),
        ("ops", show_ops, "the op table"),
        ("demo", run_demo, "train a network on handwritten digits"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        command.add_argument("--json", action="store_true", help="one JSON value on stdout")
        if name == "demo":
            command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
            command.add_argument("--prove", action="store_true", help="then fail calls, permute blocks, delete waits")
    args = parser.parse_args(arguments)
    try:
        console = Console()
        if not console.is_terminal:
            console = Console(width=_UNCUT)
        return int(args.function(args, console))
    except stator.errors.StatorError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
