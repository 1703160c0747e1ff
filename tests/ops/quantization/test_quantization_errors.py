"""What quantisation refuses, with the values seen."""

import re

import stator
from stator import errors as E

nn = stator.nn


class Given:
    def __init__(self, be):
        self.x, self.wide = be.ones((4, 6), dtype="float32"), be.ones((4, 6), dtype="float64")
        self.q, self.w = be.ones((4, 6), dtype="int8"), be.ones((6, 3), dtype="uint8")
        self.three, self.six = be.ones((3,), dtype="float32"), be.ones((6,), dtype="float32")
        self.whole, self.one = be.ones((6,), dtype="int32"), be.ones((), dtype="float32")
        self.image, self.kernel = be.ones((1, 4, 5, 5), dtype="int8"), be.ones((2, 4, 3, 3), dtype="int8")
        self.rows = be.ones((2, 96), dtype="float32")
        self.int4 = nn.quantize_int4(self.rows, group_size=32)


def parameters(a, **options):
    return nn.quantization_parameters(a.one, a.one, **options)


REFUSED = {
    "integers": (lambda a: nn.quantize(a.q, 1.0), E.DTypeError, "x of int8"),
    "wide results": (lambda a: nn.quantize(a.x, 1.0, dtype="int16"), E.DTypeError, "dtype=int16"),
    "a scale of integers": (lambda a: nn.quantize(a.x, a.whole, axis=1), E.DTypeError, "scale of int32"),
    "a floating zero point": (lambda a: nn.quantize(a.x, a.six, a.six, axis=1), E.DTypeError, "zero_point of float32"),
    "a scale of 0": (lambda a: nn.quantize(a.x, 0.0), E.InvalidValueError, "scale=0"),
    "a scale of NaN": (lambda a: nn.dequantize(a.q, float("nan")), E.InvalidValueError, "scale=-?nan"),
    "a zero point": (lambda a: nn.quantize(a.x, 1.0, 128), E.InvalidValueError, "zero_point=128.*from -128 to 127"),
    "other limits": (lambda a: nn.quantize(a.x, 1.0, 5, quant_max=4), E.InvalidValueError, "zero_point=5.*to 4"),
    "limits": (lambda a: nn.quantize(a.x, 1.0, quant_max=128), E.InvalidValueError, "quant_max=128"),
    "channels": (lambda a: nn.quantize(a.x, a.three, axis=1), E.ShapeError, r"scale of shape \(3,\).*\(4, 6\).*\(6,\)"),
    "zero points": (
        lambda a: nn.quantize(a.x, a.six, a.whole[:3], axis=1),
        E.ShapeError,
        r"zero point of shape \(3,\)",
    ),
    "several scales": (lambda a: nn.quantize(a.x, a.six), E.ShapeError, r"\(6,\)"),
    "blocks": (lambda a: nn.quantize(a.x, a.six, axis=1, block_size=4), E.ShapeError, r"\(4, 2\)"),
    "no axis": (lambda a: nn.quantize(a.x, 1.0, block_size=4), E.InvalidValueError, "block size without an axis"),
    "no block": (lambda a: nn.quantize(a.x, 1.0, axis=0, block_size=0), E.InvalidValueError, "block_size=0"),
    "an axis": (lambda a: nn.quantize(a.x, a.six, axis=2), E.AxisError, "2"),
    "codes": (lambda a: nn.dequantize(a.x, 1.0), E.DTypeError, "q of float32"),
    "whole numbers": (lambda a: nn.dequantize(a.q, 1.0, dtype="int32"), E.DTypeError, "dtype=int32"),
    "limits in order": (
        lambda a: nn.fake_quantize(a.x, 1.0, 0, 5, 4),
        E.InvalidValueError,
        "quant_min=5 and quant_max=4",
    ),
    "wide limits": (lambda a: nn.fake_quantize(a.x, 1.0, 0, 0, 2**23), E.InvalidValueError, "8388608"),
    "another gradient": (
        lambda a: nn.fake_quantize_backward(a.wide, a.x, 1.0, 0, 0, 9),
        E.DTypeError,
        "grad is float64",
    ),
    "its shape": (lambda a: nn.fake_quantize_backward(a.x[1:], a.x, 1.0, 0, 0, 9), E.ShapeError, r"grad \(3, 6\)"),
    "ranges": (lambda a: nn.quantization_parameters(a.six, a.one), E.ShapeError, r"min \(6,\) and max \(\)"),
    "eps": (lambda a: parameters(a, eps=0.0), E.InvalidValueError, "eps=0"),
    "a range's shape": (
        lambda a: nn.observe_range(a.x, a.six, a.six, axis=0),
        E.ShapeError,
        r"min of shape \(6,\).*\(4,\)",
    ),
    "a range's dtype": (lambda a: nn.observe_range(a.x, a.wide[0, 0], a.wide[0, 0]), E.DTypeError, "min of float64"),
    "averages": (
        lambda a: nn.observe_range(a.x, a.one, a.one, averaging_constant=0.0),
        E.InvalidValueError,
        "constant=0",
    ),
    "bins": (lambda a: nn.observe_histogram(a.x, a.x, a.one, a.one), E.ShapeError, r"histogram of shape \(4, 6\)"),
    "levels": (lambda a: nn.histogram_range(a.six, a.one, a.one, levels=1), E.InvalidValueError, "levels=1"),
    "floating operands": (lambda a: nn.quantized_matmul(a.x, a.w, 1.0, 1.0), E.DTypeError, "a of float32"),
    "terms": (lambda a: nn.quantized_matmul(a.q, a.q, 1.0, 1.0), E.ShapeError, r"\(4, 6\) and \(4, 6\)"),
    "scales of rows": (
        lambda a: nn.quantized_matmul(a.q, a.w, a.three, 1.0),
        E.ShapeError,
        r"scale_a of shape \(3,\).*\(4,\)",
    ),
    "a bias": (
        lambda a: nn.quantized_matmul(a.q, a.w, 1.0, 1.0, bias=a.six),
        E.ShapeError,
        r"bias of shape \(6,\).*\(3,\)",
    ),
    "no scale_out": (
        lambda a: nn.quantized_matmul(a.q, a.w, 1.0, 1.0, dtype="int8"),
        E.InvalidValueError,
        "scale_out=0",
    ),
    "a scale_out": (lambda a: nn.quantized_matmul(a.q, a.w, 1.0, 1.0, scale_out=1.0), E.InvalidValueError, "float32"),
    "wide sums": (lambda a: nn.quantized_matmul(a.q, a.w, 1.0, 1.0, dtype="float64"), E.DTypeError, "float64"),
    "a weight": (lambda a: nn.quantized_linear(a.q, a.w, 1.0, 1.0), E.ShapeError, r"weight \(6, 3\)"),
    "a zero point of bytes": (
        lambda a: nn.quantized_linear(a.q, a.q, 1.0, 1.0, 200),
        E.InvalidValueError,
        "zero_point_x=200",
    ),
    "an activation": (
        lambda a: nn.quantized_linear(a.q, a.q, 1.0, 1.0, activation="gelu"),
        E.InvalidValueError,
        "gelu",
    ),
    "groups": (lambda a: nn.quantized_conv2d(a.image, a.kernel, 1.0, 1.0, groups=2), E.ShapeError, "in 2 groups"),
    "windows": (lambda a: nn.quantized_conv2d(a.image, a.kernel, 1.0, 1.0, dilation=3), E.ShapeError, "padding 0"),
    "a stride": (lambda a: nn.quantized_conv2d(a.image, a.kernel, 1.0, 1.0, stride=0), E.InvalidValueError, "stride"),
    "axes of one": (
        lambda a: nn.quantized_conv1d(a.image, a.kernel, 1.0, 1.0),
        E.ShapeError,
        r"x \(.*\) and weight .*pass x \(n, c, w\) and weight \(out, c / groups, kw\)",
    ),
    "axes of three": (
        lambda a: nn.quantized_conv3d(a.image, a.kernel, 1.0, 1.0),
        E.ShapeError,
        r"pass x \(n, c, d, h, w\) and weight \(out, c / groups, kd, kh, kw\)",
    ),
    "windows of one axis": (
        lambda a: nn.quantized_conv1d(a.image[..., 0], a.kernel[..., 0], 1.0, 1.0, dilation=9),
        E.ShapeError,
        "padding 0",
    ),
    "strides": (
        lambda a: nn.quantized_conv3d(a.image[..., None], a.kernel[..., None], 1.0, 1.0, stride=(1, 2)),
        E.InvalidValueError,
        r"stride=\(1, 2\) for 3 axes",
    ),
    "groups of weights": (
        lambda a: nn.quantize_int4(a.rows, group_size=64),
        E.InvalidValueError,
        r"64.*\(2, 96\).*divides 96",
    ),
    "small groups": (lambda a: nn.quantize_int4(a.rows, group_size=16), E.InvalidValueError, "multiple of 32"),
    "packed": (lambda a: nn.int4_linear(a.x, *a.int4), E.ShapeError, r"x \(4, 6\) and packed \(2, 48\)"),
    "scales of groups": (
        lambda a: nn.int4_linear(a.rows, a.int4[0], a.int4[1][:, :2], a.int4[2][:, :2]),
        E.ShapeError,
        "2 groups of 96",
    ),
    "double precision": (lambda a: nn.int4_linear(a.wide, *a.int4), E.DTypeError, "x of float64"),
}


def refusal(call, given):
    try:
        call(given)
    except E.StatorError as error:
        return error
    return None


def test_what_is_refused(be):
    given = Given(be)
    found = {what: (refusal(call, given), error, match) for what, (call, error, match) in REFUSED.items()}
    wrong = {
        what: error
        for what, (error, kind, match) in found.items()
        if not (isinstance(error, kind) and re.search(match, str(error), re.IGNORECASE) and error.op and error.remedy)
    }
    assert not wrong
