"""Reports how much of the cuda target a run on emulated devices has executed.

    STATOR_EMULATE=h200 STATOR_EMULATE_RECORD=FOLDER python -m pytest -k cuda tests
    python tools/emulator_coverage.py FOLDER [--never FILE] [--lines BUILD] [--unreachable TABLE]

Prints kernels executed of kernels built, by family; forms of instructions executed of those in the PTX of all kernels;
symbols of vendor libraries called of those that have doubles; and, for a build with -DSTATOR_COVERAGE=ON, lines of the
C++ that only the cuda target has. With a table of kernels that no test can reach, each with the reason, it fails where
the kernels that were not executed are not the ones of the table.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import emulator_records as records
from emulated import library

ROOT = Path(__file__).resolve().parents[1]
Share = tuple[str, int, int]  # of what, executed, all


def vendor_symbols() -> set[str]:
    """The functions of vendor libraries that have doubles."""
    doubles = library("vendor")
    found: set[str] = set()
    visit = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)
    doubles.stator_vendor_calls(visit(lambda _, name, __: found.add(name.decode())), None)
    return found


def executed_lines(build: Path) -> dict[str, dict[int, int]]:
    """By source file: how often each line was executed, of the objects whose counts gcov finds below the folder.

    A source that no process has executed has a line table (.gcno) without counts; gcov says zero for its lines.
    """
    tables = [
        p.resolve() for p in sorted(build.rglob("*.gcno")) if {"stator_plain.dir", "stator_cuda.dir"} & {*p.parts}
    ]
    if not tables:
        raise SystemExit(f"{build} has no objects with counts of lines: build with -DSTATOR_COVERAGE=ON")
    lines: dict[str, dict[int, int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["gcov", "--json-format", "--stdout", *map(str, tables)]
        text = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    for document in text.splitlines():
        if not document.strip():
            continue
        for source in json.loads(document)["files"]:
            path = Path(source["file"])
            if not path.is_relative_to(ROOT / "csrc") or path.suffix != ".cpp":
                continue
            counts = lines.setdefault(path.relative_to(ROOT).as_posix(), {})
            for line in source["lines"]:
                counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    return lines


def table(title: str, heading: str, shares: list[Share], total: bool = True) -> Table:
    drawn = Table(heading, title=title, show_footer=total)
    done, every = sum(s[1] for s in shares), sum(s[2] for s in shares)
    drawn.columns[0].footer = "all"
    for name, footer in (("executed", f"{done:,}"), ("of", f"{every:,}"), ("share", share(done, every))):
        drawn.add_column(name, footer, justify="right")
    for name, some, most in shares:
        drawn.add_row(name, f"{some:,}", f"{most:,}", share(some, most))
    return drawn


def share(some: int, every: int) -> str:
    return f"{100 * some / every:.1f} %" if every else ""


def kernel_shares(built: set[str], executed: set[str]) -> list[Share]:
    every = Counter(records.family(k) for k in built)
    some = Counter(records.family(k) for k in built & executed)
    return [(family, some[family], every[family]) for family in sorted(every)]


def contradictions(table: Path, built: set[str], executed: set[str]) -> list[str]:
    """How the kernels that were not executed differ from those of the table.

    Its rows are a regular expression, found in the names of kernels as PTX has them, and a reason.
    """
    patterns = [row.split("\t")[0] for row in table.read_text().splitlines()[1:]]
    listed = {p: {k for k in built if re.search(p, k)} for p in patterns}
    found = [f"no kernel is called as {p} says" for p, kernels in listed.items() if not kernels]
    found += [f"listed, and was executed: {k}" for kernels in listed.values() for k in sorted(kernels & executed)]
    return found + [
        f"neither executed nor listed: {k}" for k in sorted(built - executed - set().union(*listed.values()))
    ]


def main(argv: list[str] | None = None) -> int:
    description, details = (__doc__ or "").split("\n", 1)
    parser = argparse.ArgumentParser(
        description=description, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", type=Path, metavar="FOLDER", help="what STATOR_EMULATE_RECORD named in the run")
    parser.add_argument("--never", type=Path, metavar="FILE", help="write the names of what was never executed")
    parser.add_argument("--lines", type=Path, metavar="BUILD", help="the build folder, for lines of C++")
    parser.add_argument("--unreachable", type=Path, metavar="TABLE", help="fail unless exactly its kernels never ran")
    args = parser.parse_args(argv)
    os.environ.setdefault("STATOR_EMULATE", "h200")
    os.environ.pop("STATOR_EMULATE_RECORD", None)  # this process runs no kernels
    run = records.read(args.records)
    if not run.launches:
        print(f"emulator_coverage: {args.records} has no records of launches", file=sys.stderr)
        return 1
    kernels, forms = records.built()
    symbols = vendor_symbols()
    executed = {form for form in forms if run.forms[form]}
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(table("kernels", "family", kernel_shares(kernels, set(run.launches))))
    called = {s for s in symbols if run.calls[s]}
    console.print(
        table(
            "instructions and libraries",
            "what",
            [("forms of PTX instructions", len(executed), len(forms)), ("vendor symbols", len(called), len(symbols))],
            total=False,
        )
    )
    never = [*sorted(kernels - set(run.launches)), *sorted(set(forms) - executed), *sorted(symbols - called)]
    if args.lines:
        lines = executed_lines(args.lines)
        shares = [(f, sum(c > 0 for c in counts.values()), len(counts)) for f, counts in sorted(lines.items())]
        console.print(table("lines of the C++ that only the cuda target has", "file", shares))
        never += [f"{f}:{n}" for f, counts in sorted(lines.items()) for n, c in sorted(counts.items()) if not c]
    if args.never:
        args.never.write_text("".join(f"{name}\n" for name in never))
    wrong = contradictions(args.unreachable, kernels, set(run.launches)) if args.unreachable else []
    for line in wrong:
        print(f"emulator_coverage: {line}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
