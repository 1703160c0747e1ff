"""What resampling refuses, with the values seen."""

import pytest

import stator
from stator import errors as E

nn = stator.nn


class Given:
    def __init__(self, be):
        self.line, self.x = be.ones((2, 3, 8), dtype="float32"), be.ones((2, 8, 4, 6), dtype="float32")
        self.cube, self.none = be.ones((1, 2, 4, 4, 4), dtype="float32"), be.ones((2, 3, 0, 6), dtype="float32")
        self.whole, self.wide = be.ones((2, 3, 8, 6), dtype="int32"), be.zeros((2, 3, 3, 2), dtype="float64")
        self.grid, self.many = be.zeros((2, 3, 3, 2), dtype="float32"), be.ones((1, 1, 1, 1, 1, 1), dtype="float32")
        self.huge = stator.broadcast_to(be.ones((1, 1, 1), dtype="float32"), (1, 1, 2**30 + 1))
        self.volume = be.zeros((1, 2, 2, 2, 3), dtype="float32")


REFUSED = {
    "integers": (lambda a: nn.interpolate(a.whole, 2), E.DTypeError, "int32"),
    "axes": (lambda a: nn.interpolate(a.line[0], 2), E.ShapeError, r"x \(3, 8\)"),
    "many axes": (lambda a: nn.interpolate(a.many, 2), E.ShapeError, r"\(1, 1, 1, 1, 1, 1\)"),
    "no elements": (lambda a: nn.interpolate(a.none, 2), E.ShapeError, "has no spatial"),
    "a plane": (lambda a: nn.interpolate(a.huge, 2), E.ShapeError, "more than 1073741824"),
    "neither": (lambda a: nn.interpolate(a.x), E.InvalidValueError, "Neither size nor scale_factor"),
    "both": (lambda a: nn.interpolate(a.x, 2, 2.0), E.InvalidValueError, "Both size and scale_factor"),
    "sizes": (lambda a: nn.interpolate(a.x, (2, 2, 2)), E.ShapeError, "3 extents"),
    "factors": (lambda a: nn.interpolate(a.x, scale_factor=(2.0, 2.0, 1.0)), E.ShapeError, "3 factors"),
    "factor": (lambda a: nn.interpolate(a.x, scale_factor=-2), E.InvalidValueError, "scale_factor=-2"),
    "no number": (lambda a: nn.interpolate(a.x, scale_factor=float("nan")), E.InvalidValueError, "scale_factor"),
    "size of zero": (lambda a: nn.interpolate(a.x, (2, 0)), E.InvalidValueError, "extent 0 along axis 3"),
    "small factor": (lambda a: nn.interpolate(a.x, scale_factor=0.1), E.InvalidValueError, "extent 0 along axis 2"),
    "large result": (lambda a: nn.interpolate(a.x, 2**20), E.ShapeError, "more than 1073741824"),
    "huge factor": (lambda a: nn.interpolate(a.x, scale_factor=1e300), E.InvalidValueError, "sizes from 1 to"),
    "mode": (lambda a: nn.interpolate(a.x, 2, mode="cubic"), E.InvalidValueError, "'cubic'.*'bicubic'"),
    "mode of other axes": (lambda a: nn.interpolate(a.x, 2, mode="linear"), E.ShapeError, "of 1 spatial axes, x has 2"),
    "bicubic": (lambda a: nn.interpolate(a.line, 2, mode="bicubic"), E.ShapeError, "of 2 spatial axes, x has 1"),
    "corners": (
        lambda a: nn.interpolate(a.x, 2, align_corners=True),
        E.InvalidValueError,
        "'nearest' with align_corners",
    ),
    "gradient": (lambda a: nn.interpolate_backward(a.x, a.x, 2), E.ShapeError, r"grad \(2, 8, 4, 6\).*\(2, 8, 2, 2\)"),
    "dtype of the gradient": (
        lambda a: nn.interpolate_backward(stator.astype(a.x, "float64"), a.x, (4, 6)),
        E.DTypeError,
        "grad is float64",
    ),
    "axes of pixels": (lambda a: nn.pixel_shuffle(a.line[0], 2), E.ShapeError, "fewer than three axes"),
    "factor of pixels": (lambda a: nn.pixel_shuffle(a.x, 0), E.InvalidValueError, "factor of 0"),
    "large factor of pixels": (
        lambda a: nn.pixel_unshuffle(a.x, 2**40),
        E.InvalidValueError,
        "factor of 1099511627776",
    ),
    "channels": (lambda a: nn.pixel_shuffle(a.x, 3), E.ShapeError, "8 channels.*upscale_factor 3"),
    "pixels": (lambda a: nn.pixel_unshuffle(a.x, 4), E.ShapeError, r"x \(2, 8, 4, 6\) with downscale_factor 4"),
    "axes of a grid": (
        lambda a: nn.grid_sample(a.x, a.grid[0]),
        E.ShapeError,
        r"grid \(3, 3, 2\) for x \(2, 8, 4, 6\)",
    ),
    "samples of a grid": (lambda a: nn.grid_sample(a.x, a.grid[:1]), E.ShapeError, r"grid \(1, 3, 3, 2\)"),
    "numbers of a grid": (lambda a: nn.grid_sample(a.x, a.grid[..., :1]), E.ShapeError, r"\(2, 3, 3, 1\)"),
    "dtype of a grid": (lambda a: nn.grid_sample(a.x, a.wide), E.DTypeError, "grid is float64, x is float32"),
    "axes of x": (lambda a: nn.grid_sample(a.line, a.grid), E.ShapeError, r"x \(2, 3, 8\)"),
    "mode of a grid": (lambda a: nn.grid_sample(a.x, a.grid, "linear"), E.InvalidValueError, "'linear'"),
    "bicubic volume": (lambda a: nn.grid_sample(a.cube, a.volume, "bicubic"), E.ShapeError, "'bicubic' with three"),
    "padding": (lambda a: nn.grid_sample(a.x, a.grid, padding_mode="wrap"), E.InvalidValueError, "'wrap'"),
    "gradient of a grid": (
        lambda a: nn.grid_sample_backward(a.x, a.x, a.grid),
        E.ShapeError,
        r"grad \(2, 8, 4, 6\).*\(2, 8, 3, 3\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(cpu, name):
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=f"(?i){text}"):
        call(Given(cpu))
