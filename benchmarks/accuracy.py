"""Largest and mean error of every floating op: python -m benchmarks.accuracy [--quick] [--op NAME] [--write PAGE]."""

from __future__ import annotations

import argparse
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import stator

from . import factorisations, long_sums
from .measure import FULL, QUICK, Measured, measure
from .table import AXIS, TABLE, in_family, kind, scalar_special

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
HEAD = ("op", "dtype", "domain", "max ULP", "mean ULP", "contract", "reference")

# Why an op exceeds its bound: by op, or by (op, dtype).
_FACTORS = "each factor rounds once more in float64 itself: the error grows with the root of their number"
_POLE = "the reference is wrong there: SciPy's NaN where the value overflows to infinity"
_FAR = "SciPy's NaN: at the one end the value underflows, at the other its phase has no digits and the result is 0"
REASONS: dict[str | tuple[str, str], str] = {
    ("prod", "float64"): _FACTORS,
    ("prod", "complex128"): _FACTORS,
    ("k1", "float64"): _POLE,
    ("k1e", "float64"): _POLE,
    "airy_ai": _FAR,
}


def reason(m: Measured) -> str:
    return REASONS.get((m.op, m.dtype), REASONS.get(m.op, m.failure or "no reason known: a fault"))


def rows(only: str | None) -> list[tuple[str, str]]:
    """(op, dtype) of all elementwise ops, reductions and scans with floating results."""
    given = [n for n, r in TABLE.items() if in_family(n) and r["result"] not in ("boolean", "index")]
    return [(n, d) for n in given if only in (None, n) for d in DTYPES if d in TABLE[n]["dtypes"]]


def group(name: str) -> str:
    if kind(name) in AXIS:
        return "Reductions and scans"
    if TABLE[name]["call"].startswith("nn."):
        return "Activations and their backward"
    return "Special functions" if scalar_special(name) else "Elementwise"


def cells(m: Measured) -> tuple[str, ...]:
    if m.failure:
        return (m.op, m.dtype, "", "not measured", "", "", "")
    return (
        m.op,
        m.dtype,
        m.domain,
        f"{m.most:.2f}",
        f"{m.mean:.3f}",
        f"{m.contract:g}" if m.contract else "exact",
        m.against,
    )


def merged(found: list[Measured]) -> list[tuple[str, ...]]:
    """The lines of the page; dtypes of one op with equal results share a line."""
    lines = []
    for _, same in groupby(map(cells, found), key=lambda c: (c[0], *c[2:])):
        some = list(same)
        lines.append((some[0][0], ", ".join(c[1] for c in some), *some[0][2:]))
    return lines


INTRODUCTION = """
Errors are in units in the last place (ULP) of the result's dtype, over points of several magnitudes and both signs of
the domain: float16 and bfloat16 at every value (pairs of random ones), float32 and complex numbers at tens of
thousands of points against NumPy and SciPy in the next wider dtype, where the largest errors are computed again with
50 digits, float64 at hundreds against mpmath with 50 digits, or NumPy's long double. Half types are computed in
float32 and rounded once. Exact ops are compared with the correctly rounded result. Complex errors are of a component,
in units of the larger one. Where a value is a difference or passes through zero, the error is measured against the
scale that `python/stator/_catalogue/domains.py` states for the op (the terms of a sum; in float64 the amplitude of
Bessel and Airy functions and what a reflection subtracts), orthogonal polynomials against what their recurrence
subtracts. At special values (NaN, infinities, signed zeros, subnormals, extremes) NaN and infinities must stand where
the reference has them.

`airy_ai` has its whole phase down to -1e10. Beyond, its error grows to 2^-104 |x|^(3/2) of the amplitude |x|^(-1/4) /
sqrt(pi), because the phase is a number of about 104 bits, and below -2^66, where hardly a digit of the phase is left,
the result is 0, the middle of what is possible.
"""


def markdown(found: list[Measured], command: str, target: str, residuals: list[str] | None = None) -> str:
    """The page; `residuals` is its section on factorisations."""
    made = f"Made by `{command}` on the {target} target with NumPy {np.__version__}: do not edit."
    text = ["# Accuracy", "", made, *INTRODUCTION.rstrip().splitlines()]
    for title in ("Elementwise", "Activations and their backward", "Special functions", "Reductions and scans"):
        some = [m for m in found if group(m.op) == title]
        if some:
            text += ["", f"## {title}", "", _line(HEAD), _line(["---"] * len(HEAD)), *map(_line, merged(some))]
    if residuals:
        text += ["", *residuals]
    text += ["", "## Outside the contract", ""]
    beyond = [m for m in found if m.outside]
    if not beyond:
        return "\n".join([*text, "Nothing.", ""])
    head = ("op", "dtype", "max ULP", "contract", "special values that differ", "at", "reason")
    text += [_line(head), _line(["---"] * len(head))]
    for m in beyond:
        text.append(
            _line(
                (
                    m.op,
                    m.dtype,
                    f"{m.most:.2f}",
                    f"{m.contract:g}",
                    str(m.special),
                    m.special_at if m.special else m.worst,
                    reason(m),
                )
            )
        )
    return "\n".join([*text, ""])


def _line(fields: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(f.replace("|", "\\|") for f in fields) + " |"


def show(console: Console, found: list[Measured]) -> None:
    table = Table(title="errors in units in the last place")
    for head in (*HEAD, "special values"):
        table.add_column(head, justify="right" if "ULP" in head or head == "contract" else "left", no_wrap=True)
    for m in found:
        special = f"{m.special} differ" if m.special else ""
        table.add_row(*cells(m), special, style="red" if m.outside else "")
    console.print(table)
    for m in found:
        if m.outside:
            far = f"{m.most:.2f} ULP of {m.contract:g} at {m.worst}" if m.most > m.contract else ""
            differ = f"{m.special} special values differ: {m.special_at}" if m.special else ""
            what = "; ".join(filter(None, (far, differ)))
            console.print(f"outside the contract: {m.op} {m.dtype}, {what}: {reason(m)}", markup=False)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer points")
    parser.add_argument("--op", help="this row only")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the Markdown page there")
    args = parser.parse_args()
    console = Console() if sys.stdout.isatty() else Console(width=160)
    if args.op and args.op not in TABLE:
        parser.error(f"no row {args.op}")
    with stator.Backend("cpu") as be:
        todo = track(rows(args.op), "accuracy", console=console, transient=True)
        found = [measure(be, name, dtype, QUICK if args.quick else FULL) for name, dtype in todo]
        whole = args.write and not args.op
        residuals = factorisations.section(be) if whole else None
        lengths = ["", *long_sums.section(be), ""] if whole else []
        target = be.kernels
    show(console, found)
    if args.write:
        command = " ".join(["python -m benchmarks.accuracy", *(a for a in sys.argv[1:])])
        args.write.write_text(markdown(found, command, target, residuals) + "\n".join(lengths))
        console.print(f"wrote {args.write}")
    return 1 if any(m.outside and not {m.op, (m.op, m.dtype)} & REASONS.keys() for m in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
