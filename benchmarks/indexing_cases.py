"""The cases of indexed writes, masks and segment reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator

from .cases import Other, Others, Plan
from .inputs import CORE, Arrays, Pool, arrays, with_mask, with_positions, with_rows
from .others import segments


def _put(x: Any, values: Any, places: Any) -> Any:
    stator.put_along_axis(x, places, values, axis=1)
    return x


def _numpy_put(x: Any, values: Any, places: Any) -> Any:
    np.put_along_axis(x, places, values, 1)
    return x


def _with_distinct(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """An array, values of its shape, for each an index along the last axis that no other has."""
    x, y, _ = with_positions(plan, pool, turn)
    return x, y, np.argsort(y, axis=1)


def _with_columns(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """An array, and a mask of the columns that stay."""
    (x,) = arrays(CORE)(plan, pool, turn)
    return x, x[0] > 0


def _compact(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """The values of an array where a mask is true, and the mask."""
    x, mask = with_mask(plan, pool, turn)
    return np.ascontiguousarray(x[mask]), mask


def _filled(x: Any, mask: Any, values: Any) -> Any:
    out = x.copy()
    out[mask] = values
    return out


def _kept(g: Any, mask: Any) -> Any:
    return np.where(mask, g.dtype.type(0), g)


def _means(x: Any, index: Any) -> Any:
    counts = np.bincount(index, minlength=len(x))[:, None]
    with np.errstate(invalid="ignore"):  # empty segments: NaN
        return (segments(np.add, 0, x, index) / counts).astype(x.dtype)


def _extreme(x: Any, sign: int) -> Any:
    """The infinity of the sign in x's dtype, or its least or largest integer."""
    if x.dtype.kind in "iu":
        return np.iinfo(x.dtype).max if sign > 0 else np.iinfo(x.dtype).min
    return sign * np.inf


def _reduced(name: str, f: Any, sign: int) -> Other:
    # Empty segments hold the identity in both results.
    ours = getattr(stator, name)
    return Other(with_rows, lambda x, i: ours(x, i, len(x)), lambda x, i: segments(f, _extreme(x, sign), x, i))


INDEXING: Others = {
    "put_along_axis": Other(_with_distinct, _put, _numpy_put),
    "scatter": Other(
        _with_distinct, lambda x, y, i: stator.scatter(x, 1, i, y), lambda x, y, i: _numpy_put(x.copy(), y, i)
    ),
    "index_add": Other(
        with_rows, lambda x, i: stator.index_add(x, 0, i, x), lambda x, i: x + segments(np.add, 0, x, i)
    ),
    "segment_mean": Other(with_rows, lambda x, i: stator.segment_mean(x, i, len(x)), _means),
    "segment_min": _reduced("segment_min", np.minimum, 1),
    "segment_max": _reduced("segment_max", np.maximum, -1),
    "masked_fill_backward": Other(with_mask, None, _kept),
    "masked_scatter": Other(
        with_mask,
        lambda x, m: stator.masked_scatter(x, m, x),
        lambda x, m: _filled(x, m, x.ravel()[: np.count_nonzero(m)]),
    ),
    "masked_scatter_backward": Other(
        with_mask, lambda g, m: stator.nn.masked_scatter_backward(g, m, g.shape)[0], _kept
    ),
    "masked_select_backward": Other(_compact, None, lambda g, m: _filled(np.zeros(m.shape, g.dtype), m, g)),
    "compress": Other(
        _with_columns, lambda x, c: stator.compress(c, x, axis=1), lambda x, c: np.compress(c, x, axis=1)
    ),
}
