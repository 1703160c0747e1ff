"""What the kernels of the cuda target do on an emulated device, as numbers: python -m benchmarks --target emulated."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress

import stator

from .. import table  # noqa: F401  finds the modules of tests/support

if TYPE_CHECKING:
    from .counted import Counted
    from .results import Device, Results

__all__ = ["main"]

# One thread, and the blocks in their order, so that counters depend on nothing but the kernels.
EMULATE = "h200:threads=1:cache"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "emulated_counters.md"
Call = Callable[[], "list[Counted]"]
Outcome = tuple["list[Counted]", str]  # rows, and what went wrong


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks --target emulated", description=__doc__)
    parser.add_argument("--target", choices=["emulated"], required=True)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write emulated.csv, emulated.json and the page there")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--compare", action="store_true", help="fail where a counter is more than 3 %% worse than in benchmarks/results"
    )
    what.add_argument(
        "--write", action="store_true", help="write benchmarks/results and docs/emulated_counters.md, if none is worse"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--no-cub", action="store_true", help="leave out CUB, which takes nvcc a few seconds")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="cases that are counted at once (default: 2)")
    args = parser.parse_args()
    if args.write and args.only:
        parser.error("--write takes all cases, so give no --only")
    return args


def main() -> int:
    """Counts the cases; a process without the emulated device starts again with it."""
    args = arguments()
    if os.environ.get("STATOR_EMULATE") != EMULATE:
        command = [sys.executable, "-m", "benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"STATOR_EMULATE": EMULATE})
    from .page import markdown, show
    from .results import COMMITTED, Results, write

    console = Console() if sys.stdout.isatty() else Console(width=180)
    rows, wrong = _counted(args, console)
    if not rows and not wrong:
        wrong.append(f"no case has {args.only!r} in its name")
    results = Results(_device(), rows)
    if not args.compare:
        show(console, results)
    if args.compare or args.write:
        wrong += _worse(results, console, everything=not args.only, adopting=args.write)
    for line in wrong:
        console.print(f"wrong: {line}", style="red", markup=False, soft_wrap=True)
    if wrong:
        return 1
    for folder, page in ((args.out, "emulated_counters.md"), (COMMITTED if args.write else None, PAGE)):
        if folder:
            write(folder, results)
            (folder / page).write_text(markdown(results))
    return 0


def _counted(args: argparse.Namespace, console: Console) -> tuple[list[Counted], list[str]]:
    """The rows, and what went wrong. Each case has a process of its own, so that no case depends on those before it."""
    from .cases import all_cases

    work: dict[str, Call] = {c.name: partial(_case, c.name) for c in all_cases() if args.only in c.name}
    if not args.no_cub and not args.compare:
        work["CUB"] = partial(_cub, args.only)
    outcomes: dict[str, Outcome] = {}
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("counters", total=len(work))
        for name, outcome in _forked(work, args.jobs):
            outcomes[name] = outcome
            progress.update(task, advance=1, description=name)
    rows = [row for name in work for row in outcomes[name][0]]
    return rows, [f"{name}: {outcomes[name][1]}" for name in work if outcomes[name][1]]


def _forked(work: dict[str, Call], jobs: int) -> Iterator[tuple[str, Outcome]]:
    """Calls each function in a process of its own, some at a time; yields their names and outcomes as they end."""
    context = multiprocessing.get_context("fork")
    left = list(reversed(work.items()))
    running: dict[Any, Any] = {}
    while left or running:
        while left and len(running) < jobs:
            name, call = left.pop()
            reader, writer = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(call, writer), daemon=True)
            process.start()
            writer.close()
            running[reader] = name, process
        for reader in connection.wait(list(running)):
            name, process = running.pop(reader)
            try:
                outcome = reader.recv()
            except EOFError:  # it crashed
                outcome = None
            process.join()
            yield name, outcome or ([], f"its process ended with the status {process.exitcode}")


def _send(call: Call, writer: Any) -> None:
    try:
        writer.send((call(), ""))
    except Exception as error:  # the report names the case and the error
        writer.send(([], f"{type(error).__name__}: {error}"))


def _case(name: str) -> list[Counted]:
    from .cases import all_cases
    from .counted import count

    with stator.Backend("cuda") as be, be.use():
        return [count(be, case) for case in all_cases() if case.name == name]


def _cub(only: str) -> list[Counted]:
    from .cub import count_cub

    with stator.Backend("cuda") as be, be.use(), tempfile.TemporaryDirectory() as folder:
        return [row for row in count_cub(be, Path(folder)) if only in row.case]


def _device() -> Device:
    from emulator_records import peaks

    from .results import Device

    with stator.Backend("cuda") as be:
        info = be.devices.properties()
        return Device(info["name"], info["multiprocessors"], *peaks())


def _worse(results: Results, console: Console, everything: bool, adopting: bool) -> list[str]:
    """What is worse than in the committed table, or cannot be compared with it; tells what is better."""
    from .compare import ALLOWED, COUNTERS, changes, mismatches, read_allowed, refused
    from .results import COMMITTED, read

    if adopting and not (COMMITTED / "emulated.csv").exists():
        return []
    known = read(COMMITTED).rows
    wrong = [] if adopting else mismatches(known, results.rows, everything)
    if wrong:
        return [*wrong, "rewrite the table with --write, if this is meant"]
    found = changes(known, results.rows)
    for change in found:
        if not change.worse:
            console.print(f"better: {change}", markup=False, soft_wrap=True)
    worse = refused(found, read_allowed())
    if worse:
        where = f"benchmarks/results/{ALLOWED.name}"
        return [*map(str, worse), f"fix the kernels, or say in {where} (case, counter, value, reason) why it must be"]
    console.print(f"{len(results.rows)} cases, {len(COUNTERS)} counters of each: none is more than 3 % worse")
    return []
