"""Elements at integers, indices and masks; scattered values and sums of segments."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Domain
from stator._catalogue.entry import AXIS, EVERY, FILLED, Answer, Function, Given, entries


def index_get(f: Function, given: Given) -> Any:
    x = given.array()
    rows, columns = given.index(given.rows, (7,)), given.index(given.columns, (7,))
    return [f(x, rows), f(x, (slice(None), columns)), f(x, (rows, columns)), f(x, given.mask())]


def written(f: Function, given: Given, key: Any, value: Any) -> stator.Array:
    """A dense array after an assignment to a part of it."""
    x = given.dense(given.draw(given.shape))
    f(x, key, value)
    return x


def index_put(f: Function, given: Given) -> Any:
    """At different indices, since of equal ones any value may stay."""
    rows, columns = given.positions(given.rows, 7), given.positions(given.columns, 7)
    return [
        written(f, given, rows, given.array(shape=(7, given.columns))),
        written(f, given, (slice(None), columns), given.one),
        written(f, given, given.mask(), given.one),
    ]


def along(given: Given) -> stator.Array:
    """Different indices along the last axis."""
    return given.on(np.argsort(given.rng.random(given.shape), axis=1), "int64")


def put_along_axis(f: Function, given: Given) -> Any:
    x = given.dense(given.draw(given.shape))
    f(x, along(given), given.array(), axis=1)
    return x


def indices(given: Given, below: int, *shape: int) -> stator.Array:
    return given.on(given.rng.integers(0, below, shape), "int64")


# Positive, so that sums do not cancel; whole numbers first, whose sums have the same bits in any order.
TERMS: tuple[Domain, ...] = (range(1, 5), (0.5, 2))


def scatter_add(f: Function, given: Given) -> Any:
    index = indices(given, given.columns, *given.shape)
    return [f(given.dense(given.draw(given.shape, terms)), 1, index, given.array(terms)) for terms in TERMS]


def index_add(f: Function, given: Given) -> Any:
    index, extents = indices(given, given.rows, 40), (40, given.columns)
    return [f(given.dense(given.draw(given.shape, terms)), 0, index, given.array(terms, extents)) for terms in TERMS]


def segments(f: Function, given: Given) -> Any:
    index = indices(given, 9, given.rows)
    bound = 1.0 if given.cell.dtype in ("float16", "bfloat16") else 4 + 2 * (given.rows / 9) ** 0.5
    grows = given.cell.op in ("segment_sum", "segment_mean")
    found = [f(given.array(terms), index, 10 if grows else 9) for terms in TERMS]
    return Answer(found, bound=bound) if grows and given.floating else found


def masked_scatter(f: Function, given: Given) -> Any:
    """Of a contiguous source, and of one in the layout of the others, which may be copied first."""
    sources = given.dense(given.draw(given.shape)), given.array()
    return [f(given.array(), given.mask(), source) for source in sources]


ENTRIES = {
    **entries(
        EVERY,
        {
            "nonzero": lambda f, g: f(stator.reshape(g.array(), (-1,))),
            "masked_fill": lambda f, g: f(g.array(), g.mask(), g.one),
        },
        wide=False,
    ),
    **entries(
        AXIS,
        {
            "getitem": lambda f, g: [f(g.array(), (slice(None), slice(None, None, -2))), f(g.array(), (..., 3))],
            "setitem": lambda f, g: written(f, g, (slice(None), slice(None, None, 2)), g.array()[:, ::2]),
            "take": lambda f, g: f(g.array(), g.index(g.columns, (7,)), axis=1),
            "take_along_axis": lambda f, g: f(g.array(), along(g), axis=1),
            "put_along_axis": put_along_axis,
            "scatter": lambda f, g: f(g.array(), 1, along(g), g.array()),
            "masked_select masked_fill_backward": lambda f, g: f(g.array(), g.mask()),
            "masked_scatter": masked_scatter,
            "masked_select_backward": lambda f, g: f(g.array(shape=(g.rows * g.columns,)), g.mask()),
            "masked_scatter_backward": lambda f, g: f(g.array(), g.mask(), g.shape),
            "compress": lambda f, g: f(g.mask((g.columns,)), g.array(), axis=1),
        },
        wide=False,
    ),
    **entries(AXIS, {"scatter_add": scatter_add, "segment_sum segment_mean segment_min segment_max": segments}),
    **entries(FILLED, {"index_get": index_get, "index_put": index_put}, wide=False),
    **entries(FILLED, {"index_add": index_add}),
}
