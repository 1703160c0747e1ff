# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Quantisation to eight and four bits, its gradients, observers, and products of bytes."""
from collections import namedtuple

from libc.stdint cimport int64_t

from stator._array cimport Array, as_array, as_out, new_array, wrap_array
from stator._backend cimport enter
from stator._convert cimport to_axis, to_dtype, to_dims, to_flag, to_float, to_text, wrong_type
from stator._integers cimport to_int, to_optional_int
from stator.cpp cimport quantization as cpp
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.std cimport optional

from stator.errors import InvalidValueError

Int4Weights = namedtuple("Int4Weights", ("packed", "scale", "zero_point"), module="stator.nn._quantization")


# A scale or zero point: an Array, which must outlive the number, or a Python number. None leaves what is there.
cdef int to_scale(object value, cpp.QuantizationNumber& out, str op, str name) except -1:
    if isinstance(value, Array):
        out.array = &(<Array>value).c
    elif value is not None:
        try:
            out.number = to_float(value, op, name)
        except TypeError:
            raise wrong_type(value, op, name, "an Array or a number") from None
    return 0


cdef int to_zero(object value, cpp.QuantizationNumber& out, str op, str name, bint whole=True) except -1:
    if whole and value is not None and not isinstance(value, Array):
        out.number = to_int(value, op, name)
        return 0
    return to_scale(value, out, op, name)


cdef CppDType dtype_of(object value, str op) except *:
    cdef optional[CppDType] code
    to_dtype(value, code, op)
    if value is None:
        raise wrong_type(value, op, "dtype", "a dtype")
    return code.value()


cdef int set_options(cpp.QuantizationOptions& o, str op, object axis, object block_size, object quant_min,
                     object quant_max) except -1:
    to_axis(axis, o.axis, op)
    to_optional_int(block_size, o.block_size, op, "block_size")
    to_optional_int(quant_min, o.quant_min, op, "quant_min")
    to_optional_int(quant_max, o.quant_max, op, "quant_max")
    return 0


def quantize(x: Array, scale: Array | float, zero_point: Array | int | None = None, /, *, dtype: DTypeLike = "int8",
             axis: int | None = None, block_size: int | None = None, quant_min: int | None = None,
             quant_max: int | None = None) -> Array:
    """round(x / scale) + zero_point, limited to int8 or uint8. Asynchronous, one launch.

    scale and zero_point: one number; with an axis one for each of its indices; with a block size too, arrays of x's
    shape with the axis divided by it, rounded up, as the last block may be shorter. x is floating. As in
    torch.quantize_per_tensor x is multiplied by 1 / scale, in float32 or for float64 in float64, and rounded to nearest
    even; ONNX's QuantizeLinear divides, which differs where x / scale is about a tie and the scale is not a power
    of two. NaN gives the zero point, and so 0 again, where torch and ONNX leave it open. quant_min and quant_max narrow
    the limits. ShapeError for scales of another shape; InvalidValueError for limits that the dtype does not have, and
    for Python numbers: a scale that is not positive, a zero point out of the limits. What is in arrays is not read for
    checks: a zero point beyond a limit counts as the limit.

    >>> stator.nn.quantize(be.asarray([-1.0, 0.25, 0.75, 90.0]), 0.5, 1).to_numpy().tolist()
    [-1, 1, 3, 127]
    """
    cdef Array source = as_array(x, "nn.quantize"), out = new_array(source.backend)
    cdef cpp.QuantizationNumber by, zero
    cdef cpp.QuantizationOptions options
    cdef CppDType code = dtype_of(dtype, "nn.quantize")
    cdef CppStream stream
    to_scale(scale, by, "nn.quantize", "scale")
    to_zero(zero_point, zero, "nn.quantize", "zero_point")
    set_options(options, "nn.quantize", axis, block_size, quant_min, quant_max)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.quantize(source.c, by, zero, code, options, stream)
    return out


def dequantize(q: Array, scale: Array | float, zero_point: Array | int | None = None, /, *, axis: int | None = None,
               block_size: int | None = None, dtype: DTypeLike = "float32") -> Array:
    """(q - zero_point) * scale of int8 or uint8. Asynchronous, one launch.

    scale, zero_point, axis and block_size are those of quantize, and so are the errors. dtype: floating; halves are
    computed in float32 and rounded once.

    >>> stator.nn.dequantize(be.asarray([-1, 1, 3], dtype="int8"), 0.5, 1).to_numpy().tolist()
    [-1.0, 0.0, 1.0]
    """
    cdef Array source = as_array(q, "nn.dequantize"), out = new_array(source.backend)
    cdef cpp.QuantizationNumber by, zero
    cdef cpp.QuantizationOptions options
    cdef CppDType code = dtype_of(dtype, "nn.dequantize")
    cdef CppStream stream
    to_scale(scale, by, "nn.dequantize", "scale")
    to_zero(zero_point, zero, "nn.dequantize", "zero_point")
    set_options(options, "nn.dequantize", axis, block_size, None, None)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.dequantize(source.c, by, zero, code, options, stream)
    return out


def fake_quantize(x: Array, scale: Array | float, zero_point: Array | float, /, quant_min: int, quant_max: int, *,
                  axis: int | None = None, block_size: int | None = None) -> Array:
    """x quantised to quant_min ... quant_max and dequantised, in x's dtype. Asynchronous, one launch.

    (q - zero_point) * scale for q = round(x / scale) + zero_point, limited: dequantize(quantize(x)) for any limits from
    -2**22 to 2**22. scale, axis and block_size are those of quantize; zero_point may be floating too, as it is where it
    is learned: it is limited and rounded. NaN gives 0. Errors are those of quantize.

    >>> stator.nn.fake_quantize(be.asarray([-9.0, 0.3, 2.0]), 0.5, 0, 0, 3).to_numpy().tolist()
    [0.0, 0.5, 1.5]
    """
    cdef Array source = as_array(x, "nn.fake_quantize"), out = new_array(source.backend)
    cdef cpp.QuantizationNumber by, zero
    cdef cpp.QuantizationOptions options
    cdef CppStream stream
    to_scale(scale, by, "nn.fake_quantize", "scale")
    to_zero(zero_point, zero, "nn.fake_quantize", "zero_point", False)
    set_options(options, "nn.fake_quantize", axis, block_size, to_int(quant_min, "nn.fake_quantize", "quant_min"),
                to_int(quant_max, "nn.fake_quantize", "quant_max"))
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.fake_quantize(source.c, by, zero, options, stream)
    return out


def fake_quantize_backward(grad: Array, x: Array, scale: Array | float, zero_point: Array | float, /, quant_min: int,
                           quant_max: int, *, axis: int | None = None, block_size: int | None = None,
                           learned: bool = False, grad_factor: float = 1.0) -> Array | tuple[Array, Array, Array]:
    """The gradient of fake_quantize's x: grad where x was not limited, else 0. Asynchronous.

    One launch. learned: a tuple of it and the gradients of scale and zero_point, of scale's shape and float32, for
    float64 x float64, times grad_factor: those of learned step sizes (Esser et al., ICLR 2020; Bhalgat et al., 2020).
    Where x is limited the zero point has -scale * grad, and the scale (limit - zero_point) * grad; elsewhere the scale
    has (round(x / scale) - x / scale) * grad. One launch more adds the sums of the first, with equal bits run to run.
    The other arguments, and errors, are those of fake_quantize.

    >>> x = be.asarray([-9.0, 0.3, 2.0])
    >>> stator.nn.fake_quantize_backward(be.ones((3,)), x, 0.5, 0, 0, 3).tolist()
    [0.0, 1.0, 0.0]
    """
    cdef str op = "nn.fake_quantize_backward"
    cdef Array g = as_array(grad, op), source = as_array(x, op)
    cdef cpp.QuantizationNumber by, zero
    cdef cpp.FakeQuantizeGradientOptions options
    cdef cpp.FakeQuantizeGradients found
    cdef CppStream stream
    options.learned = to_flag(learned, op, "learned")
    options.grad_factor = to_float(grad_factor, op, "grad_factor")
    to_scale(scale, by, op, "scale")
    to_zero(zero_point, zero, op, "zero_point", False)
    set_options(options, op, axis, block_size, to_int(quant_min, op, "quant_min"), to_int(quant_max, op, "quant_max"))
    enter(g.backend, stream)
    with nogil:
        found = cpp.fake_quantize_backward(g.c, source.c, by, zero, options, stream)
    of_x = wrap_array(g.backend, found.x)
    if not options.learned:
        return of_x
    return of_x, wrap_array(g.backend, found.scale), wrap_array(g.backend, found.zero_point)


def quantization_parameters(min: Array, max: Array, /, *, dtype: DTypeLike = "int8", symmetric: bool = False,
                            quant_min: int | None = None, quant_max: int | None = None,
                            eps: float = 1.1920928955078125e-07) -> tuple[Array, Array]:
    """(scale, zero_point) at which the range from min to max, with 0, fills the dtype. Asynchronous.

    One launch. As torch's MinMaxObserver computes them: scale, float32, is the length of the range over quant_max -
    quant_min, and eps at least; zero_point, int32, is what 0 becomes. symmetric: twice the larger magnitude for the
    length, with the zero point 0, of uint8 128 or the middle of given limits. Where min > max, as before anything was
    observed, they are 1 and 0. Both have the shape of min and max, which are floating.

    >>> scale, zero = stator.nn.quantization_parameters(be.asarray([-1.0]), be.asarray([1.55]), dtype="uint8")
    >>> zero.to_numpy().tolist()
    [100]
    """
    cdef str op = "nn.quantization_parameters"
    cdef Array low = as_array(min, op), high = as_array(max, op)
    cdef cpp.ParameterOptions options
    cdef cpp.QuantizationParameters found
    cdef CppStream stream
    options.dtype = dtype_of(dtype, op)
    options.symmetric = to_flag(symmetric, op, "symmetric")
    options.eps = to_float(eps, op, "eps")
    to_optional_int(quant_min, options.quant_min, op, "quant_min")
    to_optional_int(quant_max, options.quant_max, op, "quant_max")
    enter(low.backend, stream)
    with nogil:
        found = cpp.quantization_parameters(low.c, high.c, options, stream)
    return wrap_array(low.backend, found.scale), wrap_array(low.backend, found.zero_point)


def observe_range(x: Array, min: Array, max: Array, /, *, axis: int | None = None,
                  averaging_constant: float | None = None) -> None:
    """Extends min and max in place by the elements of x, or per index of the axis. Asynchronous.

    One launch. min and max are contiguous float32, for float64 x also float64, of shape () or (n,), and begin as
    infinity and -infinity.
    averaging_constant: they move by that part of the way instead, after the first time. NaN stays NaN, as in torch; an
    x without elements changes nothing.

    >>> low, high = be.full((), float("inf"), dtype="float32"), be.full((), -float("inf"), dtype="float32")
    >>> stator.nn.observe_range(be.asarray([-1.0, 2.0]), low, high)
    >>> float(low), float(high)
    (-1.0, 2.0)
    """
    cdef str op = "nn.observe_range"
    cdef Array source = as_array(x, op), low = as_array(min, op), high = as_array(max, op)
    cdef optional[int64_t] along
    cdef optional[double] averaging
    cdef CppStream stream
    to_axis(axis, along, op)
    if averaging_constant is not None:
        averaging = optional[double](to_float(averaging_constant, op, "averaging_constant"))
    enter(source.backend, stream)
    with nogil:
        cpp.observe_range(source.c, low.c, high.c, along, averaging, stream)


def observe_histogram(x: Array, histogram: Array, min: Array, max: Array, /) -> None:
    """Counts the finite elements of x in place, over a range that grows. Asynchronous, three launches.

    histogram: (bins,), float32, of the range from min to max, 0-d arrays as observe_range has them. First min and max
    are extended; what was counted before moves to the bins of the new range, a bin as sixteen parts at their middles,
    as in torch's HistogramObserver. The largest element counts in the last bin.

    >>> low, high = be.full((), float("inf"), dtype="float32"), be.full((), -float("inf"), dtype="float32")
    >>> counts = be.zeros((2,), dtype="float32")
    >>> stator.nn.observe_histogram(be.asarray([0.0, 0.25, 1.0]), counts, low, high)
    >>> counts.tolist()
    [2.0, 1.0]
    """
    cdef str op = "nn.observe_histogram"
    cdef Array source = as_array(x, op), counts = as_array(histogram, op)
    cdef Array low = as_array(min, op), high = as_array(max, op)
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        cpp.observe_histogram(source.c, counts.c, low.c, high.c, stream)


def histogram_range(histogram: Array, min: Array, max: Array, /, *, levels: int = 256) -> tuple[Array, Array]:
    """(min, max) of the part of a histogram's range that is quantised with the least error. Asynchronous.

    One launch. The error is the sum of squares, if elements are spread evenly in their bins. Both ends move inwards by
    quantiles of 1e-5, the one that goes further first, until the error rises: the search of torch's
    HistogramObserver. levels: the values that there will be, 256 for eight bits. Both results are float32, 0-d.

    >>> counts = be.ones((4,), dtype="float32")
    >>> low, high = be.zeros((), dtype="float32"), be.ones((), dtype="float32")
    >>> [float(end) for end in stator.nn.histogram_range(counts, low, high)]
    [0.0, 0.75]
    """
    cdef str op = "nn.histogram_range"
    cdef Array counts = as_array(histogram, op), low = as_array(min, op), high = as_array(max, op)
    cdef int64_t number = to_int(levels, op, "levels")
    cdef cpp.Range found
    cdef CppStream stream
    enter(counts.backend, stream)
    with nogil:
        found = cpp.histogram_range(counts.c, low.c, high.c, number, stream)
    return wrap_array(counts.backend, found.min), wrap_array(counts.backend, found.max)


cdef int set_scales(cpp.QuantizedProductOptions& o, str op, object scale_x, object scale_weight, object zero_point_x,
                    object zero_point_weight) except -1:
    to_scale(scale_x, o.scale_a, op, "scale_x")
    to_scale(scale_weight, o.scale_b, op, "scale_weight")
    to_zero(zero_point_x, o.zero_point_a, op, "zero_point_x")
    to_zero(zero_point_weight, o.zero_point_b, op, "zero_point_weight")
    return 0


cdef int set_result(cpp.QuantizedProductOptions& o, str op, object bias, object scale_out, object zero_point_out,
                    object dtype) except -1:
    o.bias = as_out(bias, op, "bias")
    to_scale(scale_out, o.scale_out, op, "scale_out")
    to_zero(zero_point_out, o.zero_point_out, op, "zero_point_out")
    o.dtype = dtype_of(dtype, op)
    return 0


cdef int set_activation(cpp.QuantizedProductOptions& o, str op, object activation) except -1:
    if activation is None:
        return 0
    if to_text(activation, op, "activation") != b"relu":
        raise InvalidValueError(f"Got activation={activation!r}", op=op, remedy="Pass 'relu' or None.")
    o.relu = True
    return 0


def quantized_matmul(a: Array, b: Array, scale_a: Array | float, scale_b: Array | float, /,
                     zero_point_a: Array | int | None = None, zero_point_b: Array | int | None = None, *,
                     bias: Array | None = None, scale_out: Array | float | None = None,
                     zero_point_out: Array | int | None = None, dtype: DTypeLike = "float32") -> Array:
    """(a - zero_point_a) @ (b - zero_point_b) * (scale_a * scale_b) + bias of bytes. Asynchronous.

    a (..., m, k) and b (..., k, n), with batch axes that broadcast. Sums are int32: exact up to 33025 terms, beyond
    which they may wrap. Scales and zero points are one, or (m,) of a and (n,) of b. bias: (n,), floating, or int32, in
    steps of scale_a * scale_b, which is added to the exact sums. dtype: float32, float16 or bfloat16, rounded once from
    float32; or int8 or uint8, with scale_out and zero_point_out, quantised as by quantize. The product, of int8, is one
    launch or call of a library, and what follows is one more. An operand of uint8 is copied as int8 first, and where an
    operand has a zero point or is uint8, the sums of the other one are a launch more. Errors as for quantize.

    >>> a, b = be.asarray([[1, 2]], dtype="int8"), be.asarray([[3], [4]], dtype="int8")
    >>> stator.nn.quantized_matmul(a, b, 0.5, 0.5).tolist()
    [[2.75]]
    """
    cdef str op = "nn.quantized_matmul"
    cdef Array left = as_array(a, op), right = as_array(b, op), out = new_array(left.backend)
    cdef cpp.QuantizedProductOptions o
    cdef CppStream stream
    to_scale(scale_a, o.scale_a, op, "scale_a")
    to_scale(scale_b, o.scale_b, op, "scale_b")
    to_zero(zero_point_a, o.zero_point_a, op, "zero_point_a")
    to_zero(zero_point_b, o.zero_point_b, op, "zero_point_b")
    set_result(o, op, bias, scale_out, zero_point_out, dtype)
    enter(left.backend, stream)
    with nogil:
        out.c = cpp.quantized_matmul(left.c, right.c, o, stream)
    return out


def quantized_linear(x: Array, weight: Array, scale_x: Array | float, scale_weight: Array | float, /,
                     zero_point_x: Array | int | None = None, zero_point_weight: Array | int | None = None, *,
                     bias: Array | None = None, activation: str | None = None, scale_out: Array | float | None = None,
                     zero_point_out: Array | int | None = None, dtype: DTypeLike = "float32") -> Array:
    """quantized_matmul of x (..., in) and the transpose of weight (out, in). Asynchronous.

    Scales and zero points of x are one, or one for each of its rows; those of weight one, or (out,). activation:
    "relu", of the sum with the bias. The rest is as for quantized_matmul.

    >>> x = be.asarray([[1, -2, 3]], dtype="int8")
    >>> stator.nn.quantized_linear(x, x, 0.5, 0.25).to_numpy().tolist()
    [[1.75]]
    """
    cdef str op = "nn.quantized_linear"
    cdef Array source = as_array(x, op), by = as_array(weight, op), out = new_array(source.backend)
    cdef cpp.QuantizedProductOptions o
    cdef CppStream stream
    set_scales(o, op, scale_x, scale_weight, zero_point_x, zero_point_weight)
    set_result(o, op, bias, scale_out, zero_point_out, dtype)
    set_activation(o, op, activation)
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.quantized_linear(source.c, by.c, o, stream)
    return out


cdef int set_windows(cpp.QuantizedConvolutionOptions& o, str op, object stride, object padding, object dilation,
                     object groups) except -1:
    to_dims(stride, o.stride, op, "stride")
    to_dims(padding, o.padding, op, "padding")
    to_dims(dilation, o.dilation, op, "dilation")
    o.groups = to_int(groups, op, "groups")
    return 0


cdef Array convolution(int axes, str op, object x, object weight, cpp.QuantizedConvolutionOptions& o):
    cdef Array source = as_array(x, op), by = as_array(weight, op), out = new_array(source.backend)
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        if axes == 1:
            out.c = cpp.quantized_conv1d(source.c, by.c, o, stream)
        elif axes == 2:
            out.c = cpp.quantized_conv2d(source.c, by.c, o, stream)
        else:
            out.c = cpp.quantized_conv3d(source.c, by.c, o, stream)
    return out


def quantized_conv1d(x: Array, weight: Array, scale_x: Array | float, scale_weight: Array | float, /,
                     zero_point_x: Array | int | None = None, zero_point_weight: Array | int | None = None, *,
                     bias: Array | None = None, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, activation: str | None = None,
                     scale_out: Array | float | None = None, zero_point_out: Array | int | None = None,
                     dtype: DTypeLike = "float32") -> Array:
    """quantized_conv2d over one axis. Asynchronous.

    x (n, c, w), weight (out, c / groups, kw). The other arguments are those of quantized_conv2d.

    >>> stator.nn.quantized_conv1d(*[be.ones((1, 1, 2), dtype="int8")] * 2, 0.5, 0.25).tolist()
    [[[0.25]]]
    """
    cdef str op = "nn.quantized_conv1d"
    cdef cpp.QuantizedConvolutionOptions o
    set_scales(o.product, op, scale_x, scale_weight, zero_point_x, zero_point_weight)
    set_result(o.product, op, bias, scale_out, zero_point_out, dtype)
    set_activation(o.product, op, activation)
    set_windows(o, op, stride, padding, dilation, groups)
    return convolution(1, op, x, weight, o)


def quantized_conv2d(x: Array, weight: Array, scale_x: Array | float, scale_weight: Array | float, /,
                     zero_point_x: Array | int | None = None, zero_point_weight: Array | int | None = None, *,
                     bias: Array | None = None, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, activation: str | None = None,
                     scale_out: Array | float | None = None, zero_point_out: Array | int | None = None,
                     dtype: DTypeLike = "float32") -> Array:
    """Convolution of images of int8 or uint8, as exact sums with scales and zero points. Asynchronous.

    x (n, c, h, w), weight (out, c / groups, kh, kw). Scales and zero points of x are one, those of weight one or
    (out,); bias (out,). Padding counts as 0, which is zero_point_x. The windows become rows of bytes in scratch memory,
    a byte for each element of each window, and 4 bytes for each element of the result hold the sums. The rest is as for
    quantized_linear.

    >>> x = be.ones((1, 1, 2, 2), dtype="int8")
    >>> stator.nn.quantized_conv2d(x, x, 0.5, 0.25).tolist()
    [[[[0.5]]]]
    """
    cdef str op = "nn.quantized_conv2d"
    cdef cpp.QuantizedConvolutionOptions o
    set_scales(o.product, op, scale_x, scale_weight, zero_point_x, zero_point_weight)
    set_result(o.product, op, bias, scale_out, zero_point_out, dtype)
    set_activation(o.product, op, activation)
    set_windows(o, op, stride, padding, dilation, groups)
    return convolution(2, op, x, weight, o)


def quantized_conv3d(x: Array, weight: Array, scale_x: Array | float, scale_weight: Array | float, /,
                     zero_point_x: Array | int | None = None, zero_point_weight: Array | int | None = None, *,
                     bias: Array | None = None, stride: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
                     dilation: int | Sequence[int] = 1, groups: int = 1, activation: str | None = None,
                     scale_out: Array | float | None = None, zero_point_out: Array | int | None = None,
                     dtype: DTypeLike = "float32") -> Array:
    """quantized_conv2d over three axes. Asynchronous.

    x (n, c, d, h, w), weight (out, c / groups, kd, kh, kw). The other arguments are those of quantized_conv2d.

    >>> stator.nn.quantized_conv3d(*[be.ones((1, 1, 2, 2, 2), dtype="int8")] * 2, 0.5, 0.25).tolist()
    [[[[[1.0]]]]]
    """
    cdef str op = "nn.quantized_conv3d"
    cdef cpp.QuantizedConvolutionOptions o
    set_scales(o.product, op, scale_x, scale_weight, zero_point_x, zero_point_weight)
    set_result(o.product, op, bias, scale_out, zero_point_out, dtype)
    set_activation(o.product, op, activation)
    set_windows(o, op, stride, padding, dilation, groups)
    return convolution(3, op, x, weight, o)


def quantize_int4(weight: Array, /, *, group_size: int = 128) -> Int4Weights:
    """(packed, scale, zero_point): weight (out, in) as four bits, in groups of inputs. Asynchronous.

    Each group of group_size weights, a multiple of 32 that divides in, has a scale of the weight's dtype and a zero
    point, uint8, both (out, in / group_size): weights are about (q - zero_point) * scale, with q from 0 to 15, for the
    range of the group with 0. packed: uint8 (out, in / 2); of each 16 bytes, which hold 32 weights, byte j has weight j
    in its low half and weight 16 + j in its high half. weight is float32, float16 or bfloat16. One launch.

    >>> packed, scale, zero = stator.nn.quantize_int4(be.ones((2, 64), dtype="float32"), group_size=32)
    >>> packed.shape, scale.shape, int(packed.to_numpy()[0, 0])
    ((2, 32), (2, 2), 255)
    """
    cdef Array source = as_array(weight, "nn.quantize_int4")
    cdef int64_t size = to_int(group_size, "nn.quantize_int4", "group_size")
    cdef cpp.Int4Weights found
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        found = cpp.quantize_int4(source.c, size, stream)
    return Int4Weights(wrap_array(source.backend, found.packed), wrap_array(source.backend, found.scale),
                       wrap_array(source.backend, found.zero_point))


def int4_linear(x: Array, packed: Array, scale: Array, zero_point: Array, /, bias: Array | None = None) -> Array:
    """x (..., in) times the transposed weights of quantize_int4, plus bias (out,). Asynchronous.

    Up to 16 rows of x in one launch, which decodes the weights in registers and sums in float32, for x of halves after
    its conversion; on GPUs weights are read once for each 4 rows. More rows are multiplied by the weights decoded to
    x's dtype, in scratch memory. x and scale are float32, float16 or bfloat16. ShapeError where groups do not divide.

    >>> weights = stator.nn.quantize_int4(be.ones((2, 32), dtype="float32"), group_size=32)
    >>> stator.nn.int4_linear(be.ones((1, 32), dtype="float32"), *weights).shape
    (1, 2)
    """
    cdef Array source = as_array(x, "nn.int4_linear"), by = as_array(packed, "nn.int4_linear")
    cdef Array scales = as_array(scale, "nn.int4_linear"), zeros = as_array(zero_point, "nn.int4_linear")
    cdef Array out = new_array(source.backend)
    cdef const cpp.Array* added = as_out(bias, "nn.int4_linear", "bias")
    cdef CppStream stream
    enter(source.backend, stream)
    with nogil:
        out.c = cpp.int4_linear(source.c, by.c, scales.c, zeros.c, added, stream)
    return out
