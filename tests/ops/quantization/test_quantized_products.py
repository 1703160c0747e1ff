"""Products of bytes against exact integers: zero points, scales, biases, rounding to bytes, layouts, convolutions."""

import numpy as np
import pytest
from layer_loops import quantization as oracle
from reference import widen

import stator

nn = stator.nn
PAIRS = [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("uint8", "uint8")]


def drawn(shape, dtype, seed=0):
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, shape, endpoint=True).astype(dtype)


def on(be, x, kind="float32"):
    return be.asarray(np.asarray(x, kind))


def quantised(y, scale, zero, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(y / scale) + zero, info.min, info.max)


@pytest.mark.parametrize("left,right", PAIRS)
@pytest.mark.parametrize("shape", [(5, 33, 7), (64, 128, 96)])
def test_exact_sums_with_zero_points(be, left, right, shape):
    m, k, n = shape
    a, b = drawn((m, k), left), drawn((k, n), right, 1)
    exact = oracle.product(a, b, 3, 7)
    got = nn.quantized_matmul(be.asarray(a), be.asarray(b), 0.5, 0.25, 3, 7).to_numpy()
    np.testing.assert_array_equal(got, (exact * 0.125).astype(np.float32))
    rows, columns = np.arange(m) % 9, np.arange(n) % 5 + 1
    zeros = on(be, rows, "int32"), on(be, columns, "int64")
    exact = oracle.product(a, b, rows, columns)
    scales = 2.0 ** -(np.arange(m) % 3.0), 2.0 ** -(np.arange(n) % 4.0)
    bias = np.arange(n) * 0.5 - 1
    got = nn.quantized_matmul(be.asarray(a), be.asarray(b), *(on(be, s) for s in scales), *zeros, bias=on(be, bias))
    want = exact.astype(np.float32) * (scales[0][:, None] * scales[1]) + bias
    np.testing.assert_array_equal(got.to_numpy(), want.astype(np.float32))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float16", "bfloat16"])
def test_results_of_all_dtypes(be, dtype):
    x, weight = drawn((6, 40), "uint8"), drawn((12, 40), "int8", 1)
    bias = np.arange(12) * 100 - 500
    y = (oracle.product(x, weight.T, 120) + bias) * 2.0**-9
    out = {"scale_out": 0.25, "zero_point_out": 5} if "int" in dtype else {}
    numbers = (2.0**-4, on(be, np.full(12, 2.0**-5)), on(be, 120, "uint8"))
    for activation, want in ((None, y), ("relu", np.maximum(y, 0))):
        options = {"bias": on(be, bias, "int32"), "activation": activation, "dtype": dtype, **out}
        got = nn.quantized_linear(be.asarray(x), be.asarray(weight), *numbers, **options)
        assert got.dtype == dtype
        if out:
            np.testing.assert_array_equal(got.to_numpy(), quantised(want, 0.25, 5, dtype))
        else:
            np.testing.assert_allclose(widen(got.to_numpy()), want, rtol=2.0**-8 if dtype == "bfloat16" else 2.0**-11)
    on_device = [on(be, v, k) for v, k in ((0.25, "float32"), (5, "int32"))]
    if out:
        options |= {"scale_out": on_device[0], "zero_point_out": on_device[1]}
        again = nn.quantized_linear(be.asarray(x), be.asarray(weight), *numbers, **options)
        np.testing.assert_array_equal(again.to_numpy(), got.to_numpy())


@pytest.mark.parametrize("shapes", [((3, 4, 8), (8, 5)), ((4, 8), (3, 8, 5)), ((2, 1, 4, 8), (3, 8, 5))])
def test_batches_broadcast_and_layouts(be, shapes):
    a, b = drawn(shapes[0], "uint8"), drawn(shapes[1], "int8", 1)
    want = (a.astype(np.int64) - 9) @ (b.astype(np.int64) - 2) * 0.5
    got = nn.quantized_matmul(be.asarray(a), be.asarray(b), 0.5, 1.0, 9, 2)
    np.testing.assert_array_equal(got.to_numpy(), want)
    turned = [be.asarray(np.ascontiguousarray(np.swapaxes(v, -1, -2))) for v in (a, b)]
    got = nn.quantized_matmul(*(stator.matrix_transpose(v) for v in turned), 0.5, 1.0, 9, 2)
    np.testing.assert_array_equal(got.to_numpy(), want)


def test_products_without_terms_or_elements(be):
    a, b = be.zeros((3, 0), dtype="int8"), be.zeros((0, 2), dtype="uint8")
    got = nn.quantized_matmul(a, b, 1.0, 1.0, 3, 5, bias=be.ones((2,)))
    assert got.to_numpy().tolist() == [[1.0, 1.0]] * 3
    assert nn.quantized_matmul(b, be.zeros((2, 4), dtype="int8"), 1.0, 1.0).shape == (0, 4)
    x = be.zeros((2, 0, 4), dtype="int8")
    assert nn.quantized_linear(x, be.ones((3, 4), dtype="int8"), 1.0, 1.0).shape == (2, 0, 3)
    images, weight = be.zeros((0, 2, 5, 5), dtype="int8"), be.ones((3, 2, 2, 2), dtype="int8")
    assert nn.quantized_conv2d(images, weight, 1.0, 1.0).shape == (0, 3, 4, 4)
    assert nn.quantized_conv1d(images[..., 0], weight[..., 0], 1.0, 1.0).shape == (0, 3, 4)
    assert nn.quantized_conv3d(images[:, :, None], weight[:, :, None], 1.0, 1.0).shape == (0, 3, 1, 4, 4)
    nothing = be.zeros((1, 0, 3), dtype="int8"), be.zeros((2, 0, 2), dtype="int8")
    assert nn.quantized_conv1d(*nothing, 1.0, 1.0, bias=be.ones((2,))).tolist() == [[[1.0] * 2] * 2]


def test_long_sums_are_exact(be):
    a, b = np.full((2, 33025), 255, np.uint8), np.full((33025, 3), 255, np.uint8)
    got = nn.quantized_matmul(be.asarray(a), be.asarray(b), 1.0, 1.0).to_numpy()
    assert got.tolist() == [[float(np.float32(33025 * 255 * 255))] * 3] * 2


CONVOLUTIONS = [
    ({}, (2, 3, 6, 7), (4, 3, 3, 2)),
    ({"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2)}, (2, 4, 9, 8), (6, 4, 3, 3)),
    ({"groups": 2, "padding": 1}, (2, 4, 5, 6), (6, 2, 3, 3)),
    ({"groups": 4}, (1, 4, 5, 5), (4, 1, 2, 2)),
    ({}, (3, 8, 4, 4), (5, 8, 1, 1)),
    ({"padding": 2}, (3, 4, 11), (5, 4, 3)),
    ({"stride": 3, "padding": 1, "dilation": 2, "groups": 2}, (2, 6, 13), (4, 3, 3)),
    ({"stride": (2, 1, 3), "padding": (1, 0, 2), "dilation": (2, 2, 1)}, (2, 4, 5, 6, 7), (6, 4, 2, 3, 3)),
    ({"groups": 3, "padding": 1}, (1, 3, 3, 4, 5), (3, 1, 2, 2, 3)),
]


@pytest.mark.parametrize("options,shape,kernel", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_convolutions_pad_with_the_zero_point(be, dtype, options, shape, kernel):
    x, weight = drawn(shape, dtype), drawn(kernel, "int8", 1)
    pairs = [options.get(k, d) for k, d in (("stride", 1), ("padding", 0), ("dilation", 1))]
    axes = len(shape) - 2
    pairs = [v if isinstance(v, tuple) else (v,) * axes for v in pairs]
    exact = oracle.windows(x, weight, 11, *pairs, options.get("groups", 1))
    each, bias = 2.0 ** -(np.arange(kernel[0]) % 3.0), np.arange(kernel[0]) - 2.0
    call = (be.asarray(x), be.asarray(weight), 0.5, on(be, each), on(be, 11, "int32"))
    convolve = getattr(nn, f"quantized_conv{axes}d")
    got = convolve(*call, bias=on(be, bias), **options)
    each, bias = (v.reshape(-1, *(1,) * axes) for v in (each, bias))
    want = exact * 0.5 * each + bias
    np.testing.assert_array_equal(got.to_numpy(), want.astype(np.float32))
    into = {"dtype": "uint8", "scale_out": 64.0, "zero_point_out": 100, "activation": "relu"}
    got = convolve(*call, bias=on(be, bias.ravel()), **options, **into)
    np.testing.assert_array_equal(got.to_numpy(), quantised(np.maximum(want, 0), 64, 100, "uint8"))
    spread = [be.asarray(np.repeat(v, 2, axis=-1))[..., ::2] for v in (x, weight)]
    got = convolve(*spread, *call[2:], bias=on(be, bias.ravel()), **options)
    np.testing.assert_array_equal(got.to_numpy(), want.astype(np.float32))
    want = exact * 2.0**-6 * each + bias
    for half in ("float16", "bfloat16"):
        got = convolve(*call[:2], 2.0**-6, *call[3:], bias=on(be, bias.ravel()), dtype=half, **options)
        assert got.dtype == half
        np.testing.assert_allclose(widen(got.to_numpy()), want, rtol=2.0**-8 if half == "bfloat16" else 2.0**-11)


def test_convolutions_with_zero_points_of_weights(be):
    x, weight = drawn((2, 4, 6, 6), "int8"), drawn((4, 2, 3, 3), "uint8", 1)
    zero = np.arange(4) * 40
    exact = oracle.windows(x, weight.astype(np.int64) - zero.reshape(-1, 1, 1, 1), -5, (1, 1), (1, 1), (1, 1), 2)
    zeros = (-5, on(be, zero, "int32"))
    got = nn.quantized_conv2d(be.asarray(x), be.asarray(weight), 1.0, 1.0, *zeros, padding=1, groups=2)
    np.testing.assert_array_equal(got.to_numpy(), exact.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("group", [32, 96])
def test_weights_of_four_bits(be, dtype, group):
    w = np.random.default_rng(0).normal(size=(10, 192)).astype(np.float32)
    w[0, :group], w[1, :group], w[2, :group] = 0, np.abs(w[1, :group]), -np.abs(w[2, :group])
    weight = stator.astype(be.asarray(w), dtype)
    packed, scale, zero = nn.quantize_int4(weight, group_size=group)
    assert packed.shape == (10, 96) and scale.shape == zero.shape == (10, 192 // group) and scale.dtype == dtype
    step = widen(scale.to_numpy()).astype(np.float64)
    w = widen(weight.to_numpy()).astype(np.float64)
    decoded = oracle.decode(packed.to_numpy(), step, zero.to_numpy())
    # The ends of a range are half a step from a level at most, as its zero point is rounded.
    assert np.all(np.abs(decoded - w) <= np.repeat(step, group, axis=1) * 1.06)
    assert np.mean(np.abs(decoded - w) <= np.repeat(step, group, axis=1) * 0.51) > 0.95 and not decoded[0, :group].any()
    eps = {"float32": 2.0**-20, "float16": 2.0**-9, "bfloat16": 2.0**-6}[dtype]
    for rows in ((), (1,), (3,), (2, 3), (17,)):
        x = stator.astype(be.asarray(np.random.default_rng(1).normal(size=(*rows, 192)).astype(np.float32)), dtype)
        bias = be.asarray(np.arange(10, dtype=np.float32))
        y = nn.int4_linear(x, packed, scale, zero, bias)
        want = widen(x.to_numpy()).astype(np.float64) @ decoded.T + np.arange(10)
        assert y.dtype == dtype and y.shape == want.shape
        np.testing.assert_allclose(widen(y.to_numpy()).astype(float), want, rtol=0, atol=eps * np.abs(want).max())


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("group", [64, 160, 256, 800])
def test_groups_of_four_bits_by_their_formula(be, dtype, group):
    """Groups of one thread's weights and of several; the weights lie at an address that vectors do not have."""
    w = np.random.default_rng(group).normal(size=(5, 2 * group)).astype(dtype)
    weight = stator.reshape(be.asarray(np.insert(w.ravel(), 0, 0))[1:], w.shape)
    packed, scale, zero = (v.to_numpy() for v in nn.quantize_int4(weight, group_size=group))
    groups = w.reshape(5, 2, group).astype(np.float32)
    low, high = np.minimum(groups.min(-1), 0), np.maximum(groups.max(-1), 0)
    np.testing.assert_array_equal(scale, ((high - low) / np.float32(15)).astype(dtype))
    inverse = 1 / scale.astype(np.float32)
    np.testing.assert_array_equal(zero, np.minimum(np.rint(-low * inverse), 15))
    levels = np.clip(np.rint(groups * inverse[..., None]) + zero[..., None], 0, 15).reshape(5, -1, 2, 16)
    np.testing.assert_array_equal(packed.reshape(5, -1, 16), levels[:, :, 0] + 16 * levels[:, :, 1])


@pytest.mark.parametrize("rows", [1, 3])
def test_four_bits_of_many_outputs(be, rows):
    """More outputs than there are warps at once, and not as many as fill the last block."""
    w = np.random.default_rng(0).normal(size=(2117, 96)).astype(np.float32)
    packed, scale, zero = nn.quantize_int4(be.asarray(w), group_size=32)
    decoded = oracle.decode(*(v.to_numpy() for v in (packed, scale, zero)))
    x = np.random.default_rng(1).normal(size=(rows, 96)).astype(np.float32)
    got = nn.int4_linear(be.asarray(x), packed, scale, zero).to_numpy()
    np.testing.assert_allclose(got, x.astype(np.float64) @ decoded.T, rtol=0, atol=1e-4)


def test_four_bits_of_long_rows_and_none(be):
    w = np.random.default_rng(0).normal(size=(3, 5120)).astype(np.float32)
    packed, scale, zero = nn.quantize_int4(be.asarray(w))
    decoded = oracle.decode(*(v.to_numpy() for v in (packed, scale, zero)))
    x = np.random.default_rng(1).normal(size=(5, 5120)).astype(np.float32)
    got = nn.int4_linear(be.asarray(x[:, ::-1].copy())[:, ::-1], packed, scale, zero).to_numpy()
    np.testing.assert_allclose(got, x @ decoded.T, atol=2e-3)
    shifted = stator.reshape(be.asarray(np.insert(x[:2].ravel(), 0, 0))[1:], (2, 5120))
    np.testing.assert_array_equal(
        nn.int4_linear(shifted, packed, scale, zero).to_numpy(),
        nn.int4_linear(be.asarray(x[:2]), packed, scale, zero).to_numpy(),
    )
    assert nn.int4_linear(be.zeros((0, 5120), dtype="float32"), packed, scale, zero).shape == (0, 3)
    assert nn.quantize_int4(be.zeros((0, 64), dtype="float32"), group_size=64).scale.shape == (0, 1)
