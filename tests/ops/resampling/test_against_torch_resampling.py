"""Resampling against torch and its autograd, in all modes."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, gradients, in_turn, tensor, torch

import stator

nn, F = stator.nn, torch.nn.functional
DTYPES = ["float16", "bfloat16", "float32", "float64"]
SMOOTH = [("linear", (2, 3, 9)), ("bilinear", (2, 3, 5, 7)), ("trilinear", (1, 2, 3, 4, 5)), ("bicubic", (2, 3, 6, 5))]
ANY = [(2, 3, 9), (2, 3, 5, 7), (1, 2, 3, 4, 5)]


def check(be, shape, dtype, **options):
    x = draw(shape, dtype)

    def theirs(t):
        return F.interpolate(t, **options)

    here = {k: v for k, v in options.items() if v is not None}
    want = theirs(tensor(x))
    # Weights are differences of positions, which grow with the axis.
    assert_close(nn.interpolate(be.asarray(x), **here), want, 64, max(8, *shape), str(options))
    g = draw(tuple(want.shape), dtype, 3)
    got = nn.interpolate_backward(be.asarray(g), be.asarray(x), **here)
    assert_close(got, gradients(theirs, tensor(g), tensor(x))[0], 64, max(64, *shape), str(options))


SIZES = [{"scale_factor": 2.0}, {"scale_factor": 0.6}, {"size": 1}, {"size": 13}]


@pytest.mark.parametrize(("smooth", "size", "align_corners", "dtype"), in_turn(SMOOTH, SIZES, [False, True]), ids=str)
def test_smooth_modes(be, smooth, size, align_corners, dtype):
    mode, shape = smooth
    if "size" in size:
        size = {"size": [size["size"]] * (len(shape) - 2)}
    check(be, shape, dtype, mode=mode, align_corners=align_corners, **size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "area"])
@pytest.mark.parametrize("shape", ANY)
def test_modes_of_any_rank(be, shape, mode, dtype):
    for size in ({"scale_factor": 2.0}, {"scale_factor": 0.7}, {"size": list(range(8, 6 + len(shape)))}):
        check(be, shape, dtype, mode=mode, **size)


def test_rows_longer_than_a_tile(be):
    check(be, (1, 1, 1300), "float32", mode="linear", size=[600])
    check(be, (1, 1, 5000), "float32", mode="linear", size=[300])
    check(be, (1, 1, 2, 40), "float32", mode="bicubic", size=[3, 700])


def test_columns_longer_than_a_tile(be):
    check(be, (1, 1, 700, 2), "float32", mode="bilinear", size=[300, 1])
    check(be, (1, 1, 600, 2), "float16", mode="nearest", size=[250, 1])
    check(be, (1, 1, 1, 2), "float64", mode="bicubic", size=[4200, 1])  # more results of an element than a table has


def test_pixel_shuffle(be):
    for dtype in ("float16", "float32", "float64", "int32"):
        x = np.arange(2 * 12 * 3 * 5).reshape(2, 12, 3, 5).astype(dtype)
        y = nn.pixel_shuffle(be.asarray(x), 2)
        want = F.pixel_shuffle(torch.from_numpy(x), 2).numpy()
        np.testing.assert_array_equal(y.to_numpy(), want)
        np.testing.assert_array_equal(nn.pixel_unshuffle(y, 2).to_numpy(), x)
        np.testing.assert_array_equal(nn.pixel_unshuffle(be.asarray(want), 2).to_numpy(), x)


GRIDS = [((2, 3, 5, 6), (4, 9)), ((1, 9, 1, 7), (3, 2)), ((2, 2, 3, 4, 5), (2, 3, 4))]


def grid_of(n, positions, axes, dtype, seed=1):
    """Positions inside and outside, none of them where a gradient jumps."""
    return draw((n, *positions, axes), dtype, seed, -1.6, 1.6)


GRID_MODES = [
    (*g, mode) for g in GRIDS for mode in ("bilinear", "nearest", "bicubic") if (mode, len(g[1])) != ("bicubic", 3)
]
PADDINGS = ["zeros", "border", "reflection"]


@pytest.mark.parametrize(
    ("grid", "padding", "align_corners", "dtype"), in_turn(GRID_MODES, PADDINGS, [False, True]), ids=str
)
def test_grid_sample(be, grid, padding, align_corners, dtype):
    shape, positions, mode = grid
    axes = len(positions)
    x, grid = draw(shape, dtype), grid_of(shape[0], positions, axes, dtype)
    options = {"mode": mode, "padding_mode": padding, "align_corners": align_corners}

    def theirs(t, where):
        return F.grid_sample(t, where, **options)

    want = theirs(tensor(x), tensor(grid))
    assert_close(nn.grid_sample(be.asarray(x), be.asarray(grid), **options), want, 64, 16, "result")
    g = draw(tuple(want.shape), dtype, 3)
    got = nn.grid_sample_backward(be.asarray(g), be.asarray(x), be.asarray(grid), **options)
    wanted = gradients(theirs, tensor(g), tensor(x), tensor(grid))
    assert_close(got[0], wanted[0], 64, 64, "x")
    assert_close(got[1], wanted[1], 64, 512, "grid")
