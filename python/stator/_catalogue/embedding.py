"""Rows of tables by their indices, and sums of such rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._catalogue.entry import FILLED, Function, Given, entries, largest
from stator._catalogue.given import rounded
from stator._catalogue.indexing import indices


def lookup(f: Function, given: Given) -> Any:
    """By contiguous indices, and by indices in the layout of the table, which may be copied first."""
    x, at = given.array((-4, 4)), given.rng.integers(0, given.rows, 9)
    return [f(x, given.dense(at, "int64")), f(x, given.on(at, "int64"))]


def backward(f: Function, given: Given) -> Any:
    """Positive terms, so that no sum cancels."""
    at = indices(given, 5, given.rows)
    return [f(given.array((0.5, 2)), at, 6), f(given.array((0.5, 2)), at, 6, scale_grad_by_freq=True)]


def bag(f: Function, given: Given) -> Any:
    x, at = given.array((0.5, 2)), indices(given, given.rows, 3, 4)
    return [f(x, at, mode=mode) for mode in ("sum", "mean", "max")]


def bag_backward(f: Function, given: Given) -> Any:
    x, at = given.array((0.5, 2)), indices(given, given.rows, 3, 4)
    grad = given.dense(given.draw((3, given.columns), (0.5, 2)))
    return largest(*[f(grad, x, at, mode=mode) for mode in ("sum", "mean", "max")])


def one_hot(f: Function, given: Given) -> Any:
    kind = given.cell.dtype
    return f(given.on(rounded(np.arange(12).reshape(3, 4) % 5, kind), kind), 5)


ENTRIES = {
    **entries(FILLED, {"embedding": lookup}),
    **entries(
        FILLED,
        {
            "embedding_backward": backward,
            "embedding_bag": bag,
            "embedding_bag_backward": bag_backward,
            "one_hot": one_hot,
        },
        copies=True,
    ),
}
