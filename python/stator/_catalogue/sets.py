"""Distinct elements, positions in sorted ones, and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Values
from stator._catalogue.entry import AXIS, Function, Given, entries
from stator._catalogue.sort import FEW


def ascending(given: Given) -> stator.Array:
    x: Values = np.sort(given.draw((given.columns,), (-4, 4)))
    return given.on(x)


def unique(f: Function, given: Given) -> Any:
    """Of a vector, and of a matrix, which is flattened."""
    return [f(given.vector(FEW)), f(given.array(FEW))]


ENTRIES = entries(
    AXIS,
    {
        "unique_all unique_counts unique_inverse unique_values unique_consecutive": unique,
        "searchsorted": lambda f, g: [f(ascending(g), g.array()), f(ascending(g), g.array(), side="right")],
        "isin": lambda f, g: f(g.array(FEW), g.vector_of(4, FEW)),
        "histc": lambda f, g: f(g.array((0, 9)), 10, min=0, max=9),
        "histogram": lambda f, g: f(g.array((0, 9)), 10, range=(0, 9)),
        "bincount": lambda f, g: f(g.vector_of(g.rows * g.columns, range(0, 40))),
    },
    wide=False,
)
