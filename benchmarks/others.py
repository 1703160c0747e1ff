"""The cases of the ops that are bound by hand: inputs, stator's call and those of the peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import stator

from .cases import Plan
from .domains import Interval
from .fft_cases import NAMES as FOURIER
from .fft_cases import case as fourier
from .inputs import SHAPES, Pool
from .layers.blocks import CASES as BLOCKS
from .layers.norms import CASES as NORMS
from .layers.pooling import CASES as POOLS
from .layers.quantization import CASES as QUANTIZED
from .layers.recurrent import CASES as RECURRENT
from .linalg_cases import CASES
from .table import numpy_dtype

CORE = Interval(-4, 4)
MATRIX = {1_000: 32, 1_000_000: 1_000, 1 << 24: 4096}


@dataclass(frozen=True)
class Other:
    """The inputs and calls of a case.

    inputs(plan, pool, turn) gives the host arrays. numpy is also the reference unless the result is random.
    path(torch, *tensors) names the way that PyTorch takes, where it says so. terms: as in Case.
    """

    inputs: Callable[[Plan, Pool, int], tuple[np.ndarray, ...]]
    ours: Callable[..., Any]
    numpy: Callable[..., Any]
    torch: Callable[..., Any] | None = None
    random: bool = False
    path: Callable[..., str] | None = None
    cupy: Callable[..., Any] | None = None
    terms: int = 1


def arrays(*ranges: Interval) -> Callable[[Plan, Pool, int], tuple[np.ndarray, ...]]:
    def draw(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
        shape = SHAPES[plan.size][:: -1 if plan.layout == "transposed" else 1]
        windows = range(turn * len(ranges), (turn + 1) * len(ranges))
        return tuple(pool.array(shape, plan.dtype, r, w, plan.layout) for r, w in zip(ranges, windows, strict=True))

    return draw


def _matrices(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    n = MATRIX[plan.size]
    return tuple(pool.array((n, n), plan.dtype, Interval(-1, 1), 2 * turn + k, plan.layout) for k in (0, 1))


def with_rows(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """An array, and as many random row indices as it has rows."""
    (x,) = arrays(CORE)(plan, pool, turn)
    return x, pool.array((len(x),), "int64", Interval(0, len(x) - 1, whole=True), turn + 50).clip(0, len(x) - 1)


def with_mask(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    x, y = arrays(CORE, CORE)(plan, pool, turn)
    return x, y > 0


def with_positions(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """An array, values of its shape, and for each a random index along the last axis."""
    x, y = arrays(Interval(0.5, 2), Interval(0.5, 2))(plan, pool, turn)
    last = x.shape[1] - 1
    places = pool.array(x.shape, "int64", Interval(0, last, whole=True), turn + 50, plan.layout).clip(0, last)
    return x, y, places


def _points(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """Points with 32 features, of which there are as many pairs as the size."""
    n = MATRIX[plan.size]
    return tuple(pool.array((n, 32), plan.dtype, CORE, 2 * turn + k) for k in (0, 1))


def _at(f: Any, x: Any, places: Any, values: Any) -> Any:
    out = x.copy()
    f.at(out, (np.arange(len(x))[:, None], places), values)
    return out


def segments(f: Any, start: float, x: Any, index: Any) -> Any:
    out = np.full_like(x, start)
    f.at(out, index, x)
    return out


def _ours_put(x: Any, index: Any) -> Any:
    x[index] = 1
    return x


def _logits(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    (x,) = arrays(CORE)(plan, pool, turn)
    last = x.shape[1] - 1
    return x, pool.array((len(x),), "int64", Interval(0, last, whole=True), turn + 50).clip(0, last)


def _column(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """The gradient of a result that was reduced along the last axis."""
    return (pool.array(SHAPES[plan.size][:1], plan.dtype, CORE, turn),)


def _column_and_factors(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    (x,) = arrays(Interval(0.999, 1.001))(plan, pool, turn)
    return pool.array(x.shape[:1], plan.dtype, CORE, turn), x


def nothing(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    return ()


def _softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _gumbel_softmax(x: Any) -> Any:
    return _softmax(x + np.random.default_rng().gumbel(size=x.shape).astype(x.dtype))


def _log_softmax(x: Any) -> Any:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


def _cross_entropy(x: Any, target: Any) -> Any:
    return -np.mean(_log_softmax(x)[np.arange(len(x)), target])


def _cross_entropy_backward(x: Any, target: Any) -> Any:
    d = _softmax(x)
    d[np.arange(len(x)), target] -= 1
    d /= len(x)
    return d


def _arange(p: Plan) -> Any:
    """numpy.arange, in a wider dtype where this one does not hold the size."""
    kind = numpy_dtype(p.dtype)
    return np.arange(p.size).astype(kind) if kind.itemsize < 4 else np.arange(p.size, dtype=kind)


def _drawn(dtype: str) -> Any:
    """The dtype that NumPy's generator draws for a dtype of stator."""
    return np.float64 if dtype == "float64" else np.float32


def _target(dtype: str) -> str:
    return "float64" if dtype != "float64" else "float32"


LEVELS = (0.1, 0.5, 0.9)


def _flat(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """A vector of few distinct values."""
    within = Interval(0, 1 if plan.dtype == "bool" else 100, whole=True)
    return (pool.array((plan.size,), plan.dtype, within, turn),)


def _boundaries(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    (x,) = arrays(CORE)(plan, pool, turn)
    return np.sort(x[0]), x


def _some(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    (x,) = arrays(CORE)(plan, pool, turn)
    return x, x[0].copy()


def _top(x: Any, k: int) -> Any:
    return np.sort(np.partition(x, x.shape[-1] - k)[..., x.shape[-1] - k :])[..., ::-1]


def _histc(x: Any) -> Any:
    wide = x[(x >= -3) & (x <= 3)].astype(np.float64)
    counts = np.bincount(np.minimum((wide + 3) / 6 * 50, 49).astype(np.int64), minlength=50)
    return counts.astype(x.dtype)


def _runs(x: np.ndarray) -> np.ndarray:
    """The values of stator.unique_consecutive; the inverse and the lengths are computed and dropped."""
    heads = np.r_[True, x[1:] != x[:-1]]
    np.cumsum(heads)
    np.diff(np.r_[np.flatnonzero(heads), x.size])
    return x[heads]


def _mode(x: Any) -> Any:
    values, counts = np.unique(x, return_counts=True)
    return values[counts.argmax()]


OTHERS: dict[str, Callable[[stator.Backend, Plan], Other]] = {
    "zeros": lambda be, p: Other(
        nothing,
        lambda: be.zeros(SHAPES[p.size], dtype=p.dtype),
        lambda: np.full(SHAPES[p.size], 0, numpy_dtype(p.dtype)),  # np.zeros would write at the first read
    ),
    "full": lambda be, p: Other(
        nothing,
        lambda: be.full(SHAPES[p.size], 3, dtype=p.dtype),
        lambda: np.full(SHAPES[p.size], 3, numpy_dtype(p.dtype)),
    ),
    "arange": lambda be, p: Other(nothing, lambda: be.arange(p.size, dtype=p.dtype), partial(_arange, p)),
    "copy": lambda be, p: Other(
        arrays(CORE), stator.copy, lambda x: np.array(x, order="C"), lambda x: x.contiguous().clone()
    ),
    "astype": lambda be, p: Other(
        arrays(CORE),
        lambda x: stator.astype(x, _target(p.dtype)),
        lambda x: x.astype(_target(p.dtype)),
    ),
    "frexp": lambda be, p: Other(arrays(CORE), stator.frexp, lambda x: np.frexp(x)[0], lambda x: x.frexp()),
    "take": lambda be, p: Other(
        with_rows,
        lambda x, i: stator.take(x, i, axis=0),
        lambda x, i: np.take(x, i, axis=0),
        lambda x, i: x.index_select(0, i),
    ),
    "softmax": lambda be, p: Other(arrays(CORE), stator.nn.softmax, _softmax, lambda x: x.softmax(-1)),
    "softmin": lambda be, p: Other(arrays(CORE), stator.nn.softmin, lambda x: _softmax(-x), lambda x: (-x).softmax(-1)),
    "softmin_backward": lambda be, p: Other(
        arrays(CORE, Interval(0, 1)),
        stator.nn.softmin_backward,
        lambda g, y: y * (np.sum(g * y, axis=-1, keepdims=True) - g),
    ),
    "gumbel_softmax": lambda be, p: Other(
        arrays(CORE), lambda x: stator.nn.gumbel_softmax(x, rng=7)[0], _gumbel_softmax, random=True
    ),
    "gumbel_softmax_backward": lambda be, p: Other(
        arrays(CORE, Interval(0, 1)),
        stator.nn.gumbel_softmax_backward,
        lambda g, y: y * (g - np.sum(g * y, axis=-1, keepdims=True)),
    ),
    "log_softmax": lambda be, p: Other(arrays(CORE), stator.nn.log_softmax, _log_softmax, lambda x: x.log_softmax(-1)),
    "softmax_backward": lambda be, p: Other(
        arrays(CORE, Interval(0, 1)),
        stator.nn.softmax_backward,
        lambda g, y: y * (g - np.sum(g * y, axis=-1, keepdims=True)),
    ),
    "log_softmax_backward": lambda be, p: Other(
        arrays(CORE, Interval(-4, 0)),
        stator.nn.log_softmax_backward,
        lambda g, y: g - np.exp(y) * np.sum(g, axis=-1, keepdims=True),
    ),
    "cross_entropy": lambda be, p: Other(_logits, stator.nn.cross_entropy, _cross_entropy),
    "cross_entropy_backward": lambda be, p: Other(
        _logits, partial(stator.nn.cross_entropy_backward, be.full((), 1, dtype=p.dtype)), _cross_entropy_backward
    ),
    "sum_backward": lambda be, p: Other(
        _column,
        lambda g: stator.nn.sum_backward(g, SHAPES[p.size], 1),
        lambda g: np.array(np.broadcast_to(g[:, None], SHAPES[p.size])),
        lambda g: g[:, None].expand(SHAPES[p.size]).contiguous(),
    ),
    "mean_backward": lambda be, p: Other(
        _column,
        lambda g: stator.nn.mean_backward(g, SHAPES[p.size], 1),
        lambda g: np.array(np.broadcast_to((g / SHAPES[p.size][1])[:, None], SHAPES[p.size])),
        lambda g: (g / SHAPES[p.size][1])[:, None].expand(SHAPES[p.size]).contiguous(),
    ),
    "prod_backward": lambda be, p: Other(
        _column_and_factors,
        lambda g, x: stator.nn.prod_backward(g, x, 1),
        lambda g, x: g[:, None] * np.prod(x, axis=1, keepdims=True) / x,  # correct where no factor is 0
    ),
    "index_get": lambda be, p: Other(with_rows, lambda x, i: x[i], lambda x, i: x[i], lambda x, i: x[i]),
    "index_put": lambda be, p: Other(with_rows, _ours_put, _ours_put),
    "take_along_axis": lambda be, p: Other(
        with_positions,
        lambda x, y, i: stator.take_along_axis(x, i, axis=1),
        lambda x, y, i: np.take_along_axis(x, i, 1),
        lambda x, y, i: x.gather(1, i),
    ),
    "scatter_add": lambda be, p: Other(
        with_positions,
        lambda x, y, i: stator.scatter_add(x, 1, i, y),
        lambda x, y, i: _at(np.add, x, i, y),
        lambda x, y, i: x.scatter_add(1, i, y),
    ),
    "segment_sum": lambda be, p: Other(
        with_rows,
        lambda x, i: stator.segment_sum(x, i, len(x)),
        lambda x, i: segments(np.add, 0, x, i),
    ),
    "masked_fill": lambda be, p: Other(
        with_mask,
        lambda x, m: stator.masked_fill(x, m, 1),
        lambda x, m: np.where(m, x.dtype.type(1), x),
        lambda x, m: x.masked_fill(m, 1),
    ),
    "masked_select": lambda be, p: Other(with_mask, stator.masked_select, lambda x, m: x[m], lambda x, m: x[m]),
    "nonzero": lambda be, p: Other(
        with_mask, lambda x, m: stator.nonzero(m)[0], lambda x, m: np.nonzero(m)[0], lambda x, m: m.nonzero()
    ),
    "cdist": lambda be, p: Other(
        _points,
        stator.cdist,
        lambda a, b: np.sqrt(np.sum(np.square(a[:, None] - b), axis=-1)),
        lambda a, b: a.cdist(b, compute_mode="donot_use_mm_for_euclid_dist"),
    ),
    "matmul": lambda be, p: Other(_matrices, stator.matmul, lambda a, b: a @ b, lambda a, b: a @ b),
    "sort": lambda be, p: Other(arrays(CORE), stator.sort, np.sort, lambda x: x.sort(-1).values),
    "argsort": lambda be, p: Other(
        arrays(CORE), stator.argsort, lambda x: np.argsort(x, kind="stable"), lambda x: x.argsort(-1, stable=True)
    ),
    "topk": lambda be, p: Other(
        arrays(CORE), lambda x: stator.topk(x, 10).values, lambda x: _top(x, 10), lambda x: x.topk(10, -1).values
    ),
    "partition": lambda be, p: Other(
        arrays(CORE), lambda x: stator.partition(x, 9)[..., 9], lambda x: np.partition(x, 9)[..., 9]
    ),
    "kthvalue": lambda be, p: Other(
        arrays(CORE),
        lambda x: stator.kthvalue(x, 10).values,
        lambda x: np.partition(x, 9)[..., 9],
        lambda x: x.kthvalue(10, -1).values,
    ),
    "median": lambda be, p: Other(
        arrays(CORE), lambda x: stator.median(x, axis=-1), lambda x: np.median(x.astype(np.float64), axis=-1)
    ),
    "quantile": lambda be, p: Other(
        arrays(CORE),
        lambda x: stator.quantile(x, LEVELS, axis=-1),
        lambda x: np.quantile(x.astype(np.float64), LEVELS, axis=-1),
    ),
    "mode": lambda be, p: Other(_flat, lambda x: stator.mode(x).values, _mode, lambda x: x.mode(-1).values),
    "searchsorted": lambda be, p: Other(_boundaries, stator.searchsorted, np.searchsorted),
    "isin": lambda be, p: Other(_some, stator.isin, np.isin),
    "unique_all": lambda be, p: Other(
        _flat,
        lambda x: stator.unique_all(x).values,
        lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True)[0],
    ),
    "unique_counts": lambda be, p: Other(
        _flat, lambda x: stator.unique_counts(x).counts, lambda x: np.unique(x, return_counts=True)[1]
    ),
    "unique_inverse": lambda be, p: Other(
        _flat, lambda x: stator.unique_inverse(x).inverse_indices, lambda x: np.unique(x, return_inverse=True)[1]
    ),
    "unique_values": lambda be, p: Other(_flat, stator.unique_values, np.unique, lambda x: x.unique()),
    "unique_consecutive": lambda be, p: Other(
        _flat,
        lambda x: stator.unique_consecutive(x).values,
        _runs,
        lambda x: x.unique_consecutive(return_inverse=True, return_counts=True)[0],
    ),
    "histc": lambda be, p: Other(
        arrays(CORE), lambda x: stator.histc(x, 50, min=-3, max=3), _histc, lambda x: x.histc(50, -3, 3)
    ),
    "histogram": lambda be, p: Other(
        arrays(CORE),
        lambda x: stator.histogram(x, 48, range=(-3, 3)).hist,
        lambda x: np.histogram(x, 48, range=(-3, 3))[0],
    ),
    "bincount": lambda be, p: Other(_flat, stator.bincount, np.bincount, lambda x: x.bincount()),
    "uniform": lambda be, p: Other(
        nothing,
        lambda: stator.random.uniform(size=SHAPES[p.size], dtype=p.dtype, device=be),
        partial(np.random.default_rng(0).random, SHAPES[p.size], _drawn(p.dtype)),
        random=True,
    ),
    "normal": lambda be, p: Other(
        nothing,
        lambda: stator.random.normal(size=SHAPES[p.size], dtype=p.dtype, device=be),
        partial(np.random.default_rng(0).standard_normal, SHAPES[p.size], _drawn(p.dtype)),
        random=True,
    ),
    **{
        name: partial(lambda case, be, p: Other(*case), case)
        for name, case in (CASES | NORMS | POOLS | BLOCKS | QUANTIZED | RECURRENT).items()
    },
    **{name: partial(lambda name, be, p: Other(*fourier(name, p)), name) for name in FOURIER},
}
