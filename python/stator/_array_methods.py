"""The methods of Array beside those of the class itself: one table of what each one is called with.

A string is the function that the method is, with the method's parameters; the first of them is passed on by position,
the others by their names. A function is the method itself, for what NumPy's method takes and stator's function does
not, or what is made of several.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from stator._array import Array, install_method
from stator._creation import asarray, copy
from stator._indexing import compress, nonzero, take
from stator._linalg_functions import trace
from stator._matmul import dot
from stator._movement import ravel, repeat
from stator._movement_views import diagonal, permute_dims, reshape, squeeze
from stator._namespace import FUNCTIONS
from stator._scan import cumulative_prod, cumulative_sum
from stator._sets import searchsorted
from stator._sort import argsort, partition, sort
from stator._typing import DTypeLike
from stator.errors import AxisError, InvalidValueError, StatorError, UnsupportedError, renamed

Indices = Array | int | Sequence[Any]


def _reversed(x: Array) -> Array:
    return permute_dims(x, range(x.ndim - 1, -1, -1))


def _columns_first(x: Array, order: str, op: str) -> bool:
    """Whether an order of elements is that of columns: "F", or "A" and "K" of an array that is stored so."""
    if order not in ("C", "F", "A", "K"):
        raise InvalidValueError(f"order={order!r}", op=op, remedy="Pass 'C', 'F', 'A' or 'K'.")
    return order == "F" or (order in ("A", "K") and not x.is_contiguous and _reversed(x).is_contiguous)


def _into(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    out[...] = result
    return out


def _by_kind(kind: str | None, order: object, op: str) -> None:
    if order is not None:
        raise UnsupportedError("The order of fields was given", op=op, remedy="Arrays have no fields: drop order=.")
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise InvalidValueError(f"kind={kind!r}", op=op, remedy="Every sort is stable: drop kind=.")


def _places(x: Array, indices: Indices, length: int, mode: str, op: str) -> Array:
    """Indices as an array, moved into range as NumPy's mode says."""
    try:
        found = asarray(indices, device=x.backend) if not isinstance(indices, Array) else indices
    except StatorError as error:
        raise renamed(error, op) from None
    if mode == "wrap":
        return FUNCTIONS["remainder"](found, max(length, 1))
    if mode == "clip":
        return FUNCTIONS["minimum"](FUNCTIONS["maximum"](found, 0), max(length - 1, 0))
    if mode != "raise":
        raise InvalidValueError(f"mode={mode!r}", op=op, remedy="Pass 'raise', 'wrap' or 'clip'.")
    return found


def _on_planes(x: Array, axis1: int, axis2: int, op: str) -> Array:
    """The array with the two axes as its last."""
    axes = _axes(x, (axis1, axis2), op)
    if axes[0] == axes[1] or x.ndim < 2:
        raise AxisError(f"axis1={axis1} and axis2={axis2} for shape {x.shape}", op=op, remedy="Give two axes.")
    return permute_dims(x, [*(k for k in range(x.ndim) if k not in axes), *axes])


def _axes(x: Array, given: Sequence[int], op: str) -> list[int]:
    try:
        axes = [operator.index(axis) for axis in given]
    except TypeError:
        raise InvalidTypeOfAxis(given, op) from None
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise AxisError(f"axis={axis} for shape {x.shape}", op=op, remedy="Use one of its axes.")
    return [axis % x.ndim for axis in axes]
