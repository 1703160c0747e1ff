# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Sorting, what is read off sorted lines, searching, sets."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport after_wait, enter
from stator._convert cimport to_axes, to_int, to_scalar
from stator.cpp cimport sets
from stator.cpp cimport sort as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Int64Span
from stator.cpp.std cimport optional, vector

from stator.errors import DTypeError, InvalidValueError

TopK = namedtuple("TopK", ("values", "indices"), module="stator._sort")
KthValue = namedtuple("KthValue", ("values", "indices"), module="stator._sort")
Mode = namedtuple("Mode", ("values", "counts"), module="stator._sort")
UniqueAll = namedtuple("UniqueAll", ("values", "indices", "inverse_indices", "counts"), module="stator._sort")
UniqueCounts = namedtuple("UniqueCounts", ("values", "counts"), module="stator._sort")
UniqueInverse = namedtuple("UniqueInverse", ("values", "inverse_indices"), module="stator._sort")
UniqueConsecutive = namedtuple("UniqueConsecutive", ("values", "inverse", "counts"), module="stator._sort")

METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased",
           "normal_unbiased")


cdef Array sorted_array(bint places, object x, object axis, object descending, str op):
    cdef Array source = as_array(x, op), out
    cdef cpp.SortOptions options
    cdef CppStream stream
    options.axis = to_int(axis, op)
    options.descending = bool(descending)
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        if places:
            out.c = cpp.argsort(source.c, options, stream)
        else:
            out.c = cpp.sort(source.c, options, stream)
    return out


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """A sorted copy along an axis; always stable. Asynchronous.

    NaN is above every number: last in ascending order, first in descending cpp. -0 and 0 tie, ties keep their cpp.
    Complex numbers: by real part, then by imaginary part, as NumPy.
    """
    return sorted_array(False, x, axis, descending, "sort")


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The int64 indices that sort along an axis; always stable, order as sort. Asynchronous."""
    return sorted_array(True, x, axis, descending, "argsort")


def topk(x: Array, k: int, /, *, axis: int = -1, largest: bool = True, sorted: bool = True) -> TopK:
    """(values, indices) of the k largest along an axis, or the k smallest; of ties the lowest indices. Asynchronous.

    Best first, whatever `sorted` says. NaN is above every number.
    """
    cdef Array source = as_array(x, "topk"), values, indices
    cdef int64_t count = to_int(k, "topk"), along = to_int(axis, "topk")
    cdef cbool high = bool(largest)
    cdef cpp.Ranked found
    cdef CppStream stream
    enter(source.backend, stream)
    values, indices = new_array(source.backend), new_array(source.backend)
    with nogil:
        found = cpp.topk(source.c, count, along, high, stream)
        values.c = found.values
        indices.c = found.indices
    return TopK(values, indices)


def kthvalue(x: Array, k: int, /, *, axis: int = -1, keepdims: bool = False) -> KthValue:
    """(values, indices) of the k-th smallest element along an axis, counted from 1; order as sort. Asynchronous."""
    cdef Array source = as_array(x, "kthvalue"), values, indices
    cdef int64_t rank = to_int(k, "kthvalue"), along = to_int(axis, "kthvalue")
    cdef cbool keep = bool(keepdims)
    cdef cpp.Ranked found
    cdef CppStream stream
    enter(source.backend, stream)
    values, indices = new_array(source.backend), new_array(source.backend)
    with nogil:
        found = cpp.kthvalue(source.c, rank, along, keep, stream)
        values.c = found.values
        indices.c = found.indices
    return KthValue(values, indices)


def partition(x: Array, kth: int | Sequence[int], /, *, axis: int = -1) -> Array:
    """A copy whose elements `kth` along an axis stand where sorting puts them: none before them is greater, none after
    them less. Asynchronous."""
    cdef Array source = as_array(x, "partition"), out
    cdef int64_t along = to_int(axis, "partition")
    cdef vector[int64_t] ranks
    cdef CppStream stream
    for rank in kth if isinstance(kth, (tuple, list)) else (kth,):
        ranks.push_back(to_int(rank, "partition"))
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.partition(source.c, Int64Span(ranks.data(), ranks.size()), along, stream)
    return out


cdef double to_level(object q) except? -1:
    if isinstance(q, (int, float)) or hasattr(q, "__float__") and not isinstance(q, Array):
        return float(q)
    raise DTypeError(f"q is a {type(q).__name__}", op="quantile", remedy="Give numbers in 0..1.")


def quantile(x: Array, q: float | Sequence[float], /, *, axis: int | Sequence[int] | None = None,
             keepdims: bool = False, method: str = "linear") -> Array:
    """numpy.quantile along axes (None: all); a sequence of q gives a first axis. Asynchronous.

    Computed in float64 and rounded once to x's dtype, float64 for integers and bool. NaN gives NaN. method: linear,
    lower, higher, midpoint, nearest (half to even), hazen, weibull, median_unbiased, normal_unbiased.
    """
    cdef Array source = as_array(x, "quantile"), out
    cdef cpp.QuantileOptions options
    cdef cbool scalar = not isinstance(q, (tuple, list)) and getattr(q, "ndim", 0) == 0
    cdef vector[double] levels
    cdef CppStream stream
    if isinstance(q, Array):
        to_level(q)
    for level in (q,) if scalar else q:
        levels.push_back(to_level(level))
    if method not in METHODS:
        raise InvalidValueError(f"method={method!r}", op="quantile", remedy=f"Use one of {', '.join(METHODS)}.")
    to_axes(axis, options.axes, "quantile")
    options.keepdims = bool(keepdims)
    options.method = <cpp.QuantileMethod><int>METHODS.index(method)
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.quantile(source.c, cpp.DoubleSpan(levels.data(), levels.size()), scalar, options, stream)
    return out


def median(x: Array, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Array:
    """The middle element, or the mean of the middle two, over axes (None: all). NaN gives NaN. Asynchronous."""
    cdef Array source = as_array(x, "median"), out
    cdef cpp.QuantileOptions options
    cdef CppStream stream
    to_axes(axis, options.axes, "median")
    options.keepdims = bool(keepdims)
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.median(source.c, options, stream)
    return out


def mode(x: Array, /, *, axis: int = -1, keepdims: bool = False) -> Mode:
    """(values, counts): the most frequent value along an axis, the least of ties, as scipy.stats.mode. Asynchronous.

    All NaN count as one value, above every number; -0 and 0 are one value.
    """
    cdef Array source = as_array(x, "mode"), values, counts
    cdef int64_t along = to_int(axis, "mode")
    cdef cbool keep = bool(keepdims)
    cdef cpp.Modes found
    cdef CppStream stream
    enter(source.backend, stream)
    values, counts = new_array(source.backend), new_array(source.backend)
    with nogil:
        found = cpp.mode(source.c, along, keep, stream)
        values.c = found.values
        counts.c = found.counts
    return Mode(values, counts)


def searchsorted(x1: Array, x2: Array, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """Where the values x2, of any shape, belong among the sorted boundaries x1: int64. Asynchronous.

    x1: one axis; or rows, with the leading axes of x2. side: before ("left") or after ("right") equal boundaries.
    sorter: indices of x1's shape that sort it, such as argsort gives; one out of range raises IndexError at the next
    synchronising call. NaN is above every number. Two dtypes are promoted first.
    """
    cdef Array boundaries = as_array(x1, "searchsorted"), values = as_array(x2, "searchsorted"), out
    cdef sets.SearchOptions options
    cdef CppStream stream
    if side not in ("left", "right"):
        raise InvalidValueError(f"side={side!r}", op="searchsorted", remedy="Use 'left' or 'right'.")
    options.right = side == "right"
    options.sorter = as_out(sorter, "searchsorted")
    enter(boundaries.backend, stream)
    out = new_array(boundaries.backend)
    with nogil:
        out.c = sets.searchsorted(boundaries.c, values.c, options, stream)
    return out


def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is (invert: is not) among those of x2. NaN is in nothing. Asynchronous."""
    cdef Array elements = as_array(x1, "isin"), test = as_array(x2, "isin"), out
    cdef cbool opposite = bool(invert)
    cdef CppStream stream
    enter(elements.backend, stream)
    out = new_array(elements.backend)
    with nogil:
        out.c = sets.isin(elements.c, test.c, opposite, stream)
    return out


cdef Array wrapped(Array source, const CppArray& c):
    cdef Array out = new_array(source.backend)
    out.c = c
    return out


cdef Array find(sets.UniqueOp op, str name, object x, object size, object fill_value, sets.Unique& found):
    cdef Array source = as_array(x, name)
    cdef sets.UniqueOptions options
    cdef CppStream stream
    if size is not None:
        options.size = optional[int64_t](to_int(size, name))
    if not to_scalar(fill_value, options.fill):
        raise DTypeError(f"fill_value is a {type(fill_value).__name__}", op=name, remedy="Give a number.")
    enter(source.backend, stream)
    with nogil:
        found = sets.unique(op, source.c, options, stream)
    if size is None:
        after_wait(source.backend)
    return source


def unique_all(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueAll:
    """(values, indices, inverse_indices, counts): the distinct elements, ascending; each NaN is distinct.

    indices: of the first occurrence, in the flattened array. inverse_indices: of x's shape. Synchronises once to learn
    how many there are; with `size` there are that many results and nothing synchronises: more are dropped, missing ones
    are fill_value with index -1 and count 0.
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_all, "unique_all", x, size, fill_value, found)
    return UniqueAll(wrapped(source, found.values), wrapped(source, found.indices), wrapped(source, found.inverse),
                     wrapped(source, found.counts))


def unique_counts(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueCounts:
    """(values, counts) of unique_all. Synchronises once unless `size` is given."""
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_counts, "unique_counts", x, size, fill_value, found)
    return UniqueCounts(wrapped(source, found.values), wrapped(source, found.counts))


def unique_inverse(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueInverse:
    """(values, inverse_indices) of unique_all. Synchronises once unless `size` is given."""
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_inverse, "unique_inverse", x, size, fill_value, found)
    return UniqueInverse(wrapped(source, found.values), wrapped(source, found.inverse))


def unique_values(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> Array:
    """The values of unique_all. Synchronises once unless `size` is given."""
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_values, "unique_values", x, size, fill_value, found)
    return wrapped(source, found.values)


def unique_consecutive(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueConsecutive:
    """(values, inverse, counts) of the runs of equal neighbours in the flattened array; each NaN is a run.

    inverse: of x's shape, the run of each element. Synchronises once unless `size` is given, as unique_all.
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_consecutive, "unique_consecutive", x, size, fill_value, found)
    return UniqueConsecutive(wrapped(source, found.values), wrapped(source, found.inverse),
                             wrapped(source, found.counts))
