"""numpy.lib.stride_tricks: views of windows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy._rows import add
from stator.numpy._shape import broadcast_arrays, broadcast_to


def _view(x: Array, shape: Any, strides: Any) -> Array:
    """A view from the first element of x on."""
    if x.size == 0:
        return stator.empty(shape, dtype=x.dtype, device=x.backend)
    start = stator.as_strided(x, (1,), (0,)).data_ptr
    steps = tuple(n // x.itemsize for n in strides)
    return stator.as_strided(x, shape, steps, (x.data_ptr - start) // x.itemsize)


def sliding_window_view(
    x: ArrayLike, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """A view of all windows of a shape, whose axes come last; axis: those that the window slides along.

    The elements overlap in memory, so that the view is not to be written to.
    """
    op = "sliding_window_view"
    given = _convert.array(x, op)
    lengths = (window_shape,) if isinstance(window_shape, (int, np.integer)) else tuple(window_shape)
    if axis is None and len(lengths) != given.ndim:
        raise InvalidValueError(
            f"{len(lengths)} lengths for {given.ndim} axes", op=op, remedy="Give one for each axis, or name the axes."
        )
    along = axis if isinstance(axis, (tuple, list)) else tuple(range(given.ndim)) if axis is None else (axis,)
    along = tuple(_convert.axis(k, given.ndim, op) for k in along)
    if len(along) != len(lengths):
        raise InvalidValueError(f"{len(lengths)} lengths for {len(along)} axes", op=op, remedy="Give one for each.")
    if any(n < 0 for n in lengths):
        raise InvalidValueError(f"window_shape={window_shape!r}", op=op, remedy="Give lengths that are not negative.")
    view = given
    for k, n in zip(along, lengths, strict=True):  # an axis that is named twice has windows of windows
        if view.shape[k] < n:
            raise ShapeError(f"A window of {n} along an axis of {view.shape[k]}", op=op, remedy="Give a shorter one.")
        shape = (*view.shape[:k], view.shape[k] - n + 1, *view.shape[k + 1 :], n)
        view = _view(view, shape, (*view.strides, view.strides[k]))
    return view


def as_strided(
    x: ArrayLike, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Array:
    """A view of any shape and strides, which count bytes as NumPy's; what lies outside the array is refused."""
    given = _convert.array(x, "as_strided")
    steps = given.strides if strides is None else tuple(strides)
    if any(n % given.itemsize for n in steps):
        raise DTypeError(f"strides={strides!r}", op="as_strided", remedy="Give multiples of the item size.")
    return _view(given, given.shape if shape is None else shape, steps)


add(
    "lib",
    SimpleNamespace(
        stride_tricks=SimpleNamespace(
            **{f.__name__: f for f in (as_strided, broadcast_arrays, broadcast_to, sliding_window_view)}
        )
    ),
    "Has only lib.stride_tricks: sliding_window_view, as_strided, broadcast_to and broadcast_arrays",
)
