"""Reductions over axes, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Domain
from stator._catalogue.entry import AXIS, EVERY, Answer, Entry, Function, Given, entries
from stator._catalogue.given import rounded, table

# Reductions of no element that have a value.
IDENTITY = (
    "sum",
    "nansum",
    "count_nonzero",
    "any",
    "all",
    "has_inf_nan",
    "vector_norm",
    "mean",
    "nanmean",
    "var",
    "std",
    "prod",
    "logsumexp",
)
# Where terms of both signs would cancel, and the error would be without bound.
POSITIVE: dict[str, Domain] = dict.fromkeys(
    ("sum", "nansum", "mean", "nanmean", "logsumexp", "cumulative_sum"), (0.5, 2)
)
# Whose float64 results have errors that grow with the root of the number of factors or terms.
GROWING = ("prod", "var", "std", "vector_norm", "cumulative_prod")


def factors(given: Given) -> stator.Array:
    """Numbers whose product stays in range: near the unit circle; odd integers."""
    if not given.floating:
        x = given.draw(given.shape)
        return given.on(x | 1 if given.whole else x)
    size = np.exp(given.rng.uniform(-0.05, 0.05, given.shape))
    turn = np.exp(1j * given.rng.uniform(0, 6, given.shape)) if given.complex else 1
    return given.on(rounded(np.asarray(size * turn), given.cell.dtype))


def reduction(f: Function, given: Given) -> Any:
    """Over each axis and all axes, as far as the op has a value there."""
    name = given.cell.op
    if name == "prod":
        x = factors(given)
    else:
        exact = not given.floating and name in ("sum", "nansum")
        x = given.array((-4, 4) if exact else POSITIVE.get(name, (-4, 4)), special=False)
    axes = (*given.axes, None)
    if given.empty and name not in IDENTITY:
        axes = (1,)  # of rows that are not there
    results = {}
    for axis in axes:
        result = f(x, axis=axis)
        count = x.size // max(result.size, 1)
        growth = max(table()[name]["tolerance"]["float64"], 2 * count**0.5) if name in GROWING else None
        results[axis] = Answer(result, bound=growth) if given.cell.dtype in ("float64", "complex128") else result
    return results


def prod_backward(f: Function, given: Given) -> Any:
    x = factors(given)
    return f(given.array((0.5, 2), given.shape[:1]), x, 1)


ENTRIES = {
    **{
        name: Entry(reduction, EVERY if name not in GROWING else AXIS)
        for name, row in table().items()
        if row["shape_class"] == "reduce"
    },
    **entries(
        AXIS,
        {
            "sum_backward mean_backward": lambda f, g: f(g.array(shape=g.shape[:1]), g.shape, 1),
            "prod_backward": prod_backward,
        },
    ),
}
