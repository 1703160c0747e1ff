"""The cases of ops that are bound by hand and have no file of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import stator

from .cases import Other, Others, Plan
from .domains import Interval
from .inputs import (
    CORE,
    SHAPES,
    SIDES,
    UNIT,
    Arrays,
    Pool,
    arrays,
    nothing,
    shaped,
    squares,
    with_columns,
    with_mask,
    with_positions,
    with_rows,
)
from .table import numpy_dtype, oracles

nn = stator.nn
COLUMN = shaped(lambda p: [SHAPES[p.size][:1]], CORE)  # the gradient of a result that was reduced along the last axis
# Points with 32 features, of which there are as many pairs as the size.
POINTS = shaped(lambda p: [(SIDES[p.size], 32)] * 2, CORE)


def _at(f: Any, x: Any, places: Any, values: Any) -> Any:
    out = x.copy()
    f.at(out, (np.arange(len(x))[:, None], places), values)
    return out


def segments(f: Any, start: float, x: Any, index: Any) -> Any:
    out = np.full_like(x, start)
    f.at(out, index, x)
    return out


def _put(x: Any, index: Any) -> Any:
    x[index] = 1
    return x


def _column_and_factors(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (x,) = arrays(Interval(0.999, 1.001))(plan, pool, turn)
    return pool.array(x.shape[:1], plan.dtype, CORE, turn), x


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


def _filled(value: int, be: stator.Backend, p: Plan) -> Other:
    """NumPy's zeros would write at the first read."""
    ours = be.zeros if value == 0 else partial(be.full, fill_value=value)
    numpy = partial(np.full, SHAPES[p.size], value, numpy_dtype(p.dtype))
    return Other(nothing, partial(ours, SHAPES[p.size], dtype=p.dtype), numpy)


def _drawn(name: str, law: str, be: stator.Backend, p: Plan) -> Other:
    """NumPy's generator draws float64 and float32 only."""
    ours = partial(getattr(stator.random, name), size=SHAPES[p.size], dtype=p.dtype, device=be)
    kind = np.float64 if p.dtype == "float64" else np.float32
    return Other(nothing, ours, partial(getattr(np.random.default_rng(0), law), SHAPES[p.size], kind), random=True)


def _target(dtype: str) -> str:
    return "float64" if dtype != "float64" else "float32"


LEVELS = (0.1, 0.5, 0.9)


def _flat(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """A vector of few distinct values."""
    within = Interval(0, 1 if plan.dtype == "bool" else 100, whole=True)
    return (pool.array((plan.size,), plan.dtype, within, turn),)


def _boundaries(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (x,) = arrays(CORE)(plan, pool, turn)
    return np.sort(x[0]), x


def _some(plan: Plan, pool: Pool, turn: int) -> Arrays:
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


ONE, SLOPE = arrays(CORE), arrays(CORE, UNIT)
OTHERS: Others = {
    "zeros": partial(_filled, 0),
    "full": partial(_filled, 3),
    "arange": lambda be, p: Other(nothing, lambda: be.arange(p.size, dtype=p.dtype), partial(_arange, p)),
    "copy": Other(ONE, None, lambda x: np.array(x, order="C"), lambda x: x.contiguous().clone()),
    "astype": lambda be, p: Other(
        ONE, lambda x: stator.astype(x, _target(p.dtype)), lambda x: x.astype(_target(p.dtype))
    ),
    "frexp": Other(ONE, torch=lambda x: x.frexp()),
    "take": Other(
        with_rows,
        lambda x, i: stator.take(x, i, axis=0),
        lambda x, i: np.take(x, i, axis=0),
        lambda x, i: x.index_select(0, i),
    ),
    "softmax": Other(ONE, None, _softmax, lambda x: x.softmax(-1)),
    "softmin": Other(ONE, None, lambda x: _softmax(-x), lambda x: (-x).softmax(-1)),
    "softmin_backward": Other(SLOPE),
    "gumbel_softmax": Other(ONE, lambda x: nn.gumbel_softmax(x, rng=7)[0], _gumbel_softmax, random=True),
    "gumbel_softmax_backward": Other(SLOPE, None, oracles.softmax_backward),
    "log_softmax": Other(ONE, None, _log_softmax, lambda x: x.log_softmax(-1)),
    "softmax_backward": Other(SLOPE),
    "log_softmax_backward": Other(arrays(CORE, Interval(-4, 0))),
    "cross_entropy": Other(with_columns, None, _cross_entropy),
    "cross_entropy_backward": lambda be, p: Other(
        with_columns, partial(nn.cross_entropy_backward, be.full((), 1, dtype=p.dtype)), _cross_entropy_backward
    ),
    "sum_backward": lambda be, p: Other(
        COLUMN,
        lambda g: nn.sum_backward(g, SHAPES[p.size], 1),
        lambda g: np.array(np.broadcast_to(g[:, None], SHAPES[p.size])),
        lambda g: g[:, None].expand(SHAPES[p.size]).contiguous(),
    ),
    "mean_backward": lambda be, p: Other(
        COLUMN,
        lambda g: nn.mean_backward(g, SHAPES[p.size], 1),
        lambda g: np.array(np.broadcast_to((g / SHAPES[p.size][1])[:, None], SHAPES[p.size])),
        lambda g: (g / SHAPES[p.size][1])[:, None].expand(SHAPES[p.size]).contiguous(),
    ),
    "prod_backward": Other(
        _column_and_factors, lambda g, x: nn.prod_backward(g, x, 1), lambda g, x: oracles.prod_backward(g, x, 1)
    ),
    "index_get": Other(with_rows, *[lambda x, i: x[i]] * 3),
    "index_put": Other(with_rows, _put, _put),
    "take_along_axis": Other(
        with_positions,
        lambda x, y, i: stator.take_along_axis(x, i, axis=1),
        lambda x, y, i: np.take_along_axis(x, i, 1),
        lambda x, y, i: x.gather(1, i),
    ),
    "scatter_add": Other(
        with_positions,
        lambda x, y, i: stator.scatter_add(x, 1, i, y),
        lambda x, y, i: _at(np.add, x, i, y),
        lambda x, y, i: x.scatter_add(1, i, y),
    ),
    "segment_sum": Other(with_rows, lambda x, i: stator.segment_sum(x, i, len(x)), partial(segments, np.add, 0)),
    "masked_fill": lambda be, p: Other(
        with_mask,
        lambda x, m: stator.masked_fill(x, m, p.dtype == "bool" or 1),  # bools take no integer
        lambda x, m: np.where(m, x.dtype.type(1), x),
        lambda x, m: x.masked_fill(m, 1),
    ),
    "masked_select": Other(with_mask, None, *[lambda x, m: x[m]] * 2),
    "nonzero": Other(
        with_mask, lambda x, m: stator.nonzero(m)[0], lambda x, m: np.nonzero(m)[0], lambda x, m: m.nonzero()
    ),
    "cdist": Other(
        POINTS,
        None,
        lambda a, b: np.sqrt(np.sum(np.square(a[:, None] - b), axis=-1)),
        lambda a, b: a.cdist(b, compute_mode="donot_use_mm_for_euclid_dist"),
    ),
    "matmul": Other(squares(2), None, *[lambda a, b: a @ b] * 2),
    "sort": Other(ONE, None, np.sort, lambda x: x.sort(-1).values),
    "argsort": Other(ONE, None, lambda x: np.argsort(x, kind="stable"), lambda x: x.argsort(-1, stable=True)),
    "topk": Other(ONE, lambda x: stator.topk(x, 10).values, lambda x: _top(x, 10), lambda x: x.topk(10, -1).values),
    "partition": Other(ONE, lambda x: stator.partition(x, 9)[..., 9], lambda x: np.partition(x, 9)[..., 9]),
    "kthvalue": Other(
        ONE,
        lambda x: stator.kthvalue(x, 10).values,
        lambda x: np.partition(x, 9)[..., 9],
        lambda x: x.kthvalue(10, -1).values,
    ),
    "median": Other(ONE, lambda x: stator.median(x, axis=-1), lambda x: np.median(x.astype(np.float64), axis=-1)),
    "quantile": Other(
        ONE,
        lambda x: stator.quantile(x, LEVELS, axis=-1),
        lambda x: np.quantile(x.astype(np.float64), LEVELS, axis=-1),
    ),
    "mode": Other(_flat, lambda x: stator.mode(x).values, _mode, lambda x: x.mode(-1).values),
    "searchsorted": Other(_boundaries),
    "isin": Other(_some),
    "unique_all": Other(
        _flat,
        lambda x: stator.unique_all(x).values,
        lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True)[0],
    ),
    "unique_counts": Other(
        _flat, lambda x: stator.unique_counts(x).counts, lambda x: np.unique(x, return_counts=True)[1]
    ),
    "unique_inverse": Other(
        _flat, lambda x: stator.unique_inverse(x).inverse_indices, lambda x: np.unique(x, return_inverse=True)[1]
    ),
    "unique_values": Other(_flat, None, np.unique, lambda x: x.unique()),
    "unique_consecutive": Other(
        _flat,
        lambda x: stator.unique_consecutive(x).values,
        _runs,
        lambda x: x.unique_consecutive(return_inverse=True, return_counts=True)[0],
    ),
    "histc": Other(ONE, lambda x: stator.histc(x, 50, min=-3, max=3), _histc, lambda x: x.histc(50, -3, 3)),
    "histogram": Other(
        ONE,
        lambda x: stator.histogram(x, 48, range=(-3, 3)).hist,
        lambda x: np.histogram(x, 48, range=(-3, 3))[0],
    ),
    "bincount": Other(_flat, torch=lambda x: x.bincount()),
    "uniform": partial(_drawn, "uniform", "random"),
    "normal": partial(_drawn, "normal", "standard_normal"),
}
