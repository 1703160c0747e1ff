"""Averages, covariances, histograms and counts."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError, ShapeError, UnsupportedError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Axes, DTypeLike
from stator.numpy._reductions import mean
from stator.numpy._reductions import sum as total
from stator.numpy._rows import differs


@differs("Weights whose sum is 0 give NaN or infinity, without ZeroDivisionError")
def average(
    a: ArrayLike, axis: Axes = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The weighted mean over axes; with returned, the sums of the weights too."""
    x = _convert.array(a, "average")
    if weights is None:
        found = mean(x, axis, keepdims=keepdims)
        count = x.size / max(found.size, 1)
        return (found, stator.full_like(found, count)) if returned else found
    w = _convert.array(weights, "average", like=x)
    kind = stator.result_type(x.dtype, w.dtype, *(() if x.dtype.kind in "fc" else (stator.float64,)))
    if w.shape != x.shape:
        axes = _convert.axes(axis, x.ndim, "average")
        if axis is None:
            raise DTypeError("Axis must be given when shapes of a and weights differ", op="average", remedy="Give it.")
        if w.shape != tuple(x.shape[k] for k in axes):
            raise ShapeError(f"weights of shape {w.shape}", op="average", remedy="Give one for each element of axis.")
        order = sorted(range(len(axes)), key=lambda k: axes[k])
        w = stator.permute_dims(w, order)
        w = stator.reshape(w, tuple(n if k in axes else 1 for k, n in enumerate(x.shape)))
    w = stator.broadcast_to(w.astype(kind, copy=False), x.shape)
    scale = total(w, axis, keepdims=keepdims)
    found = stator.divide(total(stator.multiply(x.astype(kind, copy=False), w), axis, keepdims=keepdims), scale)
    return (found, scale) if returned else found


@differs("Weights are checked by reading a number back, which synchronises")
def cov(
    m: ArrayLike,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike = None,
) -> Array:
    """The covariance matrix of variables in rows, or in columns without rowvar."""
    if ddof is not None and ddof != int(ddof):
        raise InvalidValueError(f"ddof={ddof!r}", op="cov", remedy="Pass an integer.")
    x = _convert.array(m, "cov")
    if x.ndim > 2:
        raise ShapeError(f"{x.ndim} axes", op="cov", remedy="Give a matrix.")
    kinds = [x.dtype, stator.float64]
    other = None if y is None else _convert.array(y, "cov", like=x)
    if other is not None:
        kinds.append(other.dtype)
    kind = _convert.dtype_or_none(dtype) or stator.result_type(*kinds)
    x = _variables(x, rowvar).astype(kind)
    if other is not None:
        x = stator.concat([x, _variables(other, rowvar or other.shape[0] == 1).astype(kind)])
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            w = _convert.array(given, "cov", like=x)
            if w.ndim != 1 or w.shape[0] != x.shape[1]:
                raise ShapeError(f"weights of shape {w.shape}", op="cov", remedy="Give one for each observation.")
            _check_weights(w, given is fweights)
            weights = w.astype("float64") if weights is None else stator.multiply(weights, w)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if weights is None:
        centred = stator.subtract(x, stator.mean(x, axis=1, keepdims=True))
        return _product(centred, centred, max(x.shape[1] - ddof, 0))
    scale = stator.sum(weights)
    weighted = stator.multiply(x, weights)
    centred = stator.subtract(x, stator.divide(stator.sum(weighted, axis=1, keepdims=True), scale))
    lost: Any = ddof
    if ddof and aweights is not None:
        square = stator.sum(stator.multiply(weights, _convert.array(aweights, "cov", like=x)))
        lost = stator.divide(stator.multiply(square, ddof), scale)
    return _product(centred, stator.multiply(centred, weights), stator.subtract(scale, lost))


def _check_weights(w: Array, counts: bool) -> None:
    if counts and w.dtype.kind in "fc" and bool(stator.any(stator.not_equal(w, stator.round(w)))):
        raise DTypeError("fweights that are not whole", op="cov", remedy="Give integers, or use aweights.")
    if w.dtype.kind != "u" and bool(stator.any(stator.less(w, 0))):
        raise InvalidValueError("Negative weights", op="cov", remedy="Give weights of at least 0.")


def _variables(x: Array, rowvar: bool) -> Array:
    if x.ndim < 2:
        return stator.reshape(x, (1, -1))
    return x if rowvar else stator.matrix_transpose(x)


def _product(x: Array, weighted: Array, factor: Any) -> Array:
    product = stator.matmul(x, stator.conj(stator.matrix_transpose(weighted)))
    return stator.squeeze(stator.divide(product, factor if isinstance(factor, Array) else float(factor)))


@differs("A dozen launches around one product")
def corrcoef(x: ArrayLike, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Array:
    """The matrix of correlation coefficients."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return stator.divide(c, c)
    scale = stator.sqrt(stator.real(stator.linalg.diagonal(c)) if c.dtype.kind == "c" else stator.linalg.diagonal(c))
    c = stator.divide(stator.divide(c, stator.expand_dims(scale, axis=1)), scale)
    if c.dtype.kind != "c":
        return stator.clip(c, -1.0, 1.0)
    real, imag = stator.clip(stator.real(c), -1.0, 1.0), stator.clip(stator.imag(c), -1.0, 1.0)
    return stator.add(real.astype(c.dtype), stator.multiply(imag.astype(c.dtype), 1j))


RULES = "bins as the name of a rule, such as 'auto', is refused; the edges of an array with NaN are NaN"
TEXT = f"{RULES}; edges given as an array are not checked"


def _bins(bins: Any, op: str) -> Any:
    if isinstance(bins, str):
        raise UnsupportedError(f"bins={bins!r}", op=op, remedy="Give their number, or the edges.")
    if isinstance(bins, np.ndarray):
        return bins.tolist()
    if isinstance(bins, (int, np.integer)) and bins < 1:
        raise InvalidValueError(f"bins={bins!r}", op=op, remedy="Give at least 1.")
    if isinstance(bins, (list, tuple)) and any(a > b for a, b in pairwise(bins)):
        raise InvalidValueError("bins must increase monotonically", op=op, remedy="Sort the bins.")
    return bins


def _edges(x: Array, bins: Any, span: Any, op: str) -> Array:
    """The edges of bins of a flat array, without a copy to the host."""
    bins = _bins(bins, op)
    if not isinstance(bins, (int, np.integer)):
        return _convert.array(bins, op, like=x)
    if span is not None:
        first, last = (float(v) for v in span)
        if not (math.isfinite(first) and math.isfinite(last)):
            raise InvalidValueError(f"range={span!r} is not finite", op=op, remedy="Give numbers.")
        if first > last:
            raise InvalidValueError("max must be larger than min in range parameter", op=op, remedy="Swap min and max.")
        ends = stator.asarray([first, last], device=x.backend)
    elif x.size == 0:
        ends = stator.asarray([0.0, 1.0], device=x.backend)
    else:
        ends = stator.stack([stator.min(x), stator.max(x)])
        ends = _convert.floating(ends)
    flat = stator.equal(ends[0], ends[1])
    low = stator.where(flat, stator.subtract(ends[0], 0.5), ends[0])
    high = stator.where(flat, stator.add(ends[1], 0.5), ends[1])
    steps = stator.arange(int(bins) + 1, device=x.backend).astype(ends.dtype)
    edges = stator.add(stator.multiply(steps, stator.divide(stator.subtract(high, low), float(bins))), low)
    edges[-1] = high  # the largest element itself, which the sum may miss
    return edges


@differs(TEXT)
def histogram(
    a: ArrayLike, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """How many elements fall in each bin, and the edges of the bins."""
    x = _convert.array(a, "histogram")
    if x.dtype.name == "bool":
        x = x.astype("uint8")
    given = None if weights is None else _convert.array(weights, "histogram", like=x)
    edges = _bins(bins, "histogram")
    if isinstance(edges, (list, tuple)):
        edges = _convert.array(edges, "histogram", like=x)
    if isinstance(edges, (int, np.integer)) and x.size == 0 and range is None:
        range = (0, 1)
    if isinstance(range, (list, tuple)):
        range = tuple(float(v) if isinstance(v, Array) else v for v in range)  # read, since they decide the edges
    if isinstance(edges, Array) and edges.dtype != x.dtype:
        kind = stator.result_type(edges.dtype, x.dtype)
        found = stator.histogram(x.astype(kind), edges.astype(kind), weights=given, density=bool(density))
        return found.hist, edges
    return tuple(stator.histogram(x, edges, range=range, weights=given, density=bool(density)))  # type: ignore[return-value]


@differs(RULES)
def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The edges of the bins of histogram."""
    x = stator.ravel(_convert.array(a, "histogram_bin_edges"))
    edges = _edges(x, bins, range, "histogram_bin_edges")
    if isinstance(bins, (int, np.integer)) and x.dtype.name in ("float16", "float32"):
        return edges.astype(x.dtype, copy=False)
    return edges


@differs(TEXT)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, tuple[Array, ...]]:
    """How many points (rows) fall in each box, and the edges of the boxes along each axis."""
    if isinstance(sample, Array):
        points = sample if sample.ndim == 2 else stator.reshape(sample, (-1, 1))
    else:
        given = [v for v in sample] if isinstance(sample, tuple) else None
        points = (
            stator.stack(_convert.array_list(given, "histogramdd"), axis=1)
            if given is not None
            else _convert.array(sample, "histogramdd")
        )
        points = points if points.ndim == 2 else stator.reshape(points, (-1, 1))
    axes = points.shape[1]
    each = [bins] * axes if isinstance(bins, (int, np.integer)) else list(bins)
    if len(each) != axes:
        raise ShapeError(f"{len(each)} entries of bins for {axes} axes", op="histogramdd", remedy="Give one for each.")
    spans = [None] * axes if range is None else list(range)
    if len(spans) != axes:
        raise ShapeError(f"{len(spans)} entries of range", op="histogramdd", remedy=f"Give {axes}.")
    flat: Any = 0
    inside: Any = True
    edges = []
    for k, (one, span) in enumerate(zip(each, spans, strict=True)):
        column = points[:, k]
        found = _edges(column, one, span, "histogramdd")
        edges.append(found)
        kind = stator.result_type(found.dtype, column.dtype)
        found, column = found.astype(kind), column.astype(kind)
        last = stator.equal(column, found[-1])
        place = stator.subtract(stator.searchsorted(found, column, side="right"), last.astype("int64"))
        n = found.shape[0] - 1
        good = stator.logical_and(stator.greater(place, 0), stator.less_equal(place, n))
        inside = good if inside is True else stator.logical_and(inside, good)
        flat = stator.add(stator.multiply(flat, n), stator.subtract(place, 1)) if k else stator.subtract(place, 1)
    shape = tuple(e.shape[0] - 1 for e in edges)
    count = int(np.prod(shape))
    mass = (
        stator.ones((), dtype="float64", device=points.backend)
        if weights is None
        else _convert.array(weights, "histogramdd", like=points).astype("float64")
    )
    mass = stator.where(inside, mass, 0.0)
    flat = stator.where(inside, flat, 0).astype("int64")
    hist = stator.reshape(stator.bincount(flat, weights=mass, size=count), shape)
    if density:
        volume: Any = stator.sum(hist)
        for k, e in enumerate(edges):
            width = stator.diff(e)
            hist = stator.divide(hist, stator.reshape(width, (1,) * k + (-1,) + (1,) * (axes - k - 1)))
        hist = stator.divide(hist, volume)
    return hist, tuple(edges)


@differs(TEXT)
def histogram2d(
    x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array, Array]:
    """How many points fall in each rectangle, and the edges along both axes."""
    a, b = _convert.arrays("histogram2d", x, y)
    if a.shape != b.shape:
        raise ShapeError("x and y must have the same length", op="histogram2d", remedy="Give as many of each.")
    if not isinstance(bins, (int, np.integer)) and (isinstance(bins, (Array, np.ndarray)) or len(bins) not in (1, 2)):
        bins = [bins, bins]
    elif not isinstance(bins, (int, np.integer)) and len(bins) == 1:
        bins = [bins[0], bins[0]]
    kind = stator.result_type(a.dtype, b.dtype)
    hist, edges = histogramdd(stator.stack([a.astype(kind), b.astype(kind)], axis=1), bins, range, density, weights)
    return hist, edges[0], edges[1]


@differs("Reads the maximum back, which synchronises")
def bincount(x: ArrayLike, /, weights: Any = None, minlength: int = 0) -> Array:
    """How often 0, 1, 2, ... occur; with weights, their sums in float64."""
    bits = isinstance(x, Array) and x.dtype.name == "bool"
    given = _convert.integers(x.astype("int64") if bits else x, "bincount")
    w = None if weights is None else _convert.array(weights, "bincount", like=given)
    if given.ndim != 1:
        raise ShapeError(f"{given.ndim} axes", op="bincount", remedy="Give a vector.")
    return stator.bincount(given, weights=w, minlength=minlength)


@differs("Reads two numbers back, which synchronises, to see how the bins are ordered")
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Array:
    """The bin that each element falls in, counted from 1; the bins may decrease. Synchronises."""
    like = _convert.first_array((x, bins))
    values = _convert.array(x, "digitize", like=like)
    edges = _convert.array(bins, "digitize", like=like)
    if edges.ndim != 1:
        raise InvalidValueError(f"bins of {edges.ndim} axes", op="digitize", remedy="Give a vector.")
    if edges.shape[0] > 1 and not _increases(edges):
        found = stator.searchsorted(stator.flip(edges), values, side="left" if right else "right")
        return stator.subtract(edges.shape[0], found)
    return stator.searchsorted(edges, values, side="left" if right else "right")


def _increases(edges: Array) -> bool:
    """Whether bins increase or, as those of which the first two that differ do not increase, decrease."""
    before, after = edges[:-1], edges[1:]
    other = stator.not_equal(after, edges[0])
    up = stator.less(edges[0], after[stator.argmax(other.astype("uint8"))])
    up = stator.logical_or(up, stator.logical_not(stator.any(other)))
    wrong = stator.any(stator.where(up, stator.greater(before, after), stator.less(before, after)))
    increases, disordered = stator.stack([up, wrong]).tolist()
    if disordered:
        raise InvalidValueError("bins must increase or decrease monotonically", op="digitize", remedy="Sort the bins.")
    return bool(increases)
