"""Pooling against loops over windows in wide NumPy: layouts, empty arrays, ties, and differences of the gradients."""

import math

import inputs
import numpy as np
import pytest
from layer_loops import windows as oracle
from reference import widen

import stator
from stator import errors as E

nn = stator.nn
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def drawn(shape, dtype="float32", seed=0):
    return inputs.random(np.random.default_rng(seed), shape, dtype, -2, 3)


def close(got, want, units=16):
    want = np.asarray(want)
    assert got.shape == want.shape
    bound = units * EPS[got.dtype.name] * max(1.0, float(np.max(np.abs(want), initial=0)))
    np.testing.assert_allclose(widen(got.to_numpy()).astype(float), want.astype(float), rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_windows_of_all_dtypes(be, dtype):
    x = drawn((2, 3, 9, 8), dtype)
    axes = oracle.windows(widen(x), 2, 3, 2, 1)
    on = be.asarray(x)
    y, indices = nn.max_pool2d(on, 3, 2, 1, return_indices=True)
    values, places = oracle.largest(widen(x), axes)
    np.testing.assert_array_equal(widen(y.to_numpy()), values)
    np.testing.assert_array_equal(indices.to_numpy(), places)
    close(nn.avg_pool2d(on, 3, 2, 1), oracle.mean(widen(x), axes))
    g = drawn(y.shape, dtype, 1)
    close(nn.max_pool2d_backward(be.asarray(g), on, indices, 3, 2, 1), oracle.added(x.shape, places, widen(g), 2))
    close(nn.avg_pool2d_backward(be.asarray(g), on, 3, 2, 1), oracle.mean_slopes(widen(g), widen(x), axes))
    whole = oracle.windows(widen(x), 2, 3, 2)
    positive = np.abs(x)
    powers = nn.lp_pool2d(be.asarray(positive), 2, 3, 2)
    close(powers, oracle.power(widen(positive), 2, whole, 9))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(
    "shape", [(2, 3, 6, 16), (1, 1, 2, 64), (5, 4, 32), (2, 3, 7, 16), (2, 3, 6, 18), (70, 2, 8, 32)]
)
def test_windows_of_two_by_two(be, shape, dtype):
    """Rows of whole vectors have a kernel of their own; rows that are off by an element do not."""
    x = drawn(shape, dtype)
    x[..., 1, 6:8] = x[..., 0, 6:8] = -0.0
    on, axes = be.asarray(x), oracle.windows(widen(x), 2, 2, 2)
    np.testing.assert_array_equal(widen(nn.max_pool2d(on, 2).to_numpy()), oracle.largest(widen(x), axes)[0])
    close(nn.avg_pool2d(on, 2), oracle.mean(widen(x), axes))
    close(nn.avg_pool2d(on, 2, divisor_override=3), oracle.mean(widen(x), axes) * (4 / 3))
    whole = stator.zeros(x.size + 1, dtype=dtype, device=be)
    whole[1:] = stator.reshape(on, (-1,))
    off = stator.reshape(whole[1:], shape)
    for pool in (nn.max_pool2d, nn.avg_pool2d):
        np.testing.assert_array_equal(widen(pool(off, 2).to_numpy()), widen(pool(on, 2).to_numpy()))


@pytest.mark.parametrize("at", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_nan_is_the_result_of_its_window_of_two_by_two(be, at):
    x = drawn((1, 1, 2, 16))
    x[0, 0, at[0], 4 + at[1]] = np.nan
    want = [k == 2 for k in range(8)]
    assert np.isnan(nn.max_pool2d(be.asarray(x), 2).to_numpy()).ravel().tolist() == want
    assert np.isnan(nn.avg_pool2d(be.asarray(x), 2).to_numpy()).ravel().tolist() == want


@pytest.mark.parametrize("width, results", [(45, 5), (37, 6), (33, 1), (80, 2)])
def test_means_of_wide_windows(be, width, results):
    """Several threads of a warp have such a window: more than it has columns, or fewer."""
    x = drawn((2, 3, 9, width), "float32")
    close(nn.adaptive_avg_pool2d(be.asarray(x), (2, results)), oracle.mean(x, oracle.adaptive(x, (2, results))))
    close(nn.avg_pool2d(be.asarray(x), 5, 4), oracle.mean(x, oracle.windows(x, 2, 5, 4)))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("extents", [(3, 5), (33, 41)], ids=str)
def test_the_mean_of_a_whole_plane(be, extents, dtype):
    x = drawn((2, 3, *extents), dtype)
    want = widen(x).mean((2, 3), keepdims=True)
    close(nn.adaptive_avg_pool2d(be.asarray(x), 1), want)
    close(nn.avg_pool2d(be.asarray(x), extents), want)
    on, grad = be.asarray(x), drawn(want.shape, dtype, 1)
    slopes = np.broadcast_to(widen(grad), x.shape)
    close(nn.adaptive_avg_pool2d_backward(be.asarray(grad), on), slopes / x[0, 0].size)
    close(nn.avg_pool2d_backward(be.asarray(grad), on, extents, divisor_override=2), slopes / 2)


@pytest.mark.parametrize("results", [3, 4])
def test_the_means_of_long_adaptive_windows(be, results):
    x = drawn((2, 3, 700))
    close(nn.adaptive_avg_pool1d(be.asarray(x), results), oracle.mean(x, oracle.adaptive(x, (results,))))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_adaptive_windows_of_all_dtypes(be, dtype):
    x = drawn((2, 3, 9, 8), dtype)
    axes, on = oracle.adaptive(widen(x), (4, 11)), be.asarray(x)
    values, places = oracle.largest(widen(x), axes)
    y, indices = nn.adaptive_max_pool2d(on, (4, 11), return_indices=True)
    np.testing.assert_array_equal(widen(y.to_numpy()), values)
    np.testing.assert_array_equal(indices.to_numpy(), places)
    close(nn.adaptive_avg_pool2d(on, (4, 11)), oracle.mean(widen(x), axes))
    g = drawn(y.shape, dtype, 1)
    close(nn.adaptive_avg_pool2d_backward(be.asarray(g), on), oracle.mean_slopes(widen(g), widen(x), axes))
    got = nn.adaptive_max_pool2d_backward(be.asarray(g), on, indices)
    close(got, oracle.added(x.shape, places, widen(g), 2))


def test_operands_of_any_strides(be):
    x = drawn((8, 10, 2, 3))
    on, y = be.asarray(x), np.ascontiguousarray(x[::-1, 1::2].transpose(2, 3, 0, 1))
    turned = stator.permute_dims(on[::-1, 1::2], (2, 3, 0, 1))
    dense = be.asarray(y)
    g = stator.permute_dims(be.asarray(drawn((4, 2, 2, 3))), (2, 3, 0, 1))
    pooled, at = nn.max_pool2d(dense, 2, return_indices=True)
    assert stator.all(nn.max_pool2d(turned, 2) == pooled).item()
    got = nn.max_pool2d_backward(g, turned, stator.copy(at), 2)
    assert stator.all(got == nn.max_pool2d_backward(stator.copy(g), dense, at, 2)).item()
    assert stator.all(nn.avg_pool2d_backward(g, turned, 2) == nn.avg_pool2d_backward(stator.copy(g), dense, 2)).item()
    rows = stator.broadcast_to(be.asarray(drawn((7,))), (2, 3, 7))
    assert stator.all(nn.avg_pool1d(rows, 3) == nn.avg_pool1d(stator.copy(rows), 3)).item()


@pytest.mark.parametrize("shape", [(0, 3, 6, 6), (2, 0, 6, 6), (0, 6, 6)])
def test_empty_batches_and_channels_give_empty_results(be, shape):
    x = be.zeros(shape, dtype="float32")
    y, at = nn.max_pool2d(x, 2, return_indices=True)
    assert y.shape == at.shape == (*shape[:-2], 3, 3)
    assert nn.max_pool2d_backward(y, x, at, 2).shape == shape
    assert nn.max_unpool2d(y, at, 2).shape == shape
    assert nn.max_unpool2d_backward(x, at).shape == y.shape
    for pooled in (nn.avg_pool2d(x, 2), nn.lp_pool2d(x, 2, 2), nn.adaptive_avg_pool2d(x, 3)):
        assert pooled.shape == y.shape
    assert nn.avg_pool2d_backward(y, x, 2).shape == shape
    assert nn.adaptive_max_pool2d(x, 5).shape == (*shape[:-2], 5, 5)
    assert nn.adaptive_avg_pool2d_backward(y, x).shape == shape


def test_a_window_of_padding_alone_is_minus_infinity_without_an_index(be):
    y, at = nn.max_pool1d(be.ones((1, 1, 2), dtype="float32"), 2, padding=1, dilation=3, return_indices=True)
    assert y.to_numpy().tolist() == [[[-np.inf] * y.shape[2]]]
    assert at.to_numpy().tolist() == [[[-1] * y.shape[2]]]


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("wrong", [63, 0, 31])
def test_an_index_outside_of_its_window_gets_no_gradient(be, size, wrong):
    x = drawn((1, 2, 8, 8))
    y, at = nn.max_pool2d(be.asarray(x), size, stride=1, return_indices=True)
    grad = drawn(y.shape, seed=1)
    names = at.to_numpy()
    names[0, 1, 2, 1] = wrong  # the window has rows 2 to 4, or to 6, and columns 1 to 3, or to 5
    got = nn.max_pool2d_backward(be.asarray(grad), be.asarray(x), be.asarray(names), size, stride=1)
    grad[0, 1, 2, 1] = 0
    want = nn.max_pool2d_backward(be.asarray(grad), be.asarray(x), at, size, stride=1)
    assert got.to_numpy().tolist() == want.to_numpy().tolist()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    "shape", [(300, 5, 7, 7), (1, 1, 210, 205), (1, 2, 3, 20000), (1, 2, 9, 61, 54), (90, 5, 4, 3, 5)], ids=str
)
def test_gradients_of_many_planes_and_of_large_ones(be, shape, dtype):
    axes, plane = len(shape) - 2, shape[2:]
    x = be.asarray(drawn(shape).astype(dtype))
    y, at = getattr(nn, f"max_pool{axes}d")(x, 3, stride=2, padding=1, return_indices=True)
    grad = np.round(drawn(y.shape, seed=1) * 8).astype(dtype)  # sums are exact
    want = np.zeros((shape[0] * shape[1], math.prod(plane)))
    np.add.at(want, (np.arange(len(want))[:, None], at.to_numpy().reshape(len(want), -1)), grad.reshape(len(want), -1))
    got = getattr(nn, f"max_pool{axes}d_backward")(be.asarray(grad), x, at, 3, stride=2, padding=1)
    assert np.array_equal(got.to_numpy(), want.reshape(shape))
    padded = np.zeros((*shape[:2], *(n + 2 for n in plane)))
    for tap in np.ndindex((3,) * axes):
        padded[(..., *(slice(t, t + 2 * n, 2) for t, n in zip(tap, y.shape[2:], strict=True)))] += grad / 8
    backward = getattr(nn, f"avg_pool{axes}d_backward")
    got = backward(be.asarray(grad), x, 3, stride=2, padding=1, divisor_override=8)
    assert np.array_equal(got.to_numpy(), padded[(..., *(slice(1, -1),) * axes)])


@pytest.mark.parametrize("wrong", [5 * 36 - 1, 2 * 36 + 7, 0])
def test_an_index_outside_of_its_window_of_slices_gets_no_gradient(be, wrong):
    x = drawn((1, 2, 5, 6, 6))
    y, at = nn.max_pool3d(be.asarray(x), 2, stride=1, return_indices=True)
    grad = drawn(y.shape, seed=1)
    names = at.to_numpy()
    names[0, 1, 0, 1, 1] = wrong  # the window has slices 0 and 1, rows and columns 1 and 2
    got = nn.max_pool3d_backward(be.asarray(grad), be.asarray(x), be.asarray(names), 2, stride=1)
    grad[0, 1, 0, 1, 1] = 0
    want = nn.max_pool3d_backward(be.asarray(grad), be.asarray(x), at, 2, stride=1)
    assert got.to_numpy().tolist() == want.to_numpy().tolist()


def test_the_last_of_equal_indices_is_unpooled(be):
    x = be.asarray(np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6))
    at = be.asarray(np.array([[[4, 0, 4, 1, 0, 4]]]))
    got = nn.max_unpool1d(x, at, 1)
    assert got.to_numpy().tolist() == [[[5, 4, 0, 0, 6, 0]]]
    assert nn.max_unpool1d_backward(x, at).to_numpy().tolist() == [[[5, 1, 5, 2, 1, 5]]]


@pytest.mark.parametrize("index", [-1, 6])
def test_an_index_beyond_the_plane_is_refused(be, index):
    x = be.ones((1, 1, 6), dtype="float32")
    at = be.full((1, 1, 6), index, dtype="int64")
    calls = {
        "nn.max_unpool2d": lambda: nn.max_unpool1d(x, at, 1),
        "nn.max_unpool2d_backward": lambda: nn.max_unpool1d_backward(x, at),
        "nn.max_pool2d_backward": lambda: nn.max_pool1d_backward(x, x, at, 1),
        "nn.adaptive_max_pool2d_backward": lambda: nn.adaptive_max_pool1d_backward(x, x, at),
    }
    for op, call in calls.items():
        with pytest.raises(E.OutOfRangeError, match=str(index)) as caught:
            call().to_numpy()
        assert caught.value.op == op


@pytest.mark.parametrize("wrong", [-1, 5 * 36, 2**32 + 17])
@pytest.mark.parametrize("stride", [1, 2])
def test_one_wrong_index_of_many_is_refused(be, stride, wrong):
    x = be.asarray(drawn((2, 3, 5, 6, 6)))
    y, at = nn.max_pool3d(x, 2, stride=stride, return_indices=True)
    at[1, 2, 1, -1, -1] = wrong
    with pytest.raises(E.OutOfRangeError, match=str(wrong)):
        nn.max_pool3d_backward(y, x, at, 2, stride=stride).to_numpy()


def test_windows_of_padding_alone_have_no_gradient(be):
    x = be.ones((1, 1, 1), dtype="float32")
    y, at = nn.max_pool1d(x, 2, padding=1, dilation=2, return_indices=True)
    assert (y.tolist(), at.tolist()) == ([[[-math.inf]]], [[[-1]]])
    assert nn.max_pool1d_backward(be.ones((1, 1, 1), dtype="float32"), x, at, 2, padding=1, dilation=2).tolist() == [
        [[0]]
    ]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_indices_have_any_integer_dtype(be, dtype):
    x = be.asarray(drawn((2, 3, 4, 6)))
    y, at = nn.max_pool2d(x, 2, return_indices=True)
    other = stator.astype(at, dtype)[..., ::-1][..., ::-1]
    calls = [
        lambda indices: nn.max_pool2d_backward(y, x, indices, 2),
        lambda indices: nn.max_unpool2d(y, indices, 2),
        lambda indices: nn.max_unpool2d_backward(x, indices),
        lambda indices: nn.adaptive_max_pool2d_backward(y, x, indices),
    ]
    for call in calls:
        assert call(other).tolist() == call(at).tolist()


def test_a_result_of_zero_has_no_slope_of_powers(be):
    x = be.zeros((1, 4), dtype="float64")
    y = nn.lp_pool1d(x, 2, 2)
    assert nn.lp_pool1d_backward(y + 1, x, y, 2, 2).to_numpy().tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize("dtype, scale", [("float32", 2.0**100), ("bfloat16", 2.0**100), ("float64", 2.0**900)])
@pytest.mark.parametrize("norm", [2, 2.5, 3, 200])
@pytest.mark.parametrize("kernel, stride", [(2, 2), (3, 1), (6, 5)])
def test_powers_beyond_the_range_of_a_dtype(be, kernel, stride, norm, dtype, scale):
    """Results grow with the elements; gradients do not change."""
    rtol = 0.02 if dtype == "bfloat16" else 1e-5
    for dims, pool in ((1, nn.lp_pool1d), (2, nn.lp_pool2d), (3, nn.lp_pool3d)):
        x = be.asarray(np.abs(drawn((2, 3, *[11] * dims))) + 0.5).astype(dtype)
        slope = getattr(nn, pool.__name__ + "_backward")
        y = [pool(x * s, norm, kernel, stride) for s in (1.0, scale, 1 / scale)]
        grad = be.asarray(drawn(y[0].shape, seed=1)).astype(dtype)
        dx = [slope(grad, x * s, v, norm, kernel, stride) for s, v in zip((1.0, scale, 1 / scale), y, strict=True)]
        for k, s in ((1, 1 / scale), (2, scale)):
            np.testing.assert_allclose(widen((y[k] * s).to_numpy()), widen(y[0].to_numpy()), rtol=rtol)
            np.testing.assert_allclose(
                widen(dx[k].to_numpy()), widen(dx[0].to_numpy()), rtol=30 * rtol, atol=rtol, err_msg=f"{dims} axes"
            )


def test_powers_of_zeros_infinities_and_nan(be):
    x = np.array([[[0, 0, 1, np.inf, 2, np.nan, 1e30, -1e30]]], np.float32)
    got = nn.lp_pool1d(be.asarray(x), 2, 2).to_numpy().ravel()
    np.testing.assert_allclose(got, [0, np.inf, np.nan, np.sqrt(2) * 1e30], rtol=1e-6)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_powers_of_three_axes(be, dtype):
    x = np.abs(drawn((2, 3, 4, 6, 4), dtype))
    y = nn.lp_pool3d(be.asarray(x), 2, (2, 3, 2))
    blocks = widen(x).reshape(2, 3, 2, 2, 2, 3, 2, 2)
    close(y, np.sqrt(np.sum(blocks**2, axis=(3, 5, 7))))
    assert nn.lp_pool3d_backward(y, be.asarray(x), y, 2, (2, 3, 2)).shape == x.shape


DIFFERENTIATED = {
    "max_pool2d": (
        lambda x: nn.max_pool2d(x, 3, 2, 1),
        lambda g, x: nn.max_pool2d_backward(g, x, nn.max_pool2d(x, 3, 2, 1, return_indices=True)[1], 3, 2, 1),
    ),
    "avg_pool2d": (
        lambda x: nn.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        lambda g, x: nn.avg_pool2d_backward(g, x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    ),
    "lp_pool2d": (
        lambda x: nn.lp_pool2d(x, 3, 3, 2, ceil_mode=True),
        lambda g, x: nn.lp_pool2d_backward(g, x, nn.lp_pool2d(x, 3, 3, 2, ceil_mode=True), 3, 3, 2, ceil_mode=True),
    ),
    "lp_pool3d": (
        lambda x: nn.lp_pool3d(x[None], 3, 2, 1),
        lambda g, x: nn.lp_pool3d_backward(g, x[None], nn.lp_pool3d(x[None], 3, 2, 1), 3, 2, 1)[0],
    ),
    "adaptive_avg_pool2d": (lambda x: nn.adaptive_avg_pool2d(x, (2, 5)), nn.adaptive_avg_pool2d_backward),
    "adaptive_max_pool2d": (
        lambda x: nn.adaptive_max_pool2d(x, (2, 5)),
        lambda g, x: nn.adaptive_max_pool2d_backward(g, x, nn.adaptive_max_pool2d(x, (2, 5), return_indices=True)[1]),
    ),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients_against_differences(cpu, name):
    forward, backward = DIFFERENTIATED[name]
    rng = np.random.default_rng(0)
    x = 0.5 + rng.permutation(60).reshape(2, 6, 5) / 30
    g = rng.uniform(0.5, 2, forward(cpu.asarray(x)).shape)
    got, want = backward(cpu.asarray(g), cpu.asarray(x)).to_numpy(), np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[at] += step
            want[at] += np.sum(g * forward(cpu.asarray(moved)).to_numpy()) / (2 * step)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)
