# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Batch, local response, weight and spectral normalisation, and their gradients."""
from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, new_array, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_axis, to_flag, to_float, to_text
from stator._integers cimport to_int
from stator.cpp cimport norm
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.std cimport optional, string_view


include "_fused_norm.pxi"


cdef int set_options(norm.BatchNormOptions& o, str op, object weight, object bias, object mean, object var,
                     object training, object eps) except -1:
    o.weight = as_out(weight, op, "weight")
    o.bias = as_out(bias, op, "bias")
    o.mean = as_out(mean, op, "mean")
    o.var = as_out(var, op, "var")
    o.training = to_flag(training, op, "training")
    o.eps = to_float(eps, op, "eps")
    return 0


def batch_norm(x: Array, /, weight: Array | None = None, bias: Array | None = None, mean: Array | None = None,
               var: Array | None = None, *, training: bool = False, eps: float = 1e-5,
               residual: Array | None = None,
               activation: str | None = None) -> tuple[Array, Array, Array] | tuple[Array, Array, Array, Array]:
    """(y, mean, var): x (n, channels, ...) normalised over all axes but that of channels. Asynchronous.

    training: by the mean and the biased variance of x, which are returned; else by those given, which are returned.
    Both are (channels,) of float32, or of float64 for float64. The result is multiplied by weight and bias is added,
    both (channels,) and of x's dtype. update_running_stats() takes what training returns. residual, of x's shape and
    dtype, is added to x first, and then the result is (y, mean, var, x + residual). activation: "relu", "silu" or
    "gelu" of y. At most two launches. Where the variance is beyond its dtype it is infinite; y is right all the same.
    In training an empty batch has statistics of NaN, and ShapeError is raised where each channel has one element.

    >>> y, mean, var = stator.nn.batch_norm(be.asarray([[1.0], [3.0]]), training=True, eps=0.0)
    >>> y.tolist(), mean.tolist(), var.tolist()
    ([[-1.0], [1.0]], [2.0], [1.0])
    """
    cdef Array source = as_array(x, "nn.batch_norm")
    cdef norm.BatchNormOptions options
    cdef norm.BatchNormResult found
    cdef bytes text = text_of(activation, "nn.batch_norm")
    cdef CppStream stream
    set_options(options, "nn.batch_norm", weight, bias, mean, var, training, eps)
    set_fused(options, "nn.batch_norm", residual, text)
    enter(source.backend, stream)
    with nogil:
        found = norm.batch_norm(source.c, options, stream)
    results = (wrap_array(source.backend, found.y), wrap_array(source.backend, found.mean),
               wrap_array(source.backend, found.var))
    return results if residual is None else (*results, wrap_array(source.backend, found.sum.value()))


def batch_norm_backward(grad: Array, x: Array, mean: Array, var: Array, /, weight: Array | None = None, *,
                        bias: Array | None = None, training: bool = False, eps: float = 1e-5,
                        activation: str | None = None) -> tuple[Array, Array, Array]:
    """The gradients of batch_norm's x, weight and bias. Asynchronous, two launches.

    grad has x's shape and dtype; mean and var are what batch_norm returned. In training the gradient passes through
    them. The gradients of weight and bias are (channels,), also without a weight. bias, activation and a residual are
    as for layer_norm_backward.

    >>> x = be.asarray([[1.0], [3.0]])
    >>> y, mean, var = stator.nn.batch_norm(x, training=True)
    >>> [g.shape for g in stator.nn.batch_norm_backward(y, x, mean, var, training=True)]
    [(2, 1), (1,), (1,)]
    """
    cdef Array g = as_array(grad, "nn.batch_norm_backward"), source = as_array(x, "nn.batch_norm_backward")
    cdef norm.BatchNormOptions options
    cdef norm.NormGradients found
    cdef bytes text = text_of(activation, "nn.batch_norm_backward")
    cdef CppStream stream
    as_array(mean, "nn.batch_norm_backward")
    as_array(var, "nn.batch_norm_backward")
    set_options(options, "nn.batch_norm_backward", weight, bias, mean, var, training, eps)
    set_fused(options, "nn.batch_norm_backward", None, text)
    enter(g.backend, stream)
    with nogil:
        found = norm.batch_norm_backward(g.c, source.c, options, stream)
    return (wrap_array(g.backend, found.x), wrap_array(g.backend, found.weight),
            wrap_array(g.backend, found.bias.value()))


def update_running_stats(running_mean: Array, running_var: Array, mean: Array, var: Array, /, *, count: int,
                         momentum: float = 0.1) -> None:
    """Moves running statistics towards those of a batch by the fraction momentum, in place. Asynchronous.

    All are (channels,), of float32 or float64; mean and var are what batch_norm returned in training. count: how many
    elements of a channel they are of, by which the variance becomes unbiased; of an empty batch, count 0, nothing
    moves. InvalidValueError for count 1. Running statistics that are not contiguous are updated through copies.

    >>> mean, var = be.zeros((1,)), be.ones((1,))
    >>> stator.nn.update_running_stats(mean, var, be.asarray([2.0]), be.asarray([1.0]), count=2, momentum=0.5)
    >>> mean.tolist(), var.tolist()
    ([1.0], [1.5])
    """
    cdef Array rm = as_array(running_mean, "nn.update_running_stats")
    cdef Array rv = as_array(running_var, "nn.update_running_stats")
    cdef Array m = as_array(mean, "nn.update_running_stats"), v = as_array(var, "nn.update_running_stats")
    cdef int64_t elements = to_int(count, "nn.update_running_stats", "count")
    cdef double share = to_float(momentum, "nn.update_running_stats", "momentum")
    cdef CppStream stream
    enter(rm.backend, stream)
    with nogil:
        norm.update_running_stats(rm.c, rv.c, m.c, v.c, elements, share, stream)


cdef int set_response(norm.ResponseNormOptions& o, str op, object alpha, object beta, object k) except -1:
    o.alpha = to_float(alpha, op, "alpha")
    o.beta = to_float(beta, op, "beta")
    o.k = to_float(k, op, "k")
    return 0


def local_response_norm(x: Array, size: int, /, *, alpha: float = 1e-4, beta: float = 0.75,
                        k: float = 1.0) -> tuple[Array, Array]:
    """(x * denom ** -beta, denom) with denom = k + alpha * mean square over size channels. Asynchronous.

    x (n, channels, ...), floating. The channels are those from size // 2 before an element's on; those that do not
    exist count as 0.

    >>> y, denom = stator.nn.local_response_norm(be.ones((1, 2, 1)), 2, alpha=2.0, beta=1.0)
    >>> denom.tolist(), y.tolist()
    ([[[2.0], [3.0]]], [[[0.5], [0.3333333333333333]]])
    """
    cdef Array source = as_array(x, "nn.local_response_norm")
    cdef int64_t width = to_int(size, "nn.local_response_norm", "size")
    cdef norm.ResponseNormOptions options
    cdef norm.ResponseNormResult found
    cdef CppStream stream
    set_response(options, "nn.local_response_norm", alpha, beta, k)
    enter(source.backend, stream)
    with nogil:
        found = norm.local_response_norm(source.c, width, options, stream)
    return wrap_array(source.backend, found.y), wrap_array(source.backend, found.denom)


def local_response_norm_backward(grad: Array, x: Array, denom: Array, size: int, /, *, alpha: float = 1e-4,
                                 beta: float = 0.75) -> Array:
    """The gradient of local_response_norm's x; denom is what it returned. Asynchronous.

    grad and denom have x's shape and dtype.

    >>> x = be.ones((1, 2, 3))
    >>> y, denom = stator.nn.local_response_norm(x, 2)
    >>> stator.nn.local_response_norm_backward(y, x, denom, 2).shape
    (1, 2, 3)
    """
    cdef Array g = as_array(grad, "nn.local_response_norm_backward")
    cdef Array source = as_array(x, "nn.local_response_norm_backward")
    cdef Array divisor = as_array(denom, "nn.local_response_norm_backward"), out = new_array(g.backend)
    cdef int64_t width = to_int(size, "nn.local_response_norm_backward", "size")
    cdef norm.ResponseNormOptions options
    cdef CppStream stream
    set_response(options, "nn.local_response_norm_backward", alpha, beta, 1.0)
    enter(g.backend, stream)
    with nogil:
        out.c = norm.local_response_norm_backward(g.c, source.c, divisor.c, width, options, stream)
    return out


def weight_norm(v: Array, g: Array, /, axis: int | None = 0) -> tuple[Array, Array]:
    """(g * v / norm, norm): v with lengths g, and the lengths that it had. Asynchronous.

    The lengths are over all axes of v but one, or of None over all. g has v's floating dtype, and v's shape with 1 in
    place of the other extents, or one axis: ShapeError, DTypeError. norm has g's shape. Where a length is
    0, w is NaN. One launch where axis is the first; another is moved there by a copy. Salimans and Kingma, Weight
    Normalization (2016).

    >>> import stator
    >>> be = stator.Backend("cpu")
    >>> w, norm = stator.nn.weight_norm(be.asarray([[3.0, 4.0]]), be.asarray([10.0]))
    >>> norm.to_numpy().tolist()
    [5.0]
    """
    cdef Array source = as_array(v, "nn.weight_norm"), factors = as_array(g, "nn.weight_norm")
    cdef optional[int64_t] along
    cdef norm.WeightNormalized found
    cdef CppStream stream
    to_axis(axis, along, "nn.weight_norm")
    enter(source.backend, stream)
    with nogil:
        found = norm.weight_norm(source.c, factors.c, along, stream)
    return wrap_array(source.backend, found.w), wrap_array(source.backend, found.lengths)


def weight_norm_backward(grad: Array, v: Array, g: Array, /, axis: int | None = 0) -> tuple[Array, Array]:
    """The gradients of weight_norm's v and g; grad has v's shape and dtype. Asynchronous.

    >>> gv, gg = stator.nn.weight_norm_backward(be.ones((1, 2)), be.asarray([[3.0, 4.0]]), be.asarray([10.0]))
    >>> gv.shape, gg.shape
    ((1, 2), (1,))
    """
    cdef Array slope = as_array(grad, "nn.weight_norm_backward"), source = as_array(v, "nn.weight_norm_backward")
    cdef Array factors = as_array(g, "nn.weight_norm_backward")
    cdef optional[int64_t] along
    cdef norm.WeightNormGradients found
    cdef CppStream stream
    to_axis(axis, along, "nn.weight_norm_backward")
    enter(slope.backend, stream)
    with nogil:
        found = norm.weight_norm_backward(slope.c, source.c, factors.c, along, stream)
    return wrap_array(slope.backend, found.v), wrap_array(slope.backend, found.g)


def spectral_norm(weight: Array, u: Array, v: Array | None = None, /, *, n_iterations: int = 1, axis: int = 0,
                  eps: float = 1e-12) -> tuple[Array, Array, Array, Array]:
    """(weight / sigma, u, v, sigma), where sigma estimates the largest singular value. Asynchronous.

    The weight, of two axes at least, is a matrix W whose rows are along axis. u (rows,) and v (columns,), of its dtype,
    take n_iterations steps of the power method: u is W v over its length, then v is W^T u over its length, where
    lengths count as eps at least; sigma is u^T W v, 0-d. Without v, it is W^T u over its length first. ShapeError,
    DTypeError, InvalidValueError for fewer than 0 steps. Miyato et al., Spectral Normalization for Generative
    Adversarial Networks (2018), as torch.nn.utils.parametrizations.spectral_norm has it.

    >>> import stator
    >>> be = stator.Backend("cpu")
    >>> w, u, v, sigma = stator.nn.spectral_norm(be.asarray([[4.0, 0.0], [0.0, 1.0]]), be.asarray([1.0, 0.0]))
    >>> sigma.to_numpy().tolist(), w.to_numpy().tolist()
    (4.0, [[1.0, 0.0], [0.0, 0.25]])
    """
    cdef Array source = as_array(weight, "nn.spectral_norm"), left = as_array(u, "nn.spectral_norm")
    cdef norm.SpectralNormOptions options
    cdef norm.SpectralNormalized found
    cdef CppStream stream
    options.v = as_out(v, "nn.spectral_norm", "v")
    options.iterations = to_int(n_iterations, "nn.spectral_norm", "n_iterations")
    options.axis = to_int(axis, "nn.spectral_norm")
    options.eps = to_float(eps, "nn.spectral_norm", "eps")
    enter(source.backend, stream)
    with nogil:
        found = norm.spectral_norm(source.c, left.c, options, stream)
    return (wrap_array(source.backend, found.w), wrap_array(source.backend, found.u),
            wrap_array(source.backend, found.v), wrap_array(source.backend, found.sigma))


def spectral_norm_backward(grad: Array, w: Array, u: Array, v: Array, sigma: Array, /, axis: int = 0) -> Array:
    """The gradient of spectral_norm's weight, of grad's shape, w's. Asynchronous.

    w, u, v and sigma are what spectral_norm returned; u and v count as constants.

    >>> w, u, v, sigma = stator.nn.spectral_norm(be.asarray([[4.0, 0.0], [0.0, 1.0]]), be.asarray([1.0, 0.0]))
    >>> stator.nn.spectral_norm_backward(be.ones((2, 2)), w, u, v, sigma).shape
    (2, 2)
    """
    cdef Array g = as_array(grad, "nn.spectral_norm_backward"), weight = as_array(w, "nn.spectral_norm_backward")
    cdef Array left = as_array(u, "nn.spectral_norm_backward"), right = as_array(v, "nn.spectral_norm_backward")
    cdef Array scale = as_array(sigma, "nn.spectral_norm_backward")
    cdef int64_t along = to_int(axis, "nn.spectral_norm_backward")
    cdef norm.SpectralNormalized found
    cdef CppStream stream
    enter(g.backend, stream)
    with nogil:
        found.w = norm.spectral_norm_backward(g.c, weight.c, left.c, right.c, scale.c, along, stream)
    return wrap_array(g.backend, found.w)
