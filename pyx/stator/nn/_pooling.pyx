# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Pooling over windows of one to three spatial axes, and its gradients."""

from stator._array cimport Array, as_array, new_array, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_extents, to_flag, to_float, to_lengths
from stator._integers cimport to_optional_int
from stator.cpp cimport pooling as cpp
from stator.cpp.backend cimport Stream as CppStream


cdef int set_pool(cpp.PoolOptions& o, int spatial, str op, object kernel, object stride, object padding,
                  object dilation, object ceil_mode) except -1:
    to_extents(kernel, spatial, o.kernel, op, "kernel_size")
    to_lengths(stride, spatial, o.stride, op, "stride")
    to_lengths(padding, spatial, o.padding, op, "padding")
    to_lengths(dilation, spatial, o.dilation, op, "dilation")
    o.ceil_mode = to_flag(ceil_mode, op, "ceil_mode")
    return 0


cdef object max_pool(int spatial, str op, object x, object kernel, object stride, object padding, object dilation,
                     object ceil_mode, object return_indices):
    cdef Array source = as_array(x, op)
    cdef cpp.PoolOptions options
    cdef bint indices = to_flag(return_indices, op, "return_indices")
    cdef cpp.MaxPooled found
    cdef CppStream stream
    set_pool(options, spatial, op, kernel, stride, padding, dilation, ceil_mode)
    enter(source.backend, stream)
    with nogil:
        found = cpp.max_pool(source.c, options, indices, stream)
    y = wrap_array(source.backend, found.y)
    return (y, wrap_array(source.backend, found.indices.value())) if indices else y


cdef Array max_pool_backward(int spatial, str op, object grad, object x, object indices, object kernel, object stride,
                             object padding, object dilation, object ceil_mode):
    cdef Array g = as_array(grad, op), source = as_array(x, op), at = as_array(indices, op), out = new_array(g.backend)
    cdef cpp.PoolOptions options
    cdef CppStream stream
    set_pool(options, spatial, op, kernel, stride, padding, dilation, ceil_mode)
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.max_pool_backward(g.c, source.c, at.c, options, stream)
    return out


# grad: the gradient of the result, or None for the pooling itself.
cdef Array avg_pool(int spatial, str op, object grad, object x, object kernel, object stride, object padding,
                    object ceil_mode, object count_include_pad, object divisor):
    cdef Array source = as_array(x, op), g = source if grad is None else as_array(grad, op)
    cdef Array out = new_array(g.backend)
    cdef bint backward = grad is not None
    cdef cpp.AvgPoolOptions options
    cdef CppStream stream
    set_pool(options, spatial, op, kernel, stride, padding, 1, ceil_mode)
    options.count_include_pad = to_flag(count_include_pad, op, "count_include_pad")
    to_optional_int(divisor, options.divisor, op, "divisor_override")
    enter(g.backend, stream)
    with nogil:
        if backward:
            out.c = cpp.avg_pool_backward(g.c, source.c, options, stream)
        else:
            out.c = cpp.avg_pool(source.c, options, stream)
    return out


cdef Array lp_pool(int spatial, str op, object x, object norm_type, object kernel, object stride, object ceil_mode):
    cdef Array source = as_array(x, op), out = new_array(source.backend)
    cdef cpp.PoolOptions options
    cdef double power = to_float(norm_type, op, "norm_type")
    cdef CppStream stream
    set_pool(options, spatial, op, kernel, stride, 0, 1, ceil_mode)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.lp_pool(source.c, power, options, stream)
    return out


cdef Array lp_pool_backward(int spatial, str op, object grad, object x, object y, object norm_type, object kernel,
                            object stride, object ceil_mode):
    cdef Array g = as_array(grad, op), source = as_array(x, op), result = as_array(y, op), out = new_array(g.backend)
    cdef cpp.PoolOptions options
    cdef double power = to_float(norm_type, op, "norm_type")
    cdef CppStream stream
    set_pool(options, spatial, op, kernel, stride, 0, 1, ceil_mode)
    enter(g.backend, stream)
    with nogil:
        out.c = cpp.lp_pool_backward(g.c, source.c, result.c, power, options, stream)
    return out


def max_pool1d(x: Array, /, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
               padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, *, ceil_mode: bool = False,
               return_indices: bool = False) -> Array | tuple[Array, Array]:
    """The largest element of each window of x (n, channels, l) or (channels, l). Asynchronous.

    The arguments and the result are those of max_pool2d.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = stator.nn.max_pool1d(x, 2, return_indices=True)
    >>> y.tolist(), indices.tolist()
    ([[3.0, 4.0]], [[1, 3]])
    """
    return max_pool(1, "nn.max_pool1d", x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d_backward(grad: Array, x: Array, indices: Array, /, kernel_size: int | Sequence[int],
                        stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
                        dilation: int | Sequence[int] = 1, *, ceil_mode: bool = False) -> Array:
    """The gradient of max_pool1d's x, from the indices that it returned. Asynchronous; deterministic.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = stator.nn.max_pool1d(x, 2, return_indices=True)
    >>> stator.nn.max_pool1d_backward(be.ones(y.shape), x, indices, 2).tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    return max_pool_backward(1, "nn.max_pool1d_backward", grad, x, indices, kernel_size, stride, padding, dilation,
                             ceil_mode)


def max_pool2d(x: Array, /, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
               padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, *, ceil_mode: bool = False,
               return_indices: bool = False) -> Array | tuple[Array, Array]:
    """The largest element of each window of x (n, channels, h, w) or (channels, h, w). Asynchronous.

    kernel_size, stride, padding and dilation are integers, or one for each axis; stride=None is kernel_size. padding is
    at most half of kernel_size. ceil_mode: the last window may reach beyond the end. NaN is the largest, and a window
    of only padding gives -inf. return_indices: the result is (y, indices), int64 in the plane of the spatial axes, of
    the first of equal elements; -1 where there is none.

    >>> stator.nn.max_pool2d(be.ones((1, 3, 4, 6)), 3, 2, 1).shape
    (1, 3, 2, 3)
    """
    return max_pool(2, "nn.max_pool2d", x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d_backward(grad: Array, x: Array, indices: Array, /, kernel_size: int | Sequence[int],
                        stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
                        dilation: int | Sequence[int] = 1, *, ceil_mode: bool = False) -> Array:
    """The gradient of max_pool2d's x, from the indices that it returned. Asynchronous; deterministic.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.ones((1, 3, 4, 6))
    >>> y, indices = stator.nn.max_pool2d(x, 2, return_indices=True)
    >>> stator.nn.max_pool2d_backward(y, x, indices, 2).shape
    (1, 3, 4, 6)
    """
    return max_pool_backward(2, "nn.max_pool2d_backward", grad, x, indices, kernel_size, stride, padding, dilation,
                             ceil_mode)


def max_pool3d(x: Array, /, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
               padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, *, ceil_mode: bool = False,
               return_indices: bool = False) -> Array | tuple[Array, Array]:
    """The largest element of each window of x (n, channels, d, h, w) or (channels, d, h, w). Asynchronous.

    The arguments and the result are those of max_pool2d.

    >>> stator.nn.max_pool3d(be.ones((1, 3, 4, 4, 6)), 3, 2, 1).shape
    (1, 3, 2, 2, 3)
    """
    return max_pool(3, "nn.max_pool3d", x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d_backward(grad: Array, x: Array, indices: Array, /, kernel_size: int | Sequence[int],
                        stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0,
                        dilation: int | Sequence[int] = 1, *, ceil_mode: bool = False) -> Array:
    """The gradient of max_pool3d's x, from the indices that it returned. Asynchronous; deterministic.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.ones((1, 3, 4, 4, 6))
    >>> y, indices = stator.nn.max_pool3d(x, 2, return_indices=True)
    >>> stator.nn.max_pool3d_backward(y, x, indices, 2).shape
    (1, 3, 4, 4, 6)
    """
    return max_pool_backward(3, "nn.max_pool3d_backward", grad, x, indices, kernel_size, stride, padding, dilation,
                             ceil_mode)


def avg_pool1d(x: Array, /, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
               padding: int | Sequence[int] = 0, *, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Array:
    """The mean of each window of x (n, channels, l) or (channels, l). Asynchronous.

    The arguments are those of avg_pool2d.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> stator.nn.avg_pool1d(x, 2).tolist()
    [[2.0, 3.0]]
    """
    return avg_pool(1, "nn.avg_pool1d", None, x, kernel_size, stride, padding, ceil_mode, count_include_pad,
                    divisor_override)


def avg_pool1d_backward(grad: Array, x: Array, /, kernel_size: int | Sequence[int],
                        stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, *,
                        ceil_mode: bool = False, count_include_pad: bool = True,
                        divisor_override: int | None = None) -> Array:
    """The gradient of avg_pool1d's x. Asynchronous; equal bits from run to run.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.asarray([[1.0, 3.0, 2.0, 4.0]])
    >>> stator.nn.avg_pool1d_backward(be.ones((1, 2)), x, 2).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """
    return avg_pool(1, "nn.avg_pool1d_backward", as_array(grad, "nn.avg_pool1d_backward"), x, kernel_size, stride,
                    padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool2d(x: Array, /, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
               padding: int | Sequence[int] = 0, *, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Array:
    """The mean of each window of x (n, channels, h, w) or (channels, h, w). Asynchronous.

    Sums are divided by divisor_override or, with None, by the number of elements of the window; with count_include_pad
    those of the padding are among them. The other arguments are those of max_pool2d.

    >>> stator.nn.avg_pool2d(be.ones((1, 3, 4, 6)), 2).shape
    (1, 3, 2, 3)
    """
    return avg_pool(2, "nn.avg_pool2d", None, x, kernel_size, stride, padding, ceil_mode, count_include_pad,
                    divisor_override)


def avg_pool2d_backward(grad: Array, x: Array, /, kernel_size: int | Sequence[int],
                        stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, *,
                        ceil_mode: bool = False, count_include_pad: bool = True,
                        divisor_override: int | None = None) -> Array:
    """The gradient of avg_pool2d's x. Asynchronous; equal bits from run to run.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.ones((1, 3, 4, 6))
    >>> stator.nn.avg_pool2d_backward(be.ones((1, 3, 2, 3)), x, 2).shape
    (1, 3, 4, 6)
    """
    return avg_pool(2, "nn.avg_pool2d_backward", as_array(grad, "nn.avg_pool2d_backward"), x, kernel_size, stride,
                    padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(x: Array, /, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None,
               padding: int | Sequence[int] = 0, *, ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: int | None = None) -> Array:
    """The mean of each window of x (n, channels, d, h, w) or (channels, d, h, w). Asynchronous.

    The arguments are those of avg_pool2d.

    >>> stator.nn.avg_pool3d(be.ones((1, 3, 4, 4, 6)), 2).shape
    (1, 3, 2, 2, 3)
    """
    return avg_pool(3, "nn.avg_pool3d", None, x, kernel_size, stride, padding, ceil_mode, count_include_pad,
                    divisor_override)


def avg_pool3d_backward(grad: Array, x: Array, /, kernel_size: int | Sequence[int],
                        stride: int | Sequence[int] | None = None, padding: int | Sequence[int] = 0, *,
                        ceil_mode: bool = False, count_include_pad: bool = True,
                        divisor_override: int | None = None) -> Array:
    """The gradient of avg_pool3d's x. Asynchronous; equal bits from run to run.

    grad has the shape of the result; of x only the shape and the dtype count.

    >>> x = be.ones((1, 3, 4, 4, 6))
    >>> stator.nn.avg_pool3d_backward(be.ones((1, 3, 2, 2, 3)), x, 2).shape
    (1, 3, 4, 4, 6)
    """
    return avg_pool(3, "nn.avg_pool3d_backward", as_array(grad, "nn.avg_pool3d_backward"), x, kernel_size, stride,
                    padding, ceil_mode, count_include_pad, divisor_override)


def lp_pool1d(x: Array, /, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, *, ceil_mode: bool = False) -> Array:
    """(sum of x^norm_type)^(1 / norm_type) over windows of x ([n,] channels, l). Asynchronous.

    The arguments are those of lp_pool2d.

    >>> stator.nn.lp_pool1d(be.asarray([[3.0, 4.0, 0.0, 1.0]]), 2, 2).tolist()
    [[5.0, 1.0]]
    """
    return lp_pool(1, "nn.lp_pool1d", x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool1d_backward(grad: Array, x: Array, y: Array, /, norm_type: float, kernel_size: int | Sequence[int],
                       stride: int | Sequence[int] | None = None, *, ceil_mode: bool = False) -> Array:
    """The gradient of lp_pool1d's x, from its result y; results of 0 add nothing. Asynchronous.

    >>> x = be.asarray([[0.0, 4.0, 0.0, 1.0]])
    >>> y = stator.nn.lp_pool1d(x, 2, 2)
    >>> stator.nn.lp_pool1d_backward(be.ones(y.shape), x, y, 2, 2).tolist()
    [[0.0, 1.0, 0.0, 1.0]]
    """
    return lp_pool_backward(1, "nn.lp_pool1d_backward", grad, x, y, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(x: Array, /, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, *, ceil_mode: bool = False) -> Array:
    """(sum of x^norm_type)^(1 / norm_type) over windows of x ([n,] channels, h, w). Asynchronous.

    A window that the end cuts, with ceil_mode, counts as much as a whole one. norm_type is positive. kernel_size and
    stride are those of max_pool2d.

    >>> stator.nn.lp_pool2d(be.ones((1, 3, 4, 6)), 2, 2).shape
    (1, 3, 2, 3)
    """
    return lp_pool(2, "nn.lp_pool2d", x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d_backward(grad: Array, x: Array, y: Array, /, norm_type: float, kernel_size: int | Sequence[int],
                       stride: int | Sequence[int] | None = None, *, ceil_mode: bool = False) -> Array:
    """The gradient of lp_pool2d's x, from its result y; results of 0 add nothing. Asynchronous.

    >>> x = be.ones((1, 3, 4, 6))
    >>> y = stator.nn.lp_pool2d(x, 2, 2)
    >>> stator.nn.lp_pool2d_backward(y, x, y, 2, 2).shape
    (1, 3, 4, 6)
    """
    return lp_pool_backward(2, "nn.lp_pool2d_backward", grad, x, y, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(x: Array, /, norm_type: float, kernel_size: int | Sequence[int],
              stride: int | Sequence[int] | None = None, *, ceil_mode: bool = False) -> Array:
    """(sum of x^norm_type)^(1 / norm_type) over windows of x ([n,] channels, d, h, w). Asynchronous.

    The arguments are those of lp_pool2d.

    >>> stator.nn.lp_pool3d(be.ones((1, 3, 4, 4, 6)), 2, 2).shape
    (1, 3, 2, 2, 3)
    """
    return lp_pool(3, "nn.lp_pool3d", x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d_backward(grad: Array, x: Array, y: Array, /, norm_type: float, kernel_size: int | Sequence[int],
                       stride: int | Sequence[int] | None = None, *, ceil_mode: bool = False) -> Array:
    """The gradient of lp_pool3d's x, from its result y; results of 0 add nothing. Asynchronous.

    >>> x = be.ones((1, 3, 4, 4, 6))
    >>> y = stator.nn.lp_pool3d(x, 2, 2)
    >>> stator.nn.lp_pool3d_backward(y, x, y, 2, 2).shape
    (1, 3, 4, 4, 6)
    """
    return lp_pool_backward(3, "nn.lp_pool3d_backward", grad, x, y, norm_type, kernel_size, stride, ceil_mode)
