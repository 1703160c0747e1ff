"""New arrays, copies, conversions, and triangles and diagonals of matrices."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from stator._catalogue.entry import AXIS, DENSE, EVERY, Function, Given, entries


def kind(given: Given) -> dict[str, Any]:
    """The keyword arguments of functions that make an array."""
    return {"dtype": given.dtype, "device": given.be}


def count(given: Given) -> tuple[int]:
    return (given.rows * given.columns,)


def asarray(f: Function, given: Given) -> Any:
    return [f(given.draw((5,)), **kind(given)), f([1, 0, 1], **kind(given)), f(1, **kind(given)), given.array()]


def to_numpy(f: Function, given: Given) -> Any:
    """NumPy has bfloat16 where ml_dtypes is installed."""
    x = given.array()
    if given.dtype != "bfloat16" or find_spec("ml_dtypes"):
        f(x)
    return x


def empty(f: Function, given: Given) -> Any:
    """Of any contents."""
    x = f(count(given), **kind(given))
    return [x.shape, x.itemsize]


ENTRIES = {
    **entries(EVERY, {"copy": lambda f, g: f(g.array()), "to_numpy": to_numpy}),
    **entries(
        EVERY,
        {
            "astype": lambda f, g: [f(g.array(), kind) for kind in ("float32", "complex128", "bool")],
            "asarray": asarray,
        },
        wide=False,
    ),
    **entries(
        AXIS,
        {
            "triu tril": lambda f, g: [f(g.array(), k=k) for k in (-2, 0, 3)],
            "diag": lambda f, g: [f(g.array(), 1), f(g.vector()[:40], -2)],
        },
        wide=False,
    ),
    **entries(
        DENSE,
        {
            "empty": empty,
            "zeros": lambda f, g: f(count(g), **kind(g)),
            "full": lambda f, g: f(count(g), 1, **kind(g)),
            "arange": lambda f, g: f(min(*count(g), 100), **kind(g)),
            "tri eye": lambda f, g: f(g.rows, g.columns, **kind(g)),
            "linspace": lambda f, g: f(0, 9, *count(g), **kind(g)),
        },
        wide=False,
    ),
}
