"""The case table: op x size x layout x dtype. A plan is plain data, of which build.py makes a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import stator
from stator._catalogue import entries
from stator._catalogue.optim import STEPS

from .inputs import LAYOUTS, SIZES, Arrays, Draw
from .table import TABLE, kind, scalar_special
from .timing import Leg

# Ops that --quick also times at 2^24 elements: one for each kind of kernel.
LARGE = {"add", "less", "where", "exp", "log", "tanh", "sqrt", "relu", "copy", "astype"}
LARGE |= {"sum", "max", "argmax", "var", "cumulative_sum", "softmax"}
# Steps of optimisers, which change their operands.
IN_PLACE = tuple(STEPS)
# Families whose operands are not matrices.
ALONE = ("convolution", "pooling", "quantization", "recurrent", "resampling")
# Further ops whose operands are none, or not transposed.
CONTIGUOUS = (
    *(f"{form}_norm{end}" for form in ("group", "instance", "batch", "local_response") for end in ("", "_backward")),
    *(f"unique_{what}" for what in ("all", "counts", "inverse", "values", "consecutive")),
    *("attention", "ctc_loss", "ctc_loss_backward", "one_hot", "sum_backward", "mean_backward", "mode", "bincount"),
)
# Layers of networks, the usual one first: layers/convolutions.py and layers/norms.py have their shapes.
NETWORKS = {
    "conv2d": ("", "deep", "pointwise", "depthwise", "first"),
    "conv2d_backward": ("", "depthwise"),
    **dict.fromkeys(("batch_norm", "batch_norm_backward"), ("", "deep")),
}
Call = Callable[..., Any]


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


@dataclass(frozen=True)
class Other:
    """The inputs and calls of a case that does not follow from the op's shape class.

    inputs: the host arrays. ours: None for the op's function. numpy: None for the op's oracle; also the reference,
    unless the result is random. path(torch, *tensors) names the way that PyTorch takes, where it reports it. terms: as
    in Case.
    """

    inputs: Draw
    ours: Call | None = None
    numpy: Call | None = None
    torch: Call | None = None
    random: bool = False
    path: Callable[..., str] | None = None
    cupy: Call | None = None
    terms: int = 1


Others = dict[str, Other | Callable[[stator.Backend, Plan], Other]]  # of an op: the same for all plans, or by plan


@dataclass
class Case:
    """A case that is ready to be validated and timed.

    arrays: the first set of arguments on the host, which the gate checks. bytes: those of operands and result, each
    counted once. paths: of peers that say it, the way that they chose. terms: those of the sums that results are, where
    they are more than the result's last axis has.
    """

    plan: Plan
    arrays: Arrays
    ours: Leg
    peers: dict[str, Leg]
    bytes: int
    result: Any
    notes: list[str] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)
    terms: int = 1
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
    if name in NETWORKS:
        return NETWORKS[name]
    return ("", "scalar", "row") if name == "add" else ("",)


def sizes(name: str, variant: str, dtype: str) -> tuple[int, ...]:
    """The sizes of a case: no layer of a network is small but the usual one, of smaller images.

    arange refuses integers that do not hold its last number.
    """
    if name == "arange" and dtype.startswith(("int", "uint")):
        return tuple(s for s in SIZES if s - 1 <= np.iinfo(dtype).max)
    return SIZES[1:] if variant and name in NETWORKS else SIZES


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
    if 1_000 in sizes(name, variant, one):
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
    """The layouts of an op: only one for ops without a matrix operand, and for those that the catalogue never turns."""
    row = TABLE[name]
    turned = "transposed" in entries()[name].layouts or row["family"] == "sparse"
    alone = row["shape_class"] == "creation" or row["family"] in ALONE or name in CONTIGUOUS
    return LAYOUTS if turned and not alone else LAYOUTS[:1]


def plans(quick: bool) -> list[Plan]:
    """All cases in the order of the table: every op that launches something, in both modes."""
    made: list[Plan] = []
    for name in kernels():
        for variant in variants(name):
            if quick:
                made += _quick(name, variant)
            else:
                dtypes, turned = TABLE[name]["dtypes"], layouts(name)
                every = ((d, s, y) for d in dtypes for s in sizes(name, variant, d) for y in turned)
                made += [Plan(name, TABLE[name]["family"], variant, *case) for case in every]
    return made


def size_of(result: Any) -> int:
    return sum(size_of(r) for r in result) if isinstance(result, (tuple, list)) else int(result.nbytes)
