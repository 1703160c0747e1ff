# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Writing and adding up through indices.

Results are new arrays of x's dtype. -n..n-1 is valid; a write outside is dropped, and OutOfRangeError is raised at the
next synchronising call. deterministic=True gives equal bits run to run (None: the backend's setting); otherwise cuda
adds in any order, and keeps any of several values set at one element. cpu is always in order.
"""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional
from libcpp.vector cimport vector

from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator._convert cimport not_an_array, to_int, to_scalar
from stator.cpp cimport scatter as cpp
from stator.cpp.array cimport Operand, Scalar
from stator.cpp.backend cimport Stream as CppStream

from stator.errors import InvalidValueError

include "_operand.pxi"

cdef enum Segment:
    sum_, mean, min_, max_

cdef dict reductions = {"set": <int>cpp.set_, "add": <int>cpp.add, "mul": <int>cpp.multiply,
                        "min": <int>cpp.minimum, "max": <int>cpp.maximum}


cdef optional[cbool] to_choice(object value):
    return optional[cbool]() if value is None else optional[cbool](<cbool>bool(value))


def scatter(x: Array, axis: int, index: Array, src: Array | complex, /, *, reduce: str = "set",
            deterministic: bool | None = None) -> Array:
    """A copy of x with src put at out[.., index[.., k, ..], ..] along one axis; src broadcasts to index's shape.

    reduce: "set", or "add", "mul", "min", "max" with what is there. Of several values set at one element the last stays
    on cpu; on cuda any one of them, or with deterministic=True the last, by two launches more.
    """
    cdef Array target = as_array(x, "scatter"), at = as_array(index, "scatter")
    cdef Array out = new_array(target.backend)
    cdef vector[Operand] values
    cdef int64_t along = to_int(axis, "scatter")
    cdef optional[cbool] choice = to_choice(deterministic)
    cdef cpp.Reduce how
    cdef CppStream stream
    if reduce not in reductions:
        raise InvalidValueError(f"reduce={reduce!r}", op="scatter",
                                remedy='Use "set", "add", "mul", "min" or "max".')
    how = <cpp.Reduce><int>reductions[reduce]
    to_operand(src, "scatter", values)
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.scatter(target.c, along, at.c, values[0], how, choice, stream)
    return out


def scatter_add(x: Array, axis: int, index: Array, src: Array | complex, /, *,
                deterministic: bool | None = None) -> Array:
    """A copy of x with src added at out[.., index[.., k, ..], ..] along one axis; src broadcasts to index's shape."""
    cdef Array target = as_array(x, "scatter_add"), at = as_array(index, "scatter_add")
    cdef Array out = new_array(target.backend)
    cdef vector[Operand] values
    cdef int64_t along = to_int(axis, "scatter_add")
    cdef optional[cbool] choice = to_choice(deterministic)
    cdef CppStream stream
    to_operand(src, "scatter_add", values)
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.scatter_add(target.c, along, at.c, values[0], choice, stream)
    return out


def index_add(x: Array, axis: int, index: Array, src: Array | complex, /, *,
              deterministic: bool | None = None) -> Array:
    """A copy of x with slice k of src added to its slice index[k] along the axis; index has one axis."""
    cdef Array target = as_array(x, "index_add"), at = as_array(index, "index_add")
    cdef Array out = new_array(target.backend)
    cdef vector[Operand] values
    cdef int64_t along = to_int(axis, "index_add")
    cdef optional[cbool] choice = to_choice(deterministic)
    cdef CppStream stream
    to_operand(src, "index_add", values)
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.index_add(target.c, along, at.c, values[0], choice, stream)
    return out


cdef Array segment(Segment kind, str op, object src, object index, object num_segments, object deterministic):
    cdef Array source = as_array(src, op), at = as_array(index, op)
    cdef Array out = new_array(source.backend)
    cdef int64_t count = to_int(num_segments, op)
    cdef optional[cbool] choice = to_choice(deterministic)
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        if kind == sum_:
            out.c = cpp.segment_sum(source.c, at.c, count, choice, stream)
        elif kind == mean:
            out.c = cpp.segment_mean(source.c, at.c, count, choice, stream)
        elif kind == min_:
            out.c = cpp.segment_min(source.c, at.c, count, stream)
        else:
            out.c = cpp.segment_max(source.c, at.c, count, stream)
    return out


def segment_sum(src: Array, index: Array, /, num_segments: int, *, deterministic: bool | None = None) -> Array:
    """out[s] is the sum of the rows src[e] with index[e] == s, in any order of e; 0 where there is none."""
    return segment(sum_, "segment_sum", src, index, num_segments, deterministic)


def segment_mean(src: Array, index: Array, /, num_segments: int, *, deterministic: bool | None = None) -> Array:
    """out[s] is the mean of the rows src[e] with index[e] == s; NaN where there is none."""
    return segment(mean, "segment_mean", src, index, num_segments, deterministic)


def segment_min(src: Array, index: Array, /, num_segments: int) -> Array:
    """out[s] is the least of the rows src[e] with index[e] == s; infinity, or the largest integer, without any."""
    return segment(min_, "segment_min", src, index, num_segments, None)


def segment_max(src: Array, index: Array, /, num_segments: int) -> Array:
    """out[s] is the largest of the rows src[e] with index[e] == s; -infinity, or the least integer, without any."""
    return segment(max_, "segment_max", src, index, num_segments, None)
