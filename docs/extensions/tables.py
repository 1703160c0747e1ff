"""Rows of the tables of Markdown that the commands of `benchmarks` write, and of their CSV."""

from __future__ import annotations

import csv
import re
from pathlib import Path

Row = dict[str, str]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _named(header: list[str]) -> list[str]:
    """The names of the columns; those of a second library are named once more."""
    return [f"{name} beside" if name in header[:i] else name for i, name in enumerate(header)]


def rows(page: Path, first: str, *, needs: str) -> list[Row]:
    """The rows of all tables whose first column is `first` and which have a column `needs`, with their section."""
    found: list[Row] = []
    section, header = "", []
    for line in page.read_text().splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        if not line.startswith("|"):
            header = []
        elif not header:
            header = _named(cells(line))
        elif not line.startswith("| ---") and header[0] == first and needs in header:
            found.append({**dict(zip(header, cells(line), strict=True)), "section": section, "family": section})
    return found


def of_csv(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def command(page: Path) -> str:
    """What makes the page, as it says itself."""
    made = re.search(r"Made by `([^`]+)`", page.read_text())
    assert made, f"{page.name} does not say what it is made by"
    return made[1]
