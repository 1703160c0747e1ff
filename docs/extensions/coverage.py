"""The page of operations and traits that stator was asked to have, made of the tables that the tests check."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

from texts import escaped

_INTRODUCTION = """# What was asked for

stator re-imagines five designs of GPU backends. These are the operations and methods that they name, and the calls that
do it here; `python tools/coverage.py` and the tests of `tests/coverage` check that each call exists. A method without a
call has the reason instead, or after "Planned" what is missing. The last column says what a test of the call
requires."""


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _code(call: str) -> str:
    return f"`{call}`" if call else ""


def _here(row: dict[str, str]) -> str:
    planned = f"Planned: {row['planned']}" if row["planned"] else ""
    return ". ".join(part for part in (_code(row["call"]), escaped(planned), escaped(row["reason"] or "")) if part)


def _tested(test: str) -> str:
    """The name of a test as words."""
    return escaped(test.rpartition("::")[2].removeprefix("test_").replace("_", " "))


def page(folder: Path) -> str:
    parts = [_INTRODUCTION, "## Operations"]
    by_family = sorted(_rows(folder / "operations.tsv"), key=lambda row: row["family"])
    for family, rows in groupby(by_family, key=lambda row: row["family"]):
        lines = [f"| {escaped(row['operation'])} | {_code(row['call'])} |" for row in rows]
        parts += [f"### {family}", "\n".join(["| asked for | here |", "|---|---|", *lines])]
    parts.append("## Traits")
    for trait, rows in groupby(_rows(folder / "traits.tsv"), key=lambda row: row["trait"]):
        lines = [f"| {escaped(row['method'])} | {_here(row)} | {_tested(row['test'])} |" for row in rows]
        parts += [f"### {trait}", "\n".join(["| asked for | here | tested |", "|---|---|---|", *lines])]
    return "\n\n".join(parts) + "\n"
