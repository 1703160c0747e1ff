"""Calls of ops that sort, search, count and make sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator._verify.domains import Values
from stator._verify.given import Given, download
from stator._verify.operations import AXIS, FILLED, Operation, register

Function = Callable[..., Any]
FEW = range(0, 9)  # so that there are equal values


def partition(f: Function, given: Given) -> Any:
    """The sorted parts before and after the k-th value; their own order is free."""
    values = download(f(given.array(), 9, axis=1))
    return [np.sort(values[:, :9], axis=1), values[:, 9], np.sort(values[:, 10:], axis=1)]


def ascending(given: Given) -> stator.Array:
    x: Values = np.sort(given.draw((given.columns,), (-4, 4)))
    return given.on(x)


def add(into: dict[str, Operation]) -> None:
    register(
        into,
        AXIS,
        {
            "sort argsort": lambda f, g: [f(g.array(), axis=1), f(g.array(FEW), axis=0, descending=True)],
            "unique_all unique_counts unique_inverse unique_values unique_consecutive": lambda f, g: f(g.array(FEW)),
            "searchsorted": lambda f, g: [f(ascending(g), g.array()), f(ascending(g), g.array(), side="right")],
            "isin": lambda f, g: f(g.array(FEW), g.vector_of(4, FEW)),
            "histc": lambda f, g: f(g.array((0, 9)), 10, min=0, max=9),
            "histogram": lambda f, g: f(g.array((0, 9)), 10, range=(0, 9)),
            "bincount": lambda f, g: f(g.vector_of(g.rows * g.columns, range(0, 40))),
        },
        wide=False,
    )
    register(
        into,
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
    )
