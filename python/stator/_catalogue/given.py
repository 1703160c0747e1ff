"""The operands of one cell: values drawn from a seed, placed in a layout on a backend."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Domain, Values

# How the operands lie in memory. "offset" begins at an address that is aligned to one element only, "broadcast" has
# strides of 0. "special" has NaN, infinities, signed zeros, subnormal and extreme numbers; "large" has more elements
# than a grid has threads.
STRIDED = ("contiguous", "transposed", "strided", "reversed", "offset", "broadcast")
LAYOUTS = (*STRIDED, "empty", "zero_d", "special", "large")
WIDER = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "complex64": "complex128"}
FLOATING = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
_EXTREMES = {
    "float16": (65504.0, 2.0**-14, 2.0**-24),
    "bfloat16": ((2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133),
    "float32": ((2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-149),
    "float64": (np.finfo(np.float64).max, 2.0**-1022, 5e-324),
}
_MODERATE = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5)


@cache
def table() -> dict[str, dict[str, Any]]:
    """The entries of the op table by name."""
    return {row["name"]: row for row in stator.op_table()}


def function(name: str) -> Callable[..., Any]:
    """The Python function of an op, as it is found now; for a method or property, the function of its class."""
    target: Any = stator
    for part in table()[name]["call"].split("."):
        target = getattr(target, part)
    found: Callable[..., Any] = target if callable(target) else target.__get__
    return found


def host_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype of values of a stator dtype; those of bfloat16 are float32, since NumPy has no such dtype."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def rounded(x: Values, dtype: str) -> Values:
    """x as values of a stator dtype, rounded to the nearest, ties to even."""
    with np.errstate(over="ignore"):
        narrow = np.asarray(x).astype(host_dtype(dtype))
    if dtype != "bfloat16":
        return narrow
    bits = narrow.view(np.uint32)
    up = ((bits >> 16) & 1) + np.uint32(0x7FFF)
    return np.where(np.isnan(narrow), narrow, ((bits + up) & np.uint32(0xFFFF0000)).view(np.float32))


def upload(be: stator.Backend, x: Values, dtype: str) -> stator.Array:
    """Values of a stator dtype, as rounded gives them, as a contiguous array. Does not wait for the device."""
    if dtype == "bfloat16":
        return be.asarray((x.view(np.uint32) >> 16).astype(np.uint16)).view("bfloat16")
    return be.asarray(np.ascontiguousarray(x).reshape(x.shape))


def download(x: stator.Array) -> Values:
    """The values of an array; those of bfloat16 as float32. Waits for the device."""
    if x.dtype.name == "bfloat16":
        return (x.view("uint16").to_numpy().astype(np.uint32) << 16).view(np.float32)
    return x.to_numpy()


def _padding(dtype: str) -> Any:
    """A value for the memory between the elements, which shows in a result if it is read."""
    if dtype == "bool":
        return True
    return np.nan if dtype in FLOATING else np.iinfo(dtype).max


def place(be: stator.Backend, x: Values, dtype: str, layout: str) -> stator.Array:
    """x on the backend in a layout, as a view of a contiguous upload."""
    if layout == "offset":
        return stator.reshape(upload(be, np.insert(x.ravel(), 0, _padding(dtype)), dtype)[1:], x.shape)
    if x.ndim == 0 or x.size == 0 or layout not in STRIDED:
        return upload(be, x, dtype)
    if layout == "transposed":
        if x.ndim == 1:  # a column of a matrix
            return upload(be, np.stack([x, np.full_like(x, _padding(dtype))], axis=1), dtype)[:, 0]
        turned = tuple(range(x.ndim))[::-1]
        return stator.permute_dims(upload(be, np.ascontiguousarray(x.T), dtype), turned)
    if layout == "strided":
        wide = np.full([2 * n + 1 for n in x.shape], _padding(dtype), x.dtype)
        odd = tuple(slice(1, 2 * n + 1, 2) for n in x.shape)
        wide[odd] = x
        return upload(be, wide, dtype)[odd]
    if layout == "reversed":
        return stator.flip(upload(be, np.ascontiguousarray(np.flip(x)), dtype))
    return upload(be, x, dtype)


@dataclass(frozen=True)
class Cell:
    """One op in one dtype and one layout."""

    op: str
    dtype: str
    layout: str


class Given:
    """Makes the operands of a cell, the same ones on each backend.

    wide: the values of the cell's dtype in the next wider one, for a reference. The operands are contiguous unless
    `laid` is true. `threads` is the number of threads of a full grid.
    """

    def __init__(
        self, be: stator.Backend, cell: Cell, seed: int, threads: int, *, wide: bool = False, laid: bool = False
    ) -> None:
        self.be, self.cell, self.wide, self.laid = be, cell, wide, laid
        self.layout = cell.layout
        drawn = self.layout if self.layout not in STRIDED or self.layout == "broadcast" else "plain"
        self.rng = np.random.default_rng([seed, zlib.crc32(f"{cell.op} {cell.dtype} {drawn}".encode())])
        self.drawn_dtype = cell.dtype
        self.dtype = WIDER.get(cell.dtype, cell.dtype) if wide else cell.dtype
        be.random.seed(seed)
        self.large = self.layout == "large"
        self.empty = self.layout == "empty"
        columns = 1050 if self.large else 65
        # A thread loads up to 16 bytes at once, of small elements a few; the last round of the grid is not full.
        elements = threads * min(max(16 // stator.dtype(cell.dtype).itemsize, 1), 4) * 5 // 4
        self.rows, self.columns = (0 if self.empty else elements // columns + 1 if self.large else 33), columns
        self.shape: tuple[int, ...] = () if self.layout == "zero_d" else (self.rows, self.columns)
        self.axes = () if self.layout == "zero_d" else (0, 1)

    @property
    def floating(self) -> bool:
        return self.cell.dtype in FLOATING

    @property
    def complex(self) -> bool:
        return self.cell.dtype.startswith("complex")

    @property
    def whole(self) -> bool:
        return self.cell.dtype.startswith(("int", "uint"))

    def number(self, value: float) -> float:
        """A number of the cell's kind, so that it does not promote the operands."""
        return bool(value) if self.cell.dtype == "bool" else int(value) if self.whole else value

    @property
    def one(self) -> bool | int:
        """1 as a number of the cell's kind."""
        return self.cell.dtype == "bool" or 1

    def draw(self, shape: Sequence[int], domain: Domain = (-4, 4), dtype: str | None = None) -> Values:
        """Values of the cell's dtype, or another one. Integers go beyond the default domain, to their extremes."""
        kind = dtype or self.cell.dtype
        shape = tuple(shape)
        if callable(domain):
            return domain(self.draw(shape, (-4, 4), kind))
        if kind == "bool":
            return self.rng.random(shape) < 0.5
        if kind.startswith(("int", "uint")):
            return self._integers(shape, domain, kind)
        if isinstance(domain, range):
            return rounded(self.rng.integers(domain.start, domain.stop, shape), kind)
        low, high = domain if isinstance(domain, tuple) else (domain, domain)
        values = self.rng.uniform(low, high, shape)
        if kind.startswith("complex"):
            values = values + 1j * self.rng.uniform(low, high, shape)
        return rounded(np.asarray(values), kind)

    def _integers(self, shape: tuple[int, ...], domain: Domain, kind: str) -> Values:
        info = np.iinfo(kind)
        if isinstance(domain, range):
            low, high = domain.start, domain.stop
        else:
            assert isinstance(domain, tuple)
            low, high = math.floor(domain[0]), math.ceil(domain[1]) + 1
        if domain != (-4, 4) or isinstance(domain, range):
            low = max(info.min, low)
            return self.rng.integers(low, max(min(info.max, high), low + 1), shape).astype(kind)
        small = self.rng.integers(max(info.min, -16), 16, shape).astype(kind)
        extreme = self.rng.integers(info.min, info.max, shape, dtype=np.dtype(kind), endpoint=True)
        return np.where(self.rng.random(shape) < 0.8, small, extreme)

    def on(self, x: Values, dtype: str | None = None) -> stator.Array:
        """Values on the backend, in the cell's layout; of the cell's dtype, or the one that a reference takes."""
        x = np.asarray(x)
        kind = dtype or self.dtype
        if dtype is None and self.wide:
            x = x.astype(host_dtype(kind))
        return place(self.be, x, kind, self.layout if self.laid else "contiguous")

    def dense(self, x: Values, dtype: str | None = None) -> stator.Array:
        """As on, but contiguous: for what an op writes to, and for operands that may have one layout only."""
        laid, self.laid = self.laid, False
        try:
            return self.on(x, dtype)
        finally:
            self.laid = laid

    def array(self, domain: Domain = (-4, 4), shape: Sequence[int] | None = None, special: bool = True) -> stator.Array:
        """An operand of the cell's main shape, or another one; in the layout "broadcast" its first axis has stride 0.

        special: whether in the layout "special" it has huge and subnormal numbers.
        """
        extents = self.shape if shape is None else tuple(shape)
        if self.layout == "broadcast" and len(extents) > 1 and extents[0] > 0:
            return self.repeated(self.draw((1, *extents[1:]), domain), extents)
        x = self.draw(extents, domain)
        return self.on(self.specials(x, special) if self.layout == "special" else x)

    def repeated(self, x: Values, shape: Sequence[int]) -> stator.Array:
        """x broadcast to a shape: by strides of 0, or for a reference as a dense array."""
        if self.laid:
            return stator.broadcast_to(self.on(x), tuple(shape))
        return self.on(np.ascontiguousarray(np.broadcast_to(x, tuple(shape))))

    def specials(self, x: Values, extremes: bool) -> Values:
        """x with special values in place of every third element, in different orders for different operands."""
        values = list(_MODERATE)
        if extremes:
            values += [sign * v for v in _EXTREMES[self.cell.dtype] for sign in (1, -1)]
        out = x.ravel().copy()
        out[::3] = rounded(self.rng.choice(values, out[::3].shape), self.cell.dtype)
        return out.reshape(x.shape)

    def vector(self, domain: Domain = (-4, 4)) -> stator.Array:
        """An operand with one axis, of `columns` elements, or none."""
        return self.array(domain, (0 if self.empty else self.columns,))

    def index(self, below: int, shape: Sequence[int], dtype: str = "int64") -> stator.Array:
        """Indices below a length, some of them counted from the end."""
        return self.on(self.rng.integers(-below, below, tuple(shape)).astype(dtype), dtype)

    def positions(self, below: int, count: int) -> stator.Array:
        """Different indices in any order."""
        return self.on(self.rng.permutation(below)[:count], "int64")

    def mask(self, shape: Sequence[int] | None = None) -> stator.Array:
        return self.on(self.rng.random(self.shape if shape is None else tuple(shape)) < 0.5, "bool")

    def vector_of(self, count: int, domain: Domain = (-4, 4)) -> stator.Array:
        """An operand with one axis, of `count` elements."""
        return self.array(domain, (count,))

    def made(self, op: str, *operands: Any, **options: Any) -> Any:
        """What another op makes of operands. Where it does not take the dtype, of float32 ones: the entry's op must
        refuse the dtype itself."""

        def known(x: Any) -> Any:
            if isinstance(x, (list, tuple)):
                return type(x)(known(one) for one in x)
            if not isinstance(x, stator.Array) or x.dtype.name != self.dtype:
                return x
            return stator.astype(stator.abs(x) if self.complex else x, "float32")

        taken = self.cell.dtype in table()[op]["dtypes"]
        return function(op)(*(operands if taken else known(operands)), **options)
