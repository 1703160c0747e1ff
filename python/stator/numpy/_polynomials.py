"""Polynomials as vectors of coefficients, that of the highest power first."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy._rows import differs, same
from stator.numpy.linalg import eigvals, inv, lstsq


def _vector(value: ArrayLike, op: str, *, like: Array | None = None) -> Array:
    x = _convert.array(value, op, like=like)
    return stator.reshape(x, (1,)) if x.ndim == 0 else x


def _vectors(op: str, *values: ArrayLike) -> list[Array]:
    return [stator.reshape(x, (1,)) if x.ndim == 0 else x for x in _convert.arrays(op, *values)]


def _flat(x: Array, op: str) -> Array:
    if x.ndim != 1:
        raise InvalidValueError(f"An array of shape {x.shape}", op=op, remedy="Pass a vector of coefficients.")
    return x


def _product(a: Array, b: Array) -> Array:
    """The coefficients of a product: each sum of a[i] b[k - i] by a matrix whose rows are shifts of b."""
    n, m = a.shape[0], b.shape[0]
    padded = stator.pad(stator.flip(b), (n - 1, n - 1))
    shifts = stator.as_strided(padded, (n + m - 1, n), (1, 1))
    return stator.flip(stator.matmul(shifts, a))


@differs("Matrices and complex roots read a few values on the host; a launch or three for each root.")
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The coefficients of the polynomial with these roots, or of the characteristic polynomial of a matrix."""
    x = _vector(seq_of_zeros, "poly")
    if x.ndim == 2 and x.shape[0] == x.shape[1] != 0:
        x = eigvals(x)
    elif x.ndim != 1:
        raise InvalidValueError(f"An array of shape {x.shape}", op="poly", remedy="Pass a vector or a square matrix.")
    x = _convert.floating(x)
    x = x.astype("float64") if x.dtype.name == "float16" else x
    result = stator.ones((1,), dtype=x.dtype, device=x.backend)
    for k in range(x.shape[0]):
        shifted = stator.pad(result, (0, 1))
        shifted[1:] -= result * x[k]
        result = shifted
    if x.dtype.kind == "c" and x.shape[0]:
        roots = x.to_numpy()
        if np.array_equal(np.sort(roots), np.sort(roots.conj())):
            return stator.copy(stator.real(result))
    return result


@differs("Leading and trailing zeros are counted on the host; the roots are in the order of linalg.eig.")
def roots(p: ArrayLike) -> Array:
    """The roots of a polynomial, as the eigenvalues of its companion matrix. Synchronises."""
    x = _flat(_vector(p, "roots"), "roots")
    nonzero = stator.nonzero(x)[0]
    if nonzero.shape[0] == 0:
        return stator.zeros((0,), device=x.backend)
    first, last = int(nonzero[0]), int(nonzero[-1])
    at_zero = x.shape[0] - last - 1
    x = _convert.floating(x[first : last + 1])
    n = x.shape[0]
    if n > 1:
        companion = stator.eye(n - 1, k=-1, dtype=x.dtype, device=x.backend)
        companion[0, :] = -x[1:] / x[0]
        found = eigvals(companion)
    else:
        found = stator.zeros((0,), device=x.backend)
    return stator.concat([found, stator.zeros((at_zero,), dtype=found.dtype, device=x.backend)])


@same
def polyval(p: ArrayLike, x: ArrayLike) -> Array:
    """The polynomial's values at x by Horner's rule: two launches for each coefficient."""
    coefficients, at = _convert.arrays("polyval", p, x)
    _flat(coefficients, "polyval")
    y = stator.zeros_like(at)
    for k in range(coefficients.shape[0]):
        y = y * at + coefficients[k]
    return y


def _aligned(op: str, a1: ArrayLike, a2: ArrayLike) -> list[Array]:
    a, b = (_flat(v, op) for v in _vectors(op, a1, a2))
    n = max(a.shape[0], b.shape[0])
    return [stator.pad(v, (n - v.shape[0], 0)) if v.shape[0] < n else v for v in (a, b)]


@same
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials."""
    a, b = _aligned("polyadd", a1, a2)
    return a + b


@same
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials."""
    a, b = _aligned("polysub", a1, a2)
    return a - b


@same
def polymul(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The product of two polynomials."""
    a, b = (_flat(v, "polymul") for v in _vectors("polymul", a1, a2))
    # Leading zeros are not part of the result, as in NumPy.
    return _product(_trimmed(a), _trimmed(b))


def _trimmed(x: Array) -> Array:
    """Without leading zeros, but with one coefficient at least."""
    nonzero = stator.nonzero(x)[0]
    if nonzero.shape[0]:
        return x[int(nonzero[0]) :]
    return x[:1] if x.shape[0] else stator.zeros((1,), dtype=x.dtype, device=x.backend)


@differs("Reads the leading coefficients of the remainder on the host; three launches for each of the quotient.")
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """(quotient, remainder) of two polynomials."""
    a, b = (_flat(x, "polydiv") for x in _vectors("polydiv", u, v))
    a, b = a + 0.0, b + 0.0
    dtype = stator.result_type(a.dtype, b.dtype)
    m, n = a.shape[0] - 1, b.shape[0] - 1
    quotient = stator.zeros((max(m - n + 1, 1),), dtype=dtype, device=a.backend)
    rest = a.astype(dtype, copy=True)
    scale = 1.0 / b[0]
    for k in range(m - n + 1):
        factor = scale * rest[k]
        quotient[k] = factor
        rest[k : k + n + 1] -= factor * b
    small = np.abs(rest.to_numpy()) <= 1e-8
    leading = next((k for k, zero in enumerate(small) if not zero), len(small) - 1)
    return quotient, rest[leading:]


@same
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The m-th derivative."""
    if m < 0:
        raise InvalidValueError(f"m={m}", op="polyder", remedy="Pass m >= 0, or use polyint.")
    x = _vector(p, "polyder") if isinstance(p, Array) else _convert.array(p, "polyder")
    for _ in range(m):
        x = x[:-1] * stator.arange(x.shape[0] - 1, 0, -1, device=x.backend)
    return x


@same
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """The m-th integral; k: the constants of integration, the first of the first integral."""
    if m < 0:
        raise InvalidValueError(f"m={m}", op="polyint", remedy="Pass m >= 0, or use polyder.")
    x = _convert.array(p, "polyint")
    constants = stator.zeros((m,), device=x.backend) if k is None else _vector(k, "polyint", like=x)
    if constants.shape[0] == 1 and m > 1:
        constants = stator.broadcast_to(constants, (m,))
    if constants.shape[0] < m:
        raise InvalidValueError(
            f"{constants.shape[0]} constants of {m} integrals", op="polyint", remedy="Pass one, or one for each."
        )
    for i in range(m):
        powers = stator.arange(x.shape[0], 0, -1, device=x.backend)
        x = stator.concat([x / powers, constants[i : i + 1]])
    return x


@same
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of a vector as columns: N of them, the highest first unless increasing."""
    a = _convert.array(x, "vander")
    if a.ndim != 1:
        raise InvalidValueError(f"An array of shape {a.shape}", op="vander", remedy="Pass a vector.")
    n = a.shape[0] if N is None else N
    dtype = stator.result_type(a.dtype, stator.int64)
    factors = stator.ones((a.shape[0], n), dtype=dtype, device=a.backend)
    if n > 1:
        factors[:, 1:] = a[:, None].astype(dtype)
    powers = stator.cumulative_prod(factors, axis=1) if n > 1 else factors
    return powers if increasing else stator.flip(powers, axis=1)


def _checked_points(x: Array, y: Array, deg: int) -> None:
    op = "polyfit"
    if deg < 0:
        raise InvalidValueError(f"deg={deg}", op=op, remedy="Pass deg >= 0.")
    if x.ndim != 1 or x.size == 0:
        raise DTypeError(f"An x of shape {x.shape}", op=op, remedy="Pass a vector that is not empty.")
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise DTypeError(f"A y of shape {y.shape} for {x.shape[0]} points", op=op, remedy="Pass (n,) or (n, k).")


@differs("A fit of deficient rank warns as NumPy's, for which the rank is read on the host.")
def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | str = False,
) -> Any:
    """The polynomial of degree deg that fits y at x best, by least squares. Synchronises.

    y: (n,) or (n, k). w: weights of the residuals. full: also (residuals, rank, singular values, rcond); cov: also the
    covariance matrix, scaled by the residuals unless "unscaled".
    """
    at, values = (v + 0.0 for v in _convert.arrays("polyfit", x, y))
    order = int(deg) + 1
    _checked_points(at, values, int(deg))
    if rcond is None:
        rcond = at.shape[0] * stator.finfo(at.dtype).eps
    left, right = vander(at, order), values
    if w is not None:
        weights = _convert.array(w, "polyfit", like=at) + 0.0
        if weights.shape != at.shape:
            raise DTypeError(f"Weights of shape {weights.shape}", op="polyfit", remedy=f"Pass shape {at.shape}.")
        left = left * weights[:, None]
        right = right * (weights[:, None] if right.ndim == 2 else weights)
    scale = stator.sqrt(stator.sum(left * left, axis=0))
    left = left / scale
    found, residuals, rank, singular = lstsq(left, right, rcond)
    coefficients = found / (scale[:, None] if found.ndim == 2 else scale)
    if full:
        return coefficients, residuals, rank, singular, rcond
    if int(rank) != order:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if not cov:
        return coefficients
    base = inv(stator.matmul(left.T, left)) / stator.outer(scale, scale)
    if cov != "unscaled":
        if at.shape[0] <= order:
            raise InvalidValueError(
                f"{at.shape[0]} points for {order} coefficients", op="polyfit", remedy="Pass more points, or cov=False."
            )
        factor = residuals / (at.shape[0] - order)
        return coefficients, base * factor if values.ndim == 1 else base[:, :, None] * factor
    return coefficients, base if values.ndim == 1 else base[:, :, None]
