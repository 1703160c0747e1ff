"""Keeps the results of runs in benchmarks/results/gpu, and writes the part of docs/gpu_runs.md that is made of them.

python -m tools.gpu_run.page [--take LOG] [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .log import FAILED, RESULTS, ROOT, Row, folder_of, results_of, rows_of
from .steps import PEERS, ratio

BEGIN = "<!-- Made by python -m tools.gpu_run.page: do not edit up to the end of the results. -->"
END = "<!-- The end of the results. -->"
COLUMNS = (
    "ours_us",
    "floor_us",
    "issue_us",
    "gb_per_s",
    "registers",
    "resident_blocks",
    *(c for peer in PEERS for c in (f"r_{peer}", f"r_{peer}_pm")),
)


def _without_old_tests(rows: dict[tuple[str, str], Row], digests: dict[str, str]) -> dict[tuple[str, str], Row]:
    """The rows without those of tests and folders that have run with another digest since."""

    def old(row: Row) -> bool:
        folder = {"test": folder_of(row["name"]), "tests": row["name"]}.get(row["step"])
        return bool(digests.get(folder or "", row["digest"]) != row["digest"])

    return {key: row for key, row in rows.items() if not old(row)}


def take(log: Path, root: Path) -> list[Path]:
    """Adds a log to the results: of each card the newest row of each name, and of tests that passed only their number.

    Returns the files that were written. Emulated devices have no results.
    """
    cards: dict[str, list[Row]] = {}
    for row in rows_of(log):
        cards.setdefault(row["card"], []).append(row)
    real = {card: rows for card, rows in cards.items() if "(emulated)" not in card}
    for card, rows in real.items():
        newest = {(r["step"], r["name"]): r for r in [*rows_of(results_of(root, card)), *rows]}
        newest = _without_old_tests(newest, {folder_of(r["name"]): r["digest"] for r in rows if r["step"] == "test"})
        of = dict(newest.get(("run", "tests that passed"), {}).get("of", {}))  # by folder: digest and number
        now: dict[str, list[Any]] = {}
        for row in newest.values():
            if row["step"] == "test" and row["status"] != FAILED:
                now.setdefault(folder_of(row["name"]), [row["digest"], 0])[1] += 1
        of |= {f: found for f, found in now.items() if f not in of or of[f][0] != found[0] or of[f][1] < found[1]}
        if of:
            numbers = {"step": "run", "name": "tests that passed", "digest": newest["run", "machine"]["digest"]}
            numbers |= {"status": "passed", "number": sum(number for _, number in of.values()), "of": of}
            newest["run", "tests that passed"] = {"card": card, **numbers}
        path = results_of(root, card)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = (r for r in newest.values() if r["step"] != "test" or r["status"] == FAILED)
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    return [results_of(root, card) for card in real]


def _table(head: Iterable[str], lines: Iterable[Iterable[object]]) -> list[str]:
    rows = [[str(cell).replace("|", "/").replace("\n", " ") for cell in line] for line in (head, *lines)]
    return ["", *("| " + " | ".join(cells) + " |" for cells in (rows[0], ["---"] * len(rows[0]), *rows[1:])), ""]


def _number(value: object) -> str:
    return (f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}") if isinstance(value, int | float) else ""


def _short(row: Row) -> str:
    """What came of a step, in one cell."""
    found = row.get("result") or (row.get("output") or row.get("detail") or "").strip().rpartition("\n")[2]
    return (", ".join(f"{k}: {v}" for k, v in found.items()) if isinstance(found, dict) else found)[:300]


def section(rows: list[Row]) -> list[str]:
    """The text about one card."""
    steps: dict[str, dict[str, Row]] = {}
    for row in rows:
        steps.setdefault(row["step"], {})[row["name"]] = row
    run = steps["run"]["machine"]
    machine = run["machine"]
    software = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    text = [f"### {machine['name']}", "", f"Commit {run['digest'][:12]}, driver {machine['driver']}, {software}."]
    if number := steps["run"].get("tests that passed", {}).get("number"):
        text[-1] += f" {number:,} tests passed; all of these folders: {', '.join(steps.get('tests', ['none']))}."
    ceilings = steps.get("programs", {}).pop("ceilings", {}).get("result", {})
    if sizes := ceilings.pop("GB/s", None):
        kinds = next(iter(sizes.values()))
        text += _table(("GB/s", *kinds), ((size, *of.values()) for size, of in sizes.items()))
        text.append(", ".join(f"{name} {value}" for name, value in ceilings.items()) + ".")
    shown = [
        r for s in ("verify", "programs", "racecheck", "synccheck", "ncu", "cpp") for r in steps.get(s, {}).values()
    ]
    text += _table(("step", "status", "result"), ((f"{r['step']} {r['name']}", r["status"], _short(r)) for r in shown))
    text += [f"- failed: `{name}`" for name in steps.get("test", {})]
    cases = sorted(steps.get("case", {}).values(), key=ratio)
    for case in cases:
        case["gb_per_s"] = case["bytes"] / case["ours_us"] / 1e3 if case.get("ours_us") else None
    columns = [c for c in COLUMNS if any(case.get(c) for case in cases)]
    if cases:
        text += _table(("case", *columns), ((c["name"], *(_number(c.get(k)) for k in columns)) for c in cases))
    return text


def page(root: Path) -> str:
    """docs/gpu_runs.md as it should be."""
    before, _, rest = (root / "docs" / "gpu_runs.md").read_text().partition(BEGIN)
    files = sorted((root / RESULTS).glob("*.jsonl"))
    made = [line for path in files for line in (*section(list(rows_of(path))), "")]
    made = made or ["No results are kept yet.", ""]
    return before + "\n".join([BEGIN, "", *made, END]).replace("\n\n\n", "\n\n") + rest.partition(END)[2]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--take", type=Path, metavar="LOG", help="first adds a log to the results")
    parser.add_argument("--check", action="store_true", help="writes nothing, and fails where the page is not fresh")
    args = parser.parse_args(argv)
    if args.take and not args.take.exists():
        parser.error(f"there is no {args.take}")
    if args.take:
        written = take(args.take, ROOT)
        print(*(f"wrote {path.relative_to(ROOT)}" for path in written), sep="\n", end="\n" * bool(written))
        if not written:
            print(f"{args.take} has no results of a real card: nothing is kept")
    target, text = ROOT / "docs" / "gpu_runs.md", page(ROOT)
    fresh = target.read_text() == text
    if args.check:
        print("fresh" if fresh else "docs/gpu_runs.md is not fresh: run python -m tools.gpu_run.page", file=sys.stderr)
        return int(not fresh)
    target.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
