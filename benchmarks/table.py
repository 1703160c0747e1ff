"""The op table, with the facts that the tests keep about its entries: domains, calls, references, bounds."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import cases as shared
import inputs as shared_inputs
import oracles
import reference

TABLE: dict[str, dict[str, Any]] = shared.TABLE
SPECIALS = shared_inputs.special
ELEMENTWISE = tuple(shared.ARITY)
AXIS = ("reduce", "scan")
HALVES = ("float16", "bfloat16")
PRODUCTS = ("prod", "cumulative_prod")

numpy_dtype = reference.numpy_dtype
tolerance: Callable[[str], tuple[int, int]] = shared.tolerance
function: Callable[[str], Callable[..., Any]] = shared.function


def kind(name: str) -> str:
    """The shape class of an op; scans, which are bound by hand, are a class of their own here."""
    return "scan" if TABLE[name]["family"] == "scan" else str(TABLE[name]["shape_class"])


def in_family(name: str) -> bool:
    """Whether an op is elementwise, a reduction or a scan, and so can be called from its kind only."""
    return kind(name) in (*ELEMENTWISE, *AXIS)


def scalar_special(name: str) -> bool:
    """Whether the op's peer is a SciPy function that computes point by point."""
    return bool(TABLE[name]["call"].startswith("special."))


def bound(name: str, dtype: str) -> float:
    """The bound in units in the last place for a result dtype; 0 for exact ops."""
    return float(reference.allowed(shared.bound(name, dtype), dtype))


def operands(name: str) -> tuple[Any, ...]:
    """The domains of an op's operands; a number where a number is passed."""
    if TABLE[name]["shape_class"] in ELEMENTWISE:
        return tuple(shared.domains(name))
    case = shared.case(name)
    return ((case.low, case.high),)


def ours(name: str) -> Callable[..., Any]:
    """stator's function of the op's arrays, with the numbers among its operands bound."""
    case, call = shared.case(name), function(name)
    given = numbers(name)
    plain = given[: len(given) - len(case.keywords)]
    named = dict(zip(case.keywords, given[len(plain) :], strict=True))
    if plain:
        return lambda *x, **more: call(*x, *plain, **named, **case.ours, **more)
    return partial(call, **named, **case.ours) if named or case.ours else call


def numbers(name: str) -> tuple[float, ...]:
    """The numbers among an op's operands, which follow its arrays."""
    return tuple(d for d in operands(name) if isinstance(d, (int, float)))


def oracle(name: str) -> Callable[..., Any]:
    """The op's oracle: a function of NumPy, SciPy or tests/support/oracles.py."""
    return oracles.resolve(TABLE[name]["oracle"])


def first(result: Any) -> Any:
    """The first result of a function that may return several."""
    return result[0] if isinstance(result, (tuple, list)) else result


def wide(name: str, *arrays: np.ndarray) -> np.ndarray:
    """The tests' reference of an elementwise op."""
    return np.asarray(shared.expected(name, *arrays, *numbers(name)))


def scale(name: str, *arrays: np.ndarray) -> np.ndarray | float:
    """The tests' scale: where it is larger than the value, errors count in its last place."""
    find = shared.case(name).scale
    if find is None:
        return 0.0
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.abs(find(*shared.wide_operands(name, *arrays, *numbers(name)))), posinf=0.0)


def _norm(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.sqrt(np.sum(np.abs(x) ** 2, axis=axis))


def _logsumexp(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    top = np.max(x.real, axis=axis, keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return np.squeeze(total, axis)


ALONG: dict[str, Callable[..., Any]] = {
    "cumulative_sum": np.cumsum,
    "cumulative_prod": np.cumprod,
    "vector_norm": _norm,
    "logsumexp": _logsumexp,
    "logcumsumexp": lambda x, axis: np.logaddexp.accumulate(x, axis=axis),
    "cumulative_max": lambda x, axis: np.maximum.accumulate(x, axis=axis),
    "cumulative_min": lambda x, axis: np.minimum.accumulate(x, axis=axis),
}


def along(name: str, x: np.ndarray, **axis: int) -> np.ndarray:
    """The reference of a reduction or scan, computed in a wider dtype where there is one."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(first((ALONG.get(name) or oracle(name))(reference.widen(x), **axis)))
