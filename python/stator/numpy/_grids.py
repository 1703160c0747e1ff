"""Coordinates: meshgrid, mgrid, r_, ix_ and the indices of triangles and diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import InvalidValueError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike
from stator.numpy._rows import add, same


@same
def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Array, ...]:
    """Matrices of coordinates of vectors, with an axis for each."""
    parts = [stator.ravel(x) for x in _convert.arrays("meshgrid", *xi)]
    if indexing not in ("xy", "ij"):
        raise InvalidValueError(f"indexing={indexing!r}", op="meshgrid", remedy="Pass 'xy' or 'ij'.")
    shaped = [stator.reshape(x, (1,) * k + (-1,) + (1,) * (len(parts) - k - 1)) for k, x in enumerate(parts)]
    if indexing == "xy" and len(parts) > 1:
        shaped = [stator.moveaxis(x, 0, 1) for x in shaped]
    grids = shaped if sparse or not shaped else stator.broadcast_arrays(*shaped)
    return tuple(stator.copy(x) if copy else x for x in grids)


@same
def indices(dimensions: Any, dtype: DTypeLike = int, sparse: bool = False) -> Any:
    """The index along each axis of an array of a shape: an array with one more axis, or a tuple with sparse."""
    lengths = (dimensions,) if isinstance(dimensions, (int, np.integer)) else tuple(dimensions)
    kind = _convert.dtype(dtype)
    ranges = [
        stator.reshape(stator.arange(n).astype(kind, copy=False), (1,) * k + (-1,) + (1,) * (len(lengths) - k - 1))
        for k, n in enumerate(lengths)
    ]
    if sparse:
        return tuple(ranges)
    if not ranges:
        return stator.zeros((0,), dtype=kind)
    return stator.stack(stator.broadcast_arrays(*ranges))


def _range(key: slice) -> Array:
    start, stop, step = 0 if key.start is None else key.start, key.stop, 1 if key.step is None else key.step
    if isinstance(step, complex):
        return stator.linspace(start, stop, int(abs(step)))
    return stator.arange(start, stop, step)


class _Grid:
    """Coordinates by slices: start:stop:step, or start:stop:nj for n numbers with both ends."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        if isinstance(key, slice):
            return _range(key)
        ranges = [_range(k) for k in key]
        kind = stator.result_type(*(r.dtype for r in ranges))
        grids = meshgrid(*(r.astype(kind, copy=False) for r in ranges), sparse=self._sparse, indexing="ij")
        return tuple(grids) if self._sparse else stator.stack(grids)


mgrid = add("mgrid", _Grid(False))
ogrid = add("ogrid", _Grid(True))


class _Join:
    """Arrays joined by indexing: slices are ranges, numbers are elements, and a text gives axes."""

    def __init__(self, axis: int, ndmin: int, place: int) -> None:
        self._axis, self._ndmin, self._place = axis, ndmin, place

    def _part(self, part: Any, ndmin: int, place: int, op: str) -> Array:
        x = _range(part) if isinstance(part, slice) else _convert.array(part, op)
        missing = ndmin - x.ndim
        if missing <= 0:
            return x
        first = place if place >= 0 else missing + place + 1
        first = min(max(first, 0), missing)
        return stator.reshape(x, (1,) * first + x.shape + (1,) * (missing - first))

    def __getitem__(self, key: Any) -> Array:
        parts = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, place = self._axis, self._ndmin, self._place
        if parts and isinstance(parts[0], str):
            text = parts.pop(0)
            try:
                axis, ndmin, place = [*(int(v) for v in text.split(",")), ndmin, place][:3]
                if text.count(",") == 0:
                    ndmin, place = self._ndmin, self._place
            except ValueError:
                raise InvalidValueError(
                    f"the directive {text!r}",
                    op="r_",
                    remedy="Give integers: axis, axes, place; matrices are not there.",
                ) from None
        found = [self._part(p, ndmin, place, "r_") for p in parts]
        weak = [p for p in parts if _convert.is_number(p)]
        strong = [x.dtype for x, p in zip(found, parts, strict=True) if not _convert.is_number(p)]
        kind = stator.result_type(*strong, *weak) if strong else stator.result_type(*(x.dtype for x in found))
        return stator.concat([x.astype(kind, copy=False) for x in found], axis=axis)


r_ = add("r_", _Join(0, 1, -1), "The directives 'r' and 'c', which give matrices, are refused")
c_ = add("c_", _Join(-1, 2, 0))
add("s_", np.s_)
add("index_exp", np.index_exp)
add("ndindex", np.ndindex)
add("newaxis", None)


@same
def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Vectors as indices of a submatrix, each along an axis of its own; bool ones become indices."""
    out = []
    for k, x in enumerate(_convert.arrays("ix_", *args)):
        if x.ndim != 1:
            raise ShapeError(f"{x.ndim} axes", op="ix_", remedy="Give vectors.")
        if x.size == 0:
            x = x.astype("int64")
        elif x.dtype.name == "bool":
            x = stator.nonzero(x)[0]
        out.append(stator.reshape(x, (1,) * k + (-1,) + (1,) * (len(args) - k - 1)))
    return tuple(out)


@same
def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of n along each axis."""
    return (stator.arange(n),) * ndim


@same
def diag_indices_from(arr: Array) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array."""
    x = _convert.array(arr, "diag_indices_from")
    if x.ndim < 2 or len(set(x.shape)) > 1:
        raise ShapeError(f"shape {x.shape}", op="diag_indices_from", remedy="Give at least two equal lengths.")
    return (stator.arange(x.shape[0], device=x.backend),) * x.ndim


def _triangle(n: int, k: int, m: int | None, lower: bool) -> tuple[Array, ...]:
    columns = n if m is None else m
    below = sum(min(max(i + (k if lower else k - 1) + 1, 0), columns) for i in range(n))
    mask = stator.tri(n, columns, k if lower else k - 1, dtype="bool")
    return stator.nonzero(mask if lower else stator.logical_not(mask), size=below if lower else n * columns - below)


@same
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The indices of a lower triangle."""
    return _triangle(n, k, m, True)


@same
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The indices of an upper triangle."""
    return _triangle(n, k, m, False)


def _matrix(arr: ArrayLike, op: str) -> Array:
    x = _convert.array(arr, op)
    if x.ndim != 2:
        raise ShapeError(f"{x.ndim} axes", op=op, remedy="Give a matrix.")
    return x


@same
def tril_indices_from(arr: Array, k: int = 0) -> tuple[Array, ...]:
    """The indices of the lower triangle of a matrix."""
    x = _matrix(arr, "tril_indices_from")
    with x.backend.use():
        return tril_indices(x.shape[0], k, x.shape[1])


@same
def triu_indices_from(arr: Array, k: int = 0) -> tuple[Array, ...]:
    """The indices of the upper triangle of a matrix."""
    x = _matrix(arr, "triu_indices_from")
    with x.backend.use():
        return triu_indices(x.shape[0], k, x.shape[1])


@same
def mask_indices(n: int, mask_func: Callable[..., Array], k: Any = 0) -> tuple[Array, ...]:
    """The indices that a function such as triu leaves of a matrix (n, n) of ones. Synchronises."""
    return stator.nonzero(stator.not_equal(mask_func(stator.ones((n, n), dtype="int64"), k), 0))
