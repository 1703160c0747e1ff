"""Reductions, cumulative functions, and those that skip NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stator
from stator._array import Array
from stator.errors import InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Axes, DTypeLike, Out
from stator.numpy._rows import ROWS, add, differs, same

ORDER_OF_SUMS = "Sums in the order of stator's kernels, so that the last bits may differ"
SPREAD = f"{ORDER_OF_SUMS}; with a real dtype= the whole mean of complex numbers is subtracted, not only its real part"


NO_IDENTITY = ("max", "min", "nanmax", "nanmin")


def _reduce(
    name: str,
    a: ArrayLike,
    axis: Any,
    *,
    out: Out = None,
    keepdims: bool = False,
    where: Any = True,
    initial: Any = None,
    join: str = "",
    fill: Any = None,
    op: str = "",
    **options: Any,
) -> Array:
    op = op or name
    x = _convert.array(a, op)
    axis = _convert.axis_or_none(axis, x) if name != "mean" else axis
    if fill is not None and x.dtype.name == "bool":
        x = x.astype(fill)
    if where is not True:
        mask = _convert.array(where, op, like=x).astype("bool", copy=False)
        if name in NO_IDENTITY and initial is None:
            raise InvalidValueError(f"where= of {name} without initial", op=op, remedy="Give initial.")
        options["where"] = mask
    if initial is not None and x.size == 0 and name in NO_IDENTITY:
        shape = stator.sum(x, axis=axis, keepdims=keepdims).shape
        first = _convert.assigned(initial, x.dtype, op, like=x)
        return _convert.store(stator.copy(stator.broadcast_to(first, shape)), out, op)
    result: Array = getattr(stator, name)(x, axis=axis, keepdims=keepdims, **options)
    if initial is not None:
        first = _convert.assigned(initial, result.dtype, op, like=x)
        result = ROWS[join].value(first, result).astype(result.dtype, copy=False)
    return _convert.store(result, out, op, "unsafe" if "dtype" in options else "same_kind")


@differs(ORDER_OF_SUMS)
def sum(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The sum of the elements over axes."""
    return _reduce(
        "sum",
        a,
        axis,
        out=out,
        keepdims=keepdims,
        where=where,
        initial=initial,
        join="add",
        dtype=_convert.dtype_or_none(dtype),
    )


@differs(ORDER_OF_SUMS)
def prod(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The product of the elements over axes."""
    return _reduce(
        "prod",
        a,
        axis,
        out=out,
        keepdims=keepdims,
        where=where,
        initial=initial,
        join="multiply",
        dtype=_convert.dtype_or_none(dtype),
    )


COMPLEX = "Complex dtypes are refused"


@differs(COMPLEX)
def max(
    a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    """The largest element over axes; NaN where there is one."""
    return _reduce("max", a, axis, out=out, keepdims=keepdims, where=where, initial=initial, join="maximum")


@differs(COMPLEX)
def min(
    a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    """The smallest element over axes; NaN where there is one."""
    return _reduce("min", a, axis, out=out, keepdims=keepdims, where=where, initial=initial, join="minimum")


add("amax", max, COMPLEX)
add("amin", min, COMPLEX)


@differs(COMPLEX)
def ptp(a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False) -> Array:
    """The largest minus the smallest element over axes."""
    x = _convert.array(a, "ptp")
    return _convert.store(stator.subtract(max(x, axis, keepdims=keepdims), min(x, axis, keepdims=keepdims)), out, "ptp")


@same
def all(a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False, *, where: Any = True) -> Array:
    """Whether all elements over axes are true."""
    return _reduce("all", a, axis, out=out, keepdims=keepdims, where=where)


@same
def any(a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False, *, where: Any = True) -> Array:
    """Whether any element over axes is true."""
    return _reduce("any", a, axis, out=out, keepdims=keepdims, where=where)


@differs("A 0-d array, where NumPy gives an int")
def count_nonzero(a: ArrayLike, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """How many elements over axes are not 0."""
    x = _convert.array(a, "count_nonzero")
    return stator.count_nonzero(x, axis=_convert.axis_or_none(axis, x), keepdims=keepdims)


@differs(COMPLEX)
def argmax(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """The index of the first largest element along an axis, or of the flattened array."""
    x = _convert.array(a, "argmax")
    return _convert.store(stator.argmax(x, axis=_convert.axis_or_none(axis, x), keepdims=keepdims), out, "argmax")


@differs(COMPLEX)
def argmin(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """The index of the first smallest element along an axis, or of the flattened array."""
    x = _convert.array(a, "argmin")
    return _convert.store(stator.argmin(x, axis=_convert.axis_or_none(axis, x), keepdims=keepdims), out, "argmin")


@differs(ORDER_OF_SUMS)
def mean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """The mean of the elements over axes."""
    return _reduce(
        "mean", a, axis, out=out, keepdims=keepdims, where=where, fill="float64", dtype=_convert.dtype_or_none(dtype)
    )


def _spread(
    name: str,
    a: ArrayLike,
    axis: Axes,
    dtype: DTypeLike,
    out: Out,
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: Any,
    correction: float | None,
) -> Array:
    x = _convert.floating(_convert.array(a, name))
    ddof = ddof if correction is None else correction
    kind = _convert.dtype_or_none(dtype)
    if mean is None and x.dtype.kind != "c":
        return _reduce(name, x, axis, out=out, keepdims=keepdims, where=where, correction=ddof, dtype=kind)
    if kind is not None and x.dtype.kind == "c" and kind.kind != "c":
        x = x.astype("complex128" if kind.name == "float64" else "complex64", copy=False)
    elif kind is not None:
        x = x.astype(kind, copy=False)
    centre = (
        _convert.array(mean, name, like=x) if mean is not None else _reduce("mean", x, axis, keepdims=True, where=where)
    )
    squares = stator.square(stator.abs(stator.subtract(x, centre)))
    mask = True if where is True else _convert.array(where, name, like=x)
    count = _reduce(
        "sum",
        stator.broadcast_to(stator.ones((), dtype="float64", device=x.backend), x.shape),
        axis,
        keepdims=keepdims,
        where=mask,
    )
    total = _reduce("sum", squares, axis, keepdims=keepdims, where=mask)
    divisor = stator.clip(stator.subtract(count, ddof), 0.0, None)
    result = stator.divide(total, divisor.astype(total.dtype))
    result = stator.sqrt(result) if name == "std" else result
    return _convert.store(result if kind is None else result.astype(kind, copy=False), out, name)


@differs(SPREAD)
def var(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """The variance of the elements over axes, divided by their number minus ddof."""
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@differs(SPREAD)
def std(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """The square root of the variance."""
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _scan(name: str, a: ArrayLike, axis: Any, dtype: DTypeLike, out: Out, op: str, **options: Any) -> Array:
    x = _convert.array(a, op)
    if axis is None or _convert.axis_or_none(axis, x) is None:
        x, axis = stator.ravel(x), 0
    result: Array = getattr(stator, name)(x, axis=axis, dtype=_convert.dtype_or_none(dtype), **options)
    return _convert.store(result, out, op)


@differs(ORDER_OF_SUMS)
def cumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """The sums up to each element of an axis, or of the flattened array."""
    return _scan("cumulative_sum", a, axis, dtype, out, "cumsum")


@differs(ORDER_OF_SUMS)
def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """The products up to each element of an axis, or of the flattened array."""
    return _scan("cumulative_prod", a, axis, dtype, out, "cumprod")


def _vector_axis(x: ArrayLike, axis: int | None, op: str) -> tuple[Array, int]:
    x = _convert.array(x, op)
    if axis is None and x.ndim == 0:
        x = stator.reshape(x, (1,))
    if axis is None and x.ndim != 1:
        raise InvalidValueError(f"{x.ndim} axes and axis=None", op=op, remedy="Name the axis.")
    return x, 0 if axis is None else axis


@differs(ORDER_OF_SUMS)
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    include_initial: bool = False,
) -> Array:
    """The sums up to each element of an axis, after a 0 with include_initial."""
    x, axis = _vector_axis(x, axis, "cumulative_sum")
    return _scan("cumulative_sum", x, axis, dtype, out, "cumulative_sum", include_initial=include_initial)


@differs(ORDER_OF_SUMS)
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    out: Out = None,
    include_initial: bool = False,
) -> Array:
    """The products up to each element of an axis, after a 1 with include_initial."""
    x, axis = _vector_axis(x, axis, "cumulative_prod")
    return _scan("cumulative_prod", x, axis, dtype, out, "cumulative_prod", include_initial=include_initial)


def without_nan(a: ArrayLike, fill: float, op: str) -> Array:
    """The array with `fill` in place of NaN."""
    x = _convert.array(a, op)
    return stator.where(stator.isnan(x), fill, x).astype(x.dtype, copy=False) if x.dtype.kind in "fc" else x


@differs(ORDER_OF_SUMS)
def nansum(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The sum of the elements that are not NaN."""
    return sum(without_nan(a, 0.0, "nansum"), axis, dtype, out, keepdims, initial, where)


@differs(ORDER_OF_SUMS)
def nanprod(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The product of the elements that are not NaN."""
    return prod(without_nan(a, 1.0, "nanprod"), axis, dtype, out, keepdims, initial, where)


@differs(ORDER_OF_SUMS)
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """The sums up to each element, with NaN as 0."""
    return cumsum(without_nan(a, 0.0, "nancumsum"), axis, dtype, out)


@differs(ORDER_OF_SUMS)
def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> Array:
    """The products up to each element, with NaN as 1."""
    return cumprod(without_nan(a, 1.0, "nancumprod"), axis, dtype, out)


NO_WARNING = "Slices without numbers give NaN without a warning"


@differs(f"{COMPLEX}; slices of only NaN give NaN without a warning")
def nanmax(
    a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    """The largest element that is not NaN."""
    return _reduce("nanmax", a, axis, out=out, keepdims=keepdims, where=where, initial=initial, join="fmax")


@differs(f"{COMPLEX}; slices of only NaN give NaN without a warning")
def nanmin(
    a: ArrayLike, axis: Axes = None, out: Out = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    """The smallest element that is not NaN."""
    return _reduce("nanmin", a, axis, out=out, keepdims=keepdims, where=where, initial=initial, join="fmin")


def _nan_position(a: ArrayLike, axis: int | None, out: Out, keepdims: bool, name: str, fill: float) -> Array:
    x = _convert.array(a, name)
    axis = _convert.axis_or_none(axis, x)
    if x.dtype.kind in "fc" and bool(stator.any(stator.all(stator.isnan(x), axis=axis))):
        raise InvalidValueError("All-NaN slice encountered", op=name, remedy="Leave such slices out.")
    found = getattr(stator, name.removeprefix("nan"))(without_nan(x, fill, name), axis=axis, keepdims=keepdims)
    return _convert.store(found, out, name)


@differs("Reads one number back, to raise ValueError where a slice has only NaN")
def nanargmax(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """The index of the first largest element that is not NaN."""
    return _nan_position(a, axis, out, keepdims, "nanargmax", -math.inf)


@differs("Reads one number back, to raise ValueError where a slice has only NaN")
def nanargmin(a: ArrayLike, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> Array:
    """The index of the first smallest element that is not NaN."""
    return _nan_position(a, axis, out, keepdims, "nanargmin", math.inf)


def _numbers(x: Array, where: Any, op: str) -> Any:
    if x.dtype.kind not in "fc":
        return where
    mask = stator.logical_not(stator.isnan(x))
    return mask if where is True else stator.logical_and(mask, _convert.array(where, op, like=x))


@differs(NO_WARNING)
def nanmean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """The mean of the elements that are not NaN."""
    x = _convert.array(a, "nanmean")
    return mean(x, _convert.axis_or_none(axis, x), dtype, out, keepdims, where=_numbers(x, where, "nanmean"))


def _spread_of_numbers(
    spread: Callable[..., Array],
    a: ArrayLike,
    axis: Axes,
    dtype: DTypeLike,
    out: Out,
    ddof: float,
    keepdims: bool,
    where: Any,
    mean: Any,
    correction: float | None,
) -> Array:
    op = f"nan{spread.__name__}"
    x = _convert.array(a, op)
    axis = _convert.axis_or_none(axis, x)
    where = _numbers(x, where, op)
    found = spread(x, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    ddof = ddof if correction is None else correction
    if ddof > 0 and x.dtype.kind in "fc":  # without a correction, a slice without numbers is 0 / 0
        count = stator.count_nonzero(stator.broadcast_to(where, x.shape), axis=axis, keepdims=keepdims)
        found = stator.where(stator.less_equal(count, ddof), math.nan, found).astype(found.dtype, copy=False)
    return _convert.store(found, out, op)


@differs(NO_WARNING)
def nanvar(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """The variance of the elements that are not NaN."""
    return _spread_of_numbers(var, a, axis, dtype, out, ddof, keepdims, where, mean, correction)


@differs(NO_WARNING)
def nanstd(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike = None,
    out: Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """The standard deviation of the elements that are not NaN."""
    return _spread_of_numbers(std, a, axis, dtype, out, ddof, keepdims, where, mean, correction)
