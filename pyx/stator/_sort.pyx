# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Sorting, order statistics, quantiles and modes."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator._convert cimport to_axes, to_choice, to_flag, to_float, to_int, to_ints
from stator.cpp cimport sort as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Int64Span
from stator.cpp.std cimport vector

TopK = namedtuple("TopK", ("values", "indices"), module="stator._sort")
KthValue = namedtuple("KthValue", ("values", "indices"), module="stator._sort")
Mode = namedtuple("Mode", ("values", "counts"), module="stator._sort")

METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased",
           "normal_unbiased")


cdef Array sorted_array(bint indices, object x, object axis, object descending, object stable, str op):
    cdef Array source = as_array(x, op), out
    cdef cpp.SortOptions options
    cdef CppStream stream
    options.axis = to_int(axis, op)
    options.descending = to_flag(descending, op, "descending")
    to_flag(stable, op, "stable")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        if indices:
            out.c = cpp.argsort(source.c, options, stream)
        else:
            out.c = cpp.sort(source.c, options, stream)
    return out


def sort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """A copy of x sorted along an axis, always stable. Asynchronous.

    NaN is greater than every number: last in ascending, first in descending order. -0 and 0 tie, and ties keep their
    order. Complex numbers are sorted by real part, then by imaginary part, as in NumPy.

    >>> stator.sort(stator.asarray([3, 1, 2]), descending=True).tolist()
    [3, 2, 1]
    """
    return sorted_array(False, x, axis, descending, stable, "sort")


def argsort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The int64 indices that sort x along an axis, always stable, in the order of sort. Asynchronous.

    >>> stator.argsort(stator.asarray([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    return sorted_array(True, x, axis, descending, stable, "argsort")


def topk(x: Array, k: int, /, *, axis: int = -1, largest: bool = True, sorted: bool = True) -> TopK:
    """(values, indices) of the k largest elements along an axis, or the k smallest. Asynchronous.

    indices: int64. The most extreme element comes first, whatever sorted is; of ties those of the lowest index. NaN is
    greater than every number. Real dtypes and bool. InvalidValueError unless k is from 0 to the axis's length.

    >>> values, indices = stator.topk(stator.asarray([3, 1, 2]), 2)
    >>> values.tolist(), indices.tolist()
    ([3, 2], [0, 2])
    """
    cdef Array source = as_array(x, "topk"), values, indices
    cdef int64_t count = to_int(k, "topk", "k"), along = to_int(axis, "topk")
    cdef cbool high = to_flag(largest, "topk", "largest")
    cdef cpp.Ranked found
    cdef CppStream stream
    to_flag(sorted, "topk", "sorted")
    enter(source.backend, stream)
    values, indices = new_array(source.backend), new_array(source.backend)
    with nogil:
        found = cpp.topk(source.c, count, along, high, stream)
        values.c = found.values
        indices.c = found.indices
    return TopK(values, indices)


def kthvalue(x: Array, k: int, /, *, axis: int = -1, keepdims: bool = False) -> KthValue:
    """(values, indices) of the k-th smallest element along an axis, counted from 1. Asynchronous.

    indices: int64. keepdims keeps the axis with length 1. The order is that of sort. Real dtypes and bool.
    InvalidValueError unless k is from 1 to the axis's length.

    >>> values, indices = stator.kthvalue(stator.asarray([3, 1, 2]), 2)
    >>> values.item(), indices.item()
    (2, 2)
    """
    cdef Array source = as_array(x, "kthvalue"), values, indices
    cdef int64_t rank = to_int(k, "kthvalue", "k"), along = to_int(axis, "kthvalue")
    cdef cbool keep = to_flag(keepdims, "kthvalue", "keepdims")
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
    """A copy with the elements of the sorted array at the positions kth along an axis. Asynchronous.

    No element before them is greater and none after them is less; the order of the others is unspecified. Real dtypes
    and bool. InvalidValueError for a position out of -n to n - 1, for an axis of n elements.

    >>> stator.partition(stator.asarray([3, 1, 2]), 0)[0].item()
    1
    """
    cdef Array source = as_array(x, "partition"), out
    cdef int64_t along = to_int(axis, "partition")
    cdef vector[int64_t] ranks
    cdef CppStream stream
    to_ints(kth, ranks, "partition", "kth")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.partition(source.c, Int64Span(ranks.data(), ranks.size()), along, stream)
    return out


def quantile(x: Array, q: float | Sequence[float], /, axis: int | Sequence[int] | None = None, *,
             keepdims: bool = False, method: str = "linear") -> Array:
    """The quantiles q, in [0, 1], over axes (None: all), as numpy.quantile. Asynchronous.

    For a sequence of q the first axis of the result is that of q. Computed in float64 and rounded once to x's dtype,
    float64 for integers and bool. NaN gives NaN. method: linear, lower, higher, midpoint, nearest (half to even),
    hazen, weibull, median_unbiased or normal_unbiased. InvalidValueError for q out of [0, 1].

    >>> stator.quantile(stator.asarray([1.0, 2.0, 3.0]), 0.25).item()
    1.5
    """
    cdef Array source = as_array(x, "quantile"), out
    cdef cpp.QuantileOptions options
    cdef cbool scalar = not isinstance(q, (tuple, list)) and (isinstance(q, Array) or getattr(q, "ndim", 0) == 0)
    cdef vector[double] levels
    cdef CppStream stream
    for level in (q,) if scalar else q:
        levels.push_back(to_float(level, "quantile", "q"))
    to_axes(axis, options.axes, "quantile")
    options.keepdims = to_flag(keepdims, "quantile", "keepdims")
    options.method = <cpp.QuantileMethod>to_choice(method, METHODS, "quantile", "method")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.quantile(source.c, cpp.DoubleSpan(levels.data(), levels.size()), scalar, options, stream)
    return out


def median(x: Array, /, axis: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
    """The middle element, or the mean of the middle two, over axes (None: all). Asynchronous.

    The result has x's dtype, float64 for integers and bool. NaN gives NaN.

    >>> stator.median(stator.asarray([3.0, 1.0, 2.0, 4.0])).item()
    2.5
    """
    cdef Array source = as_array(x, "median"), out
    cdef cpp.QuantileOptions options
    cdef CppStream stream
    to_axes(axis, options.axes, "median")
    options.keepdims = to_flag(keepdims, "median", "keepdims")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.median(source.c, options, stream)
    return out


def mode(x: Array, /, *, axis: int = -1, keepdims: bool = False) -> Mode:
    """(values, counts) of the most frequent value along an axis, as scipy.stats.mode. Asynchronous.

    Of ties the smallest value. counts: int64. All NaN count as one value, greater than every number; so do -0 and 0.

    >>> stator.mode(stator.asarray([1, 2, 2])).values.item()
    2
    """
    cdef Array source = as_array(x, "mode"), values, counts
    cdef int64_t along = to_int(axis, "mode")
    cdef cbool keep = to_flag(keepdims, "mode", "keepdims")
    cdef cpp.Modes found
    cdef CppStream stream
    enter(source.backend, stream)
    values, counts = new_array(source.backend), new_array(source.backend)
    with nogil:
        found = cpp.mode(source.c, along, keep, stream)
        values.c = found.values
        counts.c = found.counts
    return Mode(values, counts)
