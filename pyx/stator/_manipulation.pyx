# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Copies, conversions and views."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, astype_op, new_array, reshape_op
from stator._backend cimport enter
from stator._convert cimport to_dims, to_int
from stator.cpp cimport creation
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims, Int64Span


def copy(x: Array, /) -> Array:
    """A row-major copy, whatever the layout: one launch."""
    cdef Array source = as_array(x, "copy")
    cdef CppStream stream
    cdef Array out = new_array(source.backend)
    enter(source.backend, stream)
    with nogil:
        out.c = creation.copy(source.c, stream)
    return out


def astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike = None) -> Array:
    """Conversion: float to int saturates, NaN gives 0; complex to real drops the imaginary part."""
    cdef Array out = astype_op(as_array(x, "astype"), dtype, copy)
    return out if device is None else out.to_device(device)


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """A view with the axes in another order."""
    cdef Array source = as_array(x, "permute_dims")
    cdef Array out = new_array(source.backend)
    cdef Dims order
    to_dims(axes, order, "permute_dims")
    with nogil:
        out.c = creation.permute_dims(source.c, Int64Span(order.data(), order.size()))
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
        out.c = creation.broadcast_to(source.c, dims)
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
        out.c = creation.as_strided(source.c, dims, steps, first)
    return out
