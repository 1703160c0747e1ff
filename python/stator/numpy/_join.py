"""Joining, splitting and repeating arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import stator
from stator._array import Array
from stator.errors import InvalidValueError, OutOfRangeError, ShapeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike, Out
from stator.numpy._rows import add, differs, same
from stator.numpy._shape import atleast_1d, atleast_2d, atleast_3d


def _joined(
    parts: list[Array], axis: int | None, out: Out, dtype: DTypeLike, casting: str, op: str, join: Any = stator.concat
) -> Array:
    if not parts:
        raise InvalidValueError("Need at least one array", op=op, remedy="Give a list that is not empty.")
    kind = _convert.dtype_or_none(dtype)
    if kind is not None:
        for part in parts:
            _convert.require_cast(part.dtype, kind, op, casting)
        parts = [p.astype(kind, copy=False) for p in parts]
    return _convert.store(join(parts, axis=axis), out, op)


@same
def concatenate(
    arrays: Iterable[ArrayLike],
    /,
    axis: int | None = 0,
    out: Out = None,
    *,
    dtype: DTypeLike = None,
    casting: str = "same_kind",
) -> Array:
    """The arrays joined along an axis; None joins them flattened."""
    return _joined(_convert.array_list(arrays, "concatenate"), axis, out, dtype, casting, "concatenate")


add("concat", concatenate)


@same
def stack(
    arrays: Iterable[ArrayLike], axis: int = 0, out: Out = None, *, dtype: DTypeLike = None, casting: str = "same_kind"
) -> Array:
    """Arrays of one shape joined along a new axis."""
    return _joined(_convert.array_list(arrays, "stack"), axis, out, dtype, casting, "stack", stator.stack)


@same
def vstack(tup: Iterable[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Arrays below each other; vectors are rows."""
    parts = [atleast_2d(x) for x in _convert.array_list(tup, "vstack")]
    return _joined(parts, 0, None, dtype, casting, "vstack")


add("row_stack", vstack)


@same
def hstack(tup: Iterable[ArrayLike], *, dtype: DTypeLike = None, casting: str = "same_kind") -> Array:
    """Arrays beside each other: vectors along their axis, others along the second."""
    parts = [atleast_1d(x) for x in _convert.array_list(tup, "hstack")]
    return _joined(parts, 0 if parts and parts[0].ndim == 1 else 1, None, dtype, casting, "hstack")


@same
def dstack(tup: Iterable[ArrayLike]) -> Array:
    """Arrays one after another, along the third axis."""
    return _joined([atleast_3d(x) for x in _convert.array_list(tup, "dstack")], 2, None, None, "", "dstack")


@same
def column_stack(tup: Iterable[ArrayLike]) -> Array:
    """Vectors as the columns of a matrix."""
    parts = [x if x.ndim > 1 else stator.reshape(x, (-1, 1)) for x in _convert.array_list(tup, "column_stack")]
    return _joined(parts, 1, None, None, "", "column_stack")


@same
def block(arrays: Any) -> Array:
    """Nested lists of arrays, joined along the last axis first."""

    def depth_of(value: Any) -> int:
        return 1 + max((depth_of(v) for v in value), default=0) if isinstance(value, list) else 0

    def leaves(value: Any) -> list[Any]:
        return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list) else [value]

    def check(value: Any, depth: int) -> None:
        if isinstance(value, list) != (depth > 0) or (depth and not value):
            raise InvalidValueError(
                "The lists have different depths or are empty",
                op="block",
                remedy="Pass lists that are nested to the same depth.",
            )
        for entry in value if depth else ():
            check(entry, depth - 1)

    depth = depth_of(arrays)
    check(arrays, depth)
    like = _convert.first_array(leaves(arrays))
    ndim = max([depth, *(np.ndim(v) if not isinstance(v, Array) else v.ndim for v in leaves(arrays))])

    def joined(value: Any, level: int) -> Array:
        if not isinstance(value, list):
            x = _convert.array(value, "block", like=like)
            return stator.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
        return stator.concat([joined(v, level + 1) for v in value], axis=ndim - depth + level)

    return stator.copy(joined(arrays, 0)) if depth == 0 else joined(arrays, 0)


def _cuts(value: Any) -> Any:
    return (
        [int(i) for i in value.to_numpy()]
        if isinstance(value, Array)
        else ([int(i) for i in value] if hasattr(value, "__iter__") else value)
    )


@same
def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Views split along an axis, of lengths that differ by at most one."""
    return list(stator.split(_convert.array(ary, "array_split"), _cuts(indices_or_sections), axis))


@same
def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Views split along an axis; a number of them must divide its length."""
    x = _convert.array(ary, "split")
    axis = _convert.axis(axis, x.ndim, "split")
    if isinstance(indices_or_sections, (int, np.integer)) and x.shape[axis] % indices_or_sections:
        raise ShapeError("Array split does not result in an equal division", op="split", remedy="Use array_split.")
    return array_split(x, indices_or_sections, axis)


@same
def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """Views split along the second axis, or that of a vector."""
    x = _convert.array(ary, "hsplit")
    _deep_enough(x, 1, "hsplit")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


@same
def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """Views split along the first axis."""
    x = _convert.array(ary, "vsplit")
    _deep_enough(x, 2, "vsplit")
    return split(x, indices_or_sections, 0)


@same
def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """Views split along the third axis."""
    x = _convert.array(ary, "dsplit")
    _deep_enough(x, 3, "dsplit")
    return split(x, indices_or_sections, 2)


def _deep_enough(x: Array, wanted: int, op: str) -> None:
    if x.ndim < wanted:
        raise ShapeError(f"{x.ndim} axes", op=op, remedy=f"Give an array of at least {wanted}.")


@same
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Views, one per index along an axis."""
    return stator.unstack(_convert.array(x, "unstack"), axis=axis)


@same
def tile(A: ArrayLike, reps: Any) -> Array:
    """The array repeated as a whole along each axis."""
    return stator.tile(_convert.array(A, "tile"), tuple(reps) if isinstance(reps, (list, range)) else reps)


@differs("An array of repeats is read back, which synchronises")
def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> Array:
    """Each element repeated."""
    x = _convert.array(a, "repeat")
    axis = 0 if x.ndim == 0 and axis in (0, -1) else axis
    x = stator.reshape(x, (1,)) if x.ndim == 0 else x
    number = isinstance(repeats, (int, np.integer))
    counts = int(repeats) if number else _convert.integers(repeats, "repeat", like=x, bools=True)
    return _convert.called("repeat", x, counts, axis)


@same
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """A copy with values joined at the end; without an axis both are flattened."""
    x, more = _convert.arrays("append", arr, values)
    return stator.concat([x, more], axis=axis)


@same
def resize(a: ArrayLike, new_shape: Any) -> Array:
    """A copy in a shape of any size, with the elements repeated as often as needed."""
    x = stator.ravel(_convert.array(a, "resize"))
    shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    size = int(np.prod(shape, dtype=np.int64))
    if min(shape, default=0) < 0:
        raise ShapeError(f"shape {shape}", op="resize", remedy="Give lengths that are not negative.")
    if x.size == 0:
        return stator.zeros(shape, dtype=x.dtype, device=x.backend)
    return stator.reshape(stator.copy(stator.tile(x, -(-size // x.size) if size else 1)[:size]), shape)


def _along(x: Array, axis: int | None, op: str) -> tuple[Array, int]:
    return (stator.ravel(x), 0) if axis is None else (x, _convert.axis(axis, x.ndim, op))


def _positions(obj: Any, length: int) -> np.ndarray[Any, Any]:
    """Indices along an axis on the host, from a slice, a number, a list or an array, which is read back."""
    if isinstance(obj, slice):
        return np.arange(length)[obj]
    given = np.asarray(obj.to_numpy() if isinstance(obj, Array) else obj)
    return given.astype(np.int64) if given.size == 0 else given


def _checked(function: Any, op: str, *args: Any) -> np.ndarray[Any, Any]:
    """NumPy's function of indices along an axis, with its IndexError as that of stator."""
    try:
        found: np.ndarray[Any, Any] = function(*args)
    except IndexError as error:
        raise OutOfRangeError(str(error), op=op, remedy="Give indices within the axis.") from None
    except ValueError as error:
        raise InvalidValueError(str(error), op=op, remedy="Give a mask of the axis.") from None
    return found


@differs("Indices given as an array are read back, which synchronises")
def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> Array:
    """A copy without the slices at the given indices of an axis."""
    x, axis = _along(_convert.array(arr, "delete"), axis, "delete")
    keep = _checked(np.delete, "delete", np.arange(x.shape[axis]), _positions(obj, x.shape[axis]))
    return stator.take(x, stator.asarray(keep, device=x.backend), axis=axis)


@differs("Indices given as an array are read back, which synchronises")
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Array:
    """A copy with values put before the given indices of an axis."""
    x, axis = _along(_convert.array(arr, "insert"), axis, "insert")
    given = _convert.assigned(values, x.dtype, "insert", like=x)
    length = x.shape[axis]
    places = _positions(obj, length)
    if places.dtype == bool:
        if places.ndim != 1:
            raise InvalidValueError("A mask of other axes", op="insert", remedy="Give a vector of bools.")
        places = np.flatnonzero(places)
    one = places.ndim == 0 or places.size == 1
    if one and places.ndim == 0:
        added = given if given.ndim >= x.ndim else stator.reshape(given, (1,) * (x.ndim - given.ndim) + given.shape)
        if (given.ndim and given.ndim < x.ndim) or (given.ndim == x.ndim and axis and given.shape[axis] != 1):
            added = stator.moveaxis(added, 0, axis)
    else:
        added = given if given.ndim >= x.ndim else stator.reshape(given, (1,) * (x.ndim - given.ndim) + given.shape)
    count = added.shape[axis] if one else places.size
    slab = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    added = stator.broadcast_to(added, slab)
    fresh = np.arange(length, length + count)
    where = _checked(np.insert, "insert", np.arange(length), np.repeat(places, count) if one else places, fresh)
    both = stator.concat([x, added], axis=axis)
    return stator.take(both, stator.asarray(where, device=x.backend), axis=axis)


@differs("Reads the elements that are not 0 back, which synchronises")
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Any = None) -> Array:
    """A view without the zeros at the ends: f of the front, b of the back."""
    x = _convert.array(filt, "trim_zeros")
    chosen = trim.lower()
    if chosen not in ("f", "b", "fb", "bf"):
        raise InvalidValueError(f"trim={trim!r}", op="trim_zeros", remedy="Pass 'f', 'b' or 'fb'.")
    places = [p.to_numpy() for p in stator.nonzero(x)]
    key: list[slice] = [slice(None)] * x.ndim
    for one in _convert.axes(axis, x.ndim, "trim_zeros"):
        found = places[one]
        first, last = (int(found.min()), int(found.max()) + 1) if found.size else (0, 0)
        if not found.size:
            first, last = (x.shape[one], x.shape[one]) if "f" in chosen else (0, 0)
        key[one] = slice(first if "f" in chosen else None, last if "b" in chosen else None)
    return x[tuple(key)]
