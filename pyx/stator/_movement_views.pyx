# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Views: other shapes, strides and orders of the same memory."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, new_array, reshape_op
from stator._backend cimport enter
from stator._convert cimport to_axes, to_dims, to_int
from stator.cpp cimport array as cpp_array
from stator.cpp cimport movement as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims, Int64Span
from stator.cpp.std cimport optional, vector

from stator.errors import InvalidValueError


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """A view with the axes in another order."""
    cdef Array source = as_array(x, "permute_dims")
    cdef Array out = new_array(source.backend)
    cdef Dims order
    to_dims(axes, order, "permute_dims")
    with nogil:
        out.c = cpp.permute_dims(source.c, Int64Span(order.data(), order.size()))
    return out


def reshape(x: Array, /, shape: int | Sequence[int], *, copy: bool | None = None) -> Array:
    """Another shape; one entry may be -1. copy: True always, False never (ShapeError), None when it must."""
    return reshape_op(as_array(x, "reshape"), shape, copy)


def broadcast_to(x: Array, /, shape: int | Sequence[int]) -> Array:
    """A view repeated along new and length-1 axes. Do not write to it."""
    cdef Array source = as_array(x, "broadcast_to")
    cdef Array out = new_array(source.backend)
    cdef Dims dims
    to_dims(shape, dims, "broadcast_to")
    with nogil:
        out.c = cpp.broadcast_to(source.c, dims)
    return out


def as_strided(x: Array, /, shape: int | Sequence[int], strides: int | Sequence[int], offset: int = 0) -> Array:
    """A view of x's memory: strides in elements, offset in elements from the start of the buffer."""
    cdef Array source = as_array(x, "as_strided")
    cdef Array out = new_array(source.backend)
    cdef Dims dims, steps
    cdef int64_t first = to_int(offset, "as_strided")
    to_dims(shape, dims, "as_strided")
    to_dims(strides, steps, "as_strided")
    with nogil:
        out.c = cpp.as_strided(source.c, dims, steps, first)
    return out


def squeeze(x: Array, /, axis: int | Sequence[int] | None = None) -> Array:
    """A view without axes of length 1: those of `axis`, which must be, or all. ShapeError, AxisError."""
    cdef Array source = as_array(x, "squeeze")
    cdef Array out = new_array(source.backend)
    cdef optional[vector[int64_t]] axes
    to_axes(axis, axes, "squeeze")
    with nogil:
        out.c = cpp.squeeze(source.c, axes)
    return out


def expand_dims(x: Array, /, axis: int | Sequence[int] = 0) -> Array:
    """A view with new axes of length 1 where the result has `axis`. AxisError."""
    cdef Array source = as_array(x, "expand_dims")
    cdef Array out = new_array(source.backend)
    cdef Dims axes
    to_dims(axis, axes, "expand_dims")
    with nogil:
        out.c = cpp.expand_dims(source.c, Int64Span(axes.data(), axes.size()))
    return out


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """A view with the axes `source` at the places `destination`, the others in their order. ShapeError, AxisError."""
    cdef Array array = as_array(x, "moveaxis")
    cdef Array out = new_array(array.backend)
    cdef Dims sources, places
    to_dims(source, sources, "moveaxis")
    to_dims(destination, places, "moveaxis")
    with nogil:
        out.c = cpp.moveaxis(array.c, Int64Span(sources.data(), sources.size()),
                                  Int64Span(places.data(), places.size()))
    return out


def flip(x: Array, /, *, axis: int | Sequence[int] | None = None) -> Array:
    """A view in reverse along the axes, None: along all. AxisError."""
    cdef Array source = as_array(x, "flip")
    cdef Array out = new_array(source.backend)
    cdef optional[vector[int64_t]] axes
    to_axes(axis, axes, "flip")
    with nogil:
        out.c = cpp.flip(source.c, axes)
    return out


def matrix_transpose(x: Array, /) -> Array:
    """A view with the last two axes swapped: (..., m, n) to (..., n, m). ShapeError."""
    cdef Array source = as_array(x, "matrix_transpose")
    cdef Array out = new_array(source.backend)
    with nogil:
        out.c = cpp.matrix_transpose(source.c)
    return out


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices (..., m, n) as a view, offset > 0 above the main one, < 0 below it. ShapeError."""
    cdef Array source = as_array(x, "linalg.diagonal")
    cdef Array out = new_array(source.backend)
    cdef int64_t k = to_int(offset, "linalg.diagonal")
    with nogil:
        out.c = cpp.diagonal(source.c, k)
    return out


# The views as Arrays; backends: whose each is, or the one of all.
cdef tuple wrapped(vector[cpp_array.Array]& pieces, list backends):
    cdef list out = []
    cdef Array piece
    cdef size_t i
    for i in range(pieces.size()):
        piece = new_array(backends[i if i < <size_t>len(backends) else 0])
        piece.c = pieces[i]
        out.append(piece)
    return tuple(out)


cdef list unwrapped(tuple arrays, vector[cpp_array.Array]& out, str op):
    cdef list backends = []
    cdef Array x
    for entry in arrays:
        x = as_array(entry, op)
        out.push_back(x.c)
        backends.append(x.backend)
    return backends


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Views of the arrays in the shape that they broadcast to together. Do not write to them. ShapeError."""
    cdef vector[cpp_array.Array] given, views
    backends = unwrapped(arrays, given, "broadcast_arrays")
    with nogil:
        views = cpp.broadcast_arrays(given)
    return wrapped(views, backends)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Views that hold a grid's coordinates: array k, of n_k elements, along axis k of (n_0, n_1, ...); "xy" swaps the
    first two axes. Do not write to them. ShapeError for an array of more than one axis."""
    cdef vector[cpp_array.Array] given, views
    cdef bint swapped = indexing == "xy"
    if indexing not in ("xy", "ij"):
        raise InvalidValueError(f"indexing={indexing!r}", op="meshgrid", remedy="Pass 'xy' or 'ij'.")
    backends = unwrapped(arrays, given, "meshgrid")
    with nogil:
        views = cpp.meshgrid(given, swapped)
    return wrapped(views, backends)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The pieces of x along an axis, each a view without it. AxisError."""
    cdef Array source = as_array(x, "unstack")
    cdef int64_t at = to_int(axis, "unstack")
    cdef vector[cpp_array.Array] pieces
    with nogil:
        pieces = cpp.unstack(source.c, at)
    return wrapped(pieces, [source.backend])
