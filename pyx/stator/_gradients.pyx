# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Gradients of reductions."""
from stator._array cimport Array, as_array, new_array
from stator._backend cimport enter
from stator._convert cimport to_axes, to_dims
from stator.cpp cimport reduction_gradients as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims


cdef cpp.ReductionGradientOptions reduction(object axis, object keepdims, str op) except *:
    cdef cpp.ReductionGradientOptions options
    to_axes(axis, options.axes, op)
    options.keepdims = bool(keepdims)
    return options


def sum_backward(grad: Array, shape: int | Sequence[int], /, axis: int | Sequence[int] | None = None,
                 keepdims: bool = False) -> Array:
    """The gradient of what sum reduced: grad repeated to its shape. axis and keepdims: as sum's."""
    cdef Array g = as_array(grad, "nn.sum_backward")
    cdef Array out = new_array(g.backend)
    cdef cpp.ReductionGradientOptions options = reduction(axis, keepdims, "nn.sum_backward")
    cdef Dims dims
    cdef CppStream stream
    to_dims(shape, dims, "nn.sum_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.sum_backward(g.c, dims, options, stream)
    return out


def mean_backward(grad: Array, shape: int | Sequence[int], /, axis: int | Sequence[int] | None = None,
                  keepdims: bool = False) -> Array:
    """The gradient of what mean reduced: grad over the number of elements, repeated to its shape.

    axis and keepdims: as mean's.
    """
    cdef Array g = as_array(grad, "nn.mean_backward")
    cdef Array out = new_array(g.backend)
    cdef cpp.ReductionGradientOptions options = reduction(axis, keepdims, "nn.mean_backward")
    cdef Dims dims
    cdef CppStream stream
    to_dims(shape, dims, "nn.mean_backward")
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.mean_backward(g.c, dims, options, stream)
    return out


def prod_backward(grad: Array, x: Array, /, axis: int | Sequence[int] | None = None,
                  keepdims: bool = False) -> Array:
    """The gradient of what prod reduced: grad times the product of the other elements, also next to zeros.

    axis and keepdims: as prod's.
    """
    cdef Array g = as_array(grad, "nn.prod_backward"), source = as_array(x, "nn.prod_backward")
    cdef Array out = new_array(g.backend)
    cdef cpp.ReductionGradientOptions options = reduction(axis, keepdims, "nn.prod_backward")
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.prod_backward(g.c, source.c, options, stream)
    return out
