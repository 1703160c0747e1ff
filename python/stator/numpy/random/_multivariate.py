"""Draws of vectors whose elements depend on each other."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import stator
from stator import linalg
from stator._array import Array
from stator.errors import InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy.random._draws import Size, shape_of

if TYPE_CHECKING:
    from stator.numpy.random._draws import Draws


def multivariate_normal(
    draws: Draws, mean: ArrayLike, cov: ArrayLike, size: Size, check_valid: str, tol: float, method: str
) -> Array:
    """mean + z A with A^T A = cov, for normal z, where A is a factor of cov by the method named."""
    op = "random.multivariate_normal"
    mu, c = (_convert.floating(x) for x in _convert.arrays(op, mean, cov))
    if check_valid not in ("warn", "raise", "ignore"):
        raise InvalidValueError(f"check_valid={check_valid!r}", op=op, remedy="Pass 'warn', 'raise' or 'ignore'.")
    if method not in ("svd", "eigh", "cholesky"):
        raise InvalidValueError(f"method={method!r}", op=op, remedy="Pass 'svd', 'eigh' or 'cholesky'.")
    if mu.ndim != 1 or c.ndim != 2 or c.shape != (mu.shape[0], mu.shape[0]):
        raise InvalidValueError(f"A mean of shape {mu.shape}, cov of {c.shape}", op=op, remedy="Pass (n,) and (n, n).")
    valid: Array | None = None
    if method == "cholesky":
        factor = linalg.cholesky(c, upper=True)
    elif method == "eigh":
        values, vectors = linalg.eigh(c)
        factor = stator.sqrt(stator.clip(values, 0, None))[:, None] * vectors.T
        valid = stator.all(values >= -tol)
    else:
        _, values, vh = linalg.svd(c)
        factor = stator.sqrt(values)[:, None] * vh
        valid = stator.all(stator.abs(stator.matmul(vh.T * values, vh) - c) <= tol + tol * stator.abs(c))
    if check_valid != "ignore" and valid is not None and not bool(valid):
        if check_valid == "raise":
            raise InvalidValueError(
                "cov is not symmetric positive-semidefinite", op=op, remedy="Pass a covariance matrix."
            )
        warnings.warn("covariance is not symmetric positive-semidefinite.", RuntimeWarning, stacklevel=4)
    z = draws._normal((*shape_of(size, op=op), mu.shape[0]))
    return mu + stator.matmul(z, factor)
