"""Taking and putting elements by index or condition."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator._array_methods import cycled, in_mode
from stator.errors import DTypeError, InvalidValueError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Out
from stator.numpy._rows import differs, same

LATE = "An index that is out of range raises IndexError at the next synchronising call"


def _own(a: Any, op: str) -> Array:
    """An array that is written to."""
    if not isinstance(a, Array):
        raise _convert.refused(a, op)
    return a


@differs(LATE)
def take(a: ArrayLike, indices: Any, axis: int | None = None, out: Out = None, mode: str = "raise") -> Array:
    """The elements at indices of an axis, or of the flattened array."""
    x = _convert.array(a, "take", like=_convert.first_array((indices,)))
    index = _convert.integers(indices, "take", like=x, bools=True)
    return _convert.called("take", x, index, axis, _convert.out_array(out, "take"), mode)


@differs(LATE)
def take_along_axis(arr: ArrayLike, indices: Any, axis: int | None = -1) -> Array:
    """The elements at an index array of as many axes, along one of them."""
    x = _convert.array(arr, "take_along_axis")
    index = _convert.integers(indices, "take_along_axis", like=x)
    if axis is None:
        return stator.take_along_axis(stator.ravel(x), index, axis=0)
    return stator.take_along_axis(x, index, axis=axis)


@differs(LATE)
def put_along_axis(arr: Array, indices: Any, values: ArrayLike, axis: int | None) -> None:
    """Writes values at an index array of as many axes, along one of them. In place."""
    x = _own(arr, "put_along_axis")
    index = _convert.integers(indices, "put_along_axis", like=x)
    given = _convert.number_or_array(values, "put_along_axis", x)
    if isinstance(given, Array):
        given = stator.broadcast_to(given.astype(x.dtype, copy=False), index.shape)
    if axis is None:
        flat = stator.copy(stator.ravel(x))
        stator.put_along_axis(flat, index, given, axis=0)
        x[...] = stator.reshape(flat, x.shape)
    else:
        stator.put_along_axis(x, index, given, axis=axis)


@differs(f"{LATE}; of several values for one element any may stay")
def put(a: Array, ind: Any, v: ArrayLike, mode: str = "raise") -> None:
    """Writes values, repeated as often as needed, at indices of the flattened array. In place."""
    x = _own(a, "put")
    index = _convert.integers(ind, "put", like=x, bools=True)
    _convert.called("put", x, index, _convert.assigned(v, x.dtype, "put", like=x), mode)


@same
def putmask(a: Array, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Writes values where the mask is true: each at its own place, repeated as often as needed. In place."""
    x = _own(a, "putmask")
    chosen = _convert.array(mask, "putmask", like=x)
    if isinstance(values, Array):
        _convert.require_cast(values.dtype, x.dtype, "putmask", "safe")
    given = _convert.assigned(values, x.dtype, "putmask", like=x)
    if chosen.shape != x.shape:
        raise ShapeError(f"mask of shape {chosen.shape}", op="putmask", remedy=f"Give one of shape {x.shape}.")
    if given.size and x.size:
        spread = stator.reshape(cycled(stator.ravel(given.to_device(x.device)), x.size), x.shape)
        x[...] = stator.where(chosen.astype("bool", copy=False), spread, x)


@same
def place(arr: Array, mask: ArrayLike, vals: ArrayLike) -> None:
    """Writes values one after the other where the mask is true, repeated as often as needed. In place."""
    x = _own(arr, "place")
    chosen = _convert.array(mask, "place", like=x).astype("bool", copy=False)
    if isinstance(vals, Array):
        _convert.require_cast(vals.dtype, x.dtype, "place", "safe")
    given = stator.ravel(_convert.assigned(vals, x.dtype, "place", like=x))
    if not given.size:
        if bool(stator.any(chosen)):
            raise InvalidValueError("Cannot insert from an empty array", op="place", remedy="Give values.")
        return
    if x.size:
        count = stator.subtract(stator.cumulative_sum(stator.ravel(chosen).astype("int64")), 1)
        spread = stator.take(given, stator.remainder(stator.clip(count, 0, None), given.size))
        x[...] = stator.where(stator.reshape(chosen, x.shape), stator.reshape(spread, x.shape), x)


@same
def copyto(dst: Array, src: ArrayLike, casting: str = "same_kind", where: Any = True) -> None:
    """Assigns src to dst, where a mask is true. In place."""
    x = _own(dst, "copyto")
    if _convert.is_number(src):
        _require_number(src, x, casting)
        value = _convert.assigned(src, x.dtype, "copyto", like=x)
    else:
        value = _convert.array(src, "copyto", like=x)
        _convert.require_cast(value.dtype, x.dtype, "copyto", casting)
    if value.ndim > x.ndim and set(value.shape[: value.ndim - x.ndim]) == {1}:
        value = stator.reshape(value, value.shape[value.ndim - x.ndim :])
    value = stator.broadcast_to(value, x.shape)
    if where is not True:
        mask = stator.broadcast_to(_convert.array(where, "copyto", like=x).astype("bool", copy=False), x.shape)
        value = stator.where(mask, value.astype(x.dtype, copy=False), x)
    x[...] = value


def _require_number(value: Any, x: Array, casting: str) -> None:
    """DTypeError for a number of another kind than the array's, which is what counts of numbers."""
    own = stator.result_type(x.dtype, value) if x.dtype.name != "bool" else stator.asarray(value, device="cpu").dtype
    if own != x.dtype:
        _convert.require_cast(own, x.dtype, "copyto", casting)


@differs(LATE)
def choose(a: ArrayLike, choices: Any, out: Out = None, mode: str = "raise") -> Array:
    """At each position the element of the choice that the index names, with broadcasting."""
    parts = _convert.array_list(choices, "choose")
    index = _convert.array(a, "choose", like=_convert.first_array(parts))
    index = _convert.integers(index, "choose", bools=True)
    kind = stator.result_type(*(p.dtype for p in parts))
    index, *parts = stator.broadcast_arrays(index, *parts)
    table = stator.stack([p.astype(kind, copy=False) for p in parts])
    chosen = stator.expand_dims(in_mode(index, len(parts), mode, "choose"), axis=0)
    return _convert.store(stator.squeeze(stator.take_along_axis(table, chosen, axis=0), axis=0), out, "choose")


@differs("One launch for each condition")
def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Array:
    """The element of the first choice whose condition is true, else the default."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise InvalidValueError(
            f"{len(condlist)} conditions and {len(choicelist)} choices", op="select", remedy="Give as many of each."
        )
    count = len(condlist)
    conditions = _convert.arrays("select", *condlist)
    if any(c.dtype.name != "bool" for c in conditions):
        raise DTypeError("Conditions must be of bool", op="select", remedy="Convert them with astype(bool).")
    values = _convert.arrays("select", *conditions, *choicelist, default)[count:]
    strong = [v.dtype for v, given in zip(values, [*choicelist, default], strict=True) if not _convert.is_number(given)]
    weak = [given for given in [*choicelist, default] if _convert.is_number(given)]
    kind = stator.result_type(*strong, *weak) if strong else stator.result_type(*(v.dtype for v in values))
    result = values[-1].astype(kind)
    for condition, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        result = stator.where(condition, value.astype(kind, copy=False), result)
    return result


@differs("Functions are called with all of x, and their results chosen where the conditions hold")
def piecewise(
    x: ArrayLike, condlist: Any, funclist: Sequence[Callable[..., Any] | complex], *args: Any, **kw: Any
) -> Array:
    """The values of functions or numbers by condition; one more than conditions is for the rest."""
    given = _convert.array(x, "piecewise")
    if isinstance(condlist, Array):
        single = condlist.ndim == 0 or 0 < given.ndim == condlist.ndim
    else:
        single = np.isscalar(condlist) or (given.ndim > 0 and not isinstance(condlist[0], (list, np.ndarray, Array)))
    condlist = [condlist] if single else condlist
    conditions = _convert.arrays("piecewise", given, *condlist)[1:]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise InvalidValueError(
            f"{len(funclist)} functions for {len(conditions)} conditions", op="piecewise", remedy="Give as many."
        )
    result = stator.zeros_like(given)
    if len(funclist) > len(conditions):
        covered = stator.zeros(given.shape, dtype="bool", device=given.backend)
        for condition in conditions:
            covered = stator.logical_or(covered, condition.astype("bool", copy=False))
        conditions.append(stator.logical_not(covered))
    for condition, function in zip(conditions, funclist, strict=True):
        value = function(given, *args, **kw) if callable(function) else function
        value = _convert.assigned(value, given.dtype, "piecewise", like=given)
        result = stator.where(condition.astype("bool", copy=False), value, result)
    return result


@same
def where(condition: ArrayLike, x: Any = None, y: Any = None, /) -> Any:
    """The elements of x where the condition is true, else of y; with only the condition, its nonzero()."""
    if x is None and y is None:
        return stator.nonzero(_convert.array(condition, "where"))
    if x is None or y is None:
        raise InvalidValueError("Either both or neither of x and y are given", op="where", remedy="Give both.")
    like = _convert.first_array((condition, x, y))
    mask = _convert.array(condition, "where", like=like).astype("bool", copy=False)
    a, b = (
        _convert.operands("where", x, y)
        if like is None
        else (_convert.number_or_array(x, "where", like), _convert.number_or_array(y, "where", like))
    )
    if _convert.is_number(a) and _convert.is_number(b):
        kind = stator.result_type(*(stator.asarray(v, device="cpu").dtype for v in (a, b)))
        return stator.where(mask, stator.full((), a, device=mask.backend).astype(kind), b).astype(kind, copy=False)
    return stator.where(mask, a, b)


@differs("Indices that are out of range are checked by reading two numbers back")
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """The index along each axis of positions in the flattened array. Synchronises."""
    lengths = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    index = _convert.integers(indices, "unravel_index").astype("int64")
    if index.size and not bool(stator.all((index >= 0) & (index < math.prod(lengths)))):
        raise InvalidValueError(
            f"An index is out of bounds for an array of {math.prod(lengths)} elements",
            op="unravel_index",
            remedy="Give indices of its elements.",
        )
    forward = not _convert.order_is_c(order, "unravel_index")
    found = []
    for length in lengths if forward else reversed(lengths):
        found.append(stator.remainder(index, max(length, 1)))
        index = stator.floor_divide(index, max(length, 1))
    return tuple(found if forward else reversed(found))


@differs("Indices that are out of range are checked by reading a number back for each axis")
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """Positions in the flattened array of indices along each axis. Synchronises with mode 'raise'."""
    lengths = (dims,) if isinstance(dims, (int, np.integer)) else tuple(dims)
    parts = list(stator.unstack(multi_index)) if isinstance(multi_index, Array) else list(multi_index)
    like = _convert.first_array(parts)
    if len(parts) != len(lengths):
        raise ShapeError(f"{len(parts)} indices", op="ravel_multi_index", remedy=f"Give {len(lengths)}.")
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    strides = np.cumprod([1, *(lengths[::-1] if _convert.order_is_c(order, "ravel_multi_index") else lengths)])[:-1]
    if _convert.order_is_c(order, "ravel_multi_index"):
        strides = strides[::-1]
    total: Array | None = None
    for part, length, stride, how in zip(parts, lengths, strides.tolist(), modes, strict=True):
        index = _convert.integers(part, "ravel_multi_index", like=like).astype("int64", copy=False)
        if how == "raise" and not bool(stator.all((index >= 0) & (index < length))):
            raise InvalidValueError(
                "Invalid entry in coordinates array",
                op="ravel_multi_index",
                remedy="Give indices in range, or mode='clip'.",
            )
        index = stator.multiply(in_mode(index, length, how, "ravel_multi_index"), stride)
        total = index if total is None else stator.add(total, index)
    return stator.zeros((), dtype="int64") if total is None else total


@same
def fill_diagonal(a: Array, val: ArrayLike, wrap: bool = False) -> None:
    """Writes values on the main diagonal of an array of equal lengths, or of a matrix. In place."""
    x = _own(a, "fill_diagonal")
    if x.ndim < 2:
        raise ShapeError("The array must be at least 2-d", op="fill_diagonal", remedy="Give a matrix.")
    if x.ndim > 2 and len(set(x.shape)) > 1:
        raise ShapeError(f"shape {x.shape}", op="fill_diagonal", remedy="Pass an array whose axes have equal lengths.")
    columns = x.shape[1]
    if x.ndim == 2:
        step = columns + 1
        end = x.size if wrap else min(x.size, columns * columns)
    else:
        step, end = 1 + int(np.cumprod(x.shape[:-1]).sum()), x.size
    count = len(range(0, end, step))
    if not count:
        return
    values = cycled(stator.ravel(_convert.assigned(val, x.dtype, "fill_diagonal", like=x)), count)
    places = stator.arange(0, end, step, device=x.backend)
    flat = stator.ravel(x)
    flat[places] = values
    if not x.is_contiguous:
        x[...] = stator.reshape(flat, x.shape)
