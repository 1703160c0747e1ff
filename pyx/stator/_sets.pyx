# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Searching, sets, and histograms."""
from collections import namedtuple

import numpy as np

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, as_out, binary_op, new_array, plain, plain_or_other, unary_op, wrap_array
from stator._backend cimport after_wait, enter
from stator._convert cimport (
    not_an_operand, to_axis, to_choice, to_flag, to_float, to_int, to_number, to_scalar, wrong_type,
)
from stator.cpp cimport op_table, sets
from stator.cpp.array cimport Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport optional

from stator._creation import full
from stator._dtype import result_type
from stator._reduce import functions as reductions
from stator.errors import InvalidValueError, StatorError, renamed

UniqueAll = namedtuple("UniqueAll", ("values", "indices", "inverse_indices", "counts"), module="stator._sets")
UniqueCounts = namedtuple("UniqueCounts", ("values", "counts"), module="stator._sets")
UniqueInverse = namedtuple("UniqueInverse", ("values", "inverse_indices"), module="stator._sets")
UniqueConsecutive = namedtuple("UniqueConsecutive", ("values", "inverse", "counts"), module="stator._sets")
Histogram = namedtuple("Histogram", ("hist", "bin_edges"), module="stator._sets")


cdef Array searched(object value, Array boundaries):
    # A number is a 0-d array of the boundaries' dtype where that holds it.
    cdef Scalar scalar
    if isinstance(value, Array):
        return plain(<Array>value)
    if not to_scalar(value, scalar):
        raise not_an_operand(value, "searchsorted")
    try:
        return full((), value, dtype=result_type(boundaries, value), device=boundaries.backend)
    except InvalidValueError:
        return full((), value, device=boundaries.backend)


def searchsorted(x1: Array, x2: Array | float, /, *, side: str = "left", sorter: Array | None = None) -> Array:
    """The int64 positions of values x2 among sorted boundaries x1, as numpy.searchsorted. Asynchronous.

    x1: one axis, and x2 of any shape or a number; or row by row, x1 (..., n) and x2 (..., m) with equal leading axes.
    side: before ("left") or after ("right") equal boundaries. sorter: integers of x1's shape that sort it, as argsort
    gives them; for one out of range the next synchronising call raises OutOfRangeError. NaN is greater than every
    number. Two dtypes are first promoted; not complex.

    >>> stator.searchsorted(stator.asarray([1, 3, 5]), stator.asarray([0, 3, 9])).tolist()
    [0, 1, 3]
    """
    return search(as_array(x1, "searchsorted"), x2, side, sorter)


cdef Array search(Array boundaries, object x2, object side, object sorter):
    cdef Array values = searched(x2, boundaries), out
    cdef sets.SearchOptions options
    cdef CppStream stream
    options.right = to_choice(side, ("left", "right"), "searchsorted", "side") == 1
    options.sorter = as_out(sorter, "searchsorted", "sorter")
    enter(boundaries.backend, stream)
    out = new_array(boundaries.backend)
    with nogil:
        out.c = sets.searchsorted(boundaries.c, values.c, options, stream)
    return out


cdef Array is_number_in(object x1, object x2, bint invert):
    cdef Array out
    try:
        if isinstance(x1, Array):
            return binary_op(op_table.not_equal if invert else op_table.equal, x1, x2, None, None)
        out = reductions["any"](binary_op(op_table.equal, x1, x2, None, None))
    except StatorError as error:
        raise renamed(error, "isin") from None
    return unary_op(op_table.bitwise_invert, out, None, None) if invert else out


def isin(x1: Array | complex, x2: Array | complex, /, *, invert: bool = False) -> Array:
    """Whether each element of x1 is among those of x2: bool, of x1's shape. Asynchronous.

    invert: whether it is not. x2 has any shape; NaN is never found. One of x1 and x2 may be a number.

    >>> stator.isin(stator.asarray([1, 2, 3]), stator.asarray([2, 5])).tolist()
    [False, True, False]
    """
    cdef Array elements, test, out
    cdef cbool opposite = to_flag(invert, "isin", "invert")
    cdef CppStream stream
    if not isinstance(x1, Array) or not isinstance(x2, Array):
        return is_number_in(x1, x2, opposite)
    elements, test = plain(<Array>x1), plain(<Array>x2)
    enter(elements.backend, stream)
    out = new_array(elements.backend)
    with nogil:
        out.c = sets.isin(elements.c, test.c, opposite, stream)
    return out


cdef Array find(sets.UniqueOp op, str name, object x, object size, object fill_value, sets.Unique& found):
    cdef Array source = as_array(x, name)
    cdef sets.UniqueOptions options
    cdef CppStream stream
    to_axis(size, options.size, name, "size")
    to_number(fill_value, options.fill, name, "fill_value")
    enter(source.backend, stream)
    with nogil:
        found = sets.unique(op, source.c, options, stream)
    if size is None:
        after_wait(source.backend)
    return source


def unique_all(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueAll:
    """(values, indices, inverse_indices, counts) of the distinct elements. Synchronises.

    values: ascending; each NaN is distinct. indices: int64, of the first occurrence in the flattened array.
    inverse_indices: int64, of x's shape. counts: int64. It synchronises once, to read the number of results. With size
    nothing synchronises, and there are that many results: further ones are dropped, missing ones are fill_value with
    index -1 and count 0.

    >>> found = stator.unique_all(stator.asarray([3, 1, 3]))
    >>> [x.tolist() for x in found]
    [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_all, "unique_all", x, size, fill_value, found)
    return UniqueAll(wrap_array(source.backend, found.values), wrap_array(source.backend, found.indices),
                     wrap_array(source.backend, found.inverse), wrap_array(source.backend, found.counts))


def unique_counts(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueCounts:
    """(values, counts) of unique_all. Synchronises unless size is given.

    >>> values, counts = stator.unique_counts(stator.asarray([3, 1, 3]))
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_counts, "unique_counts", x, size, fill_value, found)
    return UniqueCounts(wrap_array(source.backend, found.values), wrap_array(source.backend, found.counts))


def unique_inverse(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueInverse:
    """(values, inverse_indices) of unique_all. Synchronises unless size is given.

    >>> values, inverse = stator.unique_inverse(stator.asarray([3, 1, 3]))
    >>> values.tolist(), inverse.tolist()
    ([1, 3], [1, 0, 1])
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_inverse, "unique_inverse", x, size, fill_value, found)
    return UniqueInverse(wrap_array(source.backend, found.values), wrap_array(source.backend, found.inverse))


def unique_values(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> Array:
    """The distinct elements, ascending, as unique_all. Synchronises unless size is given.

    >>> stator.unique_values(stator.asarray([3, 1, 3])).tolist()
    [1, 3]
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_values, "unique_values", x, size, fill_value, found)
    return wrap_array(source.backend, found.values)


def unique_consecutive(x: Array, /, *, size: int | None = None, fill_value: complex = 0) -> UniqueConsecutive:
    """(values, inverse, counts) of the runs of equal neighbours in the flattened array. Synchronises.

    Each NaN is a run of its own. inverse: int64, of x's shape, the run of each element. counts: int64. size and
    fill_value as in unique_all; with size nothing synchronises.

    >>> stator.unique_consecutive(stator.asarray([1, 1, 2, 1])).values.tolist()
    [1, 2, 1]
    """
    cdef sets.Unique found
    cdef Array source = find(sets.op_unique_consecutive, "unique_consecutive", x, size, fill_value, found)
    return UniqueConsecutive(wrap_array(source.backend, found.values), wrap_array(source.backend, found.inverse),
                             wrap_array(source.backend, found.counts))


def histc(x: Array, /, bins: int = 100, *, min: float = 0, max: float = 0) -> Array:
    """The counts, in x's dtype, of bins of equal width over [min, max], as torch.histc. Asynchronous.

    min == max takes the extremes of x. NaN and elements outside are not counted; where the extremes of x are taken and
    not finite, nothing is.

    >>> stator.histc(stator.asarray([0.0, 1.0, 2.0, 3.0]), 2).tolist()
    [2.0, 2.0]
    """
    cdef Array source = as_array(x, "histc"), out
    cdef int64_t count = to_int(bins, "histc", "bins")
    cdef double low = to_float(min, "histc", "min"), high = to_float(max, "histc", "max")
    cdef CppStream stream
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = sets.histc(source.c, count, low, high, stream)
    return out


cdef Array to_edges(Array source, object bins):
    # The edges as an Array; those that are given on the host are checked there.
    if isinstance(bins, Array):
        return <Array>bins
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong_type(bins, "histogram", "bins", "a number of bins, or edges") from None
    if edges.ndim == 1 and not np.all(edges[1:] >= edges[:-1]):
        raise InvalidValueError("The edges decrease, or hold NaN", op="histogram", remedy="Sort the edges.")
    return source.backend.asarray(edges)


def histogram(x: Array, /, bins: int | Array | Sequence[float] = 10, *, range: tuple[float, float] | None = None,
              weights: Array | None = None, density: bool = False) -> Histogram:
    """(hist, bin_edges), as numpy.histogram. Asynchronous.

    bins: their number, over `range` (None: the extremes of x); or their edges, which must not decrease; an Array of
    edges is not checked. hist: int64 counts; sums of the weights, which have x's shape, in their dtype; or with density
    float64, divided by the total and the widths. bin_edges: the given ones, else x's dtype if it is floating, or
    float64. NaN and elements outside are not counted; where the extremes of x are not finite, the edges are NaN and
    nothing is counted.

    >>> counts, edges = stator.histogram(stator.asarray([0.0, 1.0, 3.0]), bins=3)
    >>> counts.tolist(), edges.tolist()
    ([1, 1, 1], [0.0, 1.0, 2.0, 3.0])
    """
    cdef Array source = as_array(x, "histogram"), counts, edges = None
    cdef sets.HistogramOptions options
    cdef sets.Histogram found
    cdef int64_t count = 0
    cdef CppStream stream
    if hasattr(bins, "__index__") and not isinstance(bins, (Array, np.ndarray)):
        count = to_int(bins, "histogram", "bins")
    else:
        edges = to_edges(source, bins)
        options.edges = &edges.c
    if range is not None:
        if not isinstance(range, (tuple, list)) or len(range) != 2:
            raise wrong_type(range, "histogram", "range", "(low, high)")
        options.range = optional[sets.Range](sets.Range(to_float(range[0], "histogram", "range"),
                                                        to_float(range[1], "histogram", "range")))
    weights = plain_or_other(weights)
    options.weights = as_out(weights, "histogram", "weights")
    options.density = to_flag(density, "histogram", "density")
    enter(source.backend, stream)
    counts = new_array(source.backend)
    with nogil:
        found = sets.histogram(source.c, count, options, stream)
        counts.c = found.counts
    if edges is None:
        edges = new_array(source.backend)
        edges.c = found.edges
    return Histogram(counts, edges)


def bincount(x: Array, /, *, weights: Array | None = None, minlength: int = 0, size: int | None = None) -> Array:
    """How often 0, 1, 2, ... occur in non-negative integers x. Synchronises: reads the maximum.

    x has any shape. The result is int64, or the float64 sums of the weights, which have x's shape; it has at least
    minlength elements. With size there are that many bins and nothing synchronises; an element outside 0 to size - 1 is
    not counted, and the next synchronising call raises OutOfRangeError.

    >>> stator.bincount(stator.asarray([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    cdef Array source = as_array(x, "bincount"), out
    cdef sets.BincountOptions options
    cdef CppStream stream
    weights = plain_or_other(weights)
    options.weights = as_out(weights, "bincount", "weights")
    options.minlength = to_int(minlength, "bincount", "minlength")
    to_axis(size, options.size, "bincount", "size")
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = sets.bincount(source.c, options, stream)
    if size is None:
        after_wait(source.backend)
    return out
