"""The case table: op x size x layout x dtype. A plan is plain data; building it draws inputs and finds the calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import stator

from .domains import core
from .inputs import LAYOUTS, SHAPES, SIZES, Pool, upload
from .numpy_peer import numpy_call, widened
from .table import PRODUCTS, TABLE, first, in_family, kind, ours, scalar_special
from .torch_peer import cupy_call, to_torch, torch_call

# Ops that --quick also times at 2^24 elements: one for each kind of kernel.
LARGE = {"add", "less", "where", "exp", "log", "tanh", "sqrt", "relu", "copy", "astype"}
LARGE |= {"sum", "max", "argmax", "var", "cumulative_sum", "softmax"}
# Steps of optimisers, which change their operands.
IN_PLACE = ("sgd_step", "rmsprop_step", "adagrad_step", "adam_step", "lamb_step", "lion_step")
# Families whose operands are no matrices.
ALONE = ("convolution", "pooling", "quantization", "recurrent", "resampling")
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Plan:
    """A case before it is built.

    variant: which operands or which axis, where an op has several cases; "rows" are of eight elements.
    family: that of the op table.
    """

    op: str
    family: str
    variant: str
    dtype: str
    size: int
    layout: str

    @property
    def name(self) -> str:
        return f"{self.op}{'_' * bool(self.variant)}{self.variant}-{self.dtype}-{self.size}-{self.layout}"

    @property
    def axis(self) -> int | None:
        return int(self.variant[-1]) if "axis" in self.variant else None


@dataclass
class Leg:
    """One library's function, and the sets of arguments that its calls rotate through."""

    call: Callable[..., Any]
    sets: list[tuple[Any, ...]]


@dataclass
class Case:
    """A case that is ready to be validated and timed.

    arrays: the first set of arguments on the host, which the gate checks. bytes: those of operands and result, each
    counted once.
    """

    plan: Plan
    arrays: Arrays
    ours: Leg
    peers: dict[str, Leg]
    bytes: int
    result: Any
    notes: list[str] = field(default_factory=list)
    reference: Callable[..., Any] | None = None


def kernels() -> list[str]:
    """The ops that launch kernels or library calls, all of which are timed."""
    return [n for n, r in TABLE.items() if any(r["launches"].values()) and r["shape_class"] not in ("view", "method")]


def variants(name: str) -> tuple[str, ...]:
    if kind(name) == "scan":
        return ("axis0", "axis1")
    if kind(name) == "reduce":
        return ("", "axis0", "axis1", "rows_axis1")
    if name == "choice":
        return ("", "weighted", "distinct")
    return ("", "scalar", "row") if name == "add" else ("",)


def _preferred(name: str) -> tuple[str, str | None]:
    """The two dtypes of --quick: float32 and float64, or the widest that there are; bool for ops on masks."""
    order = ["float32", "float64", "int32", "int64", "bool", *TABLE[name]["dtypes"]]
    if name in ("any", "all", "count_nonzero"):
        order.insert(0, "bool")
    found = list(dict.fromkeys(d for d in order if d in TABLE[name]["dtypes"]))
    return found[0], (found[1] if len(found) > 1 else None)


def _quick(name: str, variant: str) -> Iterator[Plan]:
    one, two = _preferred(name)
    plan = partial(Plan, name, TABLE[name]["family"], variant)
    yield plan(one, 1_000, "contiguous")
    yield plan(one, 1_000_000, "contiguous")
    if variant == variants(name)[0]:
        if not scalar_special(name) and layouts(name) == LAYOUTS:
            yield plan(one, 1_000_000, "transposed")
        if two:
            yield plan(two, 1_000, "contiguous")
        if name in LARGE:
            yield plan(one, 1 << 24, "contiguous")


def layouts(name: str) -> tuple[str, ...]:
    """The layouts of an op: only one for ops without a matrix operand, and for optimisers, which take dense arrays."""
    alone = TABLE[name]["shape_class"] == "creation" or name in (
        "uniform",
        "normal",
        "integers",
        "bernoulli",
        "exponential",
        "gamma",
        "poisson",
        "multinomial",
        *IN_PLACE,
        "one_hot",
        "sum_backward",
        "mean_backward",
        "mode",
        "unique_all",
        "unique_counts",
        "unique_inverse",
        "unique_values",
        "unique_consecutive",
        "bincount",
        "group_norm",
        "group_norm_backward",
        "instance_norm",
        "instance_norm_backward",
        "batch_norm",
        "batch_norm_backward",
        "update_running_stats",
        "local_response_norm",
        "local_response_norm_backward",
        *(name for name, row in TABLE.items() if row["family"] in ALONE),
    )
    return LAYOUTS[:1] if alone else LAYOUTS


def plans(quick: bool) -> list[Plan]:
    """All cases in the order of the table: every op that launches something, in both modes."""
    made: list[Plan] = []
    for name in kernels():
        for variant in variants(name):
            if quick:
                made += _quick(name, variant)
            else:
                every = ((d, s, y) for d in TABLE[name]["dtypes"] for s in SIZES for y in layouts(name))
                made += [Plan(name, TABLE[name]["family"], variant, *case) for case in every]
    return made


def _inputs(plan: Plan, pool: Pool, turn: int) -> Arrays:
    shape = (plan.size // 8, 8) if plan.variant.startswith("rows") else SHAPES[plan.size]
    shape = shape[:: -1 if plan.layout == "transposed" else 1]
    ranges = core(plan.op)
    made = []
    for k, within in enumerate(ranges):
        dtype = "bool" if k == 0 and TABLE[plan.op]["shape_class"] == "select" else plan.dtype
        made.append(pool.array(shape, dtype, within, turn * len(ranges) + k, plan.layout))
    if plan.op in PRODUCTS and plan.dtype.startswith("complex"):
        made[0] = (made[0] / np.abs(made[0])).astype(plan.dtype)  # products neither overflow nor vanish
    if plan.variant == "row":
        made[1] = made[1][0].copy()
    return tuple(made[:1] if plan.variant == "scalar" else made)


def _with_plan(plan: Plan, call: Callable[..., Any]) -> Callable[..., Any]:
    if plan.variant == "scalar":
        return lambda x: call(x, 3)
    if plan.axis is not None:
        return lambda x: call(x, axis=plan.axis)
    return call


def size_of(result: Any) -> int:
    return sum(size_of(r) for r in result) if isinstance(result, (tuple, list)) else int(result.nbytes)


def numpy_leg(call: Callable[..., Any], sets: list[Arrays], dtype: str) -> Leg:
    """NumPy's leg, computed in float32 where NumPy has no loop for the dtype."""
    if dtype == "bfloat16":
        try:
            with np.errstate(all="ignore"):
                call(*sets[0])
        except (TypeError, ValueError):
            call = widened(call, sets[0][0].dtype)
    return Leg(call, sets)


def peer_legs(
    be: stator.Backend, plan: Plan, sets: list[Arrays], libraries: dict[str, Any]
) -> tuple[dict[str, Leg], list[str]]:
    """The legs of the libraries, and the reason for each that is missing."""
    legs: dict[str, Leg] = {}
    notes: list[str] = []
    for name, library in libraries.items():
        try:
            if name == "numpy":
                legs[name] = numpy_leg(_with_plan(plan, numpy_call(plan.op)), sets, plan.dtype)
                continue
            device = "cuda" if be.device.type == "cuda" else "cpu"
            if name == "torch":
                call = torch_call(library, plan.op, plan.axis)
                call = _with_plan(plan, call) if call and plan.axis is None else call
                there = [tuple(to_torch(library, x, device) for x in s) for s in sets]
            else:
                call = cupy_call(plan.op)
                call = _with_plan(plan, call) if call else None
                there = [tuple(map(library.asarray, s)) for s in sets]
            if call is None:
                notes.append(f"{name} has no {plan.op}")
                continue
            call(*there[0])
            legs[name] = Leg(call, there)
        except Exception as error:  # the case runs without a peer that fails
            notes.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
    return legs, notes


def build(be: stator.Backend, plan: Plan, libraries: dict[str, Any], pool: Pool) -> Case:
    """The case with its inputs on host and device; stator's function has run once, for the size of its result."""
    if not in_family(plan.op):
        from .build_other import build_other

        return build_other(be, plan, libraries, pool)
    arrays = _inputs(plan, pool, 0)
    footprint = sum(x.nbytes for x in arrays)
    sets = [arrays, *(_inputs(plan, pool, turn) for turn in range(1, pool.sets(footprint)))]
    call = _with_plan(plan, ours(plan.op))
    there = [tuple(upload(be, x) for x in s) for s in sets]
    result = call(*there[0])
    peers, notes = peer_legs(be, plan, sets, libraries)
    return Case(plan, arrays, Leg(call, there), peers, footprint + size_of(result), first(result), notes)
