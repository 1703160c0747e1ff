"""Sorting, searching and sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import stator
from stator._array import Array
from stator._array_methods import partitioned
from stator.errors import DTypeError, InvalidValueError, OutOfRangeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, Out
from stator.numpy._rows import differs, same

STABLE = "Always stable, whatever kind= and stable= say; order= of fields is refused"


def _plain(x: Array, axis: int | None) -> tuple[Array, int]:
    return (stator.ravel(x), -1) if axis is None else (x, axis)


def _no_fields(order: Any, op: str) -> None:
    if order is not None:
        raise InvalidValueError(f"order={order!r}", op=op, remedy="Omit it; dtypes of stator have no fields.")


@differs(STABLE)
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool | None = None,
) -> Array:
    """A sorted copy; NaN comes last."""
    _no_fields(order, "sort")
    x, axis = _plain(_convert.array(a, "sort"), axis)
    return stator.sort(x, axis=axis, descending=bool(descending))


@differs(STABLE)
def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool | None = None,
) -> Array:
    """The indices that sort."""
    x = _convert.array(a, "argsort")
    if not descending or x.ndim == 0:
        return _convert.called("argsort", x, axis, kind, order)
    _no_fields(order, "argsort")
    x, axis = _plain(x, axis)
    return stator.argsort(x, axis=axis, descending=True)


@differs("One sort for each key, the last one first")
def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys, of which the last is the first to compare."""
    parts = stator.broadcast_arrays(*_convert.array_list(keys, "lexsort"))
    if not parts:
        raise DTypeError("No keys", op="lexsort", remedy="Give at least one.")
    order = stator.argsort(parts[0], axis=axis)
    for part in parts[1:]:
        again = stator.argsort(stator.take_along_axis(part, order, axis=axis), axis=axis)
        order = stator.take_along_axis(order, again, axis=axis)
    return order


def _kth(kth: Any) -> Any:
    return [int(k) for k in kth] if hasattr(kth, "__iter__") else kth


@differs("Where the other elements stand differs; complex numbers are sorted; order= of fields is refused")
def partition(a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Array:
    """A copy with the elements of the sorted array at the positions kth, the smaller ones before them."""
    _no_fields(order, "partition")
    x, axis = _plain(_convert.array(a, "partition"), axis)
    return partitioned(x, kth, axis)


@differs("It is argsort, so that the other indices stand elsewhere; order= of fields is refused")
def argpartition(a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Array:
    """The indices that sort, which also partition."""
    _no_fields(order, "argpartition")
    x, axis = _plain(_convert.array(a, "argpartition"), axis)
    length = x.shape[_convert.axis(axis, x.ndim, "argpartition")]
    wanted = _kth(kth)
    if any(not -length <= k < length for k in (wanted if isinstance(wanted, list) else [wanted])):
        raise InvalidValueError(f"kth={kth!r} of {length} elements", op="argpartition", remedy="Give one in range.")
    return stator.argsort(x, axis=axis)


@same
def sort_complex(a: ArrayLike) -> Array:
    """A sorted copy, of a complex dtype."""
    x = stator.sort(_convert.array(a, "sort_complex"))
    if x.dtype.kind == "c":
        return x
    small = x.dtype.name in ("int8", "uint8", "int16", "uint16")
    return x.astype("complex64" if small else "complex128")


@same
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: Any = None) -> Array:
    """The indices of values among sorted boundaries."""
    return _convert.called("searchsorted", a, v, side, sorter)


@same
def nonzero(a: ArrayLike) -> tuple[Array, ...]:
    """The indices of the elements that are not 0, one array for each axis. Synchronises."""
    return stator.nonzero(_convert.array(a, "nonzero"))


@same
def argwhere(a: ArrayLike) -> Array:
    """The indices of the elements that are not 0, one row for each. Synchronises."""
    x = _convert.array(a, "argwhere")
    if x.ndim == 0:
        return stator.zeros((int(bool(x)), 0), dtype="int64", device=x.backend)
    return stator.stack(stator.nonzero(x), axis=1)


@same
def flatnonzero(a: ArrayLike) -> Array:
    """The indices of the elements of the flattened array that are not 0. Synchronises."""
    return stator.nonzero(stator.ravel(_convert.array(a, "flatnonzero")))[0]


@differs("A 0-d or flattened result and the flags as in NumPy; with axis= one sort for each column; synchronises")
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The distinct elements, or slices along an axis, in order, with indices, inverse and counts if asked."""
    x = _convert.array(ar, "unique")
    if axis is None:
        found = stator.unique_all(x)
        values, first, inverse, counts = found
        if equal_nan and x.dtype.kind in "fc":
            values, first, inverse, counts = _one_nan(values, first, inverse, counts)
    else:
        axis = _convert.axis(axis, x.ndim, "unique")
        if x.ndim == 1:
            return unique(x, return_index, return_inverse, return_counts, equal_nan=equal_nan)
        values, first, inverse, counts = _unique_slices(x, axis)
    flags = ((return_index, first), (return_inverse, inverse), (return_counts, counts))
    asked = tuple(part for flag, part in flags if flag)
    return (values, *asked) if asked else values


def _one_nan(values: Array, first: Array, inverse: Array, counts: Array) -> tuple[Array, Array, Array, Array]:
    missing = int(stator.count_nonzero(stator.isnan(values)))
    if missing < 2:
        return values, first, inverse, counts
    end = values.size - missing
    total = stator.reshape(stator.sum(counts[end:]), (1,))
    return values[: end + 1], first[: end + 1], stator.minimum(inverse, end), stator.concat([counts[:end], total])


def _unique_slices(x: Array, axis: int) -> tuple[Array, Array, Array, Array]:
    rows = stator.moveaxis(x, axis, 0)
    flat = stator.reshape(rows, (rows.shape[0], -1)) if x.size else stator.zeros((rows.shape[0], 1), device=x.backend)
    order = lexsort(list(stator.unstack(stator.flip(flat, axis=1), axis=1)))
    ordered = stator.take(flat, order, axis=0)
    starts = stator.concat(
        [
            stator.ones((min(rows.shape[0], 1),), dtype="bool", device=x.backend),
            stator.any(stator.not_equal(ordered[1:], ordered[:-1]), axis=1),
        ]
    )
    places = stator.nonzero(starts)[0]
    group = stator.subtract(stator.cumulative_sum(starts.astype("int64")), 1)
    inverse = stator.zeros_like(order)
    inverse[order] = group
    first = stator.take(order, places)
    counts = stator.bincount(group, minlength=places.size)
    return stator.moveaxis(stator.take(rows, first, axis=0), 0, axis), first, inverse, counts


class UniqueAllResult(NamedTuple):
    """values, indices, inverse_indices and counts."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """values and counts."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """values and inverse_indices."""

    values: Array
    inverse_indices: Array


@same
def unique_all(x: ArrayLike) -> UniqueAllResult:
    """The distinct elements with their first indices, the inverse and counts; each NaN is distinct. Synchronises."""
    return UniqueAllResult(*stator.unique_all(_convert.array(x, "unique_all")))


@same
def unique_counts(x: ArrayLike) -> UniqueCountsResult:
    """The distinct elements and their counts; each NaN is distinct. Synchronises."""
    return UniqueCountsResult(*stator.unique_counts(_convert.array(x, "unique_counts")))


@same
def unique_inverse(x: ArrayLike) -> UniqueInverseResult:
    """The distinct elements and the inverse; each NaN is distinct. Synchronises."""
    return UniqueInverseResult(*stator.unique_inverse(_convert.array(x, "unique_inverse")))


@differs("The values are sorted")
def unique_values(x: ArrayLike) -> Array:
    """The distinct elements; each NaN is distinct. Synchronises."""
    return stator.unique_values(_convert.array(x, "unique_values"))


@differs("kind= has no effect")
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Array:
    """Whether each element is among the test elements."""
    x, y = _convert.arrays("isin", element, test_elements)
    return stator.isin(x, y, invert=invert)


def _flat_pair(ar1: ArrayLike, ar2: ArrayLike, op: str) -> tuple[Array, Array]:
    a, b = (stator.ravel(v) for v in _convert.arrays(op, ar1, ar2))
    kind = stator.result_type(a.dtype, b.dtype)
    return a.astype(kind, copy=False), b.astype(kind, copy=False)


@same
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Array:
    """The elements of either array, sorted. Synchronises."""
    found: Array = unique(stator.concat(_flat_pair(ar1, ar2, "union1d")))
    return found


@same
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The elements of both arrays, sorted, with their first indices in each if asked. Synchronises."""
    a, b = _flat_pair(ar1, ar2, "intersect1d")
    if assume_unique:
        order1, order2 = stator.argsort(a), stator.argsort(b)
        values, first, other, second = stator.take(a, order1), order1, stator.take(b, order2), order2
    else:
        values, first = unique(a, return_index=True)
        other, second = unique(b, return_index=True)
    mask = stator.isin(values, other)
    common = stator.masked_select(values, mask)
    if not return_indices:
        return common
    return common, stator.masked_select(first, mask), stator.masked_select(second, stator.isin(other, values))


@same
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Array:
    """The elements of the first array that are not in the second, sorted unless assume_unique. Synchronises."""
    x, y = _convert.arrays("setdiff1d", ar1, ar2)
    x = stator.ravel(x) if assume_unique else unique(x)
    return stator.masked_select(x, isin(x, y, invert=True))


@same
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Array:
    """The elements of exactly one of the arrays, sorted. Synchronises."""
    a, b = _flat_pair(ar1, ar2, "setxor1d")
    parts: Iterable[Array] = [
        stator.masked_select(a, stator.isin(a, b, invert=True)),
        stator.masked_select(b, stator.isin(b, a, invert=True)),
    ]
    joined = stator.concat(list(parts))
    return stator.sort(joined) if assume_unique else unique(joined)


@differs("The number of results is read back")
def extract(condition: ArrayLike, arr: ArrayLike) -> Array:
    """The elements of the flattened array where the flattened condition is true. Synchronises."""
    mask, x = _convert.arrays("extract", condition, arr)
    mask, x = stator.ravel(mask).astype("bool", copy=False), stator.ravel(x)
    return stator.take(x, stator.nonzero(mask)[0])


@differs("The number of results is read back")
def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: Out = None) -> Array:
    """The slices along an axis where the condition is true. Synchronises."""
    mask, x = _convert.arrays("compress", condition, a)
    length = x.size if axis is None else x.shape[_convert.axis(axis, x.ndim, "compress")]
    if mask.ndim == 1 and mask.shape[0] > length:  # what is false beyond the end is nothing
        if bool(stator.any(mask[length:])):
            raise OutOfRangeError(f"A condition beyond {length} elements", op="compress", remedy="Give one for each.")
        mask = mask[:length]
    return _convert.called("compress", x, mask, axis, _convert.out_array(out, "compress"))
