"""Errors of one op and dtype in units in the last place, over its domain and at special values."""

from __future__ import annotations

import itertools
import zlib
from dataclasses import dataclass

import numpy as np

import stator

from .domains import Interval, core, intervals, points
from .exact import amplitude, exact
from .table import (
    AXIS,
    HALVES,
    PRODUCTS,
    SPECIALS,
    TABLE,
    along,
    bound,
    first,
    kind,
    numbers,
    numpy_dtype,
    oracle,
    ours,
    reference,
    shared,
    tolerance,
    wide,
)

# Components of complex operands; for powers such that y log(x) is not large, since that costs digits.
WIDE, COMPLEX = Interval(-100, 100), {"pow": Interval(-4, 4)}
REAL = {"complex64": "float32", "complex128": "float64"}

BY_DIGITS = {"log1p"}  # complex functions that NumPy computes poorly near zero, as log(1 + x)

# Limits at minus and plus infinity, where SciPy gives NaN; NaN here means that SciPy is right.
INF = float("inf")
LIMITS = {"i0": (INF, INF), "i1": (-INF, INF), "j0": (0.0, 0.0), "j1": (0.0, 0.0), "airy_ai": (0.0, 0.0)}
LIMITS |= {n: (float("nan"), 0.0) for n in ("y0", "y1")}


@dataclass
class Measured:
    """The errors of one op and dtype.

    worst: the operands at the largest error. special: the number of special inputs where NaN or infinity disagree.
    failure: why the op could not be measured.
    """

    op: str
    dtype: str
    domain: str = ""
    points: int = 0
    most: float = float("nan")
    mean: float = float("nan")
    contract: float = float("nan")
    against: str = ""
    special: int = 0
    worst: str = ""
    special_at: str = ""
    failure: str = ""

    @property
    def outside(self) -> bool:
        return bool(self.failure) or self.special > 0 or not self.most <= self.contract


@dataclass(frozen=True)
class Effort:
    """The number of points per op in float32 and with 50 digits, and of elements of the longest reduction."""

    floats: int
    digits: int
    length: int


FULL, QUICK = Effort(50_000, 400, 1 << 18), Effort(4_000, 60, 1 << 14)


def ulps(got: np.ndarray, want: np.ndarray, size: np.ndarray | float = 0.0) -> np.ndarray:
    """The error of each element in units in the last place of the larger of |want| and `size`.

    It is infinite where NaN or infinities disagree. Complex errors are per component, in units of the larger component.
    """
    real = REAL.get(got.dtype.name, got.dtype.name)
    with np.errstate(all="ignore"):
        if got.dtype.kind == "c":
            size = np.maximum(size, np.maximum(np.abs(want.real), np.abs(want.imag)))
            return np.maximum(_real(got.real, want.real, size, real), _real(got.imag, want.imag, size, real))
        return _real(got, np.real(want), size, real)


def _real(got: np.ndarray, want: np.ndarray, size: np.ndarray | float, dtype: str) -> np.ndarray:
    got, want = got.astype(np.longdouble), reference._overflow(want.astype(np.longdouble), dtype)
    unit = reference.spacing(np.maximum(np.abs(want), size), dtype)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    finite = np.isfinite(got) & np.isfinite(want)
    return np.where(same, 0, np.where(finite, np.abs(got - want) / unit, np.inf)).astype(np.float64)


def _arguments(rng: np.random.Generator, name: str, dtype: str, count: int) -> list[np.ndarray]:
    made: list[np.ndarray] = []
    for k, (within, middle) in enumerate(zip(intervals(name), core(name), strict=True)):
        if k == 0 and TABLE[name]["shape_class"] == "select":
            made.append(rng.random(count) < 0.5)
        elif dtype in REAL:
            ends = COMPLEX.get(name, WIDE)
            least = 1e-2 if name in COMPLEX else 1e-30
            parts = [points(rng, ends, Interval(-4, 4), REAL[dtype], count, least) for _ in range(2)]
            made.append((parts[0] + 1j * parts[1]).astype(dtype))
        elif dtype in HALVES and len(intervals(name)) == 1:
            every = np.arange(1 << 16, dtype=np.uint16).view(numpy_dtype(dtype))
            value = rounded(every, np.dtype(np.float64))
            made.append(every[np.isfinite(value) & (value >= within.low) & (value <= within.high)])
        else:
            made.append(points(rng, within, middle, dtype, count))
    return made


def _specials(name: str, dtype: str) -> list[np.ndarray]:
    """All combinations of special values; a few whole numbers for operands that are whole."""
    values = SPECIALS(dtype)
    count = len(intervals(name))
    if count > 2:
        values = values[:: count - 1]
    each = [np.arange(i.low, min(i.high, i.low + 3) + 1) if i.whole else values.astype(float) for i in intervals(name)]
    if name.endswith("_backward"):  # omits values that no forward function gives, and slopes that vanish in this dtype
        each = [v[~np.isfinite(v) | ((v >= i.low) & (v <= i.high))] for v, i in zip(each, intervals(name), strict=True)]
    if TABLE[name]["shape_class"] == "select":
        each[0] = np.array([0.0, 1.0])
    with np.errstate(all="ignore"):
        made = [np.array(column).astype(numpy_dtype(dtype)) for column in zip(*itertools.product(*each), strict=True)]
    return [made[0].astype(bool), *made[1:]] if TABLE[name]["shape_class"] == "select" else made


def _special_reference(name: str, at: list[np.ndarray]) -> np.ndarray:
    """The tests' reference, with the limits of unary functions where SciPy does not have them."""
    want = wide(name, *at)
    if len(at) > 1:
        return want
    x = at[0].astype(np.float64)
    found = exact(name, x, *numbers(name))
    if found is not None:
        want = np.where(np.isfinite(x) & np.isinf(want) & ~np.isnan(found), found, want)
    low, high = LIMITS.get(name, (np.nan, np.nan))
    for end, limit in ((-np.inf, low), (np.inf, high)):
        want = np.where((x == end) & ~np.isnan(limit), limit, want)
    return want


def _run(be: stator.Backend, name: str, arrays: list[np.ndarray], **kwargs: object) -> np.ndarray:
    on = [be.asarray(x) for x in arrays]
    with np.errstate(all="ignore"):
        return first(ours(name)(*on, **kwargs)).to_numpy()


def _reference(name: str, arrays: list[np.ndarray], got: np.ndarray, dtype: str) -> tuple[np.ndarray, str]:
    """For exact ops their own arithmetic, else 50 digits for float64, else the tests' reference."""
    if bound(name, got.dtype.name) == 0:
        return rounded(wide(name, *arrays), got.dtype), "rounded once"
    if dtype == "float64" or (dtype in REAL and name in BY_DIGITS):
        found = exact(name, *arrays, *numbers(name))
        if found is not None:
            return found, "mpmath"
    if tolerance(name) == (0, 0):  # exact for real operands, but here they are complex
        with np.errstate(all="ignore"):
            return oracle(name)(*map(reference.widen, arrays), *numbers(name)), "float64"
    want = wide(name, *arrays)
    return want, precision(want, dtype)


def _refine(name: str, arrays: list[np.ndarray], got: np.ndarray, error: np.ndarray, size: np.ndarray) -> None:
    """Computes the largest errors again with 50 digits, until the largest of all is such a one."""
    left = error.copy()
    for _ in range(20):
        if not left.max() > 0.5:  # the error of a result that is rounded once
            return
        some = np.argsort(-left)[:50]
        found = exact(name, *(a[some] for a in arrays), *numbers(name))
        if found is None:
            return
        again = ulps(got[some], found, size[some])
        error[some] = np.where(np.isnan(found), error[some], again)
        left[some] = 0
        if left.max() <= error[some].max():
            return


def precision(want: np.ndarray, dtype: str) -> str:
    return "long double" if want.dtype.char in "gG" and dtype in ("float64", "complex128") else "float64"


def rounded(want: np.ndarray, dtype: np.dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        return want.astype(dtype)


def _elementwise(be: stator.Backend, name: str, dtype: str, effort: Effort, rng: np.random.Generator) -> Measured:
    inexact = bound(name, dtype) > 0
    count = effort.digits if inexact and dtype == "float64" else effort.floats
    count = effort.digits * 10 if dtype in REAL and name in BY_DIGITS else count
    arrays = _arguments(rng, name, dtype, count)
    got = _run(be, name, arrays)
    want, against = _reference(name, arrays, got, dtype)
    unknown = np.isnan(want) & (against == "mpmath")
    size = np.broadcast_to(amplitude(name, *arrays), got.shape)
    error = np.where(unknown, 0, ulps(got, want, size))
    if against in ("float64", "long double") and dtype not in HALVES:
        _refine(name, arrays, got, error, size)
    worst = int(np.argmax(error))
    special, where = 0, ""
    if dtype not in REAL and shared.case(name).special:
        at = _specials(name, dtype)
        result = _run(be, name, at)
        differs = np.flatnonzero(np.isinf(ulps(result, rounded(_special_reference(name, at), result.dtype))))
        special = differs.size
        where = "; ".join(", ".join(str(a[k]) for a in at) for k in differs[:3])
    domain = " x ".join(map(str, intervals(name))) if dtype not in REAL else f"components in {COMPLEX.get(name, WIDE)}"
    worst_at = ", ".join(str(a[worst]) for a in arrays)
    return Measured(
        name,
        dtype,
        domain,
        int(error.size - unknown.sum()),
        float(error.max()),
        float(error.sum() / max(1, error.size - unknown.sum())),
        bound(name, got.dtype.name),
        against,
        special,
        worst_at,
        where,
    )


def _along(be: stator.Backend, name: str, dtype: str, effort: Effort, rng: np.random.Generator) -> Measured:
    """Rows of 1000 elements reduced along an axis, and one long row."""
    middle = core(name)[0]
    long = min(effort.length, 1 << 14) if dtype in HALVES else effort.length
    errors, contract, against = [], 0.0, ""
    for shape in ((32, 1000), (1, long)):
        x = rng.uniform(middle.low, middle.high, shape)
        if dtype in REAL:
            turn = np.exp(1j * rng.uniform(0, 6, shape))
            x = x * turn if name in PRODUCTS else x + 1j * rng.uniform(middle.low, middle.high, shape)
        x = x.astype(numpy_dtype(dtype))
        got = _run(be, name, [x], axis=1)
        contract = bound(name, got.dtype.name)
        want = along(name, x, axis=1)
        against = precision(want, dtype) if contract else "rounded once"
        errors.append(ulps(got, want if contract else rounded(want, got.dtype)).ravel())
    error = np.concatenate(errors)
    return Measured(
        name,
        dtype,
        f"{middle}, 1000 and {long} long",
        error.size,
        float(error.max()),
        float(error.mean()),
        contract,
        against,
    )


def measure(be: stator.Backend, name: str, dtype: str, effort: Effort) -> Measured:
    """The errors of one op and dtype; exceptions are reported, not raised."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {dtype}".encode()))
    try:
        find = _along if kind(name) in AXIS else _elementwise
        return find(be, name, dtype, effort, rng)
    except Exception as error:  # the page names the op and the error
        return Measured(name, dtype, failure=f"{type(error).__name__}: {error}".splitlines()[0])
