"""Checks a result before anything is timed: within a few times the op's bound at sampled elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .cases import Case
from .exact import amplitude, exact
from .measure import ulps
from .table import (
    ELEMENTWISE,
    TABLE,
    along,
    bound,
    first,
    numbers,
    numpy_dtype,
    reference,
    scalar_special,
    tolerance,
    wide,
)

SAMPLES, DIGITS = 1 << 14, 64  # elements that are checked; those against references of 50 digits
SLACK = 4  # times the bound; the accuracy page is precise, this only has to find wrong kernels

# Mean and standard deviation of random ops; and the ops that draw from their operand, whose mean they keep.
MOMENTS = {
    "uniform": (0.5, 0.3),
    "normal": (0.0, 1.0),
    "integers": (49.5, 29.0),
    "bernoulli": (0.3, 0.5),
    "exponential": (2.0, 2.0),
    "gamma": (2.5, 1.6),
    "poisson": (20.0, 4.5),
    "multinomial": (100 / 3, 13.0),
}
RESAMPLED = ("permutation", "choice", "dropout", "dropout_add", "dropout_backward")


@dataclass(frozen=True)
class Verdict:
    """The result of a check.

    error: in units in the last place for elementwise ops, else relative to the largest value.
    """

    right: bool
    error: float


def _sample(size: int) -> np.ndarray:
    return np.arange(size) if size <= SAMPLES else np.random.default_rng(size).integers(0, size, SAMPLES)


def _elementwise(case: Case, got: np.ndarray) -> Verdict:
    name = case.plan.op
    arrays = list(case.arrays)
    if case.plan.variant == "scalar":  # which makes an integer of a bool, and else takes the array's dtype
        arrays.append(np.array(3, None if arrays[0].dtype.kind == "b" else arrays[0].dtype))
    precise = scalar_special(name) and got.dtype == np.float64
    at = np.unravel_index(_sample(got.size)[: DIGITS if precise else None], got.shape)
    some, result = [np.broadcast_to(a, got.shape)[at] for a in arrays], got[at]
    found = exact(name, *some, *numbers(name)) if precise else None
    want = wide(name, *some)
    if found is not None:  # mpmath has no values at poles and limits, SciPy has
        want = np.where(np.isnan(found), want, found)
    if result.dtype.kind in "biu":
        return Verdict(bool(np.array_equal(result, want)), float(np.sum(result != want)))
    contract = bound(name, result.dtype.name)
    with np.errstate(all="ignore"):
        want = want if contract else want.astype(result.dtype)
    error = ulps(result, want, amplitude(name, *some))
    worst = float(error.max(initial=0))
    return Verdict(worst <= SLACK * contract, worst)


def _relative(case: Case, got: np.ndarray, want: np.ndarray, length: int) -> Verdict:
    """The error at sampled elements; for sums of `length` terms it grows with the root of `length`."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return Verdict(False, float("inf"))
    if got.dtype.kind in "biu" and want.dtype.kind in "biu":
        return Verdict(bool(np.array_equal(got, want)), float(np.sum(got != want)))
    kind = {"complex64": "float32", "complex128": "float64"}.get(got.dtype.name, got.dtype.name)
    eps = float(reference.spacing(np.array(1.0), kind)) if got.dtype.kind not in "biu" else 1e-12
    wide_kind = np.clongdouble if got.dtype.kind == "c" or want.dtype.kind == "c" else np.longdouble
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    size = float(np.max(np.abs(want), initial=0, where=np.isfinite(want))) or 1.0
    at = np.unravel_index(_sample(got.size), got.shape)
    with np.errstate(all="ignore"):
        got, rounded = got[at], want[at].astype(got.dtype).astype(wide_kind)
        got, same = got.astype(wide_kind), rounded == got.astype(wide_kind)
        same |= np.isnan(rounded) & np.isnan(got)
        finite = np.isfinite(rounded) & np.isfinite(got)
        error = np.where(same, 0, np.where(finite, np.abs(got - rounded) / size, np.inf))
    worst = float(error.max(initial=0))
    return Verdict(worst <= eps * max(*tolerance(case.plan.op), 4) * max(1.0, length**0.5), worst)


def _by_weight(distinct: bool, weight: np.ndarray, got: np.ndarray) -> Verdict:
    """Checks indices drawn by weight.

    For draws without replacement the mean is near that of all indices, since the weights have no trend.
    """
    indices = np.arange(len(weight))
    weight = np.full(len(weight), 1 / len(weight)) if distinct else weight
    off = abs(float(np.mean(got)) - float(indices @ weight))
    twice = distinct and len(np.unique(got)) != len(got)
    return Verdict(not twice and off <= 8 * float(np.sqrt(indices**2 @ weight)) / got.size**0.5, off)


def _own(array: np.ndarray) -> Any:
    """Halves as float32, since many roundings in half precision make no reference."""
    return array.astype(np.float32) if array.dtype in (np.float16, numpy_dtype("bfloat16")) else array


def verdict(case: Case) -> Verdict:
    """The verdict on the result of building the case."""
    got = case.result.to_numpy()
    plan = case.plan
    kind = TABLE[plan.op]["shape_class"]
    if kind in ELEMENTWISE:
        return _elementwise(case, got)
    if case.reference is None:
        x = case.arrays[0]
        axis = {} if plan.axis is None else {"axis": plan.axis}
        return _relative(case, got, along(plan.op, x, **axis), x.size if plan.axis is None else x.shape[plan.axis])
    if plan.op in MOMENTS or plan.op in RESAMPLED:
        x = case.arrays[0].astype(np.float64) if plan.op in RESAMPLED else np.zeros(1)
        if plan.op == "dropout_add":
            got = got.astype(np.float64) - case.arrays[1]
        if plan.variant:
            return _by_weight(plan.variant == "distinct", x, got)
        middle, spread = MOMENTS.get(plan.op) or (float(x.mean()), 2 * float(np.sqrt(np.mean(x * x))))
        off = abs(float(np.mean(np.real(got).astype(np.float64))) - middle)
        return Verdict(off < 6 * spread / got.size**0.5 + 1e-3 * max(1.0, abs(middle)), off)
    if plan.op == "gumbel_softmax":  # what it draws are probabilities along the last axis
        off = float(np.max(np.abs(got.sum(-1, dtype=np.float64) - 1)))
        return Verdict(off <= got.shape[-1] * float(reference.spacing(np.array(1.0), got.dtype.name)), off)
    with np.errstate(all="ignore"):
        exact = plan.op in ("zeros", "full", "arange", "copy", "astype", "take")
        want = first(case.reference(*(case.arrays if exact else [_own(a.copy(order="K")) for a in case.arrays])))
    length = got.shape[-1] if got.ndim else plan.size
    if plan.op == "ctc_loss_backward":  # exponentials of scores, which add up over all steps
        length *= got.shape[0]
    return _relative(case, got, want, max(length, case.terms))
