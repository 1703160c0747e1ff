# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Pooling to given extents, unpooling of largest elements, and the gradients of both."""
from stator._array cimport Array, as_array, new_array, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_extents, to_flag, to_lengths
from stator.cpp cimport pooling as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims


# The extents of the result; None for those of x.
cdef int set_output(Dims& out, int spatial, Array x, object value, str op) except -1:
    cdef int lead = x.c.ndim() - spatial
    if value is None:
        value = (None,) * spatial
    if isinstance(value, (tuple, list)) and len(value) == spatial:
        # Without the axes, any number: the array is refused.
        value = tuple(v if v is not None else x.c.shape().data()[lead + d] if lead >= 0 else 1
                      for d, v in enumerate(value))
    to_extents(value, spatial, out, op, "output_size")
    return 0


cdef Array adaptive_avg_pool(int spatial, str op, object x, object output_size):
    cdef Array source = as_array(x, op), out = new_array(source.backend)
    cdef Dims output
    cdef CppStream stream
    set_output(output, spatial, source, output_size, op)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.adaptive_avg_pool(source.c, output, stream)
    return out


cdef Array adaptive_avg_pool_backward(int spatial, str op, object grad, object x):
    cdef Array g = as_array(grad, op), source = as_array(x, op), out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.adaptive_avg_pool_backward(g.c, source.c, spatial, stream)
    return out


cdef object adaptive_max_pool(int spatial, str op, object x, object output_size, object return_indices):
    cdef Array source = as_array(x, op)
    cdef Dims output
    cdef bint indices = to_flag(return_indices, op, "return_indices")
    cdef cpp.MaxPooled found
    cdef CppStream stream
    set_output(output, spatial, source, output_size, op)
    enter(source.backend, stream)
    with nogil:
        found = cpp.adaptive_max_pool(source.c, output, indices, stream)
    y = wrap_array(source.backend, found.y)
    return (y, wrap_array(source.backend, found.indices.value())) if indices else y


cdef Array adaptive_max_pool_backward(int spatial, str op, object grad, object x, object indices):
    cdef Array g = as_array(grad, op), source = as_array(x, op), at = as_array(indices, op), out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.adaptive_max_pool_backward(g.c, source.c, at.c, spatial, stream)
    return out


cdef Array max_unpool(int spatial, str op, object x, object indices, object kernel, object stride, object padding,
                      object output_size):
    cdef Array source = as_array(x, op), at = as_array(indices, op), out = new_array(source.backend)
    cdef cpp.PoolOptions options
    cdef Dims output
    cdef CppStream stream
    to_extents(kernel, spatial, options.kernel, op, "kernel_size")
    to_lengths(stride, spatial, options.stride, op, "stride")
    to_lengths(padding, spatial, options.padding, op, "padding")
    to_lengths(output_size, spatial, output, op, "output_size")
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.max_unpool(source.c, at.c, options, output, stream)
    return out


cdef Array max_unpool_backward(int spatial, str op, object grad, object indices):
    cdef Array g = as_array(grad, op), at = as_array(indices, op), out = new_array(g.backend)
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.max_unpool_backward(g.c, at.c, spatial, stream)
    return out


def adaptive_avg_pool1d(x: Array, /, output_size: int | Sequence[int | None] | None) -> Array:
    """The means of output_size windows of x (n, channels, l) or (channels, l). Asynchronous.

    output_size is that of adaptive_avg_pool2d.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> stator.nn.adaptive_avg_pool1d(x, 3).tolist()
    [[2.0, 2.5, 3.0]]
    """
    return adaptive_avg_pool(1, "nn.adaptive_avg_pool1d", x, output_size)


def adaptive_avg_pool1d_backward(grad: Array, x: Array, /) -> Array:
    """The gradient of adaptive_avg_pool1d's x, of which the shape and the dtype count. Asynchronous.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> stator.nn.adaptive_avg_pool1d_backward(be.ones((1, 2)), x).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """
    return adaptive_avg_pool_backward(1, "nn.adaptive_avg_pool1d_backward", grad, x)


def adaptive_max_pool1d(x: Array, /, output_size: int | Sequence[int | None] | None, *,
                        return_indices: bool = False) -> Array | tuple[Array, Array]:
    """The largest elements of output_size windows of x ([n,] channels, l). Asynchronous.

    output_size is that of adaptive_avg_pool2d, return_indices that of max_pool2d.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> stator.nn.adaptive_max_pool1d(x, 3).tolist()
    [[3.0, 3.0, 4.0]]
    """
    return adaptive_max_pool(1, "nn.adaptive_max_pool1d", x, output_size, return_indices)


def adaptive_max_pool1d_backward(grad: Array, x: Array, indices: Array, /) -> Array:
    """The gradient of adaptive_max_pool1d's x, from the indices that it returned. Asynchronous.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = stator.nn.adaptive_max_pool1d(x, 2, return_indices=True)
    >>> stator.nn.adaptive_max_pool1d_backward(be.ones(y.shape), x, indices).tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    return adaptive_max_pool_backward(1, "nn.adaptive_max_pool1d_backward", grad, x, indices)


def max_unpool1d(x: Array, indices: Array, /, kernel_size: int | Sequence[int],
                 stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, *,
                 output_size: int | Sequence[int] | None = None) -> Array:
    """The elements of x at their indices in planes of zeros, the last one of equal indices. Asynchronous.

    x and indices are what max_pool1d returned for these windows. output_size: the spatial extents, which differ from
    those that the windows give by less than stride. For an index out of range the next synchronising call raises
    OutOfRangeError.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = stator.nn.max_pool1d(x, 2, return_indices=True)
    >>> stator.nn.max_unpool1d(y, indices, 2).tolist()
    [[0.0, 3.0, 0.0, 4.0]]
    """
    return max_unpool(1, "nn.max_unpool1d", x, indices, kernel_size, stride, padding, output_size)


def max_unpool1d_backward(grad: Array, indices: Array, /) -> Array:
    """The gradient of max_unpool1d's x: the elements of grad at the indices. Asynchronous.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = stator.nn.max_pool1d(x, 2, return_indices=True)
    >>> stator.nn.max_unpool1d_backward(x, indices).tolist()
    [[3.0, 4.0]]
    """
    return max_unpool_backward(1, "nn.max_unpool1d_backward", grad, indices)


def adaptive_avg_pool2d(x: Array, /, output_size: int | Sequence[int | None] | None) -> Array:
    """The means of output_size windows of x (n, channels, h, w) or (channels, h, w). Asynchronous.

    output_size: the spatial extents of the result, an integer for all of them or one for each; None: x's. Window o of
    an axis is from floor(o in / out) to ceil((o + 1) in / out).

    >>> stator.nn.adaptive_avg_pool2d(be.ones((1, 3, 4, 6)), 2).shape
    (1, 3, 2, 2)
    """
    return adaptive_avg_pool(2, "nn.adaptive_avg_pool2d", x, output_size)


def adaptive_avg_pool2d_backward(grad: Array, x: Array, /) -> Array:
    """The gradient of adaptive_avg_pool2d's x, of which the shape and the dtype count. Asynchronous.

    >>> x = be.ones((1, 3, 4, 6))
    >>> stator.nn.adaptive_avg_pool2d_backward(be.ones((1, 3, 2, 2)), x).shape
    (1, 3, 4, 6)
    """
    return adaptive_avg_pool_backward(2, "nn.adaptive_avg_pool2d_backward", grad, x)


def adaptive_max_pool2d(x: Array, /, output_size: int | Sequence[int | None] | None, *,
                        return_indices: bool = False) -> Array | tuple[Array, Array]:
    """The largest elements of output_size windows of x ([n,] channels, h, w). Asynchronous.

    output_size is that of adaptive_avg_pool2d, return_indices that of max_pool2d.

    >>> stator.nn.adaptive_max_pool2d(be.ones((1, 3, 4, 6)), 2).shape
    (1, 3, 2, 2)
    """
    return adaptive_max_pool(2, "nn.adaptive_max_pool2d", x, output_size, return_indices)


def adaptive_max_pool2d_backward(grad: Array, x: Array, indices: Array, /) -> Array:
    """The gradient of adaptive_max_pool2d's x, from the indices that it returned. Asynchronous.

    >>> x = be.ones((1, 3, 4, 6))
    >>> y, indices = stator.nn.adaptive_max_pool2d(x, 2, return_indices=True)
    >>> stator.nn.adaptive_max_pool2d_backward(y, x, indices).shape
    (1, 3, 4, 6)
    """
    return adaptive_max_pool_backward(2, "nn.adaptive_max_pool2d_backward", grad, x, indices)


def max_unpool2d(x: Array, indices: Array, /, kernel_size: int | Sequence[int],
                 stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, *,
                 output_size: int | Sequence[int] | None = None) -> Array:
    """The elements of x at their indices in planes of zeros, the last one of equal indices. Asynchronous.

    x and indices are what max_pool2d returned for these windows. output_size: the spatial extents, which differ from
    those that the windows give by less than stride. For an index out of range the next synchronising call raises
    OutOfRangeError.

    >>> y, indices = stator.nn.max_pool2d(be.ones((1, 3, 4, 6)), 2, return_indices=True)
    >>> stator.nn.max_unpool2d(y, indices, 2).shape
    (1, 3, 4, 6)
    """
    return max_unpool(2, "nn.max_unpool2d", x, indices, kernel_size, stride, padding, output_size)


def max_unpool2d_backward(grad: Array, indices: Array, /) -> Array:
    """The gradient of max_unpool2d's x: the elements of grad at the indices. Asynchronous.

    >>> x = be.ones((1, 3, 4, 6))
    >>> y, indices = stator.nn.max_pool2d(x, 2, return_indices=True)
    >>> stator.nn.max_unpool2d_backward(x, indices).shape
    (1, 3, 2, 3)
    """
    return max_unpool_backward(2, "nn.max_unpool2d_backward", grad, indices)


def adaptive_avg_pool3d(x: Array, /, output_size: int | Sequence[int | None] | None) -> Array:
    """The means of output_size windows of x (n, channels, d, h, w) or (channels, d, h, w). Asynchronous.

    output_size is that of adaptive_avg_pool2d.

    >>> stator.nn.adaptive_avg_pool3d(be.ones((1, 3, 4, 4, 6)), 2).shape
    (1, 3, 2, 2, 2)
    """
    return adaptive_avg_pool(3, "nn.adaptive_avg_pool3d", x, output_size)


def adaptive_avg_pool3d_backward(grad: Array, x: Array, /) -> Array:
    """The gradient of adaptive_avg_pool3d's x, of which the shape and the dtype count. Asynchronous.

    >>> x = be.ones((1, 3, 4, 4, 6))
    >>> stator.nn.adaptive_avg_pool3d_backward(be.ones((1, 3, 2, 2, 2)), x).shape
    (1, 3, 4, 4, 6)
    """
    return adaptive_avg_pool_backward(3, "nn.adaptive_avg_pool3d_backward", grad, x)


def adaptive_max_pool3d(x: Array, /, output_size: int | Sequence[int | None] | None, *,
                        return_indices: bool = False) -> Array | tuple[Array, Array]:
    """The largest elements of output_size windows of x ([n,] channels, d, h, w). Asynchronous.

    output_size is that of adaptive_avg_pool2d, return_indices that of max_pool2d.

    >>> stator.nn.adaptive_max_pool3d(be.ones((1, 3, 4, 4, 6)), 2).shape
    (1, 3, 2, 2, 2)
    """
    return adaptive_max_pool(3, "nn.adaptive_max_pool3d", x, output_size, return_indices)


def adaptive_max_pool3d_backward(grad: Array, x: Array, indices: Array, /) -> Array:
    """The gradient of adaptive_max_pool3d's x, from the indices that it returned. Asynchronous.

    >>> x = be.ones((1, 3, 4, 4, 6))
    >>> y, indices = stator.nn.adaptive_max_pool3d(x, 2, return_indices=True)
    >>> stator.nn.adaptive_max_pool3d_backward(y, x, indices).shape
    (1, 3, 4, 4, 6)
    """
    return adaptive_max_pool_backward(3, "nn.adaptive_max_pool3d_backward", grad, x, indices)


def max_unpool3d(x: Array, indices: Array, /, kernel_size: int | Sequence[int],
                 stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, *,
                 output_size: int | Sequence[int] | None = None) -> Array:
    """The elements of x at their indices in planes of zeros, the last one of equal indices. Asynchronous.

    x and indices are what max_pool3d returned for these windows. output_size: the spatial extents, which differ from
    those that the windows give by less than stride. For an index out of range the next synchronising call raises
    OutOfRangeError.

    >>> y, indices = stator.nn.max_pool3d(be.ones((1, 3, 4, 4, 6)), 2, return_indices=True)
    >>> stator.nn.max_unpool3d(y, indices, 2).shape
    (1, 3, 4, 4, 6)
    """
    return max_unpool(3, "nn.max_unpool3d", x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d_backward(grad: Array, indices: Array, /) -> Array:
    """The gradient of max_unpool3d's x: the elements of grad at the indices. Asynchronous.

    >>> x = be.ones((1, 3, 4, 4, 6))
    >>> y, indices = stator.nn.max_pool3d(x, 2, return_indices=True)
    >>> stator.nn.max_unpool3d_backward(x, indices).shape
    (1, 3, 2, 2, 3)
    """
    return max_unpool_backward(3, "nn.max_unpool3d_backward", grad, indices)
