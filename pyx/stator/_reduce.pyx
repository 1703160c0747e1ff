# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Reductions, made from the op table, and their gradients; scans, differences, sets."""
from collections import namedtuple

import numpy as np

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport after_wait, enter
from stator._convert cimport to_axes, to_dims, to_dtype, to_int
from stator._function cimport Row, make_function, sort_arguments, text
from stator.cpp cimport op_table, reduce, scan, sets
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.python cimport PyObject
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional

from stator.errors import DTypeError, InvalidValueError

CumulativeExtremes = namedtuple("CumulativeExtremes", ("values", "indices"), module="stator._reduce")
Histogram = namedtuple("Histogram", ("hist", "bin_edges"), module="stator._reduce")


cdef double to_number(object value, str op, str what) except? -1:
    try:
        return value
    except TypeError:
        raise DTypeError(f"{what}={value!r} is not a number", op=op, remedy="Pass a float.") from None


cdef tuple keywords = ("axis", "keepdims", "dtype", "out", "where", None)


cdef object call_reduce(object self, PyObject* const* args, Py_ssize_t count, PyObject* names):
    cdef Row row = <Row>self
    cdef PyObject* options[6]
    cdef reduce.ReduceOptions reduce_options
    cdef CppStream stream
    cdef Array x, result
    cdef int k
    for k in range(5):
        options[k] = <PyObject*>None
    options[5] = <PyObject*>row.defaults[0]
    sort_arguments(row, args, count, names, 1, row.keywords, options)
    x = as_array(<object>args[0], row.name)
    to_axes(<object>options[0], reduce_options.axes, row.name)
    reduce_options.keepdims = bool(<object>options[1])
    to_dtype(<object>options[2], reduce_options.dtype)
    reduce_options.out = as_out(<object>options[3], row.name)
    reduce_options.where = as_out(<object>options[4], row.name)
    reduce_options.parameter = to_number(<object>options[5], row.name, row.keywords[5])
    enter(x.backend, stream)
    result = new_array(x.backend)
    with nogil:
        result.c = reduce.reduce(row.op, x.c, reduce_options, stream)
    return result if reduce_options.out == NULL else <object>options[3]


# The number that an op takes besides, with its default.
cdef dict parameters = {"var": ("correction", 0.0), "std": ("correction", 0.0), "vector_norm": ("ord", 2)}


cdef dict make_reductions():
    cdef dict out = {}
    cdef int i
    cdef const op_table.OpInfo* info
    for i in range(op_table.op_count):
        info = &op_table.op_info(<op_table.Op>i)
        if <int>info.shape_class != <int>op_table.reduce:
            continue
        name, default = parameters.get(text(info.name), (None, 0.0))
        extra = f"{name}={default}, " if name else ""
        out[text(info.call)] = make_function(
            i, call_reduce, f"(x, /, *, axis=None, {extra}keepdims=False, dtype=None, out=None, where=None)",
            "{oracle} over an axis, several, or all of them; a 0-d array where none is left. Asynchronous.\n\n"
            "dtype: of the accumulation and the result. where: a bool array that broadcasts to x; only elements where "
            "it is True count, and over none the result is the identity.",
            1, (*keywords[:5], name), (default,))
    return out


functions = make_reductions()


cdef reduce.ReductionGradientOptions reduction(object axis, object keepdims, str op) except *:
    cdef reduce.ReductionGradientOptions options
    to_axes(axis, options.axes, op)
    options.keepdims = bool(keepdims)
    return options


def sum_backward(grad: Array, shape: int | Sequence[int], /, axis: int | Sequence[int] | None = None,
                 keepdims: bool = False) -> Array:
    """The gradient of what sum reduced: grad repeated to its shape. axis and keepdims: as sum's."""
    cdef Array g = as_array(grad, "nn.sum_backward")
    cdef Array out = new_array(g.backend)
    cdef reduce.ReductionGradientOptions options = reduction(axis, keepdims, "nn.sum_backward")
    cdef Dims dims
    cdef CppStream stream
    to_dims(shape, dims, "nn.sum_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = reduce.sum_backward(g.c, dims, options, stream)
    return out


def mean_backward(grad: Array, shape: int | Sequence[int], /, axis: int | Sequence[int] | None = None,
                  keepdims: bool = False) -> Array:
    """The gradient of what mean reduced: grad over the number of elements, repeated to its shape.

    axis and keepdims: as mean's.
    """
    cdef Array g = as_array(grad, "nn.mean_backward")
    cdef Array out = new_array(g.backend)
    cdef reduce.ReductionGradientOptions options = reduction(axis, keepdims, "nn.mean_backward")
    cdef Dims dims
    cdef CppStream stream
    to_dims(shape, dims, "nn.mean_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = reduce.mean_backward(g.c, dims, options, stream)
    return out


def prod_backward(grad: Array, x: Array, /, axis: int | Sequence[int] | None = None,
                  keepdims: bool = False) -> Array:
    """The gradient of what prod reduced: grad times the product of the other elements, also next to zeros.

    axis and keepdims: as prod's.
    """
    cdef Array g = as_array(grad, "nn.prod_backward"), source = as_array(x, "nn.prod_backward")
    cdef Array out = new_array(g.backend)
    cdef reduce.ReductionGradientOptions options = reduction(axis, keepdims, "nn.prod_backward")
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = reduce.prod_backward(g.c, source.c, options, stream)
    return out


cdef enum Kind:
    sum_, prod, logsumexp


cdef int to_axis(object axis, optional[int64_t]& out, str op) except -1:
    if axis is not None:
        out = optional[int64_t](to_int(axis, op))
    return 0


cdef Array accumulate(Kind kind, str op, object x, object axis, object dtype, bint initial, bint reverse, object out):
    cdef Array source = as_array(x, op), result
    cdef scan.ScanOptions options
    cdef CppStream stream
    to_axis(axis, options.axis, op)
    to_dtype(dtype, options.dtype)
    options.include_initial = initial
    options.reverse = reverse
    options.out = as_out(out, op)
    enter(source.backend, stream)
    result = new_array(source.backend)
    with nogil:
        if kind == sum_:
            result.c = scan.cumulative_sum(source.c, options, stream)
        elif kind == prod:
            result.c = scan.cumulative_prod(source.c, options, stream)
        else:
            result.c = scan.logcumsumexp(source.c, options, stream)
    return result if out is None else <Array>out


cdef object extremes(bint smallest, str op, object x, object axis, bint reverse):
    cdef Array source = as_array(x, op), values, indices
    cdef optional[int64_t] along
    cdef cbool backwards = reverse
    cdef scan.Extremes found
    cdef CppStream stream
    to_axis(axis, along, op)
    enter(source.backend, stream)
    values, indices = new_array(source.backend), new_array(source.backend)
    with nogil:
        if smallest:
            found = scan.cumulative_min(source.c, along, backwards, stream)
        else:
            found = scan.cumulative_max(source.c, along, backwards, stream)
        values.c = found.values
        indices.c = found.indices
    return CumulativeExtremes(values, indices)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None,
                   include_initial: bool = False, reverse: bool = False, out: Array | None = None) -> Array:
    """The sum of the elements up to each one. Asynchronous.

    axis: may be left out for one dimension. dtype: of the accumulation and the result; integers accumulate in 64 bits.
    include_initial: starts with 0, one element more. reverse: from the last element to the first.
    """
    return accumulate(sum_, "cumulative_sum", x, axis, dtype, include_initial, reverse, out)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None,
                    include_initial: bool = False, reverse: bool = False, out: Array | None = None) -> Array:
    """The product of the elements up to each one, infinite or zero only where the exact one is. Asynchronous.

    axis: may be left out for one dimension. dtype: of the accumulation and the result; integers accumulate in 64 bits.
    include_initial: starts with 1, one element more. reverse: from the last element to the first.
    """
    return accumulate(prod, "cumulative_prod", x, axis, dtype, include_initial, reverse, out)


def logcumsumexp(x: Array, /, *, axis: int | None = None, dtype: DTypeLike | None = None,
                 include_initial: bool = False, reverse: bool = False, out: Array | None = None) -> Array:
    """log(cumulative_sum(exp(x))) without overflow. Asynchronous.

    axis: may be left out for one dimension. include_initial: starts with -inf, one element more. reverse: from the last
    element to the first.
    """
    return accumulate(logsumexp, "logcumsumexp", x, axis, dtype, include_initial, reverse, out)


def cumulative_max(x: Array, /, *, axis: int | None = None, reverse: bool = False) -> CumulativeExtremes:
    """(values, indices): the maximum of the elements up to each one, and where it stands. Asynchronous.

    Of ties the last in the direction of the scan. NaN is above every number and ties with NaN.
    """
    return extremes(False, "cumulative_max", x, axis, reverse)


def cumulative_min(x: Array, /, *, axis: int | None = None, reverse: bool = False) -> CumulativeExtremes:
    """(values, indices): the minimum of the elements up to each one, and where it stands. Asynchronous.

    Of ties the last in the direction of the scan. NaN is below every number and ties with NaN.
    """
    return extremes(True, "cumulative_min", x, axis, reverse)


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None,
         append: Array | None = None) -> Array:
    """x[1:] - x[:-1] along an axis, n times; of bools whether neighbours differ. Asynchronous.

    prepend, append: put before and after x first; of its shape but along the axis.
    """
    cdef Array source = as_array(x, "diff"), result
    cdef scan.DiffOptions options
    cdef CppStream stream
    options.axis = to_int(axis, "diff")
    options.n = to_int(n, "diff")
    options.prepend = as_out(prepend, "diff")
    options.append = as_out(append, "diff")
    enter(source.backend, stream)
    result = new_array(source.backend)
    with nogil:
        result.c = scan.diff(source.c, options, stream)
    return result


cdef double to_bound(object value, str what, str op) except? -1:
    if isinstance(value, Array) or not hasattr(value, "__float__"):
        raise DTypeError(f"{what} is a {type(value).__name__}", op=op, remedy="Give a number.")
    return float(value)


def histc(x: Array, /, bins: int = 100, *, min: float = 0, max: float = 0) -> Array:
    """Counts, in x's dtype, in bins of equal width over [min, max], as torch.histc. Asynchronous.

    min == max takes the extremes of x. NaN and elements outside are not counted; extremes that are not finite count
    nothing.
    """
    cdef Array source = as_array(x, "histc"), out
    cdef int64_t count = to_int(bins, "histc")
    cdef double low = to_bound(min, "min", "histc"), high = to_bound(max, "max", "histc")
    cdef CppStream stream
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = sets.histc(source.c, count, low, high, stream)
    return out


cdef Array to_edges(Array source, object bins):
    # Given edges as an Array: others come from the host, where they can be looked at.
    if isinstance(bins, Array):
        return <Array>bins
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        raise DTypeError(f"bins is a {type(bins).__name__}", op="histogram",
                         remedy="Give a number of bins, or edges.") from None
    if edges.ndim == 1 and not np.all(edges[1:] >= edges[:-1]):
        raise InvalidValueError("edges that decrease, or NaN", op="histogram", remedy="Sort the edges.")
    return source.backend.asarray(edges)


def histogram(x: Array, /, bins: int | Array | Sequence[float] = 10, *, range: tuple[float, float] | None = None,
              weights: Array | None = None, density: bool = False) -> Histogram:
    """(hist, bin_edges) as numpy.histogram: int64 counts, or sums of the weights in their dtype. Asynchronous.

    bins: a number, over `range` (None: the extremes of x); or edges: of an Array it is not checked that they do not
    decrease. bin_edges: of x's dtype where it is floating, else float64. NaN and elements outside are not counted;
    extremes that are not finite give NaN edges and count nothing. density: divided by total and widths, float64.
    """
    cdef Array source = as_array(x, "histogram"), counts, edges = None
    cdef sets.HistogramOptions options
    cdef sets.Histogram found
    cdef int64_t count = 0
    cdef CppStream stream
    if hasattr(bins, "__index__") and not isinstance(bins, (Array, np.ndarray)):
        count = to_int(bins, "histogram")
    else:
        edges = to_edges(source, bins)
        options.edges = &edges.c
    if range is not None:
        if not isinstance(range, (tuple, list)) or len(range) != 2:
            raise DTypeError(f"range={range!r}", op="histogram", remedy="Give (low, high).")
        options.range = optional[sets.Range](sets.Range(to_bound(range[0], "range", "histogram"),
                                                                to_bound(range[1], "range", "histogram")))
    options.weights = as_out(weights, "histogram")
    options.density = bool(density)
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
    """How often each of 0, 1, ... stands in integers of any shape, int64; or float64 sums of the weights.

    Synchronises once to learn the largest element. With `size` there are that many bins and nothing synchronises: an
    element outside 0..size-1 is not counted and raises IndexError at the next synchronising call.
    """
    cdef Array source = as_array(x, "bincount"), out
    cdef sets.BincountOptions options
    cdef CppStream stream
    options.weights = as_out(weights, "bincount")
    options.minlength = to_int(minlength, "bincount")
    if size is not None:
        options.size = optional[int64_t](to_int(size, "bincount"))
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = sets.bincount(source.c, options, stream)
    if size is None:
        after_wait(source.backend)
    return out
