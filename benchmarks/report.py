"""The output of a run: a table, CSV, JSON, a Markdown summary and a plot."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from .inputs import SIZES
from .plot import made_by, plot

Row = dict[str, Any]
GOAL = 0.8  # the lowest ratio that an op should have


def geomean(values: list[float]) -> float | None:
    return float(np.exp(np.mean(np.log(values)))) if values else None


def by_op(rows: list[Row], peer: str, size: int | None = None) -> dict[str, float]:
    """The geometric mean of each op's ratios, over all of its cases or those of one size."""
    found: dict[str, list[float]] = {}
    for r in rows:
        if f"r_{peer}" in r and size in (None, r["size"]):
            found.setdefault(r["op"], []).append(r[f"r_{peer}"])
    return {op: geomean(ratios) or 0.0 for op, ratios in found.items()}


def _lowest(ratios: dict[str, float], count: int = 10) -> dict[str, float]:
    return {k: ratios[k] for k in sorted(ratios, key=ratios.__getitem__)[:count]}


def summary(rows: list[Row], peer: str) -> dict[str, Any]:
    ratios = {r["case"]: r[f"r_{peer}"] for r in rows if f"r_{peer}" in r}
    sizes = {s: [r[f"r_{peer}"] for r in rows if r["size"] == s and f"r_{peer}" in r] for s in SIZES}
    ops = by_op(rows, peer)
    return {
        "peer": peer,
        "cases": len(ratios),
        "ops": len(ops),
        "geomean": geomean(list(ratios.values())),
        "by_size": {str(s): geomean(some) for s, some in sizes.items() if some},
        "worst": _lowest(ratios),
        "worst_op": _lowest(ops),
        "ops_below_goal": sum(v < GOAL for v in ops.values()),
    }


def duration(us: float) -> str:
    """The text of a duration: microseconds up to a millisecond, then milliseconds."""
    return f"{us:.2f} us" if us < 10 else f"{us:.0f} us" if us < 1000 else f"{us / 1000:.1f} ms"


def size(count: int) -> str:
    """The text of a number of bytes: whole up to a KiB, then KiB and MiB."""
    return (
        f"{count} B"
        if count < 1 << 10
        else f"{count / 2**10:.1f} KiB"
        if count < 1 << 20
        else f"{count / 2**20:.1f} MiB"
    )


def _ratio(row: Row, peer: str) -> str:
    return f"{row[f'r_{peer}']:.2f} ± {row[f'r_{peer}_pm']:.2f}" if f"r_{peer}" in row else ""


def show(console: Console, rows: list[Row], peers: list[str]) -> None:
    table = Table(title="time of the peer / time of stator: median of paired rounds ± half the interquartile range")
    for column in ("case", "stator", "floor", "scratch", *peers):
        table.add_column(column, justify="left" if column == "case" else "right", no_wrap=True)
    for r in rows:
        if not r["valid"]:
            table.add_row(r["case"], "WRONG", "", "", *[""] * len(peers), style="red")
            continue
        ours = duration(r["ours_us"]), duration(r["floor_us"]), size(r["scratch_bytes"])
        table.add_row(r["case"], *ours, *(_ratio(r, p) for p in peers))
    console.print(table)
    for r in rows:
        if not r["valid"]:
            console.print(f"wrong: {r['case']}: {r['note'] or 'error'} {r['error']}", style="red", markup=False)


def _table(head: list[str], lines: list[list[str]]) -> list[str]:
    return ["", *("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)), ""]


def _of_op(rows: list[Row], op: str, peer: str) -> list[str]:
    """The line of an op: its ratio over all cases and at each size, and the time of its first dtype, contiguous."""
    cells = [op, f"{by_op(rows, peer)[op]:.2f}"]
    for size in SIZES:
        ratio = by_op(rows, peer, size).get(op)
        cells.append("" if ratio is None else f"{ratio:.2f}")
        shown = next((r for r in rows if r["op"] == op and r["size"] == size and r["valid"]), None)
        cells.append("" if shown is None else f"{duration(shown['ours_us'])} / {duration(shown['floor_us'])}")
    return cells


def _scratch(rows: list[Row]) -> list[str]:
    """The section on memory: of each op and size the case that takes the most."""
    most: dict[str, dict[int, int]] = {}
    for r in rows:
        if "scratch_bytes" in r:
            sizes = most.setdefault(r["op"], {})
            sizes[r["size"]] = max(sizes.get(r["size"], 0), r["scratch_bytes"])
    lines = [[op, *(f"{of[s]:,}" if s in of else "" for s in SIZES)] for op, of in most.items() if any(of.values())]
    none = [op for op, of in most.items() if not any(of.values())]
    text = ["", "## Peak bytes beside inputs and outputs", "", "Of the case of an op and size that takes the most."]
    text += _table(["op", "1e3", "1e6", "2^24"], lines) if lines else [""]
    return [*text, f"None in any case: {', '.join(none)}."] if none else text


def markdown(rows: list[Row], report: dict[str, Any]) -> str:
    """The summary page."""
    text = [
        f"# Benchmarks on {report['device']}",
        "",
        made_by(report),
        "",
        "A ratio is the peer's time over stator's, the median of paired rounds: above 1, stator is faster. Means are",
        "geometric. The floor is a copy of the same bytes, measured in the same run.",
    ]
    if report["wrong"]:
        text += ["", "Wrong, and so not timed:", "", *(f"- {case}" for case in report["wrong"])]
    for s in report["summary"]:
        peer = s["peer"]
        sizes = ", ".join(f"{int(k):,}: {v:.2f}" for k, v in s["by_size"].items())
        text += ["", f"## Against {peer}", ""]
        text.append(f"{s['ops']} ops in {s['cases']} cases: geometric mean **{s['geomean']:.2f}**, by size {sizes};")
        text.append(f"{s['ops_below_goal']} ops below {GOAL}.")
        text += _table(["slowest op", "ratio"], [[k, f"{v:.2f}"] for k, v in s["worst_op"].items()])
        text += _table(["slowest case", "ratio"], [[k, f"{v:.2f}"] for k, v in s["worst"].items()])
        head = ["op", "all"] + [t for n in ("1e3", "1e6", "2^24") for t in (n, f"{n}: stator / floor")]
        text += _table(head, [_of_op(rows, op, peer) for op in by_op(rows, peer)])
    text += _scratch(rows)
    return "\n".join(text).rstrip() + "\n"


def write(folder: Path, rows: list[Row], report: dict[str, Any], console: Console) -> None:
    """Writes <device>.csv, .json, .md and .png into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / report["device"].replace(":", "")
    columns = list(dict.fromkeys(k for r in rows for k in r))
    with stem.with_suffix(".csv").open("w", newline="") as f:
        writer = csv.DictWriter(f, columns)
        writer.writeheader()
        writer.writerows({k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    stem.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")  # the cases are in the CSV
    stem.with_suffix(".md").write_text(markdown(rows, report))
    if report["summary"] and not plot(stem.with_suffix(".png"), rows, report):
        console.print("no plot: matplotlib is not installed")
    console.print(f"wrote {stem}.csv, .json, .md")
