"""Random inputs, drawn once: every array is a window of them, mapped into the range of its operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

import stator

from .domains import Interval
from .table import numpy_dtype

if TYPE_CHECKING:
    from .cases import Plan

Arrays = tuple[np.ndarray, ...]
Shape = tuple[int, ...]
Draw = Callable[["Plan", "Pool", int], Arrays]  # the operands of a case, other ones in each turn
CORE, ONE, UNIT, POSITIVE = Interval(-4, 4), Interval(-1, 1), Interval(0, 1), Interval(0.5, 2)
SIZES = (1_000, 1_000_000, 1 << 24)
SHAPES = {1_000: (25, 40), 1_000_000: (1_000, 1_000), 1 << 24: (4096, 4096)}
SIDES = {1_000: 32, 1_000_000: 1_000, 1 << 24: 4096}  # of square matrices
LAYOUTS = ("contiguous", "transposed")


class Pool:
    """Random numbers, and the number of rotating sets that keeps inputs of the next call out of the caches."""

    def __init__(self, cold: int, most: int) -> None:
        self.cold, self.most = cold, most
        self.drawn = {normal: np.empty(0, np.float32) for normal in (False, True)}

    def sets(self, footprint: int) -> int:
        """The number of sets that together exceed the caches; one where a single set does."""
        return int(min(max(-(-self.cold // max(footprint, 1)), 1), self.most))

    def _draw(self, size: int, window: int, normal: bool = False) -> np.ndarray:
        """Numbers in [0, 1) as float32, or in [-1, 1] with a deviation of a third; of another window others."""
        start = window * 7919
        if self.drawn[normal].size < start + size:
            rng, count = np.random.default_rng(2026), max(start + size, 1 << 20) * 5 // 4
            found = rng.standard_normal(count, np.float32) / 3 if normal else rng.random(count, np.float32)
            self.drawn[normal] = np.clip(found, -1, 1, out=found)
        return self.drawn[normal][start : start + size]

    def array(self, shape: tuple[int, ...], dtype: str, within: Interval, window: int, layout: str = "") -> np.ndarray:
        """A new array of the dtype in [low, high]; for integers whole numbers from 1 to 100 within that range."""
        base = shape[::-1] if layout == "transposed" else shape
        u = self._draw(int(np.prod(base)), window, within.normal).reshape(base)
        if within.normal:
            u = (u + 1) / 2
        if dtype == "bool":
            x = u < 0.5
        elif dtype.startswith(("int", "uint")) or within.whole:
            low, high = (within.low, within.high) if within.whole else (max(within.low, 1), min(within.high, 100))
            x = np.floor(low + u * (max(high - low, 0) + 1)).astype(numpy_dtype(dtype))
        else:
            kind = np.float64 if dtype in ("float64", "complex128") else np.float32
            x = u.astype(kind) * kind(within.high - within.low) + kind(within.low)
            if dtype.startswith("complex"):
                x = x + 1j * x.ravel()[::-1].reshape(x.shape)
            x = x.astype(numpy_dtype(dtype))
        return x.T if layout == "transposed" else x

    def indices(self, shape: Shape, end: int, turn: int, layout: str = "") -> np.ndarray:
        """Random indices below `end`."""
        return self.array(shape, "int64", Interval(0, end - 1, whole=True), turn + 50, layout).clip(0, end - 1)


def shaped(shapes: Callable[[Plan], Sequence[Shape]], *ranges: Interval, turned: bool = False) -> Draw:
    """Arrays of the shapes, each in its range or all in one; turned: in the layout of the plan."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        found = shapes(plan)
        within = ranges if len(ranges) > 1 else ranges * len(found)
        pairs = enumerate(zip(found, within, strict=True), len(found) * turn)
        return tuple(pool.array(s, plan.dtype, r, k, plan.layout if turned else "") for k, (s, r) in pairs)

    return draw


def shape_of(plan: Plan) -> Shape:
    return SHAPES[plan.size][:: -1 if plan.layout == "transposed" else 1]


def arrays(*ranges: Interval) -> Draw:
    """Matrices of the plan's size and layout."""
    return shaped(lambda plan: [shape_of(plan)] * len(ranges), *ranges, turned=True)


def squares(count: int, sides: dict[int, int] = SIDES) -> Draw:
    return shaped(lambda plan: [(sides[plan.size],) * 2] * count, ONE, turned=True)


def nothing(plan: Plan, pool: Pool, turn: int) -> Arrays:
    return ()


def with_rows(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """An array, and as many random row indices as it has rows."""
    (x,) = arrays(CORE)(plan, pool, turn)
    return x, pool.indices(x.shape[:1], len(x), turn)


def with_columns(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """An array, and for each row a random column index: logits and targets."""
    (x,) = arrays(CORE)(plan, pool, turn)
    return x, pool.indices(x.shape[:1], x.shape[1], turn)


def with_positions(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """An array, values of its shape, and for each a random index along the last axis."""
    x, y = arrays(POSITIVE, POSITIVE)(plan, pool, turn)
    return x, y, pool.indices(x.shape, x.shape[1], turn, plan.layout)


def with_mask(plan: Plan, pool: Pool, turn: int) -> Arrays:
    x, y = arrays(CORE, CORE)(plan, pool, turn)
    return x, y > 0


def upload(be: stator.Backend, x: np.ndarray) -> stator.Array:
    """The array on the device, in the same memory order."""
    return be.asarray(x.T).T if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous else be.asarray(x)
