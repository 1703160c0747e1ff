# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Counting elements by bin."""
from collections import namedtuple

import numpy as np

from libc.stdint cimport int64_t
from libcpp.optional cimport optional

from stator._array cimport Array, as_array, as_out, new_array
from stator._backend cimport after_wait, enter
from stator._convert cimport to_int
from stator.cpp cimport counting as cpp
from stator.cpp.backend cimport Stream as CppStream

from stator.errors import DTypeError, InvalidValueError

Histogram = namedtuple("Histogram", ("hist", "bin_edges"), module="stator._counting")


cdef double to_number(object value, str what, str op) except? -1:
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
    cdef double low = to_number(min, "min", "histc"), high = to_number(max, "max", "histc")
    cdef CppStream stream
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.histc(source.c, count, low, high, stream)
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
    cdef cpp.HistogramOptions options
    cdef cpp.Histogram found
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
        options.range = optional[cpp.Range](cpp.Range(to_number(range[0], "range", "histogram"),
                                                      to_number(range[1], "range", "histogram")))
    options.weights = as_out(weights, "histogram")
    options.density = bool(density)
    enter(source.backend, stream)
    counts = new_array(source.backend)
    with nogil:
        found = cpp.histogram(source.c, count, options, stream)
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
    cdef cpp.BincountOptions options
    cdef CppStream stream
    options.weights = as_out(weights, "bincount")
    options.minlength = to_int(minlength, "bincount")
    if size is not None:
        options.size = optional[int64_t](to_int(size, "bincount"))
    enter(source.backend, stream)
    out = new_array(source.backend)
    with nogil:
        out.c = cpp.bincount(source.c, options, stream)
    if size is None:
        after_wait(source.backend)
    return out
