"""What pooling refuses, with the values seen."""

import pytest

import stator
from stator import errors as E

nn = stator.nn


class Given:
    def __init__(self, be):
        self.line, self.x = be.ones((2, 3, 8), dtype="float32"), be.ones((2, 3, 8, 6), dtype="float32")
        self.cube, self.none = be.ones((1, 2, 4, 4, 4), dtype="float32"), be.ones((2, 3, 0, 6), dtype="float32")
        self.y, self.at = nn.max_pool2d(self.x, 2, return_indices=True)
        self.whole, self.wide = be.ones((2, 3, 8, 6), dtype="int32"), be.ones((2, 3, 4, 3), dtype="float64")
        self.real = stator.astype(self.at, "float32")
        self.huge = stator.broadcast_to(be.ones((1, 1, 1), dtype="float32"), (1, 1, 2**30 + 1))
        self.wider = stator.broadcast_to(be.ones((1, 1, 1, 1), dtype="float32"), (1, 1, 2**16, 2**15))


REFUSED = {
    "integers": (lambda a: nn.max_pool2d(a.whole, 2), E.DTypeError, "int32"),
    "axes": (lambda a: nn.avg_pool2d(a.cube, 2), E.ShapeError, r"x \(1, 2, 4, 4, 4\) for windows of 2 axes"),
    "axes of one": (lambda a: nn.max_pool1d(a.x, 2), E.ShapeError, "nn.max_pool1d.*windows of 1 axes"),
    "no elements": (lambda a: nn.max_pool2d(a.none, 1), E.ShapeError, r"\(2, 3, 0, 6\) has no spatial"),
    "a plane": (lambda a: nn.max_pool1d(a.huge, 1), E.ShapeError, "more than 1073741824"),
    "a plane of two axes": (lambda a: nn.avg_pool2d(a.wider, 1), E.ShapeError, "more than 1073741824"),
    "a padded axis": (lambda a: nn.max_pool1d(a.line, 2**30, padding=2**29), E.ShapeError, "its padding have more"),
    "kernel of other axes": (lambda a: nn.max_pool2d(a.x, (2, 2, 2)), E.ShapeError, r"kernel_size=\(2, 2, 2\)"),
    "kernel of zero": (lambda a: nn.max_pool2d(a.x, 0), E.InvalidValueError, r"kernel_size=\(0, 0\)"),
    "stride of zero": (lambda a: nn.avg_pool2d(a.x, 2, (1, 0)), E.InvalidValueError, r"stride=\(1, 0\)"),
    "strides": (lambda a: nn.avg_pool2d(a.x, 2, (1, 1, 1)), E.ShapeError, r"stride=\(1, 1, 1\) for 2 spatial"),
    "dilation of zero": (lambda a: nn.max_pool2d(a.x, 2, dilation=0), E.InvalidValueError, r"dilation=\(0, 0\)"),
    "negative padding": (lambda a: nn.max_pool2d(a.x, 2, padding=-1), E.InvalidValueError, r"padding=\(-1, -1\)"),
    "padding": (
        lambda a: nn.avg_pool2d(a.x, 3, padding=(1, 2)),
        E.InvalidValueError,
        r"padding=\(1, 2\) for kernel_size=\(3, 3\)",
    ),
    "windows": (lambda a: nn.max_pool2d(a.x, 7), E.ShapeError, r"kernel_size=\(7, 7\).*\(2, 3, 8, 6\)"),
    "dilated windows": (lambda a: nn.max_pool1d(a.line, 3, dilation=4), E.ShapeError, r"dilation=\(4,\)"),
    "huge windows": (lambda a: nn.max_pool1d(a.line, 2**62, dilation=2**62), E.ShapeError, "fit into"),
    "huge windows of a ceiling": (
        lambda a: nn.max_pool1d(a.line, 2**40, 2**50, ceil_mode=True),
        E.ShapeError,
        "fit into",
    ),
    "divisor": (lambda a: nn.avg_pool2d(a.x, 2, divisor_override=0), E.InvalidValueError, "divisor_override=0"),
    "divisor that is a bool": (
        lambda a: nn.avg_pool2d(a.x, 2, divisor_override=True),
        E.DTypeError,
        "divisor_override=True",
    ),
    "power": (lambda a: nn.lp_pool2d(a.x, 0, 2), E.InvalidValueError, "norm_type=0"),
    "infinite power": (lambda a: nn.lp_pool2d(a.x, float("inf"), 2), E.InvalidValueError, "norm_type=inf"),
    "gradient": (lambda a: nn.avg_pool2d_backward(a.x, a.x, 2), E.ShapeError, r"grad \(2, 3, 8, 6\).*\(2, 3, 4, 3\)"),
    "dtype of the gradient": (lambda a: nn.avg_pool2d_backward(a.wide, a.x, 2), E.DTypeError, "grad is float64"),
    "windows of powers": (lambda a: nn.lp_pool3d(a.cube, 2, 5), E.ShapeError, r"nn.lp_pool3d.*kernel_size=\(5, 5, 5\)"),
    "y of powers": (lambda a: nn.lp_pool2d_backward(a.y, a.x, a.x, 2, 2), E.ShapeError, r"y \(2, 3, 8, 6\)"),
    "indices": (lambda a: nn.max_pool2d_backward(a.y, a.x, a.at[:1], 2), E.ShapeError, r"indices \(1, 3, 4, 3\)"),
    "dtype of indices": (lambda a: nn.max_pool2d_backward(a.y, a.x, a.real, 2), E.DTypeError, "float32"),
    "output of zero": (lambda a: nn.adaptive_avg_pool2d(a.x, (0, 2)), E.InvalidValueError, r"output_size=\(0, 2\)"),
    "output of other axes": (lambda a: nn.adaptive_max_pool2d(a.x, (2, 2, 2)), E.ShapeError, "output_size"),
    "output of an array without axes": (lambda a: nn.adaptive_avg_pool3d(a.line[0], None), E.ShapeError, r"\(3, 8\)"),
    "huge output": (lambda a: nn.adaptive_avg_pool2d(a.x, (2**20, 2**20)), E.ShapeError, "more than 1073741824"),
    "adaptive gradient": (lambda a: nn.adaptive_avg_pool2d_backward(a.y[:1], a.x), E.ShapeError, r"grad \(1, 3"),
    "adaptive gradient of few axes": (
        lambda a: nn.adaptive_avg_pool2d_backward(a.y[0, 0, 0], a.x),
        E.ShapeError,
        r"grad \(3,\) of 2 spatial axes",
    ),
    "adaptive indices": (
        lambda a: nn.adaptive_max_pool2d_backward(a.y, a.x, a.real),
        E.DTypeError,
        "nn.adaptive_max_pool2d_backward.*float32",
    ),
    "indices of unpooling": (lambda a: nn.max_unpool2d(a.x, a.at, 2), E.ShapeError, r"indices \(2, 3, 4, 3\)"),
    "size of unpooling": (
        lambda a: nn.max_unpool2d(a.y, a.at, 2, output_size=(10, 6)),
        E.InvalidValueError,
        "has about 8 elements.*from 7 to 9",
    ),
    "sizes of unpooling": (lambda a: nn.max_unpool2d(a.y, a.at, 2, output_size=(8, 6, 1)), E.ShapeError, "output_size"),
    "kernel of unpooling": (lambda a: nn.max_unpool2d(a.y, a.at, 0), E.InvalidValueError, "kernel_size"),
    "strides of unpooling": (lambda a: nn.max_unpool2d(a.y, a.at, 2, (1, 1, 1)), E.ShapeError, "stride"),
    "empty unpooling": (lambda a: nn.max_unpool2d(a.y, a.at, 1, 1, 2), E.ShapeError, "spatial extent 0|extent -"),
    "large unpooling": (lambda a: nn.max_unpool2d(a.y, a.at, 2, 2**20), E.ShapeError, "at most 1073741824"),
    "gradient of unpooling": (lambda a: nn.max_unpool2d_backward(a.x, a.at[:, :1]), E.ShapeError, "indices"),
    "axes of the gradient of unpooling": (
        lambda a: nn.max_unpool2d_backward(a.x, a.at[0]),
        E.ShapeError,
        r"indices \(3, 4, 3\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(cpu, name):
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=f"(?i){text}"):
        call(Given(cpu))
