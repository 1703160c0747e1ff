"""The programs of examples/ beside NumPy, measured in turns in one run: python -m benchmarks.programs [--device cuda].

A ratio is NumPy's time divided by stator's: above 1, stator is faster. Inputs are made before the clock starts.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy
from rich.console import Console
from rich.table import Table

import stator
import stator.numpy

from .timing import FULL, Leg, Timing, by_clock, paired

FOLDER = Path(__file__).resolve().parent.parent / "examples"
EXAMPLES = sorted(p for p in FOLDER.glob("[0-9]*.py") if "def make(np" in p.read_text())  # those written for NumPy


def program(path: Path) -> dict[str, Any]:
    """The names that an example defines, among them make and run."""
    return runpy.run_path(str(path))


def measured(path: Path, be: stator.Backend, seconds: float) -> Timing:
    """The times of one program with either module."""
    names = program(path)
    ours, theirs = (Leg(names["run"], [(np, *names["make"](np))]) for np in (stator.numpy, numpy))
    return paired({"ours": by_clock(ours, be.synchronize), "numpy": by_clock(theirs, lambda: None)}, FULL, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=5.0, help="at most this long for each program")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name contains this")
    args = parser.parse_args()
    table = Table("program", "stator (ms)", "NumPy (ms)", "ratio", "+-", "rounds", "refused")
    with stator.Backend(args.device) as be, be.use():
        for path in (p for p in EXAMPLES if args.only in p.stem):
            t = measured(path, be, args.seconds)
            times = (f"{t.ours / 1e3:.1f}", f"{t.peers['numpy'] / 1e3:.1f}")
            ratio, spread = t.ratio["numpy"], t.ratio["numpy"] * t.spread["numpy"]
            refused = t.refused.get("numpy", "")
            table.add_row(path.stem, *times, f"{ratio:.2f}", f"{spread:.2f}", str(t.rounds), refused)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
