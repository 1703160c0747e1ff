"""Comparison of a device's result with the cpu's under the contract of the op table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import COMPLEX_TOLERANCE, Values
from stator._catalogue.entry import Answer
from stator._catalogue.given import FLOATING, download

# Mantissa bits (with the hidden one), smallest and largest normal exponent of each floating dtype.
_FORMATS = {
    "float16": (11, -14, 15),
    "bfloat16": (8, -126, 127),
    "float32": (24, -126, 127),
    "float64": (53, -1022, 1023),
}
_REAL = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Part:
    """One array of a result on the host: the name of its dtype, its values, and what an Answer says of it."""

    dtype: str
    values: Values
    answer: Answer


@dataclass(frozen=True)
class Verdict:
    """The worst error in units of the bound, which is at most 1 if it is kept; infinite for a difference of exact
    results. `message` says where, and is empty if the bound is kept."""

    error: float
    message: str


def parts(result: Any) -> Iterator[Part]:
    """The arrays of a result, which is nested in tuples, lists, dicts and Answers. Waits for the device."""
    if isinstance(result, Answer):
        for part in parts(result.value):
            yield replace(part, answer=result)
    elif isinstance(result, dict):
        for value in result.values():
            yield from parts(value)
    elif isinstance(result, (tuple, list)):
        for value in result:
            yield from parts(value)
    elif isinstance(result, stator.Array):
        yield Part(result.dtype.name, download(result), Answer(None))
    else:
        values = np.asarray(result)
        yield Part(values.dtype.name, values, Answer(None))


def spacing(size: Values, dtype: str) -> Values:
    """One unit in the last place of a real dtype at each magnitude."""
    bits, lowest, _ = _FORMATS[dtype]
    _, exponent = np.frexp(np.where(np.isfinite(size), size, 1))
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - 1, lowest) - (bits - 1)))


def _overflowed(x: Values, dtype: str) -> Values:
    """x with infinity where a number rounds beyond the largest finite one of a real dtype."""
    bits, _, highest = _FORMATS[dtype]
    if dtype == "float64":
        return x
    edge = (2 - 2.0**-bits) * 2.0**highest
    return np.where(np.abs(x) >= edge, np.copysign(np.inf, x), x)


def ulp_errors(got: Values, want: Values, dtype: str, scale: Values | str | None) -> Values:
    """The errors of `got` in units in its last place; of complex numbers, in that of the larger component.

    They are infinite where NaN or infinities disagree.
    """
    real = _REAL.get(dtype, dtype)
    pairs = [(got.real, want.real), (got.imag, want.imag)] if dtype in _REAL else [(got, want)]
    size = np.max([np.abs(w).astype(np.float64) for _, w in pairs], axis=0)
    if isinstance(scale, str):
        size = np.full_like(size, np.max(size, initial=0, where=np.isfinite(size)))
    elif scale is not None:
        size = np.where(np.isfinite(scale), np.fmax(size, np.abs(scale)), size)
    unit = spacing(size, real)
    worst = np.zeros(got.shape)
    for mine, theirs in pairs:
        a, b = mine.astype(np.float64), _overflowed(theirs.astype(np.float64), real)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        finite = np.isfinite(a) & np.isfinite(b)
        error = np.where(same, 0, np.where(finite, np.abs(a - b) / unit, np.inf))
        worst = np.maximum(worst, error)
    return worst


def _differences(got: Values, want: Values) -> Values:
    """Infinity where values differ, in the sign of zero too; NaN is equal to NaN."""
    if got.dtype.kind == "c":
        return np.maximum(_differences(got.real, want.real), _differences(got.imag, want.imag))
    same = got == want
    if got.dtype.kind == "f":
        same = (same & (np.signbit(got) == np.signbit(want))) | (np.isnan(got) & np.isnan(want))
    return np.where(same, 0, np.inf)


@dataclass(frozen=True)
class Contract:
    """What the op table says of the results of an op."""

    exact: bool
    bounds: tuple[float, float]  # float32, float64
    complex_bounds: tuple[float, float]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Contract:
        bounds = (entry["tolerance"]["float32"], entry["tolerance"]["float64"])
        exact = entry["determinism"] == "bit_exact" or bounds == (0, 0)
        return cls(exact, bounds, COMPLEX_TOLERANCE.get(entry["name"], bounds))

    def bound(self, dtype: str) -> float:
        """The bound of a result dtype in units in the last place; halves are rounded once from float32."""
        if dtype in ("float16", "bfloat16"):
            return 1.0
        bounds = self.complex_bounds if dtype in _REAL else self.bounds
        return float(bounds[0] if dtype in ("float32", "complex64") else bounds[1])


def compare(contract: Contract, got: list[Part], same: list[Part], wide: list[Part] | None) -> Verdict:
    """Compares a result with the cpu's in the same dtype, and in a wider one where there is one.

    Results that the contract calls exact, and integers, must equal those of the same dtype. Others are within the bound
    of the wider result; without one, two results within the bound of the exact one are within twice the bound of each
    other.
    """
    if len(got) != len(same):
        return Verdict(np.inf, f"{len(got)} results in place of {len(same)}")
    worst = Verdict(0.0, "")
    for k, (mine, theirs) in enumerate(zip(got, same, strict=True)):
        verdict = _compare(contract, mine, theirs, None if wide is None else wide[k])
        if len(got) > 1 and verdict.message:
            verdict = replace(verdict, message=f"result {k}: {verdict.message}")
        if verdict.error > worst.error:
            worst = verdict
    return worst


def _compare(contract: Contract, got: Part, same: Part, wide: Part | None) -> Verdict:
    if got.dtype != same.dtype:
        return Verdict(np.inf, f"dtype {got.dtype} in place of {same.dtype}")
    if got.values.shape != same.values.shape:
        return Verdict(np.inf, f"shape {got.values.shape} in place of {same.values.shape}")
    if (contract.exact and got.answer.bound is None) or got.dtype not in FLOATING:
        errors, want, bound = _differences(got.values, same.values), same.values, 0.0
    else:
        reference = same if wide is None or wide.values.shape != got.values.shape else wide
        bound = contract.bound(got.dtype) if got.answer.bound is None else got.answer.bound
        bound *= 2 if reference is same else 1
        want = reference.values
        with np.errstate(all="ignore"):
            errors = ulp_errors(got.values, want, got.dtype, reference.answer.scale) / bound
    worst = float(np.max(errors, initial=0))
    if worst <= 1:
        return Verdict(worst, "")
    wrong = np.count_nonzero(errors > 1)
    at = np.unravel_index(int(np.argmax(errors)), errors.shape)
    where = f"[{', '.join(map(str, at))}]" if at else "the result"
    by = f"{worst * bound:.4g} units in the last place, of {bound:g} allowed" if bound else "which must be equal"
    return Verdict(worst, f"{wrong} of {errors.size}: {where} is {got.values[at]!s}, not {want[at]!s}, {by}")
