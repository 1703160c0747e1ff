# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Views: other shapes, strides and axis orders of the same memory."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from stator._array cimport Array, as_given, new_array, reshape_op
from stator._convert cimport require_room, to_axes, to_choice, to_diagonal, to_dims, to_int, too_many
from stator.cpp cimport array as cpp_array
from stator.cpp cimport movement as cpp
from stator.cpp.ref cimport Dims, Int64Span
from stator.cpp.std cimport optional, vector


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """A view with the axes in another order: axis i of the result is axis axes[i] of x. No launch.

    >>> stator.permute_dims(stator.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    cdef Array source = as_given(x, "permute_dims")
    cdef Array out = new_array(source.backend)
    cdef Dims order
    to_dims(axes, order, "permute_dims", "axes")
    out.c = cpp.permute_dims(source.c, Int64Span(order.data(), order.size()))
    return out


def reshape(x: Array, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Array:
    """x in another shape: a view where the strides allow it, else a copy. Asynchronous.

    One entry of shape may be -1. copy: True copies always, False never (ShapeError), None only where needed.

    >>> stator.reshape(stator.arange(6), (2, -1)).shape
    (2, 3)
    """
    return reshape_op(as_given(x, "reshape"), shape, copy)


def broadcast_to(x: Array, /, shape: int | Sequence[int]) -> Array:
    """A view repeated along new axes and axes of length 1, which must not be written to. No launch.

    >>> stator.broadcast_to(stator.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    cdef Array source = as_given(x, "broadcast_to")
    cdef Array out = new_array(source.backend)
    cdef Dims dims
    to_dims(shape, dims, "broadcast_to")
    out.c = cpp.broadcast_to(source.c, dims)
    return out


def as_strided(x: Array, /, shape: int | Sequence[int], strides: int | Sequence[int], offset: int = 0) -> Array:
    """A view of x's memory with any shape and strides inside it (ShapeError). No launch.

    Strides and offset are in elements, as in torch, where x.strides has bytes; the offset counts from the start of the
    buffer.

    >>> stator.as_strided(stator.asarray([1, 2, 3]), (2, 2), (1, 1)).tolist()
    [[1, 2], [2, 3]]
    """
    cdef Array source = as_given(x, "as_strided")
    cdef Array out = new_array(source.backend)
    cdef Dims dims, steps
    cdef int64_t first = to_int(offset, "as_strided", "offset")
    to_dims(shape, dims, "as_strided")
    to_dims(strides, steps, "as_strided", "strides")
    out.c = cpp.as_strided(source.c, dims, steps, first)
    return out


def squeeze(x: Array, /, axis: int | Sequence[int] | None = None) -> Array:
    """A view without axes of length 1: those named, or all. No launch.

    ShapeError for an axis of another length, AxisError for one that is out of range or named twice.

    >>> stator.squeeze(stator.ones((1, 3)), axis=0).shape
    (3,)
    """
    cdef Array source = as_given(x, "squeeze")
    cdef Array out = new_array(source.backend)
    cdef optional[vector[int64_t]] axes
    to_axes(axis, axes, "squeeze")
    out.c = cpp.squeeze(source.c, axes)
    return out


def expand_dims(x: Array, /, axis: int | Sequence[int] = 0) -> Array:
    """A view with new axes of length 1, which are the axes `axis` of the result. No launch.

    >>> stator.expand_dims(stator.ones(3), axis=0).shape
    (1, 3)
    """
    cdef Array source = as_given(x, "expand_dims")
    cdef Array out = new_array(source.backend)
    cdef Dims axes
    to_dims(axis, axes, "expand_dims", "axis")
    out.c = cpp.expand_dims(source.c, Int64Span(axes.data(), axes.size()))
    return out


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """A view with the axes `source` at the positions `destination`, the others in their order. No launch.

    >>> stator.moveaxis(stator.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    cdef Array array = as_given(x, "moveaxis")
    cdef Array out = new_array(array.backend)
    cdef Dims sources, positions
    to_dims(source, sources, "moveaxis", "source")
    to_dims(destination, positions, "moveaxis", "destination")
    with nogil:
        out.c = cpp.moveaxis(array.c, Int64Span(sources.data(), sources.size()),
                             Int64Span(positions.data(), positions.size()))
    return out


def flip(x: Array, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """A view in reverse order along the axes (None: all). No launch.

    >>> stator.flip(stator.asarray([1, 2, 3])).tolist()
    [3, 2, 1]
    """
    cdef Array source = as_given(x, "flip")
    cdef Array out = new_array(source.backend)
    cdef optional[vector[int64_t]] axes
    to_axes(axis, axes, "flip")
    out.c = cpp.flip(source.c, axes)
    return out


def matrix_transpose(x: Array, /) -> Array:
    """A view with the last two axes swapped: (..., m, n) to (..., n, m). No launch.

    >>> stator.matrix_transpose(stator.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 3], [2, 4]]
    """
    cdef Array source = as_given(x, "matrix_transpose")
    cdef Array out = new_array(source.backend)
    out.c = cpp.matrix_transpose(source.c)
    return out


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """A view of the diagonals of matrices (..., m, n): (..., k). No launch.

    offset: above (positive) or below (negative) the main diagonal.

    >>> stator.linalg.diagonal(stator.asarray([[1, 2], [3, 4]]), offset=1).tolist()
    [2]
    """
    cdef Array source = as_given(x, "linalg.diagonal")
    cdef Array out = new_array(source.backend)
    cdef int64_t k = to_diagonal(offset, "linalg.diagonal", "offset")
    out.c = cpp.diagonal(source.c, k)
    return out


cdef tuple wrapped(vector[cpp_array.Array]& pieces, list backends):
    cdef list out = []
    cdef Array piece
    cdef size_t i
    for i in range(pieces.size()):
        piece = new_array(backends[i if i < <size_t>len(backends) else 0])
        piece.c = pieces[i]
        out.append(piece)
    return tuple(out)


# In chunks, between which signals are handled.
cdef tuple parts_of(Array source, int64_t count, int64_t axis, bint unstacked, str op):
    cdef vector[cpp_array.Array] pieces
    cdef cpp_array.Array some = source.c
    cdef int64_t bounds[2]
    cdef int64_t each = 0, longer = 0, first, last, step = 4096
    cdef int at
    cdef list out = []
    if count > step:
        require_room(count, op)
        at = cpp_array.normalize_axis(<const char*>"split", axis, source.c.ndim())
        each, longer = source.c.shape().data()[at] // count, source.c.shape().data()[at] % count
    try:
        for first in range(0, max(count, 1), step):
            last = min(first + step, count)
            with nogil:
                if count > step:
                    bounds[0], bounds[1] = first * each + min(first, longer), last * each + min(last, longer)
                    some = cpp.split(source.c, Int64Span(bounds, 2), axis)[1]
                if unstacked:
                    pieces = cpp.unstack(some, axis)
                else:
                    pieces = cpp.split(some, last - first, axis)
            out += wrapped(pieces, [source.backend])
            PyErr_CheckSignals()
        return tuple(out)
    except MemoryError:
        out.clear()  # the error needs memory too
        raise too_many(count, op) from None


cdef list unwrapped(tuple arrays, vector[cpp_array.Array]& out, str op):
    cdef list backends = []
    cdef Array x
    for entry in arrays:
        x = as_given(entry, op)
        out.push_back(x.c)
        backends.append(x.backend)
    return backends


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Views of the arrays broadcast to their common shape, which must not be written to. No launch.

    >>> [x.shape for x in stator.broadcast_arrays(stator.ones(3), stator.ones((2, 1)))]
    [(2, 3), (2, 3)]
    """
    cdef vector[cpp_array.Array] given, views
    backends = unwrapped(arrays, given, "broadcast_arrays")
    with nogil:
        views = cpp.broadcast_arrays(given)
    return wrapped(views, backends)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """The coordinates of a grid as views, which must not be written to. No launch.

    Array k, of n_k elements, varies along axis k of the shape (n_0, n_1, ...); indexing "xy" swaps the first two axes.
    ShapeError for an array of more than one axis.

    >>> [x.tolist() for x in stator.meshgrid(stator.asarray([1, 2]), stator.asarray([3, 4]))]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    cdef vector[cpp_array.Array] given, views
    cdef bint swapped = to_choice(indexing, ("xy", "ij"), "meshgrid", "indexing") == 0
    backends = unwrapped(arrays, given, "meshgrid")
    with nogil:
        views = cpp.meshgrid(given, swapped)
    return wrapped(views, backends)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """A tuple of views, one per index along an axis, each without that axis. No launch.

    >>> [x.tolist() for x in stator.unstack(stator.asarray([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    cdef Array source = as_given(x, "unstack")
    cdef int64_t along = to_int(axis, "unstack")
    cdef int at = cpp_array.normalize_axis(<const char*>"unstack", along, source.c.ndim())
    return parts_of(source, source.c.shape().data()[at], at, True, "unstack")
