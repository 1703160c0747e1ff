"""Operators of quantisation."""

import stator
from tests.onnx.table import Without, row

nn = stator.nn
WINDOW = {"kernel_shape": "the weight's shape says it"}
BYTES = ("int8", "uint8")


def by(scale, axis, block_size):
    """The axis and the blocks that scales are of."""
    if scale.size == 1 and not block_size:
        return {}
    return {"axis": axis} | ({"block_size": block_size} if block_size else {})


def zero_of(x, zero):
    if zero is None:
        return None
    if zero.dtype.name not in BYTES or (x is not None and x.dtype.name not in BYTES):
        raise Without("quantisation to sixteen bits")
    return zero


OTHER = {"output_dtype": "a dtype of the result without a zero point", "precision": "a dtype to divide in"}


@row("QuantizeLinear", without=OTHER, silent={"saturate": "only of floats of eight bits"})
def quantize(x, scale, zero, *, axis, block_size):
    zero = zero_of(None, zero)
    dtype = "uint8" if zero is None else zero.dtype
    return nn.quantize(x, scale, zero, dtype=dtype, **by(scale, axis, block_size))


@row("DequantizeLinear", units=2, without=OTHER)
def dequantize(x, scale, zero, *, axis, block_size):
    return nn.dequantize(x, scale, zero_of(x, zero), dtype=scale.dtype, **by(scale, axis, block_size))


@row("DynamicQuantizeLinear", units=2)
def quantize_dynamically(x):
    scale, zero = nn.quantization_parameters(stator.min(x), stator.max(x), dtype="uint8")
    # ONNX divides by the scale, where nn.quantize multiplies by its reciprocal, which rounds -127.5 otherwise.
    return nn.quantize(x / scale, 1.0, zero, dtype="uint8"), scale, stator.astype(zero, "uint8")


@row("MatMulInteger")
def matmul_of_integers(a, b, zero_a, zero_b):
    return stator.astype(nn.quantized_matmul(a, b, 1.0, 1.0, zero_a, zero_b), "int32")


@row("QLinearMatMul")
def quantized_matmul(a, scale_a, zero_a, b, scale_b, zero_b, scale, zero):
    options = {"scale_out": scale, "zero_point_out": zero, "dtype": zero.dtype}
    return nn.quantized_matmul(a, b, scale_a, scale_b, zero_a, zero_b, **options)


def windows(pads, strides, dilations, group, auto_pad):
    """Options of the convolution of images."""
    pads = pads or [0, 0, 0, 0]
    if auto_pad != "NOTSET" or pads[:2] != pads[2:]:
        raise Without("a padding of bytes that differs at the two ends of an axis")
    return {"padding": pads[:2], "stride": strides or 1, "dilation": dilations or 1, "groups": group}


@row("ConvInteger", silent=WINDOW)
def convolution_of_integers(x, w, zero_x, zero_w, *, auto_pad, dilations, group, pads, strides):
    options = windows(pads, strides, dilations, group, auto_pad)
    return stator.astype(nn.quantized_conv2d(x, w, 1.0, 1.0, zero_x, zero_w, **options), "int32")


@row("QLinearConv", silent=WINDOW)
def quantized_convolution(
    x, scale_x, zero_x, w, scale_w, zero_w, scale, zero, bias, *, auto_pad, dilations, group, pads, strides
):
    options = windows(pads, strides, dilations, group, auto_pad)
    options |= {"scale_out": scale, "zero_point_out": zero, "dtype": zero.dtype, "bias": bias}
    return nn.quantized_conv2d(x, w, scale_x, scale_w, zero_x, zero_w, **options)
