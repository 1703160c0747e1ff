"""Making arrays: NumPy's zeros, array, arange and their neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike
from stator.numpy._rows import differs, same


def _c_order(order: str | None, op: str) -> None:
    if not _convert.order_is_c(order, op):
        raise InvalidValueError(
            f"order={order!r}", op=op, remedy="Arrays are row-major; use asfortranarray for a view."
        )


@differs("NumPy arrays are copied to the device; dtype=object, subok= and like= are not there")
def array(
    object: Any,
    dtype: DTypeLike = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    ndmin: int = 0,
    device: Any = None,
) -> Array:
    """An array of numbers, nested lists, a NumPy array or another library's array, by default a copy."""
    _c_order(order, "array")
    x = stator.asarray(object, dtype=_convert.dtype_or_none(dtype), device=device, copy=copy)
    return x if x.ndim >= ndmin else stator.reshape(x, (1,) * (ndmin - x.ndim) + x.shape)


@differs("NumPy arrays are copied to the device; dtype=object, subok= and like= are not there")
def asarray(
    a: Any, dtype: DTypeLike = None, order: str | None = None, *, device: Any = None, copy: bool | None = None
) -> Array:
    """An array of numbers, nested lists, a NumPy array or another library's array; an Array is returned as it is."""
    _c_order(order, "asarray")
    return stator.asarray(a, dtype=_convert.dtype_or_none(dtype), device=device, copy=copy)


@differs("As asarray: there are no subclasses of Array")
def asanyarray(
    a: Any, dtype: DTypeLike = None, order: str | None = None, *, device: Any = None, copy: bool | None = None
) -> Array:
    """As asarray."""
    return asarray(a, dtype, order, device=device, copy=copy)


@same
def ascontiguousarray(a: Any, dtype: DTypeLike = None) -> Array:
    """An array of at least one axis whose elements are row-major and without gaps, copied where needed."""
    x = asarray(a, dtype)
    x = stator.reshape(x, (1,)) if x.ndim == 0 else x
    return x if x.is_contiguous else stator.copy(x)


@same
def asfortranarray(a: Any, dtype: DTypeLike = None) -> Array:
    """An array whose elements are column-major: a transposed view of a copy, or of a where it is so already."""
    x = asarray(a, dtype)
    x = stator.reshape(x, (1,)) if x.ndim == 0 else x
    turned = stator.permute_dims(x, tuple(reversed(range(x.ndim))))
    return stator.permute_dims(turned if turned.is_contiguous else stator.copy(turned), tuple(reversed(range(x.ndim))))


@differs("Reads one number back, to raise ValueError where an element is NaN or infinite")
def asarray_chkfinite(a: Any, dtype: DTypeLike = None, order: str | None = None) -> Array:
    """As asarray, with ValueError where an element is NaN or infinite. Synchronises."""
    x = asarray(a, dtype, order)
    if x.dtype.kind in "fc" and not bool(stator.all(stator.isfinite(x))):
        raise InvalidValueError(
            "Array must not contain infs or NaNs",
            op="asarray_chkfinite",
            remedy="Replace them, such as with nan_to_num().",
        )
    return x


@differs("requirements= of ownership and alignment always hold; only 'C' and 'F' do something")
def require(a: Any, dtype: DTypeLike = None, requirements: Any = None) -> Array:
    """a as an array of a dtype, row-major ("C") or column-major ("F") if asked."""
    wanted = {str(r).upper() for r in ([requirements] if isinstance(requirements, str) else requirements or [])}
    if wanted & {"F", "F_CONTIGUOUS", "FORTRAN"}:
        return asfortranarray(a, dtype)
    x = asarray(a, dtype)
    return x if x.is_contiguous or not wanted & {"C", "C_CONTIGUOUS", "CONTIGUOUS"} else stator.copy(x)


@differs("The default of device= is the current backend; order='F' is refused")
def empty(shape: Any, dtype: DTypeLike = float, order: str = "C", *, device: Any = None) -> Array:
    """An uninitialised array."""
    _c_order(order, "empty")
    return stator.empty(_convert.lengths(shape), dtype=_convert.dtype_or_none(dtype), device=device)


@differs("The default of device= is the current backend; order='F' is refused")
def zeros(shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: Any = None) -> Array:
    """An array of zeros."""
    _c_order(order, "zeros")
    return stator.zeros(_convert.lengths(shape), dtype=_convert.dtype_or_none(dtype), device=device)


@differs("The default of device= is the current backend; order='F' is refused")
def ones(shape: Any, dtype: DTypeLike = None, order: str = "C", *, device: Any = None) -> Array:
    """An array of ones."""
    _c_order(order, "ones")
    return stator.ones(_convert.lengths(shape), dtype=_convert.dtype_or_none(dtype), device=device)


def _filled(shape: Any, fill_value: ArrayLike, dtype: Any, device: Any, op: str) -> Array:
    shape = _convert.lengths(shape)
    if _convert.is_number(fill_value):
        value = fill_value if dtype is None else _convert.on_host(fill_value, dtype, op).item()
        return stator.full(shape, value, dtype=dtype, device=device)
    value = _convert.array(fill_value, op)
    home = value.backend if device is None else device
    out = stator.empty(shape, dtype=dtype or value.dtype, device=home)
    out[...] = value.to_device(out.device).astype(out.dtype, copy=False)
    return out


@differs("The default of device= is the current backend; order='F' is refused")
def full(shape: Any, fill_value: ArrayLike, dtype: DTypeLike = None, order: str = "C", *, device: Any = None) -> Array:
    """An array of one value, or of the elements of an array that broadcasts to the shape."""
    _c_order(order, "full")
    return _filled(shape, fill_value, _convert.dtype_or_none(dtype), device, "full")


@differs("order= and subok= have no effect")
def empty_like(
    prototype: ArrayLike,
    /,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An uninitialised array of the shape and dtype of another one."""
    x = _convert.array(prototype, "empty_like")
    return stator.empty(
        x.shape if shape is None else shape,
        dtype=_convert.dtype_or_none(dtype) or x.dtype,
        device=x.backend if device is None else device,
    )


@differs("order= and subok= have no effect")
def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An array of zeros of the shape and dtype of another one."""
    return full_like(a, 0, dtype, order, subok, shape, device=device)


@differs("order= and subok= have no effect")
def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An array of ones of the shape and dtype of another one."""
    return full_like(a, 1, dtype, order, subok, shape, device=device)


@differs("order= and subok= have no effect")
def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Array:
    """An array of one value, of the shape and dtype of another one."""
    x = _convert.array(a, "full_like")
    kind = _convert.dtype_or_none(dtype) or x.dtype
    return _filled(
        x.shape if shape is None else shape, fill_value, kind, x.backend if device is None else device, "full_like"
    )


@differs("The last bits of floating ranges may differ; 0-d arrays are read back, which synchronises")
def arange(
    start_or_stop: Any, /, stop: Any = None, step: Any = 1, *, dtype: DTypeLike = None, device: Any = None
) -> Array:
    """Evenly spaced numbers from start to stop, without stop; complex ones and bools are made on the host."""
    ends = [_convert.on_python(v) for v in (start_or_stop, stop, step)]
    kind = _convert.dtype_or_none(dtype)
    if device is None:
        found = _convert.first_array((start_or_stop, stop, step))
        device = None if found is None else found.backend
    if any(isinstance(v, (bool, complex)) for v in ends) or (kind is not None and kind.kind in "bc"):
        try:
            host = np.arange(*(ends if ends[1] is not None else [0, ends[0], ends[2]]), dtype=kind and kind.numpy())
        except TypeError as error:
            raise DTypeError(str(error), op="arange", remedy="Give fewer bools, or another dtype.") from None
        return stator.asarray(host, device=device)
    return stator.arange(*ends, dtype=kind, device=device)


@differs("The ends are numbers, or arrays of any number of axes, in float64")
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """num evenly spaced numbers from start to stop; with retstep, their distance too."""
    if num < 0:
        raise InvalidValueError(f"num={num}", op="linspace", remedy="Give a number that is not negative.")
    kind = _convert.dtype_or_none(dtype)
    parts = num - 1 if endpoint else num
    if _convert.is_number(start) and _convert.is_number(stop):
        x = stator.linspace(start, stop, num, dtype=kind, device=device, endpoint=endpoint)
        return (x, (stop - start) / parts if parts > 0 else math.nan) if retstep else x
    a, b = (_convert.floating(v) for v in _convert.arrays("linspace", start, stop))
    a, b = stator.broadcast_arrays(a, b)
    step = stator.divide(stator.subtract(b, a), parts if parts > 0 else math.nan)
    places = stator.reshape(stator.arange(num, dtype="float64", device=a.backend), (-1,) + (1,) * a.ndim)
    x = stator.add(stator.multiply(places, stator.divide(stator.subtract(b, a), parts or 1)), a)
    if endpoint and num > 1:
        x[-1] = b
    if kind is not None:
        x = (stator.floor(x) if kind.kind in "iu" else x).astype(kind)
    x = stator.moveaxis(x, 0, axis)
    return (x, step) if retstep else x


@differs("The ends and the base are numbers, or arrays, in float64")
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Array:
    """Powers of the base with evenly spaced exponents."""
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    x = stator.pow(_convert.number_or_array(base, "logspace", exponents), exponents)
    return x if dtype is None else x.astype(_convert.dtype(dtype))


@differs("Positive or negative ends as in NumPy; complex ends are refused")
def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0
) -> Array:
    """Numbers from start to stop whose neighbours have one ratio. Synchronises: checks that no end is 0."""
    a, b = (_convert.floating(v).astype("float64") for v in _convert.arrays("geomspace", start, stop))
    if bool(stator.any(stator.equal(stator.multiply(a, b), 0))):
        raise InvalidValueError("Geometric sequence cannot include zero", op="geomspace", remedy="Give other ends.")
    sign = stator.sign(a)
    x = stator.multiply(
        sign if axis == 0 else stator.expand_dims(sign, axis=axis) if sign.ndim else sign,
        stator.pow(10.0, linspace(stator.log10(stator.abs(a)), stator.log10(stator.abs(b)), num, endpoint, axis=axis)),
    )
    rows = stator.moveaxis(x, axis, 0)
    if num > 0:
        rows[0] = a
    if num > 1 and endpoint:
        rows[-1] = b
    if dtype is None:
        return x
    kind = _convert.dtype(dtype)
    return x.astype(kind)


@same
def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, order: str = "C", *, device: Any = None
) -> Array:
    """A matrix with ones on diagonal k."""
    _c_order(order, "eye")
    N, M, k = (_convert.on_python(v) for v in (N, M, k))
    return stator.eye(N, M, k=k, dtype=_convert.dtype_or_none(dtype), device=device)


@same
def identity(n: int, dtype: DTypeLike = None) -> Array:
    """The identity matrix (n, n)."""
    return stator.eye(n, dtype=_convert.dtype_or_none(dtype))


@same
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> Array:
    """A matrix with ones on and below diagonal k."""
    return stator.tri(N, M, k, dtype=_convert.dtype_or_none(dtype))


def _triangle(m: ArrayLike, k: int, op: str) -> Array:
    x = _convert.array(m, op)
    if x.ndim == 1:
        x = stator.broadcast_to(x, x.shape * 2)
    function: Callable[..., Array] = getattr(stator, op)
    return function(x, k=k)


@same
def tril(m: ArrayLike, k: int = 0) -> Array:
    """A copy with 0 above diagonal k."""
    return _triangle(m, k, "tril")


@same
def triu(m: ArrayLike, k: int = 0) -> Array:
    """A copy with 0 below diagonal k."""
    return _triangle(m, k, "triu")


@differs("A diagonal of a matrix is a copy")
def diag(v: ArrayLike, k: int = 0) -> Array:
    """The matrix with a vector on diagonal k, or diagonal k of a matrix."""
    return stator.diag(_convert.array(v, "diag"), k)


@same
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """The matrix with the flattened elements on diagonal k."""
    return stator.diag(stator.ravel(_convert.array(v, "diagflat")), k)


@same
def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: DTypeLike = float, **kwargs: Any) -> Any:
    """The function of the coordinates, called once with arrays of them."""
    from stator.numpy._grids import indices

    return function(*indices(shape, dtype=dtype), **kwargs)


@differs("Numbers are read on the host, then copied")
def fromiter(iter: Iterable[Any], dtype: DTypeLike, count: int = -1) -> Array:
    """A vector of the numbers that an iterable gives."""
    kind = _convert.dtype(dtype)
    return stator.asarray(np.fromiter(iter, kind.numpy(), count))


@differs("order='F' gives a transposed view of a copy")
def copy(a: ArrayLike, order: str = "K", subok: bool = False) -> Array:
    """A copy."""
    return _convert.called("copy", a, order.upper() if isinstance(order, str) else order)


@differs("A conversion beyond the range saturates, as stator.astype")
def astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: Any = None) -> Array:
    """x converted to a dtype."""
    return stator.astype(_convert.array(x, "astype"), _convert.dtype(dtype), copy=copy, device=device)


@same
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array that shares the memory of another library's array."""
    return stator.from_dlpack(x, device=device, copy=copy)


@differs("CuPy's name: a NumPy array of the elements, copied to the host")
def asnumpy(a: ArrayLike) -> np.ndarray[Any, Any]:
    """The elements as a NumPy array. Synchronises."""
    return a.to_numpy() if isinstance(a, Array) else np.asarray(a)
