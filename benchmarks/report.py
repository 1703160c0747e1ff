"""The output of a run: a table, CSV, JSON and a Markdown summary."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from .inputs import SIZES
from .timing import AGREE, ROUNDS

Row = dict[str, Any]
GOAL = 0.8  # the lowest ratio that an op should have


def geomean(values: list[float]) -> float | None:
    return float(np.exp(np.mean(np.log(values)))) if values else None


def figure(row: Row, peer: str) -> float | None:
    """The ratio of a row to a peer; None where there is none, or it is refused."""
    return row.get(f"r_{peer}") if f"{peer}:" not in row.get("refused", "") else None


def ratios(rows: list[Row], peer: str, size: int | None = None) -> dict[str, float]:
    """The ratios of all cases, or of those of one size."""
    found = {r["case"]: figure(r, peer) for r in rows if size in (None, r["size"])}
    return {case: ratio for case, ratio in found.items() if ratio is not None}


def by_op(rows: list[Row], peer: str, size: int | None = None) -> dict[str, float]:
    """The geometric mean of each op's ratios, over all of its cases or those of one size."""
    found: dict[str, list[float]] = {}
    of, cases = {r["case"]: r["op"] for r in rows}, ratios(rows, peer, size)
    for case, ratio in cases.items():
        found.setdefault(of[case], []).append(ratio)
    return {op: geomean(some) or 0.0 for op, some in found.items()}


def refused(rows: list[Row], peer: str) -> list[str]:
    """The cases whose figures are in no mean, with the reasons."""
    found = []
    for r in rows:
        why = [part for part in r.get("refused", "").split("; ") if part.startswith(f"{peer}: ")]
        found += [f"{r['case']} ({why[0].removeprefix(f'{peer}: ')})"] if why else []
    return found


def _lowest(ratios: dict[str, float], count: int = 10) -> dict[str, float]:
    return {k: ratios[k] for k in sorted(ratios, key=ratios.__getitem__)[:count]}


def summary(rows: list[Row], peer: str) -> dict[str, Any]:
    every, ops = ratios(rows, peer), by_op(rows, peer)
    sizes = {s: geomean(list(ratios(rows, peer, s).values())) for s in SIZES}
    return {
        "peer": peer,
        "cases": len(every),
        "ops": len(ops),
        "geomean": geomean(list(every.values())),
        "by_size": {str(s): mean for s, mean in sizes.items() if mean},
        "worst": _lowest(every),
        "worst_op": _lowest(ops),
        "ops_below_goal": sum(v < GOAL for v in ops.values()),
        "refused": refused(rows, peer),
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
    """The ratio with its spread, the reason where it is refused, and the path that the peer chose."""
    if f"r_{peer}" not in row:
        return ""
    ratio = row[f"r_{peer}"]
    why = "" if figure(row, peer) else " refused"
    path = f" {row[f'{peer}_path']}" if row.get(f"{peer}_path") else ""
    return f"{ratio:.2f} ± {row[f'r_{peer}_pm']:.2f}{why}{path}"


def pace(row: Row) -> str:
    """The GB/s of operands and results."""
    return f"{row['bytes'] / row['ours_us'] / 1e3:.3g}"


def show(console: Console, rows: list[Row], report: dict[str, Any], peers: list[str]) -> None:
    title = "time of the peer / time of stator: median of paired rounds ± half the range between the quartiles"
    table = Table(title=title, caption=bounds(report))
    for column in ("case", "stator", "floor", "GB/s", "scratch", *peers):
        table.add_column(column, justify="left" if column == "case" else "right", no_wrap=True)
    for r in rows:
        if not r["valid"]:
            table.add_row(r["case"], "WRONG", "", "", "", *[""] * len(peers), style="red")
            continue
        ours = duration(r["ours_us"]), duration(r["floor_us"]), pace(r), size(r["scratch_bytes"])
        table.add_row(r["case"], *ours, *(_ratio(r, p) for p in peers))
    console.print(table)
    for r in rows:
        if not r["valid"]:
            console.print(f"wrong: {r['case']}: {r['note'] or 'error'} {r['error']}", style="red", markup=False)


def _table(head: list[str], lines: list[list[str]]) -> list[str]:
    return ["", *("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)), ""]


def made_by(report: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    where = f"{report['machine']}, {report['cores']} cores, target {report['target']}"
    return f"Made by `{report['command']}` on {where}; {versions}."


def bounds(report: dict[str, Any]) -> str:
    """What memory allows, and how products of float32 are computed."""
    most = ", ".join(f"{name} {value:,.0f}" for name, value in report["ceilings"].items())
    return f"Most GB/s that memory gave: {most}. Products of float32 in stator: {report['float32_products']}."


def _of_op(rows: list[Row], op: str, peer: str) -> list[str]:
    """The line of an op: its ratio over all cases and at each size, and the time of its first dtype, contiguous."""
    cells = [op, f"{by_op(rows, peer)[op]:.2f}"]
    for size in SIZES:
        ratio = by_op(rows, peer, size).get(op)
        cells.append("" if ratio is None else f"{ratio:.2f}")
        shown = next((r for r in rows if r["op"] == op and r["size"] == size and r["valid"]), None)
        cells.append("" if shown is None else f"{duration(shown['ours_us'])} / {duration(shown['floor_us'])}")
    return cells


def _paths(rows: list[Row]) -> list[str]:
    """The section on which of its ways PyTorch took, of the cases for which it says so."""
    names = ("torch_path", "torch_tf32_path")
    lines = [[r["case"], *(r.get(name, "") for name in names)] for r in rows if any(r.get(name) for name in names)]
    head = ["case", "torch", "torch with TF32"]
    return ["", "## Paths that peers chose", *_table(head, lines)[:-1]] if lines else []


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
        bounds(report),
        "",
        "A ratio is the peer's time over stator's, the median of paired rounds of warm calls: above 1, stator is",
        f"faster. Means are geometric, and without cases of fewer than {ROUNDS} rounds or of rounds that are spread by",
        f"more than {AGREE:.0%}, half the range between the quartiles. The floor is the least time of a copy of the",
        "same bytes into memory that exists, measured in the same run.",
    ]
    if report["wrong"]:
        text += ["", "Wrong, and so not timed:", "", *(f"- {case}" for case in report["wrong"])]
    for s in report["summary"]:
        peer = s["peer"]
        sizes = ", ".join(f"{int(k):,}: {v:.2f}" for k, v in s["by_size"].items())
        text += ["", f"## Against {peer}", ""]
        if not s["cases"]:
            text.append(f"No figure that is not refused, of {len(s['refused'])} cases.")
            continue
        text.append(f"{s['ops']} ops in {s['cases']} cases: geometric mean **{s['geomean']:.2f}**, by size {sizes};")
        text.append(f"{s['ops_below_goal']} ops below {GOAL}.")
        text += _table(["slowest op", "ratio"], [[k, f"{v:.2f}"] for k, v in s["worst_op"].items()])
        text += _table(["slowest case", "ratio"], [[k, f"{v:.2f}"] for k, v in s["worst"].items()])
        head = ["op", "all"] + [t for n in ("1e3", "1e6", "2^24") for t in (n, f"{n}: stator / floor")]
        text += _table(head, [_of_op(rows, op, peer) for op in by_op(rows, peer)])
        if s["refused"]:
            text += ["Refused, and so in no mean:", "", *(f"- {case}" for case in s["refused"])]
    text += _paths(rows)
    text += _scratch(rows)
    return "\n".join(text).rstrip() + "\n"


def write(folder: Path, rows: list[Row], report: dict[str, Any], console: Console) -> None:
    """Writes <device>.csv, .json and .md into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / report["device"].replace(":", "")
    columns = list(dict.fromkeys(k for r in rows for k in r))
    with stem.with_suffix(".csv").open("w", newline="") as f:
        writer = csv.DictWriter(f, columns)
        writer.writeheader()
        writer.writerows({k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    stem.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n")  # the cases are in the CSV
    stem.with_suffix(".md").write_text(markdown(rows, report))
    console.print(f"wrote {stem}.csv, .json, .md")
