"""Random numbers, which the seed of the cell determines."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._catalogue.entry import AXIS, DENSE, FILLED, ONCE, Function, Given, entries
from stator._catalogue.given import rounded


def draws(f: Function, given: Given) -> Any:
    """Two draws: the second continues the first."""
    options = {"dtype": given.dtype, "device": given.be}
    before: tuple[Any, ...] = {"integers": (1, 100), "gamma": (1.5,), "poisson": (3.0,)}.get(given.cell.op, ())
    count = given.rows * given.columns
    return [f(*before, size=size, **options) for size in ((count,), (5, 3))]


def state(f: Function, given: Given) -> Any:
    """The seed and the counter after a draw; after set_state and seed, the next draw."""
    device = {"device": given.be}
    if given.cell.op == "get_state":
        given.be.random.uniform(size=9)
        found = f(**device)
        return [found.seed, found.counter]
    if given.cell.op == "set_state":
        before = given.be.random.get_state()
        drawn = given.be.random.uniform(size=9)
        f(before, **device)
        return [drawn, given.be.random.uniform(size=9)]
    f(17)
    return given.be.random.uniform(size=9)


def dropout(f: Function, given: Given) -> Any:
    if given.cell.op == "dropout":
        return f(given.array(), 0.25)[0]
    if given.cell.op == "dropout_add":
        return f(given.array(), given.array(), 0.25)[0]
    return f(given.array(), 0.25, given.be.random.get_state())


def multinomial(f: Function, given: Given) -> Any:
    """Of one certain outcome in the cell's dtype, and of seven equal ones."""
    certain = given.dense(rounded(np.arange(7) == 3, given.cell.dtype))
    equal = given.on(np.full(7, 1 / 7), "float64")
    trials = 1000 if given.large else 20
    return [f(trials, pvals, 3) for pvals in (certain, equal)]


ENTRIES = {
    **entries(DENSE, {"uniform normal exponential bernoulli integers gamma poisson": draws}, wide=False),
    **entries(ONCE, {"seed get_state set_state": state}, wide=False),
    **entries(("contiguous", "large"), {"multinomial": multinomial}, wide=False),
    **entries(
        AXIS,
        {
            "dropout dropout_add dropout_backward": dropout,
            "permutation": lambda f, g: f(g.array(), device=g.be),
        },
        wide=False,
    ),
    **entries(FILLED, {"choice": lambda f, g: f(g.array(), (9,), device=g.be)}, wide=False),
}
