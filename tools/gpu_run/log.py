"""The log of runs: lines of JSON, appended. What is in it with the same digest and card need not run again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path("benchmarks/results/gpu")
PASSED, FAILED, CUT, ABSENT, MISSING = "passed", "failed", "cut off", "not available here", "not installed"
DONE = (PASSED, ABSENT)


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file, if it exists. A line that was cut off with its process is left out."""
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def results_of(root: Path, card: str) -> Path:
    """The file of what is kept of a card."""
    return root / RESULTS / (re.sub(r"[^a-z0-9]+", "-", card.lower()).strip("-") + ".jsonl")


def folder_of(test: str) -> str:
    """The folder of tests that a result belongs to: "ops/sort" or "graphs"."""
    parts = test.split("::")[0].split("/")[1:-1]
    return "/".join(parts[:2] if parts[:1] == ["ops"] else parts[:1])


def append(path: Path, row: Row) -> None:
    """Adds a line, which begins a line of its own also where a process ended inside the one before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        file.seek(max(file.seek(0, 2) - 1, 0))
        torn = file.read(1) not in (b"", b"\n")
        file.write(b"\n" * torn + json.dumps(row).encode() + b"\n")


class Log:
    """The rows of one card in a file, after those that are kept of the card. Rows of other cards stay in the file."""

    def __init__(self, path: Path, card: str, root: Path = ROOT) -> None:
        self.path, self.card, self.kept = path, card, list(rows_of(results_of(root, card)))
        self.reload()

    def reload(self) -> None:
        """Takes note of what child processes appended."""
        self.rows = self.kept + [row for row in rows_of(self.path) if row["card"] == self.card]

    def add(self, step: str, name: str, digest: str, status: str, **more: Any) -> None:
        row = {"card": self.card, "step": step, "name": name, "digest": digest, "status": status, **more}
        append(self.path, row)
        self.rows.append(row)

    def done(self, step: str, digest: str) -> set[str]:
        """The names under a step that passed, or could not exist here, with this digest."""
        return {r["name"] for r in self.rows if r["step"] == step and r["digest"] == digest and r["status"] in DONE}

    def last(self, step: str) -> dict[str, Row]:
        """The newest row of each name."""
        return {row["name"]: row for row in self.rows if row["step"] == step}
