"""Ratios against peers, all measured in one run: python -m benchmarks [--device cpu|cuda] [--quick] [--json].

With --target emulated: what the cuda target's kernels do on an emulated device, by counters (benchmarks/emulated).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

import stator

from .build import build
from .cases import Case, Plan, plans
from .floors import Floor, ceilings, copies
from .gate import verdict
from .inputs import SIZES, Pool
from .report import Row, show, summary, write
from .scratch import excess, scratch_bytes
from .timing import FULL, QUICK, Burst, Effort, Leg, paired
from .ways import timed_legs

QUICK_MINUTES = 0.6  # of timing; more goes to making operands and checking results
CASE_SECONDS = 1.0  # of an attempt, where no time is given
RENEWED = 1 << 30  # bytes by which a backend's peak may exceed what is live, until another backend is opened


def peers_for(be: stator.Backend, wanted: list[str]) -> dict[str, Any]:
    """NumPy on the CPU, CuPy on a GPU; torch where it is installed, on the CPU with as many threads as stator."""
    found: dict[str, Any] = {}
    for name in ["numpy", "torch"] if be.device.type == "cpu" else ["torch", "cupy"]:
        if wanted and name not in wanted:
            continue
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            continue
    if "torch" in found:
        found["torch"].set_grad_enabled(False)
        if be.device.type == "cpu":
            found["torch"].set_num_threads(be.devices.properties()["multiprocessors"])
    return found


def _finite(x: float) -> float | None:
    """The number, or None for infinity and NaN, which JSON does not have."""
    return x if np.isfinite(x) else None


class Run:
    """The state that the cases of one run share. Its backend is closed by close()."""

    def __init__(self, device: str, wanted: list[str], effort: Effort) -> None:
        self.device, self.effort = device, effort
        self._open()
        self.peers = peers_for(self.be, wanted)
        cold = (32 if self.be.device.type == "cpu" else 200) << 20
        self.pool = Pool(cold, 4 if self.be.device.type == "cpu" else 16)
        self.floor = Floor(lambda size: map(self._burst, copies(self.be, size, cold)), effort)
        self.ceilings = ceilings(self.be, self._burst, (64 if self.be.device.type == "cpu" else 512) << 20, effort)

    def _burst(self, leg: Leg) -> Burst:
        return timed_legs(self.be, leg, {}, {}).bursts["ours"]

    def _open(self) -> None:
        self.stack = ExitStack()
        self.be = self.stack.enter_context(stator.Backend(self.device))
        self.stack.enter_context(self.be.use())

    def close(self) -> None:
        self.stack.close()

    def renew(self) -> None:
        """Opens another backend where the peak, up to which scratch_bytes fills memory, is far above what is live."""
        figures = self.be.memory.stats()
        if figures["peak_bytes"] - figures["live_bytes"] > RENEWED:
            self.close()
            self._open()

    def _timed(self, case: Case, seconds: float) -> Row:
        """The times of a case that is right, and what its calls take of memory; of one that takes too much no times."""
        arguments = case.ours.sets[0]
        with np.errstate(all="ignore"):
            legs = timed_legs(self.be, case.ours, case.peers, self.peers)
            t = paired(legs.bursts, self.effort, seconds, base=legs.base)
            ways = legs.ways
            del legs
            scratch = scratch_bytes(self.be, lambda: case.ours.call(*arguments))
        row: Row = {"scratch_bytes": scratch}
        if too_much := excess(case.plan, scratch):
            return row | {"valid": False, "note": "; ".join([*case.notes, too_much])}
        floor = self.floor(case.bytes)
        row |= {"ours_us": t.ours, "floor_us": floor, "e_floor": floor / t.ours, "rounds": t.rounds}
        row |= {"ours_way": ways["ours"], "refused": "; ".join(f"{name}: {why}" for name, why in t.refused.items())}
        for name, ratio in t.ratio.items():
            row |= {f"{name}_us": t.peers[name], f"r_{name}": ratio, f"r_{name}_pm": ratio * t.spread[name]}
            row |= {f"{name}_way": ways[name], f"{name}_path": case.paths.get(name, "")}
        return row

    def row(self, plan: Plan, seconds: float) -> Row:
        """Validates a case, then times it. A case that raises counts as wrong; none is dropped."""
        self.renew()
        self.spent = 0.0  # seconds that timing took
        row: Row = {"case": plan.name, **asdict(plan), "valid": False, "error": None, "note": ""}
        try:
            case = build(self.be, plan, self.peers, self.pool)
            checked = verdict(case)
            row |= {
                "valid": checked.right,
                "error": _finite(checked.error),
                "note": "; ".join(case.notes),
                "bytes": case.bytes,
            }
            if checked.right:
                case.result = None
                start = time.monotonic()
                row |= self._timed(case, seconds)
                self.spent = time.monotonic() - start
        except Exception as error:  # the report names the case and the error
            row["note"] = f"{type(error).__name__}: {error}"
            row["valid"] = False
        return row


def measure(run: Run, todo: list[Plan], minutes: float | None, console: Console) -> list[Row]:
    """The rows of all cases; minutes of timing are divided among the cases that are left."""
    rows: list[Row] = []
    left = 60 * (minutes or 0)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("benchmarks", total=len(todo))
        for k, plan in enumerate(todo):
            progress.update(task, advance=1, description=plan.name)
            share = max(left, 0) / (len(todo) - k)
            rows.append(run.row(plan, share / 2 if minutes else CASE_SECONDS))  # the other half warms, or is left over
            left -= run.spent
    return rows


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", choices=["emulated"], help="counters on an emulated device; has options of its own")
    parser.add_argument("--quick", action="store_true", help="every op, but few dtypes and sizes: at most 3 minutes")
    parser.add_argument("--minutes", type=float, metavar="M", help="of timing; with --quick one half, and few rounds")
    parser.add_argument("--json", action="store_true", help="print one object: cases, geomean, worst, worst_op")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write CSV, JSON and a Markdown summary")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--op", nargs="*", default=[], help="these ops")
    parser.add_argument("--dtypes", nargs="*", default=[], help="these dtypes")
    parser.add_argument("--sizes", nargs="*", type=int, default=[], choices=SIZES, metavar="SIZE", help="these sizes")
    parser.add_argument("--peers", nargs="*", default=[], help="numpy, torch, cupy; default: those installed")
    return parser.parse_args()


def chosen(args: argparse.Namespace) -> list[Plan]:
    return [
        p
        for p in plans(args.quick)
        if args.only in p.name
        and p.op in (args.op or [p.op])
        and p.dtype in (args.dtypes or [p.dtype])
        and p.size in (args.sizes or SIZES)
    ]


def main() -> int:
    if any(word.endswith("emulated") for word in sys.argv[1:]):
        from . import emulated

        return emulated.main()
    args = arguments()
    console = Console(stderr=args.json) if sys.stdout.isatty() else Console(stderr=args.json, width=150)
    brief = args.quick and not args.minutes
    with closing(Run(args.device, args.peers, QUICK if brief else FULL)) as run:
        rows = measure(run, chosen(args), args.minutes or (QUICK_MINUTES if brief else None), console)
        device, target, libraries, most = str(run.be.device), run.be.kernels, run.peers, run.ceilings
        products = "may round operands to TF32" if run.be.options["allow_tf32"] else "exact"
    peers = [p for p in ("numpy", "torch", "torch_tf32", "cupy") if any(f"r_{p}" in r for r in rows)]
    versions = {"stator": stator.__version__, "numpy": np.__version__, "python": platform.python_version()}
    report: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks", *sys.argv[1:]]),
        "device": device,
        "target": target,
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "versions": versions | {name: library.__version__ for name, library in libraries.items()},
        "ceilings": most,
        "float32_products": products,
        "wrong": [r["case"] for r in rows if not r["valid"]],
        "summary": [summary(rows, p) for p in peers],
    }
    if args.out:
        write(args.out, rows, report, console)
    if args.json:
        first = report["summary"][0] if report["summary"] else {}
        print(json.dumps(report | {"cases": rows} | {k: first.get(k) for k in ("geomean", "worst", "worst_op")}))
    else:
        show(console, rows, report, peers)
        console.print_json(json.dumps(report))
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
