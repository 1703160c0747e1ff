"""Elementwise functions that are not ufuncs, and comparisons of whole arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Out
from stator.numpy._rows import ROWS, add, differs, same

positive, trunc, minimum, maximum = (ROWS[name].value for name in ("positive", "trunc", "minimum", "maximum"))


@same
def clip(
    a: ArrayLike,
    a_min: Any = None,
    a_max: Any = None,
    out: Out = None,
    *,
    min: Any = None,
    max: Any = None,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array:
    """The elements limited to a range; None means no bound."""
    low, high = a_min if min is None else min, a_max if max is None else max
    return _convert.called("clip", a, low, high, _convert.out_array(out, "clip"), dtype=dtype, casting=casting)


def limited(x: Array, low: Any, high: Any, out: Out, dtype: Any, casting: str) -> Array:
    """What clip gives of any dtypes: in one launch of real numbers."""
    low, high = _bounds_in(x, low, high)
    found: Array
    if low is None and high is None:
        found = positive(x, out=out, dtype=dtype, casting=casting)
        return found
    if low is None or high is None:
        limit, bound = (minimum, high) if low is None else (maximum, low)
        found = limit(x, bound, out=out, dtype=dtype, casting=casting)
        return found
    low, high = (_convert.number_or_array(bound, "clip", x) for bound in (low, high))
    kind = stator.result_type(x, low, high) if dtype is None else _convert.dtype(dtype)
    _convert.require_cast(stator.result_type(x, low, high), kind, "clip", casting)
    if kind.name == "bool" or kind.kind == "c":
        options = {"dtype": kind, "casting": casting}
        result = minimum(maximum(x, low, **options), high, **options)
    else:
        given = [v.astype(kind, copy=False) if isinstance(v, Array) else v for v in (x, low, high)]
        result = stator.clip(*given)
    return _convert.store(result, out, "clip", casting)


def _bounds_in(x: Array, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds without the Python integers that limit nothing, which the dtype of the array may not hold."""
    if x.dtype.kind in "iu":
        info = stator.iinfo(x.dtype)
        low = None if type(low) is int and low <= info.min else low
        high = None if type(high) is int and high >= info.max else high
    return low, high


@same
def round(a: ArrayLike, decimals: int = 0, out: Out = None) -> Array:
    """The elements rounded to a number of decimals, halves to even; a negative number counts to the left."""
    return _convert.called("round", a, decimals, _convert.out_array(out, "round"))


add("around", round)


def _complex(real: Array, imag: Array) -> Array:
    kind = "complex128" if real.dtype.name == "float64" else "complex64"
    return stator.stack([real, imag], axis=-1).view(kind)[..., 0]


@same
def fix(x: ArrayLike, out: Out = None) -> Array:
    """The elements rounded towards 0."""
    found: Array = trunc(x, out=out)
    return found


@same
def nan_to_num(
    x: ArrayLike, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """NaN and infinities replaced by numbers; without copy in place."""
    given = _convert.array(x, "nan_to_num")
    if given.dtype.kind == "c":
        parts = (
            stator.nan_to_num(part(given), nan=nan, posinf=posinf, neginf=neginf) for part in (stator.real, stator.imag)
        )
        result = _complex(*parts)
    elif given.dtype.kind not in "fc":
        result = stator.copy(given)
    else:
        result = stator.nan_to_num(given, nan=nan, posinf=posinf, neginf=neginf)
    if copy:
        return result
    given[...] = result
    return given


@differs("Of a complex array a copy; an array of another dtype is returned as it is")
def real(val: ArrayLike) -> Array:
    """The real parts."""
    found: Array = _convert.array(val, "real").real
    return found


@differs("The parts are a copy")
def imag(val: ArrayLike) -> Array:
    """The imaginary parts; 0 of real numbers."""
    found: Array = _convert.array(val, "imag").imag
    return found


@same
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """The angle of complex numbers in the plane, in radians or degrees."""
    x = _convert.array(z, "angle")
    if x.dtype.name == "bool":
        x = x.astype("int64")
    parts = (stator.imag(x), stator.real(x)) if x.dtype.kind == "c" else (stator.zeros_like(x), x)
    found: Array = ROWS["arctan2"].value(*parts)
    return stator.rad2deg(found) if deg else found


@differs("Reads one number back, which synchronises")
def real_if_close(a: ArrayLike, tol: float = 100) -> Array:
    """The real parts where all imaginary parts are within tol times the precision, else the array."""
    x = _convert.array(a, "real_if_close")
    if x.dtype.kind != "c":
        return x
    limit = tol * float(stator.finfo(x.dtype).eps) if tol > 1 else tol
    return stator.real(x) if bool(stator.all(stator.less(stator.abs(stator.imag(x)), limit))) else x


@same
def isreal(x: ArrayLike) -> Array:
    """Whether the imaginary part is 0."""
    return stator.equal(imag(x), 0)


@same
def iscomplex(x: ArrayLike) -> Array:
    """Whether the imaginary part is not 0."""
    return stator.not_equal(imag(x), 0)


@same
def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    return x.dtype.kind == "c" if isinstance(x, Array) else np.iscomplexobj(x)


@same
def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def _infinite(x: ArrayLike, out: Out, name: str, negative: bool) -> Array:
    given = _convert.array(x, name)
    if given.dtype.kind == "c":
        raise DTypeError("Complex numbers have no sign", op=name, remedy="Pass the real part.")
    if given.dtype.kind not in "fc":
        return _convert.store(stator.zeros(given.shape, dtype="bool", device=given.backend), out, name)
    return _convert.store(stator.equal(given, -math.inf if negative else math.inf), out, name)


@same
def isneginf(x: ArrayLike, out: Out = None) -> Array:
    """Whether an element is minus infinity."""
    return _infinite(x, out, "isneginf", True)


@same
def isposinf(x: ArrayLike, out: Out = None) -> Array:
    """Whether an element is infinity."""
    return _infinite(x, out, "isposinf", False)


@differs("Exactly 0 at whole numbers")
def sinc(x: ArrayLike) -> Array:
    """sin(pi x) / (pi x)."""
    return stator.sinc(_convert.floating(_convert.array(x, "sinc")))


@differs("Infinity of infinity, where NumPy gives NaN")
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 0."""
    return stator.special.i0(_convert.floating(_convert.array(x, "i0")))


@same
def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = math.tau) -> Array:
    """Angles without jumps of more than half a period between neighbours."""
    x = _convert.array(p, "unwrap")
    whole = x.dtype.kind in "iu" and isinstance(period, int)
    kind = stator.result_type(x.dtype, period)
    x = x.astype(kind)
    axis = _convert.axis(axis, x.ndim, "unwrap")
    step = stator.diff(x, axis=axis)
    high = period // 2 if whole else period / 2
    low = -high
    wrapped = stator.add(stator.remainder(stator.subtract(step, low), period), low)
    if not whole or period % 2 == 0:
        keep = stator.logical_and(stator.equal(wrapped, low), stator.greater(step, 0))
        wrapped = stator.where(keep, high, wrapped).astype(kind, copy=False)
    limit = high if discont is None else max(discont, high)
    change = stator.subtract(wrapped, step)
    change = stator.where(stator.less(stator.abs(step), limit), 0, change).astype(kind, copy=False)
    shifted = stator.cumulative_sum(change, axis=axis, include_initial=True).astype(kind, copy=False)
    return stator.add(x, shifted)


@same
def isclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Whether |a - b| <= atol + rtol |b| for each pair; infinities are close to themselves."""
    x, y = _convert.operands("isclose", a, b)
    if not isinstance(y, Array):
        y = stator.full((), y, device=x.backend)
    x = _convert.array(x, "isclose", like=y)
    if y.dtype.kind not in "fc":
        y = y.astype("float64")
    kind = stator.result_type(x.dtype, y.dtype)
    x, y = x.astype(kind, copy=False), y.astype(kind, copy=False)
    tolerance = stator.add(stator.multiply(stator.abs(y), rtol), atol)
    close = stator.logical_and(stator.less_equal(stator.abs(stator.subtract(x, y)), tolerance), stator.isfinite(y))
    close = stator.logical_or(close, stator.equal(x, y))
    if equal_nan:
        close = stator.logical_or(close, stator.logical_and(stator.isnan(x), stator.isnan(y)))
    return close


@differs("Reads one number back, which synchronises")
def allclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all pairs are close, as isclose says. Synchronises."""
    return bool(stator.all(isclose(a, b, rtol, atol, equal_nan)))


@differs("Reads one number back, which synchronises")
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Whether the shapes and all elements are equal. Synchronises."""
    x, y = _convert.arrays("array_equal", a1, a2)
    if x.shape != y.shape:
        return False
    same_value = stator.equal(x, y)
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same_value = stator.logical_or(same_value, stator.logical_and(stator.isnan(x), stator.isnan(y)))
    return bool(stator.all(same_value))


@differs("Reads one number back, which synchronises")
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Whether the elements are equal after broadcasting. Synchronises."""
    x, y = _convert.arrays("array_equiv", a1, a2)
    try:
        stator.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return bool(stator.all(stator.equal(x, y)))


@differs("Where the two arrays are views of one buffer, by the ranges of their addresses")
def may_share_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Whether the ranges of memory of two arrays overlap."""

    def span(x: Array) -> tuple[int, int]:
        steps = [(n - 1) * s for n, s in zip(x.shape, x.strides, strict=True)]
        low, high = sum(s for s in steps if s < 0), sum(s for s in steps if s > 0)
        return x.data_ptr + low, x.data_ptr + high + x.itemsize

    if not (isinstance(a, Array) and isinstance(b, Array)) or not a.size or not b.size or a.backend is not b.backend:
        return False
    (first, end), (other, other_end) = span(a), span(b)
    return first < other_end and other < end


@differs("As may_share_memory: ranges that overlap count as shared")
def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Whether the ranges of memory of two arrays overlap."""
    return may_share_memory(a, b)


@same
def isfortran(a: Array) -> bool:
    """Whether the elements are column-major and not row-major."""
    x = _convert.array(a, "isfortran")
    return not x.is_contiguous and stator.permute_dims(x, tuple(reversed(range(x.ndim)))).is_contiguous
