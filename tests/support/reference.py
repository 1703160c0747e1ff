"""Comparison with a reference in higher precision, in units in the last place of the result's dtype."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Mantissa bits (with the hidden one) and smallest normal exponent of each floating dtype.
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
    """expected, with infinity where a number rounds beyond the largest finite number of `dtype`."""
    largest = np.longdouble(np.asarray(ml_dtypes.finfo(numpy_dtype(dtype)).max, dtype=np.float64))
    edge = largest + spacing(largest, dtype) / 2
    return np.where(np.abs(expected) >= edge, np.copysign(np.inf, expected), expected)


def ulp_errors(actual: np.ndarray, expected: np.ndarray, scale: np.ndarray | None = None) -> np.ndarray:
    """The errors of `actual` in units in its last place, or that of `scale` where it is larger.

    They are infinite where NaN or infinities disagree.
    """
    name = actual.dtype.name
    if name in _REAL:
        # Per component, relative to the larger component, as complex arithmetic guarantees.
        real = _REAL[name]
        size = np.maximum(np.abs(expected.real), np.abs(expected.imag))
        parts = [(actual.real, expected.real), (actual.imag, expected.imag)]
    else:
        real, size = name, np.abs(np.real(expected))
        parts = [(actual, np.real(expected))]
    if scale is not None:
        size = np.where(np.isfinite(scale), np.fmax(size, np.abs(scale)), size)
    unit = spacing(np.asarray(size, dtype=np.longdouble), real)
    worst = np.zeros(actual.shape)
    for got, want in parts:
        got = got.astype(np.longdouble)
        want = _overflow(np.asarray(want, dtype=np.longdouble), real)
        special = ~np.isfinite(want) | ~np.isfinite(got)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        with np.errstate(all="ignore"):
            error = np.where(special, np.where(same, 0, np.inf), np.abs(got - want) / unit)
        worst = np.maximum(worst, error.astype(np.float64))
    return worst


def ulp_error(actual: np.ndarray, expected: np.ndarray, scale: np.ndarray | None = None) -> float:
    """The largest of ulp_errors."""
    return float(np.max(ulp_errors(actual, expected, scale), initial=0))


def allowed(tolerance: tuple[int, int], dtype: str) -> float:
    """The bound for a result dtype; half types are rounded once from float32."""
    if tolerance == (0, 0):
        return 0.0
    if dtype in ("float16", "bfloat16"):
        return 1.0
    return float(tolerance[0] if dtype in ("float32", "complex64") else tolerance[1])


def assert_matches(
    actual: np.ndarray,
    expected: np.ndarray,
    tolerance: tuple[int, int] = (0, 0),
    what: str = "",
    scale: np.ndarray | None = None,
    operands: Sequence[object] = (),
) -> None:
    """Asserts equal shapes, equal integers and bools, floats within the bound, NaN and infinities alike."""
    assert actual.shape == np.shape(expected), f"{what}: shape {actual.shape}, expected {np.shape(expected)}"
    kind, want = actual.dtype.name, np.asarray(expected)
    bound, floating = 0.0, kind in _FORMATS or kind in _REAL
    if floating and tolerance != (0, 0):
        errors, bound = ulp_errors(actual, want, scale), allowed(tolerance, kind)
    else:
        with np.errstate(all="ignore"):
            want = want.astype(actual.dtype) if floating else want
        same = actual == want
        errors = np.where(same | ((actual != actual) & (want != want)) if floating else same, 0, np.inf)
    if not np.any(errors > bound):
        return
    lines = [f"{what}: {np.count_nonzero(errors > bound)} of {errors.size} beyond {bound:g} ulp"]
    given = [np.broadcast_to(np.asarray(x), actual.shape) for x in operands]
    for at in np.argsort(-errors, axis=None, kind="stable")[:4]:
        k = np.unravel_index(at, actual.shape)
        inputs = ", ".join(str(x[k]) for x in given)
        lines.append(
            f"  [{','.join(map(str, k))}] ({inputs}): {errors[k]:.4g} ulp: {actual[k]!s}, expected {want[k]!s}"
        )
    raise AssertionError("\n".join(lines))
