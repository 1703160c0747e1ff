"""Arguments that are matrices, refused with LinAlgError as NumPy does."""

from __future__ import annotations

from stator._array import Array
from stator.errors import LinAlgError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike


def matrices(a: ArrayLike, op: str) -> Array:
    """An argument of shape (..., m, n)."""
    x = _convert.array(a, op)
    if x.ndim < 2:
        raise LinAlgError(f"An array of shape {x.shape}", op=op, remedy="Pass at least two axes: (..., m, n).")
    return x


def square(a: ArrayLike, op: str) -> Array:
    """An argument of shape (..., n, n)."""
    x = matrices(a, op)
    if x.shape[-1] != x.shape[-2]:
        raise LinAlgError(
            f"Matrices of shape {x.shape[-2:]}", op=op, remedy="Pass matrices whose last two axes have equal lengths."
        )
    return x


def matrix(x: Array, op: str) -> Array:
    """One matrix, without a batch."""
    if x.ndim != 2:
        raise LinAlgError(f"An array of shape {x.shape}", op=op, remedy="Pass a matrix, of two axes.")
    return x
