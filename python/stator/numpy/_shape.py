"""Views in another shape: reshape, transpose, axes added, moved and dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import AxisError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Axes
from stator.numpy._rows import add, differs, same


def _reversed(x: Array) -> Array:
    return stator.permute_dims(x, tuple(reversed(range(x.ndim))))


@same
def reshape(a: ArrayLike, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Array:
    """The elements in another shape: a view where the strides allow it. order='F' counts the first axis fastest."""
    x = _convert.array(a, "reshape")
    order = order.upper() if isinstance(order, str) else order
    if order == "F" or (order == "A" and x.ndim > 1 and not x.is_contiguous and _reversed(x).is_contiguous):
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return _reversed(stator.reshape(_reversed(x), shape[::-1], copy=copy))
    _convert.order_is_c(order, "reshape")
    return stator.reshape(x, shape, copy=copy)


@same
def ravel(a: ArrayLike, order: str = "C") -> Array:
    """The elements along one axis: a view where the strides allow it."""
    return _convert.called("ravel", a, order.upper() if isinstance(order, str) else order)


@same
def transpose(a: ArrayLike, axes: Any = None) -> Array:
    """A view with the axes in another order, by default reversed."""
    return _convert.called("transpose", a, axes)


add("permute_dims", transpose)


@same
def matrix_transpose(x: ArrayLike, /) -> Array:
    """A view with the last two axes swapped."""
    return stator.matrix_transpose(_convert.array(x, "matrix_transpose"))


@same
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """A view with two axes swapped."""
    return _convert.called("swapaxes", a, axis1, axis2)


@same
def moveaxis(a: ArrayLike, source: Any, destination: Any) -> Array:
    """A view with axes moved to other positions."""
    return stator.moveaxis(_convert.array(a, "moveaxis"), source, destination)


@same
def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """A view with an axis moved before `start`."""
    x = _convert.array(a, "rollaxis")
    axis = _convert.axis(axis, x.ndim, "rollaxis")
    place = start + x.ndim if start < 0 else start
    if not 0 <= place <= x.ndim:
        raise AxisError(f"start={start}", op="rollaxis", remedy=f"Give one from {-x.ndim} to {x.ndim}.")
    return stator.moveaxis(x, axis, place - 1 if axis < place else place)


@same
def expand_dims(a: ArrayLike, axis: Any) -> Array:
    """A view with axes of length 1 added."""
    return stator.expand_dims(_convert.array(a, "expand_dims"), axis)


@same
def squeeze(a: ArrayLike, axis: Any = None) -> Array:
    """A view without axes of length 1."""
    x = _convert.array(a, "squeeze")
    return stator.squeeze(x, _convert.axis_or_none(axis, x))


@differs("The view is not to be written to, which nothing checks; subok= has no effect")
def broadcast_to(array: ArrayLike, shape: Any, subok: bool = False) -> Array:
    """A view in a shape that the array broadcasts to."""
    return stator.broadcast_to(_convert.array(array, "broadcast_to"), shape)


@differs("The views are not to be written to, which nothing checks; subok= has no effect")
def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[Array, ...]:
    """Views of arrays in their common shape."""
    return stator.broadcast_arrays(*_convert.arrays("broadcast_arrays", *args))


@same
def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The common shape that arrays of these shapes broadcast to."""
    return stator.broadcast_shapes(*((s,) if isinstance(s, (int, np.integer)) else tuple(s) for s in args))


def _at_least(arys: tuple[ArrayLike, ...], op: str, views: Any) -> Any:
    found = tuple(views(_convert.array(x, op)) for x in arys)
    return found[0] if len(found) == 1 else found


@same
def atleast_1d(*arys: ArrayLike) -> Any:
    """Views with at least one axis."""
    return _at_least(arys, "atleast_1d", lambda x: stator.reshape(x, (1,)) if x.ndim == 0 else x)


@same
def atleast_2d(*arys: ArrayLike) -> Any:
    """Views with at least two axes; a vector becomes a row."""
    return _at_least(
        arys, "atleast_2d", lambda x: stator.reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x
    )


@same
def atleast_3d(*arys: ArrayLike) -> Any:
    """Views with at least three axes; a vector is in the middle, a matrix in front."""

    def view(x: Array) -> Array:
        if x.ndim == 0:
            return stator.reshape(x, (1, 1, 1))
        if x.ndim == 1:
            return stator.expand_dims(x, axis=(0, 2))
        return stator.expand_dims(x, axis=2) if x.ndim == 2 else x

    return _at_least(arys, "atleast_3d", view)


@same
def flip(m: ArrayLike, axis: Axes = None) -> Array:
    """A view with the elements along axes in the opposite order."""
    return stator.flip(_convert.array(m, "flip"), axis=axis)


def _flipped(m: ArrayLike, axis: int, op: str) -> Array:
    x = _convert.array(m, op)
    if x.ndim <= axis:
        raise ShapeError(f"{x.ndim} axes", op=op, remedy=f"Give an array of at least {axis + 1}.")
    return stator.flip(x, axis=axis)


@same
def fliplr(m: ArrayLike) -> Array:
    """A view with the columns in the opposite order."""
    return _flipped(m, 1, "fliplr")


@same
def flipud(m: ArrayLike) -> Array:
    """A view with the rows in the opposite order."""
    return _flipped(m, 0, "flipud")


@same
def roll(a: ArrayLike, shift: Any, axis: Axes = None) -> Array:
    """The elements shifted cyclically."""
    x = _convert.array(a, "roll")
    if axis is not None and isinstance(shift, (tuple, list)) != isinstance(axis, (tuple, list)):
        shifts, along = np.broadcast_arrays(shift, axis)
        shift, axis = tuple(int(s) for s in shifts), tuple(int(k) for k in along)
    return stator.roll(x, shift, axis=axis)


@same
def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """A view rotated by k quarter turns."""
    return stator.rot90(_convert.array(m, "rot90"), k, axes)


@same
def ndim(a: ArrayLike) -> int:
    """The number of axes."""
    return a.ndim if isinstance(a, Array) else np.ndim(a)


@same
def shape(a: ArrayLike) -> tuple[int, ...]:
    """The length of each axis."""
    return a.shape if isinstance(a, Array) else np.shape(a)


@same
def size(a: ArrayLike, axis: Axes = None) -> int:
    """The number of elements, or that along axes."""
    lengths = shape(a)
    found = 1
    for one in _convert.axes(axis, len(lengths), "size"):
        found *= lengths[one]
    return found


@differs("The diagonal is a view that may be written to")
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """A view of the diagonals of matrices, along the last axis."""
    return _convert.called("diagonal", a, offset, axis1, axis2)


@same
def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Array:
    """The sum of each diagonal."""
    return _convert.called("trace", a, offset, axis1, axis2, dtype, _convert.out_array(out, "trace"))
