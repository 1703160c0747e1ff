"""What the kernels of the cuda target do on an emulated device, as numbers: python -m benchmarks --target emulated."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

import stator
from stator import _backend

from .. import table  # noqa: F401  finds the modules of tests/support

__all__ = ["main"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks --target emulated", description=__doc__)
    parser.add_argument("--target", choices=["emulated"], required=True)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write emulated.csv into the folder")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the Markdown page")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--no-cub", action="store_true", help="leave out CUB, which takes nvcc a few seconds")
    return parser.parse_args()


def main() -> int:
    """Counts the cases; a process without an emulated device starts again with one."""
    args = arguments()
    if not _backend.emulated("cuda"):
        command = [sys.executable, "-m", "benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | {"STATOR_EMULATE": "h200:threads=1:cache"})
    from emulator_records import peaks

    from .cases import all_cases
    from .counted import Counted, count
    from .cub import count_cub
    from .page import markdown, show, write_csv

    console = Console() if sys.stdout.isatty() else Console(width=160)
    chosen = [case for case in all_cases() if args.only in case.name]
    cub: list[Counted] = []
    rows: list[Counted] = []
    wrong: list[str] = []
    with stator.Backend("cuda") as be, be.use(), Progress(console=console, transient=True) as progress:
        device, most = be.info()["name"], peaks()
        task = progress.add_task("counters", total=len(chosen))
        for case in chosen:
            progress.update(task, advance=1, description=case.name)
            try:
                rows.append(count(be, case))
            except Exception as error:  # the report names the case and the error
                wrong.append(f"{case.name}: {type(error).__name__}: {error}")
        if not args.no_cub:
            progress.update(task, description="CUB")
            try:
                with tempfile.TemporaryDirectory() as folder:
                    cub = [row for row in count_cub(be, Path(folder)) if args.only in row.case]
            except Exception as error:
                wrong.append(f"CUB: {type(error).__name__}: {error}")
    if not rows and not cub and not wrong:
        wrong.append(f"no case has {args.only!r} in its name")
    show(console, [*rows, *cub])
    for line in wrong:
        console.print(f"wrong: {line}", style="red", markup=False)
    if args.out and not wrong:
        args.out.mkdir(parents=True, exist_ok=True)
        write_csv(args.out / "emulated.csv", [*rows, *cub])
    if args.write and not wrong:
        args.write.write_text(markdown(rows, cub, device, most))
    return 1 if wrong else 0
