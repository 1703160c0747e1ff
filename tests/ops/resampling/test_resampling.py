"""Resampling against references in wide NumPy: dtypes, layouts, empty arrays, odd positions, and determinism."""

import inputs
import numpy as np
import pytest
from layer_loops import weights as oracle
from reference import widen

import stator

nn = stator.nn
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
MODES = [("nearest", {}), ("area", {}), ("bilinear", {}), ("bilinear", {"align_corners": True}), ("bicubic", {})]


def drawn(shape, dtype="float32", seed=0, low=-2, high=3):
    return inputs.random(np.random.default_rng(seed), shape, dtype, low, high)


def close(got, want, units=64, more=0.0):
    assert got.shape == want.shape
    bound = units * EPS[got.dtype.name] * max(1.0, float(np.max(np.abs(want), initial=0))) + more
    np.testing.assert_allclose(widen(got.to_numpy()).astype(float), want.astype(float), rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("mode", "more"), MODES, ids=str)
def test_interpolation_of_all_dtypes(be, mode, more, dtype):
    x, options = drawn((2, 3, 4, 6), dtype), {"size": (9, 4), "mode": mode, **more}
    close(nn.interpolate(be.asarray(x), **options), oracle.interpolate(widen(x), **options))
    g = drawn((2, 3, 9, 4), dtype, 1)
    want = oracle.interpolate_backward(widen(g), widen(x), **options)
    close(nn.interpolate_backward(be.asarray(g), be.asarray(x), **options), want)


# Longer than a tile of rows or columns, with tiles that go on in the next plane; and enough results that their weights
# in an element are not kept.
@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(
    ("shape", "size", "mode"),
    [
        ((2, 2, 37, 70), (50, 131), "bilinear"),
        ((2, 2, 37, 70), (30, 67), "bicubic"),
        ((3, 1, 5, 7), (70, 3), "nearest"),
        ((1, 2, 3, 5, 66), (4, 9, 70), "trilinear"),
        ((1, 2, 150), (97,), "linear"),
        ((1, 2, 2, 3), (81, 200), "bilinear"),
        ((1, 2, 2, 3), (5, 150), "nearest"),
        ((1, 1, 3, 2), (160, 2), "bicubic"),
    ],
    ids=str,
)
def test_interpolation_beyond_a_tile(be, shape, size, mode, dtype):
    x, options = drawn(shape, dtype), {"size": size, "mode": mode}
    units = 4 * max(shape)  # weights are differences of positions, which grow with the axis
    close(nn.interpolate(be.asarray(x), **options), oracle.interpolate(widen(x), **options), max(64, units))
    g = drawn((*shape[:2], *size), dtype, 1)
    want = oracle.interpolate_backward(widen(g), widen(x), **options)
    close(nn.interpolate_backward(be.asarray(g), be.asarray(x), **options), want, max(128, units))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grids_of_all_dtypes(be, mode, dtype):
    x, grid, g = drawn((2, 2, 3, 4), dtype), drawn((2, 2, 3, 2), dtype, 1, -1.4, 1.4), drawn((2, 2, 2, 3), dtype, 2)
    close(nn.grid_sample(be.asarray(x), be.asarray(grid), mode), oracle.grid_sample(widen(x), widen(grid), mode))
    dx, dgrid = nn.grid_sample_backward(be.asarray(g), be.asarray(x), be.asarray(grid), mode)
    wide = [a.astype(np.float64) for a in (g, x, grid)]
    want = oracle.grid_sample_backward(*wide, mode=mode)
    close(dx, want[0])
    close(dgrid, want[1], 256, 1e-6)


def test_operands_of_any_strides(be):
    x = stator.permute_dims(be.asarray(drawn((6, 4, 3, 2))), (3, 2, 1, 0))
    grid = stator.flip(be.asarray(drawn((2, 5, 4, 2), "float32", 1)))
    dense, places = stator.copy(x), stator.copy(grid)
    for got, want in (
        (nn.interpolate(x, scale_factor=2, mode="bicubic"), nn.interpolate(dense, scale_factor=2, mode="bicubic")),
        (nn.grid_sample(x, grid), nn.grid_sample(dense, places)),
        (nn.pixel_unshuffle(x, 2), nn.pixel_unshuffle(dense, 2)),
    ):
        assert stator.all(got == want).item()
    g = stator.permute_dims(be.asarray(drawn((4, 5, 3, 2), "float32", 2)), (3, 2, 1, 0))
    want = nn.grid_sample_backward(stator.copy(g), dense, places)
    for got, one in zip(nn.grid_sample_backward(g, x, grid), want, strict=True):
        assert stator.all(got == one).item()


@pytest.mark.parametrize("shape", [(0, 4, 6, 6), (2, 0, 6, 6)])
def test_empty_batches_and_channels_give_empty_results(be, shape):
    x = be.zeros(shape, dtype="float32")
    grid = be.zeros((shape[0], 3, 3, 2), dtype="float32")
    for mode in ("nearest", "bilinear", "area"):
        y = nn.interpolate(x, 3, mode=mode)
        assert y.shape == (*shape[:2], 3, 3)
        assert nn.interpolate_backward(y, x, 3, mode=mode).shape == shape
    assert nn.pixel_shuffle(x, 2).shape == (shape[0], shape[1] // 4, 12, 12)
    assert nn.pixel_unshuffle(x, 2).shape == (shape[0], shape[1] * 4, 3, 3)
    y = nn.grid_sample(x, grid)
    dx, dgrid = nn.grid_sample_backward(y, x, grid)
    assert (y.shape, dx.shape, dgrid.shape) == ((*shape[:2], 3, 3), shape, grid.shape)
    assert not stator.any(dgrid).item()


def test_a_grid_without_positions_has_no_slope(be):
    x, grid = be.ones((2, 3, 4, 4), dtype="float32"), be.zeros((2, 0, 5, 2), dtype="float32")
    y = nn.grid_sample(x, grid)
    dx, dgrid = nn.grid_sample_backward(y, x, grid)
    assert (y.shape, dgrid.shape) == ((2, 3, 0, 5), grid.shape)
    assert not stator.any(dx).item()


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_positions_that_are_no_numbers_or_far_away(be, mode):
    x = be.asarray(np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2))
    numbers = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30], np.float32)
    grid = be.asarray(np.stack([numbers, numbers], -1).reshape(1, 1, -1, 2))
    assert nn.grid_sample(x, grid, mode).to_numpy().tolist() == [[[[0] * 5]]]
    border = nn.grid_sample(x, grid, mode, "border").to_numpy().ravel()
    np.testing.assert_allclose(border[1:], [4, 1, 4, 1], rtol=1e-6)
    dx, _ = nn.grid_sample_backward(be.ones((1, 1, 1, 5), dtype="float32"), x, grid, mode)
    assert not stator.any(dx).item()


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_the_gradient_of_many_positions_is_the_transposed_sampling(be, mode):
    x, y = drawn((2, 3, 4, 5), "float64"), drawn((2, 3, 9, 21), "float64", 1)
    grid = be.asarray(drawn((2, 9, 21, 2), "float64", 2, -1.2, 1.2))
    sampled = nn.grid_sample(be.asarray(x), grid, mode).to_numpy()
    spread = nn.grid_sample_backward(be.asarray(y), be.asarray(x), grid, mode)[0].to_numpy()
    np.testing.assert_allclose(np.sum(spread * x), np.sum(y * sampled), rtol=1e-12)


def test_the_nearest_element_has_no_slope_in_the_grid_even_if_it_is_infinite(be):
    x = be.full((1, 1, 4, 4), float("inf"), dtype="float32")
    grid, grad = be.asarray(drawn((1, 3, 3, 2), "float32", 0, -0.9, 0.9)), be.ones((1, 1, 3, 3), dtype="float32")
    assert not stator.any(nn.grid_sample_backward(grad, x, grid, "nearest")[1]).item()


def test_sums_of_many_positions_are_equal_from_run_to_run(be):
    x, g = be.asarray(drawn((1, 5, 4, 4))), be.asarray(drawn((1, 5, 60, 50), "float32", 2))
    grid = be.asarray(drawn((1, 60, 50, 2), "float32", 1, -1.2, 1.2))
    first = nn.grid_sample_backward(g, x, grid)[0].to_numpy()
    for _ in range(3):
        np.testing.assert_array_equal(nn.grid_sample_backward(g, x, grid)[0].to_numpy(), first)
    unit = nn.grid_sample_backward(be.ones(g.shape, dtype="float64"), *(stator.astype(a, "float64") for a in (x, grid)))
    weights = np.sum(unit[0].to_numpy(), axis=(2, 3))
    inside = nn.grid_sample(be.ones((1, 1, 4, 4), dtype="float64"), stator.astype(grid, "float64")).to_numpy().sum()
    np.testing.assert_allclose(weights, np.full((1, 5), inside))


@pytest.mark.parametrize("mode", ["linear", "area", "nearest-exact"])
def test_gradients_of_interpolation_against_differences(cpu, mode):
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=(1, 2, 6)), rng.normal(size=(1, 2, 4))
    got = nn.interpolate_backward(cpu.asarray(g), cpu.asarray(x), 4, mode=mode).to_numpy()
    want = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[at] += step
            want[at] += np.sum(g * nn.interpolate(cpu.asarray(moved), 4, mode=mode).to_numpy()) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


INF, NAN = float("inf"), float("nan")
# Of x = [[4, 5, 6], [7, 8, 9], [10, 11, 12]] at (column, row).
AWAY = {
    (NAN, 0): {"border": 7, "reflection": 7},
    (0, NAN): {"border": 5, "reflection": 5},
    (NAN, NAN): {"border": 4, "reflection": 4},
    (INF, 0): {"border": 9, "reflection": 7},
    (-INF, 0): {"border": 7, "reflection": 7},
    (0, INF): {"border": 11, "reflection": 5},
    (0, -INF): {"border": 5, "reflection": 5},
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_positions_that_are_not_finite(be, mode, padding, align_corners, dtype):
    x = be.asarray(np.arange(4.0, 13).reshape(1, 1, 3, 3), dtype=dtype)
    grid = be.asarray(np.array(list(AWAY)).reshape(1, 1, -1, 2), dtype=dtype)
    want = [0 if padding == "zeros" else values[padding] for values in AWAY.values()]
    got = nn.grid_sample(x, grid, mode, padding, align_corners=align_corners)
    np.testing.assert_allclose(widen(got.to_numpy()).ravel(), want, rtol=2e-2 if dtype == "bfloat16" else 2e-3)
    ones = be.ones(got.shape, dtype=dtype)
    of_x, of_grid = nn.grid_sample_backward(ones, x, grid, mode, padding, align_corners=align_corners)
    assert widen(of_x.to_numpy()).sum() == (0 if padding == "zeros" else len(AWAY))
    assert np.isfinite(widen(of_grid.to_numpy())).all()
    away = ~np.isfinite(np.array(list(AWAY)))
    np.testing.assert_array_equal(widen(of_grid.to_numpy()).reshape(-1, 2)[away], 0)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize(("padding", "want"), [("zeros", [0] * 4), ("border", [4, 4, 22, 4]), ("reflection", [4] * 4)])
def test_positions_in_a_volume_that_are_not_finite(be, mode, padding, want):
    x = be.asarray(np.arange(4.0, 31).reshape(1, 1, 3, 3, 3), dtype="float32")
    places = [(NAN, NAN, NAN), (-INF, NAN, -INF), (NAN, -INF, INF), (NAN, NAN, -INF)]
    grid = be.asarray(np.array(places).reshape(1, 1, 1, -1, 3), dtype="float32")
    assert nn.grid_sample(x, grid, mode, padding).to_numpy().ravel().tolist() == want


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_a_factor_that_leaves_the_extent_moves_positions(be, mode):
    x = be.asarray(np.arange(5.0).reshape(1, 1, 1, 5))
    got = nn.interpolate(x, scale_factor=(1, 1.125), mode=mode).to_numpy().ravel()
    want = np.floor(np.arange(5) / 1.125) if mode == "nearest" else np.maximum((np.arange(5) + 0.5) / 1.125 - 0.5, 0)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)
