"""python -m stator info | ops | demo | verify | doctor | top."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import stator
from stator import _backend, _libraries, _table
from stator.config import origins, resolve

_UNCUT = 10_000  # columns of output that goes to no terminal, so that names and paths are not cut


def gather_info() -> dict[str, Any]:
    """Facts about devices, configuration, toolkit, libraries and build. Opens a backend on each device."""
    _libraries.register()
    devices = []
    for kind in ("cpu", "cuda"):
        usable, reason = _backend.available(kind)
        if not usable:
            devices.append({"device": kind, "usable": False, "reason": reason})
            continue
        for index in range(_backend.device_count(kind)):
            with stator.Backend(kind if kind == "cpu" else f"{kind}:{index}") as be:
                devices.append(
                    {
                        "device": str(be.device),
                        "usable": True,
                        "kernels": be.kernels,
                        **be.devices.properties(),
                        **abilities(be),
                    }
                )
    return {
        "build": {**_table.build(), "python": platform.python_version(), "numpy": np.__version__},
        "devices": devices,
        "configuration": configuration(),
        "libraries": _table.libraries(False),
    }


def abilities(be: stator.Backend) -> dict[str, Any]:
    """What a device can do, in short. What cannot be known is None."""
    found = be.devices.capabilities()
    memory = found.memory_hierarchy
    return {
        "memory_free": be.devices.info().memory_free,
        "memory_bandwidth_gbps": memory.memory_bandwidth_gbps if memory is not None else None,
        "precision_modes": list(map(str, found.precision_modes)),
        "tensor_cores": found.tensor_cores,
        "unified_memory": found.supports_unified_memory,
        "cooperative_launch": found.cooperative_launch,
    }


def configuration() -> dict[str, dict[str, Any]]:
    """What a Backend without arguments is opened with, and what says so: a variable, a file, or the default."""
    values, sources = resolve(None, {}).to_dict(), origins()
    return {name: {"value": value, "source": sources.get(name, "default")} for name, value in values.items()}


def version(number: int) -> str:
    """The text of a CUDA version number: "13.0" for 13000."""
    return f"{number // 1000}.{number % 1000 // 10}" if number else "none"


def abilities_table(devices: list[dict[str, Any]]) -> Table:
    """What the devices that can be used are able to do."""

    def text(value: object, unit: str = "") -> str:
        if value is None:
            return "not known"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:.1f} {unit}" if isinstance(value, float) else str(value)

    table = Table("device", "free", "bandwidth", "precisions", "tensor cores", "unified", "cooperative")
    table.title = "capabilities"
    for d in devices:
        if d["usable"]:
            free = None if d["memory_free"] is None else d["memory_free"] / 2**30
            flags = (text(d[name]) for name in ("tensor_cores", "unified_memory", "cooperative_launch"))
            precisions = " ".join(d["precision_modes"])
            table.add_row(d["device"], text(free, "GiB"), text(d["memory_bandwidth_gbps"], "GB/s"), precisions, *flags)
    return table


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
    console.print(abilities_table(info["devices"]))
    chosen = Table("field", "value", "set by", title="configuration")
    for name, entry in info["configuration"].items():
        if entry["source"] != "default":
            chosen.add_row(name, escape(str(entry["value"])), escape(entry["source"]))
    if chosen.rows:
        console.print(chosen)
    else:
        console.print("Every field of the configuration has its default.")
    libraries = Table("library", "where", "remedy", title="libraries")
    for lib in info["libraries"]:
        where, remedy = lib["path"] or "not found", "" if lib["found"] else lib["remedy"]
        libraries.add_row(lib["name"], escape(where), escape(remedy))  # "stator[cuda]" must not be read as markup
    console.print(libraries)
    for lib in info["libraries"]:
        if build["cuda"] and not lib["found"] and lib["substitute"]:
            console.print(f"without {lib['name']}, {lib['substitute']}", markup=False)
    return 0


# The columns of `ops`. Those that wrap have a least width; the first of NARROW goes first where a terminal is narrow.
_COLUMNS = ("call", "summary", "family", "targets", "sync", "capture", "determinism", "launches", "dtypes")
_WRAPS = {"summary": 32, "dtypes": 24}
_NARROW = ("targets", "capture", "sync", "determinism", "launches", "dtypes", "family")


def matching(entries: list[dict[str, Any]], args: argparse.Namespace) -> list[dict[str, Any]]:
    """The entries that the arguments of `ops` ask for; a filter is a part of the name, or a pattern with * ? [ ]."""
    wanted = args.filter.lower()
    pattern = wanted if any(c in wanted for c in "*?[") else f"*{wanted}*"
    return [
        entry
        for entry in entries
        if any(fnmatchcase(entry[key].lower(), pattern) for key in ("call", "name"))
        and args.family in (None, entry["family"])
        and (args.dtype is None or args.dtype in entry["dtypes"])
    ]


def fitting(columns: dict[str, list[str]], width: int) -> list[str]:
    """The names of the columns that a table of this width has room for."""
    names = list(columns)
    for dropped in ("", *_NARROW):
        names = [name for name in names if name != dropped]
        widths = [_WRAPS.get(name) or max(map(len, [name, *columns[name]])) for name in names]
        if sum(widths) + 3 * len(widths) + 1 <= width:
            break
    return names


def show_ops(args: argparse.Namespace, console: Console) -> int:
    entries = matching(stator.op_table(), args)
    if args.json:
        print(json.dumps(entries))
    elif entries:
        cells = [{**e, "launches": " or ".join(map(str, sorted(set(e["launches"].values()))))} for e in entries]
        columns = {
            name: [" ".join(v) if isinstance(v := c[name], list) else str(v) for c in cells] for name in _COLUMNS
        }
        shown = fitting(columns, console.width)
        hidden = [name for name in _COLUMNS if name not in shown]
        table = Table(title=f"{len(entries)} ops")
        if hidden:
            table.caption = f"a wider terminal, or --json, also has {', '.join(hidden)}"
        for name in shown:
            whole = name not in _WRAPS and max(map(len, columns[name])) <= console.width * 3 // 5
            table.add_column(name, overflow="fold", no_wrap=whole)
        for row in zip(*(columns[name] for name in shown), strict=True):
            table.add_row(*map(escape, row))
        console.print(table)
    else:
        print("No op is like this. `python -m stator ops` lists all.", file=sys.stderr)
    return 0 if entries else 1


def run_demo(args: argparse.Namespace, console: Console) -> int:
    from stator import demo

    config = demo.Hyperparameters()
    with stator.Backend(args.device) as be:  # first, because a wrong device should not wait for scikit-learn's import
        data = demo.Digits.load(config.seed)
        bar = Progress(
            TextColumn("training on {task.fields[device]}"),
            BarColumn(),
            TextColumn("epoch {task.completed}/{task.total}{task.fields[loss]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            disable=args.json,
        )
        with bar:
            task = bar.add_task("demo", total=config.epochs, device=be.device, loss="")
            report = demo.run(
                be, data, config, lambda done, loss: bar.update(task, completed=done, loss=f"  loss {loss:.4f}")
            )
    result = report.as_dict()
    if not args.json:
        show_values(console, "demo", result)
    proof = prove(args) if args.prove else None
    if args.json:
        print(json.dumps(result if proof is None else result | {"proof": proof}))
    elif proof is not None:
        from stator.prove import CLAIMS

        for name, claim in CLAIMS.items():
            show_values(console, name.replace("_", " "), proof[name])
            console.print(claim)
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


def run_verify(args: argparse.Namespace, console: Console) -> int:
    from stator._verify import command

    return command.run(args, console)


def run_doctor(args: argparse.Namespace, console: Console) -> int:
    from stator._doctor import command

    return command.run(args, console)


def run_top(args: argparse.Namespace, console: Console) -> int:
    from stator.monitor import command

    return command.run(args, console)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m stator", description=stator.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    parser.add_argument("--version", action="version", version=f"stator {stator.__version__}")
    for name, function, text in (
        ("info", show_info, "devices, driver, toolkit, libraries found and where, build"),
        ("ops", show_ops, "the op table"),
        ("demo", run_demo, "train a network on handwritten digits"),
        ("verify", run_verify, "check every op, failing calls, exits and timings of a device"),
        ("doctor", run_doctor, "find and explain what is wrong with this environment"),
        ("top", run_top, "what a process that monitors itself uses, in a live table"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        command.add_argument("--json", action="store_true", help="one JSON value on stdout")
        if name == "ops":
            families = sorted({entry["family"] for entry in stator.op_table()})
            dtypes = [str(d) for d in stator.__array_namespace_info__().dtypes()] + ["float16", "bfloat16"]
            command.add_argument(
                "filter", nargs="?", default="", help="a part of the name, or a pattern such as 'cum*'"
            )
            command.add_argument("--family", choices=families, metavar="F", help=f"one of {', '.join(families)}")
            command.add_argument("--dtype", choices=dtypes, metavar="D", help=f"one of {', '.join(dtypes)}")
        if name == "verify":
            from stator._verify.command import add_arguments

            add_arguments(command)
        if name == "top":
            from stator.monitor.command import add_arguments as add_top_arguments

            add_top_arguments(command)
        if name == "doctor":
            from stator._doctor.command import add_arguments as add_doctor_arguments

            add_doctor_arguments(command)
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
