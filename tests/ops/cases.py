"""One row an op beyond what the op table says: where its inputs live, and how its oracle is called."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from oracles import resolve
from reference import numpy_dtype

import stator

TABLE = {row["name"]: row for row in stator.op_table()}


def tolerance(name: str) -> tuple[int, int]:
    """The row's bound in units in the last place, for float32 and float64."""
    bound = TABLE[name]["tolerance"]
    return bound["float32"], bound["float64"]


def function(name: str):
    """The Python function of a table row."""
    target = stator
    for part in TABLE[name]["call"].split("."):
        target = getattr(target, part)
    return target


@dataclass(frozen=True)
class Case:
    """Inputs in [low, high) keep the reference well conditioned; `special` says whether NaN, inf, ... are tried too."""

    low: float = -4
    high: float = 4
    special: bool = True
    kwargs: dict = field(default_factory=dict)


CASES = {
    "log": Case(low=0.01, high=50),
    "exp": Case(low=-20, high=20),
    "divide": Case(low=0.5, high=8),
    "sum": Case(low=0.5, high=2),
    "mean": Case(low=0.5, high=2),
}


def case(name: str) -> Case:
    return CASES.get(name, Case())


# Complex results, in units of the larger component's last place, where the row's bound is for real ones: a part of a
# product is a difference of two rounded products, a quotient by Smith's method rounds six times, tanh is a quotient.
COMPLEX_TOLERANCE = {"multiply": (3, 3), "divide": (8, 8), "tanh": (8, 16), "mean": (8, 8)}


def bound(name: str, dtype: str) -> tuple[int, int]:
    """The tolerance of a row for a result dtype."""
    return COMPLEX_TOLERANCE.get(name, tolerance(name)) if dtype.startswith("complex") else tolerance(name)


def names(shape_class: str) -> list[str]:
    return [n for n, row in TABLE.items() if row["shape_class"] == shape_class]


def result_dtype(name: str, *dtypes: str) -> str:
    """The dtype that the row's result rule gives for array operands."""
    common = stator.result_type(*dtypes).name if len(dtypes) > 1 else dtypes[0]
    rule = TABLE[name]["result"]
    if rule == "boolean":
        return "bool"
    if rule == "index":
        return "int64"
    if rule == "inexact":
        return "float64" if common.startswith(("bool", "int", "uint")) else common
    if rule == "accumulate":
        if common == "bool" or common.startswith("int"):
            return "int64"
        return "uint64" if common.startswith("uint") else common
    return common


def expected(name: str, *arrays: np.ndarray, **kwargs) -> np.ndarray:
    """The oracle on widened floats; on integers in the op's own integer arithmetic (which wraps)."""
    from reference import widen

    dtypes = [a.dtype.name for a in arrays]
    common = stator.result_type(*dtypes).name if len(dtypes) > 1 else dtypes[0]
    target = numpy_dtype(common)
    if TABLE[name]["result"] == "inexact" and common.startswith(("bool", "int", "uint")):
        target = np.dtype("float64")
    # An exact row rounds once: its reference is computed in the dtype itself, halves in float32.
    own = np.float32 if target.name in ("float16", "bfloat16") else target
    wide = [a.astype(target).astype(own) if tolerance(name) == (0, 0) else widen(a.astype(target)) for a in arrays]
    with np.errstate(all="ignore"):
        return resolve(TABLE[name]["oracle"])(*wide, **kwargs)
