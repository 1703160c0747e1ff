"""`python -m stator verify`: runs the parts in child processes, and says what failed in a line, a page and as JSON."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from stator._catalogue import entries
from stator._catalogue.given import LAYOUTS, Cell, table
from stator._verify import page
from stator._verify.cells import plan
from stator._verify.children import WORKER, Child, ChildError, Silence, result_of, run_way

PARTS = ("calls", "exits", "timings", "ops")
CRASHES = 3  # of one op, after which its other cells are not run

Advance = Callable[[str, int, int], None]  # part, done, of all


@dataclass
class Options:
    """What is asked for. limit: seconds after which no further cell of an op starts; 0 for none."""

    device: str
    quick: bool = False
    seed: int = 0
    limit: float = 300.0
    ops: list[str] | None = None
    dtypes: list[str] | None = None
    layouts: list[str] | None = None
    parts: Sequence[str] = PARTS
    worker: Sequence[str] = WORKER
    silence: float = 60.0  # seconds without a sign of a child's work, after which it is ended


@dataclass
class Tally:
    """The cells of one op: how many there are, how many ran and how many kept the contract."""

    entry: dict[str, Any]
    planned: int = 0
    passed: int = 0
    failed: int = 0
    worst: float = 0.0
    worst_at: str = ""
    dtypes: dict[str, list[str]] = field(default_factory=dict)  # the layouts that passed, by dtype

    def add(self, outcome: dict[str, Any]) -> None:
        if outcome["failed"]:
            self.failed += 1
        else:
            self.passed += 1
            self.dtypes.setdefault(outcome["dtype"], []).append(outcome["layout"])
        if outcome["error"] > self.worst:
            self.worst, self.worst_at = outcome["error"], f"{outcome['dtype']} {outcome['layout']}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "family": self.entry["family"],
            "determinism": self.entry["determinism"],
            "tolerance": self.entry["tolerance"],
            "error_per_term": self.entry["error_per_term"],
            "cells": self.planned,
            "passed": self.passed,
            "failed": self.failed,
            "not_finished": self.planned - self.passed - self.failed,
            "worst_error": self.worst if math.isfinite(self.worst) else "infinite",
            "worst_at": self.worst_at,
            "passed_layouts": self.dtypes,
        }


class Verification:
    """One run. `report` is plain data, of what is known so far, at any time."""

    def __init__(self, options: Options, advance: Advance) -> None:
        self.options, self.advance = options, advance
        self.start = time.perf_counter()
        self.tallies: dict[str, Tally] = {}
        self.failures: list[dict[str, Any]] = []
        self.found: dict[str, Any] = {}
        self.finished = False

    def run(self) -> None:
        """Runs all parts in turn."""
        request = {"device": self.options.device, "seed": self.options.seed, "quick": self.options.quick}
        try:
            self.found["machine"] = result_of({**request, "part": "info"}, self.options.worker)
        except ChildError as error:
            self.found["error"] = f"The device does not open: {error}"
            return
        request["device"] = self.found["machine"]["device"]
        for part in PARTS:
            if part in self.options.parts:
                getattr(self, f"run_{part}")({**request, "part": part})
        self.finished = True

    def run_calls(self, request: dict[str, Any]) -> None:
        """Failing runtime calls."""
        self.advance("calls", 0, 1)
        try:
            found = result_of({**request, "part": "failures"}, self.options.worker)
        except ChildError as error:
            found = {"calls": 0, "kinds": [], "raised": {}, "failed": [{"call": -1, "message": str(error)}]}
        self.found["runtime_calls"] = found
        self.advance("calls", 1, 1)

    def run_exits(self, request: dict[str, Any]) -> None:
        """Ends of processes."""
        from stator._verify.exits import WAYS

        found: list[dict[str, Any]] = []
        self.found["exits"] = found
        for k, way in enumerate(WAYS):
            self.advance("exits", k, len(WAYS))
            found.append(run_way(way, request["device"]))
        self.advance("exits", len(WAYS), len(WAYS))

    def run_timings(self, request: dict[str, Any]) -> None:
        """Timings, of a device that has a time."""
        if self.found["machine"]["emulated"]:
            self.found["timings"] = {"left_out": "An emulated device has no time of its own.", "rows": []}
            return
        found: dict[str, Any] = {"left_out": "", "rows": []}
        self.found["timings"] = found
        self.advance("timings", 0, 1)
        try:
            with Child(request, self.options.worker, 120) as child:
                for message in child:
                    if "row" in message:
                        found["rows"].append(message["row"])
        except ChildError as error:
            found["left_out"] = f"Timing ended early: {error}"
        self.advance("timings", 1, 1)

    def run_ops(self, request: dict[str, Any]) -> None:
        """Cells, by as many children as it takes: a child that ends before its work fails the cell that it was at."""
        o = self.options
        cells = plan(quick=o.quick, ops=o.ops, dtypes=o.dtypes, layouts=o.layouts)
        for cell in cells:
            self.tallies.setdefault(cell.op, Tally(table()[cell.op])).planned += 1
        crashes: dict[str, int] = {}
        total, left = len(cells), cells
        while left and self._time_left() > 0:
            done = self._run_child({**request, "part": "cells"}, left, crashes, total)
            left = [cell for cell in left[done:] if crashes.get(cell.op, 0) < CRASHES]

    def _time_left(self) -> float:
        limit = self.options.limit
        return max(limit - (time.perf_counter() - self.start), 0.0) if limit > 0 else math.inf

    def _run_child(self, request: dict[str, Any], cells: list[Cell], crashes: dict[str, int], total: int) -> int:
        """Runs cells in one child until it ends; returns how many of them are done."""
        done, started = 0, False
        reason = ""
        try:
            asked = {**request, "cells": [[c.op, c.dtype, c.layout] for c in cells]}
            with Child(asked, self.options.worker, self._silence()) as child:
                for message in child:
                    started = True
                    if "outcome" not in message:
                        continue
                    self._add(message["outcome"])
                    done += 1
                    self.advance("ops", total - len(cells) + done, total)
                    if message["lost"]:
                        crashes[cells[done - 1].op] = crashes.get(cells[done - 1].op, 0) + 1
                        return done
                    if self._time_left() == 0:
                        return done
        except Silence as error:
            if self._time_left() == 0:  # the cell is one of those that are not finished
                return done
            reason = str(error)
        except ChildError as error:
            reason = str(error)
        if done == len(cells):
            if reason:
                self.found["error"] = f"The child that ran the ops {reason}, after the last of them"
            return done
        reason = reason or "ended before its work did"
        if not started and crashes.get("", 0):
            self.found["error"] = f"The child that runs the ops does not start: {reason}"
            return len(cells)
        crashes[""] = 0 if started else 1
        at = cells[done]
        outcome = {"op": at.op, "dtype": at.dtype, "layout": at.layout, "error": math.inf}
        self._add({**outcome, "failed": f"the child process {reason}"})
        crashes[at.op] = crashes.get(at.op, 0) + 1
        return done + 1

    def _silence(self) -> float:
        """Seconds in which a child must give a sign; an emulated device may work on a cell as long as there is time."""
        emulated = self.found["machine"]["emulated"]
        return max(self.options.silence, self._time_left()) if emulated else self.options.silence

    def _add(self, outcome: dict[str, Any]) -> None:
        self.tallies[outcome["op"]].add(outcome)
        if outcome["failed"]:
            cell = f"--op {outcome['op']} --dtype {outcome['dtype']} --layout {outcome['layout']}"
            again = (
                f"python -m stator verify --device {self.found['machine']['device']} --seed {self.options.seed} {cell}"
            )
            self.failures.append(
                {key: outcome[key] for key in ("op", "dtype", "layout")}
                | {"message": outcome["failed"], "reproduce": again}
            )

    @property
    def report(self) -> dict[str, Any]:
        """What is known, as plain data."""
        calls = self.found.get("runtime_calls", {}).get("failed", [])
        exits = [x for x in self.found.get("exits", []) if x["failed"]]
        missing = [] if self.options.ops else sorted(set(table()) - set(entries()))
        failed = len(self.failures) + len(calls) + len(exits) + len(missing) + ("error" in self.found)
        ops = {name: tally.as_dict() for name, tally in self.tallies.items()}
        return {
            "result": "failed" if failed else "passed" if self.finished else "interrupted",
            "interrupted": not self.finished,
            "seconds": round(time.perf_counter() - self.start, 1),
            "limit": self.options.limit,
            "seed": self.options.seed,
            "quick": self.options.quick,
            "cells": {k: sum(op[k] for op in ops.values()) for k in ("cells", "passed", "failed", "not_finished")},
            "ops_without_a_case": missing,
            "failures": self.failures,
            **self.found,
            "ops": ops,
        }


def write(report: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """Writes the report as JSON and as a page; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data, text = folder / "stator-verify.json", folder / "stator-verify.md"
    data.write_text(json.dumps(report, indent=1) + "\n")
    text.write_text(page.text(report))
    return data, text


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The arguments of `python -m stator verify`."""
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
    command.add_argument("--output", type=Path, metavar="FOLDER", help="write the report there, as a page and as JSON")
    command.add_argument("--quick", action="store_true", help="two dtypes of each op, in four layouts")
    command.add_argument("--seed", type=int, default=0, help="of the operands")
    command.add_argument("--minutes", type=float, default=5, help="of work at most, the rest is not finished; 0: all")
    command.add_argument("--silence", type=float, default=60, metavar="SECONDS", help="end a child that says nothing")
    command.add_argument("--op", action="append", metavar="NAME", help="only this op of the op table; repeatable")
    command.add_argument("--dtype", action="append", metavar="NAME", help="only this dtype; repeatable")
    command.add_argument("--layout", action="append", choices=LAYOUTS, help="only this layout; repeatable")
    command.add_argument("--part", action="append", choices=PARTS, help="only this part; repeatable")


def run(args: argparse.Namespace, console: Console) -> int:
    """The command; returns the exit status: 0 if nothing failed and nothing was interrupted.

    Cells for which there was no time are not failures.
    """
    unknown = set(args.op or ()) - set(table())
    if unknown:
        console.print(f"The op table has no {', '.join(sorted(unknown))}: see `python -m stator ops`.", markup=False)
        return 1
    chosen = args.op or args.dtype or args.layout
    options = Options(
        device=args.device,
        quick=args.quick,
        seed=args.seed,
        limit=args.minutes * 60,
        silence=args.silence,
        ops=args.op,
        dtypes=args.dtype,
        layouts=args.layout,
        parts=args.part or (("ops",) if chosen else PARTS),
    )
    columns = TextColumn("verifying {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), disable=args.json) as bar:
        tasks: dict[str, Any] = {}

        def advance(part: str, done: int, total: int) -> None:
            if part not in tasks:
                tasks[part] = bar.add_task(page.PART_NAMES[part], total=total)
            bar.update(tasks[part], completed=done, total=total)

        verification = Verification(options, advance)
        try:
            verification.run()
        except KeyboardInterrupt:  # what there is, is written
            bar.console.print("interrupted")
    report = verification.report
    paths = write(report, args.output) if args.output else ()
    if args.json:
        print(json.dumps(report))
    else:
        for line in (*page.shown_failures(report), page.summary(report), *(f"Written: {path}" for path in paths)):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    return 0 if report["result"] == "passed" else 1
