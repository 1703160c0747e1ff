"""Medians and quantiles, also of what is not NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import InvalidValueError, OutOfRangeError, UnsupportedError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Axes, Out
from stator.numpy._rows import differs

IN_ONE_OP = {
    *("linear", "lower", "higher", "midpoint", "nearest"),
    *("hazen", "weibull", "median_unbiased", "normal_unbiased"),
}
# alpha and beta of Hyndman and Fan's continuous estimators.
CONTINUOUS = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
ONE_ELEMENT = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}
HOW = "weights= are refused; complex dtypes too; between a number and an infinity it is infinite, and never NaN"
NAN_HOW = f"{HOW}; a sort and a dozen launches; slices without numbers give NaN without a warning"


def _rows_of(x: Array, axis: Axes, op: str) -> tuple[Array, tuple[int, ...]]:
    """The elements that are reduced together along the last axis, and the axes they came from."""
    axes = _convert.axes(axis, x.ndim, op)
    kept = [k for k in range(x.ndim) if k not in axes]
    turned = stator.permute_dims(x, [*kept, *axes])
    return stator.reshape(turned, (*(x.shape[k] for k in kept), -1)) if x.size else turned, axes


def _places(q: Any, n: Array, method: str, op: str) -> tuple[Array, Array, Array]:
    """The two neighbours among n sorted elements, and how far the quantile is from the first to the second."""
    last = stator.subtract(n, 1).astype("float64")
    if method in CONTINUOUS:
        alpha, beta = CONTINUOUS[method]
        virtual = stator.add(
            stator.multiply(n, q), stator.subtract(stator.add(alpha, stator.multiply(q, 1 - alpha - beta)), 1)
        )
    elif method in ("lower", "higher", "nearest", "midpoint"):
        virtual = stator.multiply(last, q)
    elif method in ("inverted_cdf", "averaged_inverted_cdf"):
        virtual = stator.subtract(stator.multiply(n, q), 1)
    elif method == "closest_observation":
        virtual = stator.subtract(stator.multiply(n, q), 1.5)
    else:
        raise InvalidValueError(f"method={method!r}", op=op, remedy="Pass one of numpy.quantile's methods.")
    floor = stator.floor(virtual)
    gap = stator.subtract(virtual, floor)
    if method == "lower":
        gap = stator.zeros_like(gap)
    elif method == "higher":
        gap = stator.where(stator.greater(gap, 0), 1.0, 0.0)
    elif method == "nearest":
        floor, gap = stator.round(virtual), stator.zeros_like(gap)
    elif method == "midpoint":
        gap = stator.where(stator.greater(gap, 0), 0.5, 0.0)
    elif method == "inverted_cdf":
        gap = stator.where(stator.greater(gap, 0), 1.0, 0.0)
    elif method == "averaged_inverted_cdf":
        gap = stator.where(stator.greater(gap, 0), 1.0, 0.5)
    elif method == "closest_observation":
        even = stator.equal(stator.remainder(floor, 2), 1)
        gap = stator.where(stator.logical_and(stator.equal(gap, 0), even), 0.0, 1.0)
    first = stator.clip(floor, 0.0, None)
    second = stator.clip(stator.add(floor, 1.0), 0.0, None)
    return stator.minimum(first, last), stator.minimum(second, last), gap


def _general(x: Array, q: Array, axis: Axes, keepdims: bool, method: str, skip: bool, op: str) -> Array:
    exact = method in ONE_ELEMENT and x.dtype.kind not in "fc"
    rows, axes = _rows_of(x if exact else _convert.floating(x), axis, op)
    ordered = stator.sort(rows)
    missing = stator.isnan(ordered)
    length = rows.shape[-1]
    n = (
        stator.subtract(length, stator.count_nonzero(missing, axis=-1))
        if skip
        else stator.full(rows.shape[:-1], length, device=x.backend)
    )
    asked = stator.reshape(stator.ravel(q), (-1,) + (1,) * n.ndim)
    first, second, gap = _places(asked, stator.expand_dims(n, axis=0).astype("float64"), method, op)
    table = stator.broadcast_to(ordered, (asked.shape[0], *ordered.shape))

    def at(place: Array) -> Array:
        index = stator.clip(stator.expand_dims(place, axis=-1).astype("int64"), 0, max(length - 1, 0))
        return stator.squeeze(stator.take_along_axis(table, index, axis=-1), axis=-1)

    low, high = at(first), at(second)
    if exact:
        found = stator.where(stator.greater(gap, 0), high, low)
    else:
        found = _between(low, high, gap.astype(low.dtype))
        bad = stator.equal(n, 0) if skip else stator.any(missing, axis=-1)
        found = stator.where(bad, float("nan"), found).astype(low.dtype, copy=False)
    found = stator.reshape(found, q.shape + n.shape)
    return stator.expand_dims(found, axis=tuple(q.ndim + k for k in axes)) if keepdims else found


def _between(low: Array, high: Array, gap: Array) -> Array:
    """low + gap (high - low); an end itself where the gap is 0 or 1, whatever the other one is."""
    step = stator.subtract(high, low)
    near_high = stator.subtract(high, stator.multiply(step, stator.subtract(1, gap)))
    found = stator.where(stator.greater_equal(gap, 0.5), near_high, stator.add(low, stator.multiply(step, gap)))
    found = stator.where(stator.isinf(step), stator.add(low, high), found)
    found = stator.where(stator.logical_or(stator.equal(low, high), stator.equal(gap, 0)), low, found)
    return stator.where(stator.equal(gap, 1), high, found)


def _quantile(
    a: ArrayLike,
    q: Any,
    axis: Axes,
    out: Out,
    method: str,
    keepdims: bool,
    weights: Any,
    op: str,
    scale: float,
    skip: bool,
) -> Array:
    x = _convert.array(a, op)
    if weights is not None:
        raise UnsupportedError("Weights are given", op=op, remedy="Leave weights= out.")
    given = x.dtype
    if not _convert.is_number(q):  # an array or a list decides the dtype too
        own = q.dtype if isinstance(q, Array) else _convert.dtype(np.asarray(q).dtype)
        kind = stator.result_type(x.dtype, own if own.kind == "f" else stator.float64)
        x = x.astype(kind, copy=False) if method not in ONE_ELEMENT else x
    host = None if isinstance(q, Array) else np.asarray(q, np.float64) / scale
    if host is not None and not bool(np.all((host >= 0) & (host <= 1))):
        raise InvalidValueError(
            f"{op.removeprefix('nan').capitalize()}s must be in the range [0, {scale:g}]",
            op=op,
            remedy=f"Pass numbers from 0 to {scale:g}.",
        )
    if x.size == 0:
        shape = stator.sum(x, axis=axis, keepdims=keepdims).shape
        if not skip:
            shape = (q.shape if host is None else host.shape) + shape
        floats = given.kind in "fc"
        if method in ONE_ELEMENT and not (skip or floats or 0 in shape):
            raise OutOfRangeError("There is no element", op=op, remedy="Give arrays that are not empty.")
        same_kind = floats if skip else method in ONE_ELEMENT
        empty_kind = given if same_kind else x.dtype if floats else stator.float64
        return _convert.store(stator.full(shape, float("nan"), device=x.backend).astype(empty_kind), out, op)
    wide = method in ONE_ELEMENT and x.dtype.name in ("int64", "uint64")  # which float64 does not hold
    if host is not None and host.ndim < 2 and method in IN_ONE_OP and not skip and not wide:
        asked = float(host) if host.ndim == 0 else host.tolist()
        found = stator.quantile(x, asked, axis=axis, keepdims=keepdims, method=method)
    else:
        places = stator.divide(q.astype("float64"), scale) if host is None else stator.asarray(host, device=x.backend)
        found = _general(x, places, axis, keepdims, method, skip, op)
    if method in ONE_ELEMENT:
        found = found.astype(given, copy=False)
    return _convert.store(found, out, op)


@differs(HOW)
def quantile(
    a: ArrayLike,
    q: Any,
    axis: Axes = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """The quantiles q, in [0, 1], over axes."""
    return _quantile(a, q, axis, out, method, keepdims, weights, "quantile", 1.0, False)


@differs(HOW)
def percentile(
    a: ArrayLike,
    q: Any,
    axis: Axes = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """The percentiles q, in [0, 100], over axes."""
    return _quantile(a, q, axis, out, method, keepdims, weights, "percentile", 100.0, False)


@differs(NAN_HOW)
def nanquantile(
    a: ArrayLike,
    q: Any,
    axis: Axes = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """The quantiles q, in [0, 1], of the elements that are not NaN."""
    return _quantile(a, q, axis, out, method, keepdims, weights, "nanquantile", 1.0, True)


@differs(NAN_HOW)
def nanpercentile(
    a: ArrayLike,
    q: Any,
    axis: Axes = None,
    out: Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """The percentiles q, in [0, 100], of the elements that are not NaN."""
    return _quantile(a, q, axis, out, method, keepdims, weights, "nanpercentile", 100.0, True)


@differs("Complex dtypes are refused")
def median(
    a: ArrayLike, axis: Axes = None, out: Out = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The middle element over axes, or the mean of the middle two."""
    x = _convert.array(a, "median")
    if x.size == 0:
        return _quantile(x, 0.5, axis, out, "linear", keepdims, None, "median", 1.0, False)
    return _convert.store(stator.median(x, axis=axis, keepdims=keepdims), out, "median")


@differs("Complex dtypes are refused; slices without numbers give NaN without a warning")
def nanmedian(
    a: ArrayLike, axis: Axes = None, out: Out = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The middle of the elements that are not NaN."""
    return _quantile(a, 0.5, axis, out, "linear", keepdims, None, "nanmedian", 1.0, True)
