# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Indexing with arrays and masks: take, put, scatter, segment reductions, selection."""
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, as_given, new_array, plain_or_other, take_op
from stator._backend cimport Backend, after_wait, enter
from stator._convert cimport (
    not_an_operand, to_axis, to_choice, to_dims, to_int, to_number, to_optional_flag, to_scalar,
)
from stator.cpp cimport indexing as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Operand, Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, vector

from stator.errors import InvalidValueError


# An Array or a number as a C++ operand; `value` must outlive the operand.
cdef int to_operand(object value, str op, vector[Operand]& out) except -1:
    cdef Scalar scalar
    if isinstance(value, Array):
        out.push_back(Operand((<Array>value).c))
    elif to_scalar(value, scalar):
        out.push_back(Operand(scalar))
    else:
        raise not_an_operand(value, op)
    return 0


def take(x: Array, indices: Array, /, axis: int | None = None, *, out: Array | None = None) -> Array:
    """The elements of x at integer indices along an axis, as numpy.take. Asynchronous.

    axis: None takes from the flattened array. Indices of any integer dtype are valid from -n to n - 1; for one out of
    range the result is 0, and the next synchronising call of the stream raises OutOfRangeError. out: an array of the
    result's shape.

    >>> stator.take(stator.asarray([5, 6, 7]), stator.asarray([2, 0])).tolist()
    [7, 5]
    """
    return take_op(as_array(x, "take"), as_array(indices, "take"), axis, out)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """out[.., k, ..] = x[.., indices[.., k, ..], ..] along one axis. Asynchronous.

    As numpy.take_along_axis; the other axes broadcast. Indices as in take.

    >>> stator.take_along_axis(stator.asarray([[1, 2], [3, 4]]), stator.asarray([[1], [0]]), axis=1).tolist()
    [[2], [3]]
    """
    cdef Array source = as_array(x, "take_along_axis"), index = as_array(indices, "take_along_axis")
    cdef Array out = new_array(source.backend)
    cdef int64_t along = to_int(axis, "take_along_axis")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.take_along_axis(source.c, index.c, along, stream)
    return out


def put_along_axis(x: Array, indices: Array, values: Array | complex, /, *, axis: int = -1) -> None:
    """x[.., indices[.., k, ..], ..] = values[.., k, ..] in place, as numpy.put_along_axis. Asynchronous.

    Values broadcast to the shape of the indices. A write out of range is dropped, and the next synchronising call
    raises OutOfRangeError. Of several writes to one element, on cpu the last stays; on cuda any one of them, or the
    last if the backend is deterministic, in two more launches. scatter does the same on a copy.

    >>> x, index = stator.asarray([[1, 2], [3, 4]]), stator.asarray([[1], [0]])
    >>> stator.put_along_axis(x, index, 0, axis=1)
    >>> x.tolist()
    [[1, 0], [0, 4]]
    """
    cdef Array target = as_given(x, "put_along_axis"), index = as_array(indices, "put_along_axis")
    cdef vector[Operand] operand
    cdef int64_t along = to_int(axis, "put_along_axis")
    cdef CppStream stream
    values = plain_or_other(values)
    to_operand(values, "put_along_axis", operand)
    enter(target.backend, stream)
    with nogil:
        cpp.put_along_axis(target.c, index.c, operand[0], along, stream)


# scatter, index_add and the segment reductions give new arrays of x's dtype. Indices are valid from -n to n - 1; a
# write out of range is dropped, and the next synchronising call raises OutOfRangeError. deterministic=True gives equal
# bits from run to run (None: the backend's setting); otherwise cuda adds in any order, and keeps any of several values
# set at one element. cpu always works in order.

cdef enum Segment:
    sum_, mean, min_, max_

cdef tuple reductions = ("set", "add", "mul", "min", "max")
cdef cpp.Reduce* reduces = [cpp.set_, cpp.add, cpp.multiply, cpp.minimum, cpp.maximum]


cdef optional[cbool] deterministic_or_not(object value, str op) except *:
    cdef optional[cbool] out
    to_optional_flag(value, out, op, "deterministic")
    return out


def scatter(x: Array, axis: int, index: Array, src: Array | complex, /, *, reduce: str = "set",
            deterministic: bool | None = None) -> Array:
    """A copy of x with src written to out[.., index[.., k, ..], ..] along one axis. Asynchronous.

    src broadcasts to index's shape. reduce: "set", or "add", "mul", "min", "max" with the elements of x. Indices are
    valid from -n to n - 1; a write out of range is dropped, and the next synchronising call raises OutOfRangeError. Of
    several values set at one element, on cpu the last stays; on cuda any one of them, or with deterministic=True (None:
    the backend's setting) the last, in two more launches.

    >>> stator.scatter(stator.zeros(3), 0, stator.asarray([2, 0]), stator.asarray([1.0, 2.0])).tolist()
    [2.0, 0.0, 1.0]
    """
    cdef Array target = as_array(x, "scatter"), at = as_array(index, "scatter")
    cdef Array out = new_array(target.backend)
    cdef vector[Operand] values
    cdef int64_t along = to_int(axis, "scatter")
    cdef optional[cbool] choice = deterministic_or_not(deterministic, "scatter")
    cdef cpp.Reduce how
    cdef CppStream stream
    how = reduces[to_choice(reduce, reductions, "scatter", "reduce")]
    src = plain_or_other(src)
    to_operand(src, "scatter", values)
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.scatter(target.c, along, at.c, values[0], how, choice, stream)
    return out


def scatter_add(x: Array, axis: int, index: Array, src: Array | complex, /, *,
                deterministic: bool | None = None) -> Array:
    """A copy of x with src added to out[.., index[.., k, ..], ..] along one axis. Asynchronous.

    scatter with reduce="add". deterministic: equal bits from run to run; None is the backend's setting.

    >>> stator.scatter_add(stator.zeros(3), 0, stator.asarray([2, 2]), stator.asarray([1.0, 2.0])).tolist()
    [0.0, 0.0, 3.0]
    """
    cdef Array target = as_array(x, "scatter_add"), at = as_array(index, "scatter_add")
    cdef Array out = new_array(target.backend)
    cdef vector[Operand] values
    cdef int64_t along = to_int(axis, "scatter_add")
    cdef optional[cbool] choice = deterministic_or_not(deterministic, "scatter_add")
    cdef CppStream stream
    src = plain_or_other(src)
    to_operand(src, "scatter_add", values)
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.scatter_add(target.c, along, at.c, values[0], choice, stream)
    return out


def index_add(x: Array, axis: int, index: Array, src: Array | complex, /, *,
              deterministic: bool | None = None) -> Array:
    """A copy of x with slice k of src added to its slice index[k] along the axis. Asynchronous.

    index has one axis; indices and deterministic as in scatter.

    >>> x = stator.zeros(3)
    >>> stator.index_add(x, 0, stator.asarray([0, 0, 2]), stator.asarray([1.0, 2.0, 4.0])).tolist()
    [3.0, 0.0, 4.0]
    """
    cdef Array target = as_array(x, "index_add"), at = as_array(index, "index_add")
    cdef Array out = new_array(target.backend)
    cdef vector[Operand] values
    cdef int64_t along = to_int(axis, "index_add")
    cdef optional[cbool] choice = deterministic_or_not(deterministic, "index_add")
    cdef CppStream stream
    src = plain_or_other(src)
    to_operand(src, "index_add", values)
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.index_add(target.c, along, at.c, values[0], choice, stream)
    return out


cdef Array segment(Segment kind, str op, object src, object index, object num_segments, object deterministic):
    cdef Array source = as_array(src, op), at = as_array(index, op)
    cdef Array out = new_array(source.backend)
    cdef int64_t count = to_int(num_segments, op, "num_segments")
    cdef optional[cbool] choice = deterministic_or_not(deterministic, op)
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
    """out[s] is the sum of the rows src[e] with index[e] == s, 0 without any. Asynchronous.

    index: one axis of integers, as long as src's first axis, in any order. The result is (num_segments, ...) of src's
    dtype. An index out of range is dropped, and the next synchronising call raises OutOfRangeError. deterministic:
    equal bits from run to run; None is the backend's setting.

    >>> stator.segment_sum(stator.asarray([1, 5, 2]), stator.asarray([0, 0, 1]), 2).tolist()
    [6, 2]
    """
    return segment(sum_, "segment_sum", src, index, num_segments, deterministic)


def segment_mean(src: Array, index: Array, /, num_segments: int, *, deterministic: bool | None = None) -> Array:
    """out[s] is the mean of the rows src[e] with index[e] == s, NaN without any. Asynchronous.

    src is floating. The arguments are those of segment_sum.

    >>> stator.segment_mean(stator.asarray([1.0, 5.0, 2.0]), stator.asarray([0, 0, 1]), 2).tolist()
    [3.0, 2.0]
    """
    return segment(mean, "segment_mean", src, index, num_segments, deterministic)


def segment_min(src: Array, index: Array, /, num_segments: int) -> Array:
    """out[s] is the minimum of the rows src[e] with index[e] == s. Asynchronous.

    A segment without rows is infinity, or the largest integer of the dtype. The arguments are those of segment_sum.

    >>> stator.segment_min(stator.asarray([1, 5, 2]), stator.asarray([0, 0, 1]), 2).tolist()
    [1, 2]
    """
    return segment(min_, "segment_min", src, index, num_segments, None)


def segment_max(src: Array, index: Array, /, num_segments: int) -> Array:
    """out[s] is the maximum of the rows src[e] with index[e] == s. Asynchronous.

    A segment without rows is -infinity, or the smallest integer of the dtype. The arguments are those of segment_sum.

    >>> stator.segment_max(stator.asarray([1, 5, 2]), stator.asarray([0, 0, 1]), 2).tolist()
    [5, 2]
    """
    return segment(max_, "segment_max", src, index, num_segments, None)


cdef cpp.Capacity to_capacity(object size, object fill_value, str op) except *:
    cdef cpp.Capacity capacity
    to_axis(size, capacity.size, op, "size")
    if fill_value is not None:
        to_number(fill_value, capacity.fill, op, "fill_value")
        if size is None:
            raise InvalidValueError("Got fill_value without size", op=op, remedy="Pass size as well.")
    return capacity


def masked_fill(x: Array, mask: Array, value: Array | complex, /) -> Array:
    """A copy of x with value, a number or a 0-d array, where the mask is true. Asynchronous.

    The mask is bool and broadcasts with x. The result has x's dtype.

    >>> stator.masked_fill(stator.asarray([1, 2, 3]), stator.asarray([True, False, True]), 0).tolist()
    [0, 2, 0]
    """
    cdef Array source = as_array(x, "masked_fill"), where = as_array(mask, "masked_fill")
    cdef Array out = new_array(source.backend)
    cdef vector[Operand] number
    cdef CppStream stream
    value = plain_or_other(value)
    to_operand(value, "masked_fill", number)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.masked_fill(source.c, where.c, number[0], stream)
    return out


def masked_select(x: Array, mask: Array, /, *, size: int | None = None, fill_value: complex | None = None) -> Array:
    """The elements of x where the mask is true, in row-major order. Synchronises: reads their number.

    The mask is bool and broadcasts with x. With a size nothing synchronises: the result has that many elements, the
    first ones found and then fill_value (None: 0).

    >>> stator.masked_select(stator.asarray([1, 2, 3]), stator.asarray([True, False, True])).tolist()
    [1, 3]
    """
    cdef Array source = as_array(x, "masked_select"), where = as_array(mask, "masked_select")
    cdef Array out = new_array(source.backend)
    cdef cpp.Capacity capacity = to_capacity(size, fill_value, "masked_select")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.masked_select(source.c, where.c, capacity, stream)
    after_wait(source.backend)
    return out


def masked_scatter(x: Array, mask: Array, source: Array, /) -> Array:
    """A copy of x with the elements of source, one after the other, where the mask is true. Asynchronous.

    The mask is bool and broadcasts with x; source is read in row-major order. If source is too short, the next
    synchronising call raises OutOfRangeError, and the other elements are those of x.

    >>> x, mask = stator.asarray([1, 2, 3]), stator.asarray([True, False, True])
    >>> stator.masked_scatter(x, mask, stator.asarray([7, 8])).tolist()
    [7, 2, 8]
    """
    cdef Array target = as_array(x, "masked_scatter"), where = as_array(mask, "masked_scatter")
    cdef Array values = as_array(source, "masked_scatter"), out = new_array(target.backend)
    cdef CppStream stream
    enter(target.backend, stream)
    with nogil:
        out.c = cpp.masked_scatter(target.c, where.c, values.c, stream)
    return out


cdef tuple to_tuple(Backend backend, const vector[CppArray]& arrays):
    cdef size_t i
    cdef Array entry
    out = []
    for i in range(arrays.size()):
        entry = new_array(backend)
        entry.c = arrays[i]
        out.append(entry)
    return tuple(out)


def nonzero(x: Array, /, *, size: int | None = None, fill_value: int | None = None) -> tuple[Array, ...]:
    """The coordinates of the nonzero elements, in row-major order. Synchronises: reads their number.

    One int64 array per axis. With a size nothing synchronises: each array has that many elements, those of the first
    ones found and then fill_value (None: 0).

    >>> [x.tolist() for x in stator.nonzero(stator.asarray([[0, 1], [2, 0]]))]
    [[0, 1], [1, 0]]
    """
    cdef Array source = as_array(x, "nonzero")
    cdef cpp.Capacity capacity = to_capacity(size, fill_value, "nonzero")
    cdef vector[CppArray] found
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        found = cpp.nonzero(source.c, capacity, stream)
    after_wait(source.backend)
    return to_tuple(source.backend, found)


def compress(condition: Array, x: Array, /, *, axis: int | None = None) -> Array:
    """The slices of x along an axis where condition is true. Synchronises: reads their number.

    As numpy.compress. condition: bool, with one axis. axis: None selects elements of the flattened array.

    >>> stator.compress(stator.asarray([True, False, True]), stator.asarray([1, 2, 3])).tolist()
    [1, 3]
    """
    return compressed(as_array(condition, "compress"), as_array(x, "compress"), axis)


cdef Array compressed(Array condition, Array x, object axis):
    cdef Array out = new_array(x.backend)
    cdef optional[int64_t] along
    cdef CppStream stream
    to_axis(axis, along, "compress")
    enter(x.backend, stream)
    with nogil:
        out.c = cpp.compress(condition.c, x.c, along, stream)
    after_wait(x.backend)
    return out


def masked_fill_backward(grad: Array, mask: Array, /) -> Array:
    """The gradient of masked_fill's x: grad, with 0 where the mask is true. Asynchronous."""
    cdef Array g = as_array(grad, "nn.masked_fill_backward"), where = as_array(mask, "nn.masked_fill_backward")
    cdef Array out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.masked_fill_backward(g.c, where.c, stream)
    return out


def masked_select_backward(grad: Array, mask: Array, /) -> Array:
    """The gradient of masked_select's x: grad where the mask is true, else 0. Asynchronous.

    The result has the mask's shape. grad has one axis and may be too long; if it is too short, the next synchronising
    call raises OutOfRangeError.
    """
    cdef Array g = as_array(grad, "nn.masked_select_backward"), where = as_array(mask, "nn.masked_select_backward")
    cdef Array out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.masked_select_backward(g.c, where.c, stream)
    return out


def masked_scatter_backward(grad: Array, mask: Array, /, source_shape: int | Sequence[int]) -> tuple[Array, Array]:
    """The gradients of masked_scatter's x and source. Asynchronous.

    Elements of source that were not used have the gradient 0.
    """
    cdef Array g = as_array(grad, "nn.masked_scatter_backward"), where = as_array(mask, "nn.masked_scatter_backward")
    cdef Array x = new_array(g.backend), source = new_array(g.backend)
    cdef cpp.MaskedScatterGradients gradients
    cdef Dims shape
    cdef CppStream stream
    to_dims(source_shape, shape, "nn.masked_scatter_backward", "source_shape")
    enter(g.backend, stream)
    with nogil:
        gradients = cpp.masked_scatter_backward(g.c, where.c, shape, stream)
    x.c, source.c = gradients.x, gradients.source
    return x, source
