"""Reports which operations that array libraries ask of stator are present, and which are tested.

    python tools/coverage.py [--json]

Prints counts per family, or with --json a list with one entry per operation. tests/coverage/operations.tsv lists the
operations. An operation is tested when the tests have a case for it, which compares it with a reference. Fails where a
call in the list does not exist.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Set
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

import stator

TESTS = Path(__file__).resolve().parents[1] / "tests"
PLANNED = "planned"  # the call of an operation that is not present yet


class Operation(NamedTuple):
    """A line of operations.tsv; `call` is its dotted name below `stator.`, None where planned."""

    operation: str
    call: str | None
    family: str


def operations() -> list[Operation]:
    with (TESTS / "coverage" / "operations.tsv").open(newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t"))
    return [Operation(n["operation"], None if n["call"] == PLANNED else n["call"], n["family"]) for n in lines]


def cases() -> Set[str]:
    """The operations that have a case; the tests run all cases."""
    for folder in (TESTS / "support", TESTS / "coverage"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    from test_operation_cases import FAMILIES

    return {operation for family in FAMILIES.values() for operation in family}


def resolve(call: str) -> Any:
    """The object of a dotted name below `stator.`; AttributeError where there is none."""
    return reduce(getattr, call.split("."), stator)


def exists(call: str) -> bool:
    try:
        resolve(call)
    except AttributeError:
        return False
    return True


def report() -> list[dict[str, Any]]:
    """The name, call and family of each operation, and whether it is tested."""
    tested = cases()
    return [
        {**o._asdict(), "tested": o.call is not None and exists(o.call) and o.operation in tested} for o in operations()
    ]


def show(entries: list[dict[str, Any]], missing: Set[str], console: Console) -> None:
    def counts(some: list[dict[str, Any]]) -> list[str]:
        present = [e for e in some if e["call"] is not None and e["call"] not in missing]
        planned = sum(e["call"] is None for e in some)
        return [str(n) for n in (len(some), len(present), sum(e["tested"] for e in present), planned)]

    table = Table("family", title=f"{len(entries)} operations", show_footer=True)
    table.columns[0].footer = "all"
    for heading, total in zip(("asked for", "present", "tested", "planned"), counts(entries), strict=True):
        table.add_column(heading, total, justify="right")
    for family in dict.fromkeys(e["family"] for e in entries):
        table.add_row(family, *counts([e for e in entries if e["family"] == family]))
    console.print(table)
    lists = {
        "planned": [e["operation"] for e in entries if e["call"] is None],
        "present, not tested": [e["operation"] for e in entries if e["call"] is not None and not e["tested"]],
    }
    for heading, names in lists.items():
        if names:
            console.print(f"{heading}: {', '.join(names)}", highlight=False)


def main(argv: list[str] | None = None) -> int:
    description, details = (__doc__ or "").split("\n", 1)
    parser = argparse.ArgumentParser(description=description, epilog=details.split("\n\n", 1)[1])
    parser.add_argument("--json", action="store_true", help="operation, call, family and tested of each, as JSON")
    args = parser.parse_args(argv)
    entries = report()
    missing = {e["call"] for e in entries if e["call"] is not None and not exists(e["call"])}
    if args.json:
        print(json.dumps(entries, indent=1))
    else:
        show(entries, missing, Console())
    for call in sorted(missing):
        print(f"coverage: there is no stator.{call}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
