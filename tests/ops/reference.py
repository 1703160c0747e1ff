"""Comparison with a reference in higher precision, in units in the last place of the result's dtype."""

from __future__ import annotations

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# mantissa bits (with the hidden one), smallest normal exponent, of each floating dtype
_FORMATS = {"float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126), "float64": (53, -1022)}
_REAL = {"complex64": "float32", "complex128": "float64"}


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype of a stator dtype name."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def widen(x: np.ndarray) -> np.ndarray:
    """x in a precision in which the reference is computed."""
    kind = x.dtype.name
    if kind in ("float16", "bfloat16", "float32"):
        return x.astype(np.float64)
    if kind == "float64":
        return x.astype(np.longdouble)
    if kind == "complex64":
        return x.astype(np.complex128)
    if kind == "complex128":
        return x.astype(np.clongdouble)
    return x


def spacing(expected: np.ndarray, dtype: str) -> np.ndarray:
    """One unit in the last place of `dtype` at each |expected|."""
    bits, lowest = _FORMATS[dtype]
    _, exponent = np.frexp(np.abs(np.where(np.isfinite(expected), expected, 1)))
    exponent = np.maximum(exponent - 1, lowest)
    return np.ldexp(np.longdouble(1), exponent - (bits - 1))


def _overflow(expected: np.ndarray, dtype: str) -> np.ndarray:
    """expected with what rounds beyond the largest finite number of `dtype` made infinite."""
    largest = np.longdouble(np.asarray(ml_dtypes.finfo(numpy_dtype(dtype)).max, dtype=np.float64))
    edge = largest + spacing(largest, dtype) / 2
    return np.where(np.abs(expected) >= edge, np.copysign(np.inf, expected), expected)


def ulp_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """Largest error of `actual` in its own units in the last place; infinite where NaN or infinities disagree."""
    name = actual.dtype.name
    if name in _REAL:
        # Componentwise relative to the larger component: what complex arithmetic promises.
        real = _REAL[name]
        size = np.maximum(np.abs(expected.real), np.abs(expected.imag))
        parts = [(actual.real, expected.real), (actual.imag, expected.imag)]
    else:
        real, size = name, np.abs(np.real(expected))
        parts = [(actual, np.real(expected))]
    worst = 0.0
    for got, want in parts:
        got = got.astype(np.longdouble)
        want = _overflow(np.asarray(want, dtype=np.longdouble), real)
        special = ~np.isfinite(want) | ~np.isfinite(got)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        if np.any(special & ~same):
            return float("inf")
        with np.errstate(all="ignore"):
            error = np.where(special, 0, np.abs(got - want) / spacing(np.asarray(size, dtype=np.longdouble), real))
        if error.size:
            worst = max(worst, float(np.max(error)))
    return worst


def allowed(tolerance: tuple[int, int], dtype: str) -> float:
    """The contract's bound for a result dtype; half types are rounded once from float32."""
    if tolerance == (0, 0):
        return 0.0
    if dtype in ("float16", "bfloat16"):
        return 1.0
    return float(tolerance[0] if dtype in ("float32", "complex64") else tolerance[1])


def assert_matches(
    actual: np.ndarray, expected: np.ndarray, tolerance: tuple[int, int] = (0, 0), what: str = ""
) -> None:
    """Shapes equal; integers and bools equal; floats within the bound, NaN and infinities in the same places."""
    assert actual.shape == np.shape(expected), f"{what}: shape {actual.shape}, expected {np.shape(expected)}"
    if actual.dtype.name in _FORMATS or actual.dtype.name in _REAL:
        if tolerance == (0, 0):
            with np.errstate(all="ignore"):
                want = np.asarray(expected).astype(actual.dtype)
            np.testing.assert_array_equal(widen(actual), widen(want), err_msg=what)
            return
        error = ulp_error(actual, np.asarray(expected))
        bound = allowed(tolerance, actual.dtype.name)
        assert error <= bound, f"{what}: {error:.2f} ulp, allowed {bound}\n{actual!r}\n{expected!r}"
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=what)
