"""What convolutions refuse, with the values seen; the next call works."""

import pytest

import stator
from stator import errors as E

nn = stator.nn


class Given:
    def __init__(self, be):
        def ones(*shape, dtype="float32"):
            return be.ones(shape, dtype=dtype)

        self.x, self.w, self.ones = ones(2, 4, 5, 6), ones(6, 4, 3, 3), ones
        self.half, self.whole = ones(6, 4, 3, 3, dtype="float16"), ones(2, 4, 5, 6, dtype="int32")
        self.grad, self.up = ones(2, 6, 3, 4), ones(4, 6, 3, 3)


REFUSED = {
    "integers": (lambda a: nn.conv2d(a.whole, a.w), E.DTypeError, "int32"),
    "two dtypes": (lambda a: nn.conv2d(a.x, a.half), E.DTypeError, "float16, x is float32"),
    "too few axes": (lambda a: nn.conv2d(a.x[0, 0], a.w), E.ShapeError, r"x \(5, 6\) of 2 axes"),
    "too many axes": (lambda a: nn.conv2d(a.x[None], a.w), E.ShapeError, "5 axes"),
    "axes of the weight": (lambda a: nn.conv2d(a.x, a.w[0]), E.ShapeError, r"weight \(4, 3, 3\) of 3 axes"),
    "channels": (lambda a: nn.conv2d(a.x[:, :3], a.w), E.ShapeError, "of 3 channels.* must be 4"),
    "channels last": (lambda a: nn.conv2d(a.x, a.w, layout="NHWC"), E.ShapeError, "6 channels"),
    "channels of groups": (lambda a: nn.conv2d(a.x, a.w, groups=2), E.ShapeError, "groups=2.* must be 8"),
    "groups that do not divide": (lambda a: nn.conv2d(a.x, a.w, groups=4), E.ShapeError, "groups=4"),
    "groups that are a bool": (lambda a: nn.conv2d(a.x, a.w, groups=True), E.DTypeError, "groups=True"),
    "stride that is a bool": (lambda a: nn.conv2d(a.x, a.w, stride=True), E.DTypeError, "stride=True"),
    "strides with a bool": (lambda a: nn.conv2d(a.x, a.w, stride=(1, True)), E.DTypeError, "stride=True"),
    "no groups": (lambda a: nn.conv2d(a.x, a.w, groups=0), E.InvalidValueError, "groups=0"),
    "channels of a transposed one": (lambda a: nn.conv_transpose2d(a.x, a.w), E.ShapeError, "must be 6"),
    "a kernel larger than x": (
        lambda a: nn.conv2d(a.x[:, :, :2], a.w),
        E.ShapeError,
        "spans 3 elements on an axis of 2 and 0",
    ),
    "a dilation larger than x": (lambda a: nn.conv2d(a.x, a.w, dilation=3, padding=(0, 1)), E.ShapeError, "spans 7"),
    "a kernel of no elements": (lambda a: nn.conv2d(a.x, a.w[..., :0]), E.ShapeError, "at least one element"),
    "x of no elements": (lambda a: nn.conv2d(a.x[..., :0], a.w, padding=3), E.ShapeError, "but that of samples"),
    "same with a stride": (
        lambda a: nn.conv2d(a.x, a.w, padding="same", stride=(1, 2)),
        E.InvalidValueError,
        r"stride=\(1, 2\)",
    ),
    "padding by another name": (lambda a: nn.conv2d(a.x, a.w, padding="full"), E.InvalidValueError, "full"),
    "padding of a transposed one by name": (
        lambda a: nn.conv_transpose2d(a.x, a.up, padding="same"),
        E.StatorError,
        "padding",
    ),
    "negative padding": (lambda a: nn.conv2d(a.x, a.w, padding=-1), E.InvalidValueError, r"padding=\(-1,\)"),
    "no stride": (lambda a: nn.conv2d(a.x, a.w, stride=0), E.InvalidValueError, r"stride=\(0,\)"),
    "negative dilation": (lambda a: nn.conv2d(a.x, a.w, dilation=(1, -2)), E.InvalidValueError, r"\(1, -2\)"),
    "a stride beyond 32 bits": (lambda a: nn.conv2d(a.x, a.w, stride=2**40), E.InvalidValueError, "1099511627776"),
    "numbers of another count": (lambda a: nn.conv2d(a.x, a.w, stride=(1, 1, 1)), E.InvalidValueError, "for 2 axes"),
    "padding beyond indices": (lambda a: nn.conv2d(a.x, a.w, padding=2**30), E.UnsupportedError, r"2\^31"),
    "another layout": (lambda a: nn.conv2d(a.x, a.w, layout="NCL"), E.InvalidValueError, "NCL"),
    "bias of another length": (lambda a: nn.conv2d(a.x, a.w, a.ones(4)), E.ShapeError, r"bias \(4,\)"),
    "bias of another dtype": (lambda a: nn.conv2d(a.x, a.w, a.ones(6, dtype="float64")), E.DTypeError, "float64"),
    "output_padding of the stride": (
        lambda a: nn.conv_transpose2d(a.x, a.up, stride=2, output_padding=(1, 2)),
        E.InvalidValueError,
        r"output_padding=\(1, 2\) with stride=\(2, 2\)",
    ),
    "negative output_padding": (
        lambda a: nn.conv_transpose2d(a.x, a.up, output_padding=-1),
        E.InvalidValueError,
        "output_padding",
    ),
    "no result": (lambda a: nn.conv_transpose2d(a.x, a.up, padding=4), E.ShapeError, "length -1"),
    "grad of another shape": (lambda a: nn.conv2d_backward(a.x, a.x, a.w), E.ShapeError, r"shape \(2, 6, 3, 4\)"),
    "grad of another dtype": (
        lambda a: nn.conv2d_backward(stator.astype(a.grad, "float64"), a.x, a.w),
        E.DTypeError,
        "grad is float64",
    ),
    "unfold of two axes": (lambda a: nn.unfold(a.x[0, 0], 2), E.ShapeError, r"\(5, 6\)"),
    "unfold of integers": (lambda a: nn.unfold(a.whole, 2), E.DTypeError, "int32"),
    "windows larger than x": (lambda a: nn.unfold(a.x, 6), E.ShapeError, "6 elements on an axis of 5"),
    "empty windows": (lambda a: nn.unfold(a.x, 0), E.InvalidValueError, "kernel_size"),
    "rows of fold": (lambda a: nn.fold(a.ones(1, 10, 20), (5, 6), 2), E.ShapeError, "windows of 4 elements, 20"),
    "windows of fold": (lambda a: nn.fold(a.ones(1, 8, 21), (5, 6), 2), E.ShapeError, "21"),
    "axes of fold": (lambda a: nn.fold(a.ones(8), (5, 6), 2), E.ShapeError, r"\(8,\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(be, name):
    call, error, message = REFUSED[name]
    given = Given(be)
    with pytest.raises(error, match=f"(?i){message}"):
        call(given)
    assert nn.conv2d(given.x, given.w).shape == (2, 6, 3, 4)
