# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Convolutions, transposed convolutions, their gradients, and windows of images."""
from stator._array cimport Array, as_array, as_out, new_array, wrap_array
from stator._backend cimport Backend, enter
from stator._convert cimport to_choice, to_dims
from stator._integers cimport to_int
from stator.cpp cimport convolution
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims

cdef tuple LAYOUTS1 = ("NCL", "NLC"), LAYOUTS2 = ("NCHW", "NHWC"), LAYOUTS3 = ("NCDHW", "NDHWC")
cdef tuple PADDINGS = ("same", "valid")


cdef int set_options(convolution.ConvolutionOptions& o, str op, object stride, object padding, object dilation,
                     object groups, object layout, tuple layouts, bint named) except -1:
    to_dims(stride, o.stride, op, "stride")
    to_dims(dilation, o.dilation, op, "dilation")
    o.groups = to_int(groups, op, "groups")
    o.channels_last = to_choice(layout, layouts, op, "layout") == 1
    if named and isinstance(padding, str):
        o.same = to_choice(padding, PADDINGS, op, "padding") == 0
    else:
        to_dims(padding, o.padding, op, "padding")
    return 0


cdef tuple gradients(Backend backend, convolution.ConvolutionGradients& found):
    return wrap_array(backend, found.x), wrap_array(backend, found.weight), wrap_array(backend, found.bias)


cdef int set_windows(convolution.WindowOptions& o, str op, object kernel_size, object stride, object padding,
                     object dilation) except -1:
    to_dims(kernel_size, o.kernel, op, "kernel_size")
    to_dims(stride, o.stride, op, "stride")
    to_dims(padding, o.padding, op, "padding")
    to_dims(dilation, o.dilation, op, "dilation")
    return 0


def conv1d(x: Array, weight: Array, /, bias: Array | None = None, *, stride: int | Sequence[int] = 1,
           padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
           layout: str = "NCL") -> Array:
    """Sums of x (n, channels, L) times weight over channels and windows, plus bias. Asynchronous.

    weight is (out_channels, channels / groups, K), bias (out_channels,), both of x's dtype; x may be without n.
    Numbers are one for all axes or one for each; padding may be "same" (the result is as long as x; stride is 1) or
    "valid" (no padding). layout: of x and the result, "NCL" or "NLC". The kernel is not flipped.

    >>> x, weight = be.asarray([[[1.0, 2.0, 3.0]]]), be.asarray([[[1.0, 1.0]]])
    >>> stator.nn.conv1d(x, weight).tolist()
    [[[3.0, 5.0]]]
    """
    cdef Array source = as_array(x, "nn.conv1d"), by = as_array(weight, "nn.conv1d"), out = new_array(source.backend)
    cdef convolution.ConvolutionOptions options
    cdef CppStream stream
    set_options(options, "nn.conv1d", stride, padding, dilation, groups, layout, LAYOUTS1, True)
    options.bias = as_out(bias, "nn.conv1d", "bias")
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.conv1d(source.c, by.c, options, stream)
    return out


def conv1d_backward(grad: Array, x: Array, weight: Array, /, *, stride: int | Sequence[int] = 1,
                    padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
                    layout: str = "NCL") -> tuple[Array, Array, Array]:
    """The gradients of conv1d's x, weight and bias. Asynchronous.

    grad has the shape of conv1d's result and x's dtype; the other arguments are those of conv1d.

    >>> x, weight = be.asarray([[[1.0, 2.0, 3.0]]]), be.asarray([[[1.0, 1.0]]])
    >>> gx, gweight, gbias = stator.nn.conv1d_backward(be.ones((1, 1, 2)), x, weight)
    >>> gx.tolist(), gweight.tolist(), gbias.tolist()
    ([[[1.0, 2.0, 1.0]]], [[[3.0, 5.0]]], [2.0])
    """
    cdef Array g = as_array(grad, "nn.conv1d_backward"), source = as_array(x, "nn.conv1d_backward")
    cdef Array by = as_array(weight, "nn.conv1d_backward")
    cdef convolution.ConvolutionOptions options
    cdef convolution.ConvolutionGradients found
    cdef CppStream stream
    set_options(options, "nn.conv1d_backward", stride, padding, dilation, groups, layout, LAYOUTS1, True)
    enter(g.backend, stream)
    with nogil:
        found = convolution.conv1d_backward(g.c, source.c, by.c, options, stream)
    return gradients(g.backend, found)


def conv_transpose1d(x: Array, weight: Array, /, bias: Array | None = None, *, stride: int | Sequence[int] = 1,
                     padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, layout: str = "NCL") -> Array:
    """Sums of x times weight spread over windows, plus bias: the gradient of conv1d's x. Asynchronous.

    weight is (channels, out_channels / groups, K), bias (out_channels,), both of x's dtype. The result is
    (L - 1) * stride - 2 * padding + dilation * (K - 1) + output_padding + 1 long, where output_padding is less than the
    stride or the dilation. The other arguments are those of conv1d.

    >>> x, weight = be.asarray([[[1.0, 2.0]]]), be.asarray([[[1.0, 1.0]]])
    >>> stator.nn.conv_transpose1d(x, weight, stride=2).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    cdef Array source = as_array(x, "nn.conv_transpose1d"), by = as_array(weight, "nn.conv_transpose1d")
    cdef Array out = new_array(source.backend)
    cdef convolution.ConvolutionOptions options
    cdef CppStream stream
    set_options(options, "nn.conv_transpose1d", stride, padding, dilation, groups, layout, LAYOUTS1, False)
    to_dims(output_padding, options.output_padding, "nn.conv_transpose1d", "output_padding")
    options.bias = as_out(bias, "nn.conv_transpose1d", "bias")
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.conv_transpose1d(source.c, by.c, options, stream)
    return out


def conv_transpose1d_backward(grad: Array, x: Array, weight: Array, /, *, stride: int | Sequence[int] = 1,
                              padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0,
                              dilation: int | Sequence[int] = 1, groups: int = 1,
                              layout: str = "NCL") -> tuple[Array, Array, Array]:
    """The gradients of conv_transpose1d's x, weight and bias. Asynchronous.

    grad has the shape of conv_transpose1d's result and x's dtype; the other arguments are those of conv_transpose1d.

    >>> x, weight = be.asarray([[[1.0, 2.0]]]), be.asarray([[[1.0, 1.0]]])
    >>> gx, gweight, gbias = stator.nn.conv_transpose1d_backward(be.ones((1, 1, 4)), x, weight, stride=2)
    >>> gx.tolist(), gweight.tolist(), gbias.tolist()
    ([[[2.0, 2.0]]], [[[3.0, 3.0]]], [4.0])
    """
    cdef Array g = as_array(grad, "nn.conv_transpose1d_backward"), source = as_array(x, "nn.conv_transpose1d_backward")
    cdef Array by = as_array(weight, "nn.conv_transpose1d_backward")
    cdef convolution.ConvolutionOptions options
    cdef convolution.ConvolutionGradients found
    cdef CppStream stream
    set_options(options, "nn.conv_transpose1d_backward", stride, padding, dilation, groups, layout, LAYOUTS1, False)
    to_dims(output_padding, options.output_padding, "nn.conv_transpose1d_backward", "output_padding")
    enter(g.backend, stream)
    with nogil:
        found = convolution.conv_transpose1d_backward(g.c, source.c, by.c, options, stream)
    return gradients(g.backend, found)


def conv2d(x: Array, weight: Array, /, bias: Array | None = None, *, stride: int | Sequence[int] = 1,
           padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
           layout: str = "NCHW") -> Array:
    """conv1d over two axes. Asynchronous.

    x is (n, channels, H, W), weight (out_channels, channels / groups, KH, KW).
    layout: "NCHW" or "NHWC". The other arguments are those of conv1d.

    >>> x, weight = be.ones((1, 2, 5, 5)), be.ones((4, 2, 3, 3))
    >>> stator.nn.conv2d(x, weight, padding="same").shape, stator.nn.conv2d(x, weight, stride=2).shape
    ((1, 4, 5, 5), (1, 4, 2, 2))
    """
    cdef Array source = as_array(x, "nn.conv2d"), by = as_array(weight, "nn.conv2d"), out = new_array(source.backend)
    cdef convolution.ConvolutionOptions options
    cdef CppStream stream
    set_options(options, "nn.conv2d", stride, padding, dilation, groups, layout, LAYOUTS2, True)
    options.bias = as_out(bias, "nn.conv2d", "bias")
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.conv2d(source.c, by.c, options, stream)
    return out


def conv2d_backward(grad: Array, x: Array, weight: Array, /, *, stride: int | Sequence[int] = 1,
                    padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
                    layout: str = "NCHW") -> tuple[Array, Array, Array]:
    """The gradients of conv2d's x, weight and bias. Asynchronous.

    grad has the shape of conv2d's result and x's dtype; the other arguments are those of conv2d.

    >>> x, weight = be.ones((1, 2, 5, 5)), be.ones((4, 2, 3, 3))
    >>> [g.shape for g in stator.nn.conv2d_backward(be.ones((1, 4, 3, 3)), x, weight)]
    [(1, 2, 5, 5), (4, 2, 3, 3), (4,)]
    """
    cdef Array g = as_array(grad, "nn.conv2d_backward"), source = as_array(x, "nn.conv2d_backward")
    cdef Array by = as_array(weight, "nn.conv2d_backward")
    cdef convolution.ConvolutionOptions options
    cdef convolution.ConvolutionGradients found
    cdef CppStream stream
    set_options(options, "nn.conv2d_backward", stride, padding, dilation, groups, layout, LAYOUTS2, True)
    enter(g.backend, stream)
    with nogil:
        found = convolution.conv2d_backward(g.c, source.c, by.c, options, stream)
    return gradients(g.backend, found)


def conv_transpose2d(x: Array, weight: Array, /, bias: Array | None = None, *, stride: int | Sequence[int] = 1,
                     padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, layout: str = "NCHW") -> Array:
    """conv_transpose1d over two axes. Asynchronous.

    weight is (channels, out_channels / groups, KH, KW).
    The other arguments are those of conv_transpose1d, and layout is that of conv2d.

    >>> x, weight = be.ones((1, 4, 3, 3)), be.ones((4, 2, 3, 3))
    >>> stator.nn.conv_transpose2d(x, weight, stride=2, padding=1, output_padding=1).shape
    (1, 2, 6, 6)
    """
    cdef Array source = as_array(x, "nn.conv_transpose2d"), by = as_array(weight, "nn.conv_transpose2d")
    cdef Array out = new_array(source.backend)
    cdef convolution.ConvolutionOptions options
    cdef CppStream stream
    set_options(options, "nn.conv_transpose2d", stride, padding, dilation, groups, layout, LAYOUTS2, False)
    to_dims(output_padding, options.output_padding, "nn.conv_transpose2d", "output_padding")
    options.bias = as_out(bias, "nn.conv_transpose2d", "bias")
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.conv_transpose2d(source.c, by.c, options, stream)
    return out


def conv_transpose2d_backward(grad: Array, x: Array, weight: Array, /, *, stride: int | Sequence[int] = 1,
                              padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0,
                              dilation: int | Sequence[int] = 1, groups: int = 1,
                              layout: str = "NCHW") -> tuple[Array, Array, Array]:
    """The gradients of conv_transpose2d's x, weight and bias. Asynchronous.

    grad has the shape of conv_transpose2d's result and x's dtype; the other arguments are those of conv_transpose2d.

    >>> x, weight = be.ones((1, 4, 3, 3)), be.ones((4, 2, 3, 3))
    >>> [g.shape for g in stator.nn.conv_transpose2d_backward(be.ones((1, 2, 5, 5)), x, weight)]
    [(1, 4, 3, 3), (4, 2, 3, 3), (2,)]
    """
    cdef Array g = as_array(grad, "nn.conv_transpose2d_backward"), source = as_array(x, "nn.conv_transpose2d_backward")
    cdef Array by = as_array(weight, "nn.conv_transpose2d_backward")
    cdef convolution.ConvolutionOptions options
    cdef convolution.ConvolutionGradients found
    cdef CppStream stream
    set_options(options, "nn.conv_transpose2d_backward", stride, padding, dilation, groups, layout, LAYOUTS2, False)
    to_dims(output_padding, options.output_padding, "nn.conv_transpose2d_backward", "output_padding")
    enter(g.backend, stream)
    with nogil:
        found = convolution.conv_transpose2d_backward(g.c, source.c, by.c, options, stream)
    return gradients(g.backend, found)


def conv3d(x: Array, weight: Array, /, bias: Array | None = None, *, stride: int | Sequence[int] = 1,
           padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
           layout: str = "NCDHW") -> Array:
    """conv1d over three axes. Asynchronous.

    x is (n, channels, D, H, W), weight (out_channels, channels / groups, KD, KH, KW).
    layout: "NCDHW" or "NDHWC". The other arguments are those of conv1d.

    >>> x, weight = be.ones((1, 2, 5, 5, 5)), be.ones((4, 2, 3, 3, 3))
    >>> stator.nn.conv3d(x, weight, padding=1, stride=2).shape
    (1, 4, 3, 3, 3)
    """
    cdef Array source = as_array(x, "nn.conv3d"), by = as_array(weight, "nn.conv3d"), out = new_array(source.backend)
    cdef convolution.ConvolutionOptions options
    cdef CppStream stream
    set_options(options, "nn.conv3d", stride, padding, dilation, groups, layout, LAYOUTS3, True)
    options.bias = as_out(bias, "nn.conv3d", "bias")
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.conv3d(source.c, by.c, options, stream)
    return out


def conv3d_backward(grad: Array, x: Array, weight: Array, /, *, stride: int | Sequence[int] = 1,
                    padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, groups: int = 1,
                    layout: str = "NCDHW") -> tuple[Array, Array, Array]:
    """The gradients of conv3d's x, weight and bias. Asynchronous.

    grad has the shape of conv3d's result and x's dtype; the other arguments are those of conv3d.

    >>> x, weight = be.ones((1, 2, 5, 5, 5)), be.ones((4, 2, 3, 3, 3))
    >>> [g.shape for g in stator.nn.conv3d_backward(be.ones((1, 4, 3, 3, 3)), x, weight)]
    [(1, 2, 5, 5, 5), (4, 2, 3, 3, 3), (4,)]
    """
    cdef Array g = as_array(grad, "nn.conv3d_backward"), source = as_array(x, "nn.conv3d_backward")
    cdef Array by = as_array(weight, "nn.conv3d_backward")
    cdef convolution.ConvolutionOptions options
    cdef convolution.ConvolutionGradients found
    cdef CppStream stream
    set_options(options, "nn.conv3d_backward", stride, padding, dilation, groups, layout, LAYOUTS3, True)
    enter(g.backend, stream)
    with nogil:
        found = convolution.conv3d_backward(g.c, source.c, by.c, options, stream)
    return gradients(g.backend, found)


def conv_transpose3d(x: Array, weight: Array, /, bias: Array | None = None, *, stride: int | Sequence[int] = 1,
                     padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, layout: str = "NCDHW") -> Array:
    """conv_transpose1d over three axes. Asynchronous.

    weight is (channels, out_channels / groups, KD, KH, KW).
    The other arguments are those of conv_transpose1d, and layout is that of conv3d.

    >>> x, weight = be.ones((1, 4, 3, 3, 3)), be.ones((4, 2, 3, 3, 3))
    >>> stator.nn.conv_transpose3d(x, weight).shape
    (1, 2, 5, 5, 5)
    """
    cdef Array source = as_array(x, "nn.conv_transpose3d"), by = as_array(weight, "nn.conv_transpose3d")
    cdef Array out = new_array(source.backend)
    cdef convolution.ConvolutionOptions options
    cdef CppStream stream
    set_options(options, "nn.conv_transpose3d", stride, padding, dilation, groups, layout, LAYOUTS3, False)
    to_dims(output_padding, options.output_padding, "nn.conv_transpose3d", "output_padding")
    options.bias = as_out(bias, "nn.conv_transpose3d", "bias")
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.conv_transpose3d(source.c, by.c, options, stream)
    return out


def conv_transpose3d_backward(grad: Array, x: Array, weight: Array, /, *, stride: int | Sequence[int] = 1,
                              padding: int | Sequence[int] = 0, output_padding: int | Sequence[int] = 0,
                              dilation: int | Sequence[int] = 1, groups: int = 1,
                              layout: str = "NCDHW") -> tuple[Array, Array, Array]:
    """The gradients of conv_transpose3d's x, weight and bias. Asynchronous.

    grad has the shape of conv_transpose3d's result and x's dtype; the other arguments are those of conv_transpose3d.

    >>> x, weight = be.ones((1, 4, 3, 3, 3)), be.ones((4, 2, 3, 3, 3))
    >>> [g.shape for g in stator.nn.conv_transpose3d_backward(be.ones((1, 2, 5, 5, 5)), x, weight)]
    [(1, 4, 3, 3, 3), (4, 2, 3, 3, 3), (2,)]
    """
    cdef Array g = as_array(grad, "nn.conv_transpose3d_backward"), source = as_array(x, "nn.conv_transpose3d_backward")
    cdef Array by = as_array(weight, "nn.conv_transpose3d_backward")
    cdef convolution.ConvolutionOptions options
    cdef convolution.ConvolutionGradients found
    cdef CppStream stream
    set_options(options, "nn.conv_transpose3d_backward", stride, padding, dilation, groups, layout, LAYOUTS3, False)
    to_dims(output_padding, options.output_padding, "nn.conv_transpose3d_backward", "output_padding")
    enter(g.backend, stream)
    with nogil:
        found = convolution.conv_transpose3d_backward(g.c, source.c, by.c, options, stream)
    return gradients(g.backend, found)


def unfold(x: Array, kernel_size: int | Sequence[int], /, *, stride: int | Sequence[int] = 1,
           padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1) -> Array:
    """The windows of images x, as columns (n, channels * taps, windows). Asynchronous.

    x is (n, channels, height, width), or without n. Both the elements of a window and the windows are in row-major
    order. Numbers are one for both axes or one for each. The gradient of x is fold of the gradient.

    >>> stator.nn.unfold(be.ones((1, 2, 3, 3)), 2).shape
    (1, 8, 4)
    """
    cdef Array source = as_array(x, "nn.unfold"), out = new_array(source.backend)
    cdef convolution.WindowOptions options
    cdef CppStream stream
    set_windows(options, "nn.unfold", kernel_size, stride, padding, dilation)
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.unfold(source.c, options, stream)
    return out


def fold(x: Array, output_size: int | Sequence[int], kernel_size: int | Sequence[int], /, *,
         stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
         dilation: int | Sequence[int] = 1) -> Array:
    """Images of output_size (height, width) that are sums of windows. Asynchronous.

    x is (n, channels * taps, windows), or without n. Windows are where unfold takes them from, and those that overlap
    add up. The gradient of x is unfold of the gradient.

    >>> stator.nn.fold(be.ones((1, 4, 4)), 3, 2).tolist()
    [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    cdef Array source = as_array(x, "nn.fold"), out = new_array(source.backend)
    cdef convolution.WindowOptions options
    cdef Dims size
    cdef CppStream stream
    to_dims(output_size, size, "nn.fold", "output_size")
    set_windows(options, "nn.fold", kernel_size, stride, padding, dilation)
    enter(source.backend, stream)
    with nogil:
        out.c = convolution.fold(source.c, size, options, stream)
    return out
