# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Layer, root-mean-square, group and instance normalisation, and their gradients."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, wrap_array
from stator._backend cimport Backend, enter
from stator._convert cimport to_dims, to_float, to_text
from stator._integers cimport to_int
from stator.cpp cimport norm
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.ref cimport Dims
from stator.cpp.std cimport optional, string_view


cdef int set_options(norm.NormOptions& o, str op, object weight, object bias, object eps) except -1:
    o.weight = as_out(weight, op, "weight")
    o.bias = as_out(bias, op, "bias")
    o.eps = to_float(eps, op, "eps")
    return 0


cdef int set_shape(norm.LayerNormOptions& o, str op, object shape) except -1:
    cdef Dims dims
    if shape is not None:
        to_dims(shape, dims, op, "normalized_shape")
        o.shape = optional[Dims](dims)
    return 0


include "_fused_norm.pxi"


cdef object normalized(Backend backend, norm.Normalized& found, object residual):
    if residual is None:
        return wrap_array(backend, found.y)
    return wrap_array(backend, found.y), wrap_array(backend, found.sum.value())


cdef tuple gradients(Backend backend, norm.NormGradients& found):
    return wrap_array(backend, found.x), wrap_array(backend, found.weight), wrap_array(backend, found.bias.value())


def layer_norm(x: Array, /, weight: Array | None = None, bias: Array | None = None, *,
               normalized_shape: int | Sequence[int] | None = None, eps: float = 1e-5, residual: Array | None = None,
               activation: str | None = None) -> Array | tuple[Array, Array]:
    """(x - mean) / sqrt(variance + eps) over the last axes, times weight plus bias. Asynchronous.

    normalized_shape: the extents of those axes; None: the weight's shape, or without weight the last axis. weight and
    bias have that shape and x's dtype. residual is added to x first, and then the result is (y, x + residual).
    activation: "relu", "silu" or "gelu" of the result.

    >>> stator.nn.layer_norm(be.asarray([[1.0, 3.0]]), eps=0.0, activation="relu").tolist()
    [[0.0, 1.0]]
    """
    cdef Array source = as_array(x, "nn.layer_norm")
    cdef norm.LayerNormOptions options
    cdef norm.Normalized found
    cdef bytes text = text_of(activation, "nn.layer_norm")
    cdef CppStream stream
    set_options(options, "nn.layer_norm", weight, bias, eps)
    set_shape(options, "nn.layer_norm", normalized_shape)
    set_fused(options, "nn.layer_norm", residual, text)
    enter(source.backend, stream)
    with nogil:
        found = norm.layer_norm(source.c, options, stream)
    return normalized(source.backend, found, residual)


def rms_norm(x: Array, /, weight: Array | None = None, *, normalized_shape: int | Sequence[int] | None = None,
             eps: float = 1e-5, residual: Array | None = None,
             activation: str | None = None) -> Array | tuple[Array, Array]:
    """x / sqrt(mean(x^2) + eps) over the last axes, times weight. Asynchronous.

    The arguments and the result are those of layer_norm.

    >>> stator.nn.rms_norm(be.asarray([[2.0, -2.0]]), eps=0.0).tolist()
    [[1.0, -1.0]]
    """
    cdef Array source = as_array(x, "nn.rms_norm")
    cdef norm.LayerNormOptions options
    cdef norm.Normalized found
    cdef bytes text = text_of(activation, "nn.rms_norm")
    cdef CppStream stream
    set_options(options, "nn.rms_norm", weight, None, eps)
    set_shape(options, "nn.rms_norm", normalized_shape)
    set_fused(options, "nn.rms_norm", residual, text)
    enter(source.backend, stream)
    with nogil:
        found = norm.rms_norm(source.c, options, stream)
    return normalized(source.backend, found, residual)


def layer_norm_backward(grad: Array, x: Array, /, weight: Array | None = None, *,
                        bias: Array | None = None, normalized_shape: int | Sequence[int] | None = None,
                        eps: float = 1e-5, activation: str | None = None) -> tuple[Array, Array, Array]:
    """The gradients of layer_norm's x, weight and bias. Asynchronous, at most two launches.

    grad has x's shape and dtype. The gradients of weight and bias have the normalized shape, also without a weight.
    activation: that of layer_norm, whose slope depends on the bias too. With a residual pass the sum for x: its
    gradient is that of both.

    >>> x = be.asarray([[1.0, 3.0]])
    >>> gx, gweight, gbias = stator.nn.layer_norm_backward(be.ones((1, 2)), x, eps=0.0)
    >>> gx.tolist(), gweight.tolist(), gbias.tolist()
    ([[0.0, 0.0]], [-1.0, 1.0], [1.0, 1.0])
    """
    cdef Array g = as_array(grad, "nn.layer_norm_backward"), source = as_array(x, "nn.layer_norm_backward")
    cdef norm.LayerNormOptions options
    cdef norm.NormGradients found
    cdef bytes text = text_of(activation, "nn.layer_norm_backward")
    cdef CppStream stream
    set_options(options, "nn.layer_norm_backward", weight, bias, eps)
    set_fused(options, "nn.layer_norm_backward", None, text)
    set_shape(options, "nn.layer_norm_backward", normalized_shape)
    enter(g.backend, stream)
    with nogil:
        found = norm.layer_norm_backward(g.c, source.c, options, stream)
    return gradients(g.backend, found)


def rms_norm_backward(grad: Array, x: Array, /, weight: Array | None = None, *,
                      normalized_shape: int | Sequence[int] | None = None, eps: float = 1e-5,
                      activation: str | None = None) -> tuple[Array, Array]:
    """The gradients of rms_norm's x and weight. Asynchronous, at most two launches.

    grad has x's shape and dtype. The gradient of weight has the normalized shape, also without a weight. activation
    and a residual are as for layer_norm_backward.

    >>> gx, gweight = stator.nn.rms_norm_backward(be.ones((1, 2)), be.asarray([[2.0, -2.0]]), eps=0.0)
    >>> gweight.tolist()
    [1.0, -1.0]
    """
    cdef Array g = as_array(grad, "nn.rms_norm_backward"), source = as_array(x, "nn.rms_norm_backward")
    cdef norm.LayerNormOptions options
    cdef norm.NormGradients found
    cdef bytes text = text_of(activation, "nn.rms_norm_backward")
    cdef CppStream stream
    set_options(options, "nn.rms_norm_backward", weight, None, eps)
    set_fused(options, "nn.rms_norm_backward", None, text)
    set_shape(options, "nn.rms_norm_backward", normalized_shape)
    enter(g.backend, stream)
    with nogil:
        found = norm.rms_norm_backward(g.c, source.c, options, stream)
    return wrap_array(g.backend, found.x), wrap_array(g.backend, found.weight)


def group_norm(x: Array, num_groups: int, /, weight: Array | None = None, bias: Array | None = None, *,
               eps: float = 1e-5, residual: Array | None = None,
               activation: str | None = None) -> Array | tuple[Array, Array]:
    """x (n, channels, ...) normalised over each group of channels of a sample. Asynchronous.

    num_groups divides the number of channels: InvalidValueError. The result is multiplied by weight and bias is added,
    both (channels,) and of x's dtype. residual and activation are those of layer_norm. ShapeError where there is one
    element of each group in all.

    >>> stator.nn.group_norm(be.asarray([[[1.0, 3.0], [5.0, 7.0]]]), 2, eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    cdef Array source = as_array(x, "nn.group_norm")
    cdef int64_t groups = to_int(num_groups, "nn.group_norm", "num_groups")
    cdef norm.FusedNormOptions options
    cdef norm.Normalized found
    cdef bytes text = text_of(activation, "nn.group_norm")
    cdef CppStream stream
    set_options(options, "nn.group_norm", weight, bias, eps)
    set_fused(options, "nn.group_norm", residual, text)
    enter(source.backend, stream)
    with nogil:
        found = norm.group_norm(source.c, groups, options, stream)
    return normalized(source.backend, found, residual)


def group_norm_backward(grad: Array, x: Array, num_groups: int, /, weight: Array | None = None, *,
                        bias: Array | None = None, eps: float = 1e-5,
                        activation: str | None = None) -> tuple[Array, Array, Array]:
    """The gradients of group_norm's x, weight and bias. Asynchronous, at most two launches.

    grad has x's shape and dtype. The gradients of weight and bias are (channels,), also without a weight. bias,
    activation and a residual are as for layer_norm_backward.

    >>> [g.shape for g in stator.nn.group_norm_backward(be.ones((2, 4, 3)), be.ones((2, 4, 3)), 2)]
    [(2, 4, 3), (4,), (4,)]
    """
    cdef Array g = as_array(grad, "nn.group_norm_backward"), source = as_array(x, "nn.group_norm_backward")
    cdef int64_t groups = to_int(num_groups, "nn.group_norm_backward", "num_groups")
    cdef norm.FusedNormOptions options
    cdef norm.NormGradients found
    cdef bytes text = text_of(activation, "nn.group_norm_backward")
    cdef CppStream stream
    set_options(options, "nn.group_norm_backward", weight, bias, eps)
    set_fused(options, "nn.group_norm_backward", None, text)
    enter(g.backend, stream)
    with nogil:
        found = norm.group_norm_backward(g.c, source.c, groups, options, stream)
    return gradients(g.backend, found)


def instance_norm(x: Array, /, weight: Array | None = None, bias: Array | None = None, *, eps: float = 1e-5,
                  residual: Array | None = None, activation: str | None = None) -> Array | tuple[Array, Array]:
    """x (n, channels, ...) normalised over each channel of a sample. Asynchronous.

    The result is multiplied by weight and bias is added, both (channels,) and of x's dtype. residual and activation are
    those of layer_norm. ShapeError where a channel of a sample has one element.

    >>> x = be.asarray([[[1.0, 3.0]]])
    >>> stator.nn.instance_norm(x, eps=0.0, activation="relu").tolist()
    [[[0.0, 1.0]]]
    """
    cdef Array source = as_array(x, "nn.instance_norm")
    cdef norm.FusedNormOptions options
    cdef norm.Normalized found
    cdef bytes text = text_of(activation, "nn.instance_norm")
    cdef CppStream stream
    set_options(options, "nn.instance_norm", weight, bias, eps)
    set_fused(options, "nn.instance_norm", residual, text)
    enter(source.backend, stream)
    with nogil:
        found = norm.instance_norm(source.c, options, stream)
    return normalized(source.backend, found, residual)


def instance_norm_backward(grad: Array, x: Array, /, weight: Array | None = None, *,
                           bias: Array | None = None, eps: float = 1e-5,
                           activation: str | None = None) -> tuple[Array, Array, Array]:
    """The gradients of instance_norm's x, weight and bias. Asynchronous, at most two launches.

    grad has x's shape and dtype. The gradients of weight and bias are (channels,), also without a weight. bias,
    activation and a residual are as for layer_norm_backward.

    >>> [g.shape for g in stator.nn.instance_norm_backward(be.ones((2, 4, 3)), be.ones((2, 4, 3)))]
    [(2, 4, 3), (4,), (4,)]
    """
    cdef Array g = as_array(grad, "nn.instance_norm_backward"), source = as_array(x, "nn.instance_norm_backward")
    cdef norm.FusedNormOptions options
    cdef norm.NormGradients found
    cdef bytes text = text_of(activation, "nn.instance_norm_backward")
    cdef CppStream stream
    set_options(options, "nn.instance_norm_backward", weight, bias, eps)
    set_fused(options, "nn.instance_norm_backward", None, text)
    enter(g.backend, stream)
    with nogil:
        found = norm.instance_norm_backward(g.c, source.c, options, stream)
    return gradients(g.backend, found)
