"""Norms and condition numbers of stator.numpy.linalg."""

from __future__ import annotations

from typing import Any

import stator
from stator import linalg
from stator._array import Array
from stator.errors import InvalidValueError, LinAlgError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Axes
from stator.numpy._rows import same
from stator.numpy.linalg._shapes import matrices, square

_MATRIX_ORDERS = {"fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")}


def _vector(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if isinstance(ord, str):
        raise InvalidValueError(f"ord={ord!r} for vectors", op="linalg.norm", remedy="Pass a number.")
    if ord == float("inf") and x.size == 0:  # the largest of no elements is 0, as in NumPy
        return stator.sum(stator.abs(x), axis=axis, keepdims=keepdims)
    return linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)


def _matrix(x: Array, ord: Any, axes: tuple[int, int], keepdims: bool) -> Array:
    if axes[0] == axes[1]:
        raise InvalidValueError(f"axis={axes}", op="linalg.norm", remedy="Name two different axes.")
    if ord is None or ord == "f":
        ord = "fro"
    if ord not in _MATRIX_ORDERS:
        raise InvalidValueError(
            f"ord={ord!r} for matrices", op="linalg.norm", remedy="Pass 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."
        )
    result = linalg.matrix_norm(stator.moveaxis(x, axes, (-2, -1)), ord=ord)
    return stator.expand_dims(result, axis=tuple(sorted(axes))) if keepdims else result


@same
def norm(x: ArrayLike, ord: Any = None, axis: Axes = None, keepdims: bool = False) -> Array:
    """The norm of vectors along one axis, or of matrices along two; ord as in numpy.linalg.norm.

    axis None takes all of x: without ord as a vector, with ord as the vector or the matrix that it is. Synchronises for
    ord 'nuc', 2 and -2 of matrices.
    """
    op = "linalg.norm"
    a = _convert.floating(_convert.array(x, op))
    if axis is None:
        if ord is None:
            return linalg.vector_norm(a, keepdims=keepdims)
        axes: tuple[int, ...] = tuple(range(a.ndim))
    elif isinstance(axis, (tuple, list)):
        axes = tuple(_convert.axis(k, a.ndim, op) for k in axis)
    else:
        axes = (_convert.axis(axis, a.ndim, op),)
    if len(axes) == 1:
        return _vector(a, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix(a, ord, (axes[0], axes[1]), keepdims)
    raise InvalidValueError(f"A norm over {len(axes)} axes", op=op, remedy="Pass one or two axes.")


@same
def vector_norm(x: ArrayLike, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norm of x as vectors along an axis or several, or all of x for None."""
    a = _convert.floating(_convert.array(x, "linalg.vector_norm"))
    found = tuple(_convert.axes(axis, a.ndim, "linalg.vector_norm"))
    return _vector(a, ord, found, keepdims)


@same
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of matrices (..., m, n)."""
    a = _convert.floating(matrices(x, "linalg.matrix_norm"))
    return _matrix(a, ord, (a.ndim - 2, a.ndim - 1), keepdims)


@same
def cond(x: ArrayLike, p: Any = None) -> Array:
    """The condition number of matrices (..., m, n) in a norm of matrix_norm; infinite for singular ones."""
    op = "linalg.cond"
    a = matrices(x, op)
    if a.shape[-1] == 0 or a.shape[-2] == 0:
        raise LinAlgError(f"Empty matrices of shape {a.shape[-2:]}", op=op, remedy="Pass matrices with elements.")
    if p not in (None, 2, -2):
        square(a, op)
    return linalg.cond(a, p)
