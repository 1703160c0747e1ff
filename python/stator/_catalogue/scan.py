"""Scans along axes."""

from __future__ import annotations

from typing import Any

from stator._catalogue.entry import AXIS, Answer, Function, Given, entries
from stator._catalogue.reduce import GROWING, factors


def scan(f: Function, given: Given) -> Any:
    """Along each axis, forwards and backwards."""
    name = given.cell.op
    x = (
        factors(given)
        if name == "cumulative_prod"
        else given.array((0.5, 2) if name in ("cumulative_sum", "logcumsumexp") and given.floating else (-4, 4))
    )
    double = given.cell.dtype in ("float64", "complex128")
    growth = 2 * max(x.shape) ** 0.5 if name in GROWING and double else None
    found = {}
    for axis in given.axes:
        for reverse in (False, True):
            result = f(x, axis=axis, reverse=reverse)
            found[axis, reverse] = Answer(result, bound=max(growth, 8)) if growth else result
    return found


ENTRIES = entries(
    AXIS,
    {
        "cumulative_sum cumulative_prod cumulative_max cumulative_min logcumsumexp": scan,
        "diff": lambda f, g: [f(g.array(), axis=1), f(g.array(), axis=1, n=2)],
    },
)
