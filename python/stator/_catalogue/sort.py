"""Sorted elements, and those that an order selects."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._catalogue.entry import AXIS, FILLED, Function, Given, entries
from stator._catalogue.given import download

FEW = range(0, 9)  # so that there are equal values


def partition(f: Function, given: Given) -> Any:
    """The sorted parts before and after the k-th value; their own order is free."""
    values = download(f(given.array(), 9, axis=1))
    return [np.sort(values[:, :9], axis=1), values[:, 9], np.sort(values[:, 10:], axis=1)]


ENTRIES = {
    **entries(
        AXIS,
        {"sort argsort": lambda f, g: [f(g.array(), axis=1), f(g.array(FEW), axis=0, descending=True)]},
        wide=False,
    ),
    **entries(
        FILLED,
        {
            "topk": lambda f, g: [f(g.array(), 5, axis=1), f(g.array(FEW), 5, axis=1, largest=False)],
            "partition": partition,
            "kthvalue": lambda f, g: f(g.array(FEW), 3, axis=1),
            "mode": lambda f, g: f(g.array(FEW), axis=1),
            "median": lambda f, g: [f(g.array(), axis=axis) for axis in (0, 1)],
            "quantile": lambda f, g: f(g.array(), [0.1, 0.5, 1], axis=1),
        },
        wide=False,
    ),
}
