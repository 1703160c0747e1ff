# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Arrays and masks."""
from libc.stdint cimport int64_t
from libcpp.optional cimport optional
from libcpp.vector cimport vector

from stator._array cimport Array, as_array, new_array
from stator._backend cimport Backend, enter
from stator._convert cimport not_an_array, to_dims, to_int, to_scalar
from stator.cpp cimport masks as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.array cimport Operand, Scalar
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims

from stator.errors import InvalidValueError

include "_operand.pxi"


cdef cpp.Capacity to_capacity(object size, object fill_value, str op) except *:
    cdef cpp.Capacity capacity
    if size is not None:
        capacity.size = optional[int64_t](to_int(size, op))
    elif fill_value is not None:
        raise InvalidValueError("fill_value without a size", op=op, remedy="Give size= as well.")
    if fill_value is not None and not to_scalar(fill_value, capacity.fill):
        raise InvalidValueError(f"fill_value={fill_value!r}", op=op, remedy="Give a number.")
    return capacity


def masked_fill(x: Array, mask: Array, value: Array | complex, /) -> Array:
    """x with value, a number or a 0-d array, where the mask is true; in x's dtype. The mask broadcasts with x."""
    cdef Array source = as_array(x, "masked_fill"), where = as_array(mask, "masked_fill")
    cdef Array out = new_array(source.backend)
    cdef vector[Operand] number
    cdef CppStream stream
    to_operand(value, "masked_fill", number)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.masked_fill(source.c, where.c, number[0], stream)
    return out


def masked_select(x: Array, mask: Array, /, *, size: int | None = None, fill_value: complex | None = None) -> Array:
    """The elements of x where the mask is true, in row-major order; the two broadcast. Synchronises once.

    With a size it does not: the result has that many elements, and fill_value (0) after the last one found.
    """
    cdef Array source = as_array(x, "masked_select"), where = as_array(mask, "masked_select")
    cdef Array out = new_array(source.backend)
    cdef cpp.Capacity capacity = to_capacity(size, fill_value, "masked_select")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.masked_select(source.c, where.c, capacity, stream)
    return out


def masked_scatter(x: Array, mask: Array, source: Array, /) -> Array:
    """x with the elements of source, in row-major order, put one after the other where the mask is true.

    The mask broadcasts to x's shape. Where source ends early x stays, and OutOfRangeError is raised at the next
    synchronising call.
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
    """The coordinates of what is not zero, in row-major order: an int64 array an axis. Synchronises once.

    With a size it does not: each has that many elements, and fill_value (0) after the last one found.
    """
    cdef Array source = as_array(x, "nonzero")
    cdef cpp.Capacity capacity = to_capacity(size, fill_value, "nonzero")
    cdef vector[CppArray] found
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        found = cpp.nonzero(source.c, capacity, stream)
    return to_tuple(source.backend, found)


def compress(condition: Array, x: Array, /, *, axis: int | None = None) -> Array:
    """The slices of x along the axis (None: of the flattened array) at which condition is true. Synchronises once."""
    cdef Array where = as_array(condition, "compress"), source = as_array(x, "compress")
    cdef Array out = new_array(source.backend)
    cdef optional[int64_t] along
    cdef CppStream stream
    if axis is not None:
        along = optional[int64_t](to_int(axis, "compress"))
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.compress(where.c, source.c, along, stream)
    return out


def masked_fill_backward(grad: Array, mask: Array, /) -> Array:
    """The gradient of masked_fill's array: 0 where the mask is true."""
    cdef Array g = as_array(grad, "nn.masked_fill_backward"), where = as_array(mask, "nn.masked_fill_backward")
    cdef Array out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.masked_fill_backward(g.c, where.c, stream)
    return out


def masked_select_backward(grad: Array, mask: Array, /) -> Array:
    """The gradient of masked_select's array, of the mask's shape: grad, one axis, where the mask is true, 0 elsewhere.

    A grad that is too short raises OutOfRangeError at the next synchronising call; it may be longer.
    """
    cdef Array g = as_array(grad, "nn.masked_select_backward"), where = as_array(mask, "nn.masked_select_backward")
    cdef Array out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.masked_select_backward(g.c, where.c, stream)
    return out


def masked_scatter_backward(grad: Array, mask: Array, /, source_shape: int | Sequence[int]) -> tuple[Array, Array]:
    """The gradients of masked_scatter's array and source. Elements of source that were not used have gradient 0."""
    cdef Array g = as_array(grad, "nn.masked_scatter_backward"), where = as_array(mask, "nn.masked_scatter_backward")
    cdef Array x = new_array(g.backend), source = new_array(g.backend)
    cdef cpp.MaskedScatterGradients gradients
    cdef Dims shape
    cdef CppStream stream
    to_dims(source_shape, shape, "nn.masked_scatter_backward")
    enter(g.backend, stream)
    with nogil:
        gradients = cpp.masked_scatter_backward(g.c, where.c, shape, stream)
    x.c, source.c = gradients.x, gradients.source
    return x, source
