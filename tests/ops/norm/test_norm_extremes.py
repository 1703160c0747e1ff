"""Normalisations of equal elements, and of elements whose squares are beyond the range of their dtype."""

import inputs
import numpy as np
import pytest
from reference import widen

import stator

nn = stator.nn

# Shapes whose rows and channels take the kernels' different ways: short and long rows, adjacent channels and others.
SHAPES = [(3, 7), (2, 300), (2, 20_000), (40, 3), (500, 70), (4, 3, 2), (3, 6, 40), (2, 4, 20, 33)]
LARGEST = {"float16": 4e4, "bfloat16": 3e38, "float32": 3e38, "float64": 1.5e308}
# Powers of two that elements of ordinary size are multiplied by.
SCALES = {"float32": (2.0**100, 2.0**124, 2.0**-100), "bfloat16": (2.0**100,), "float64": (2.0**900, 2.0**-900)}


def forward(x, **options):
    """The normalisations of x by name, as far as they are defined for its shape."""
    found = {"layer_norm": nn.layer_norm(x, **options), "batch_norm": nn.batch_norm(x, training=True, **options)[0]}
    if x.ndim > 2:
        found["instance_norm"] = nn.instance_norm(x, **options)
        found["group_norm"] = nn.group_norm(x, 2 if x.shape[1] % 2 == 0 else 3, **options)
    return found


def backward(grad, x, **options):
    _, mean, var = nn.batch_norm(x, training=True, **options)
    found = {
        "layer_norm": nn.layer_norm_backward(grad, x, **options),
        "batch_norm": nn.batch_norm_backward(grad, x, mean, var, training=True, **options),
    }
    if x.ndim > 2:
        found["instance_norm"] = nn.instance_norm_backward(grad, x, **options)
        found["group_norm"] = nn.group_norm_backward(grad, x, 2 if x.shape[1] % 2 == 0 else 3, **options)
    return found


def values(x):
    return widen(x.to_numpy())


def ordinary(shape, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_equal_elements_are_normalised_to_zero(be, shape, dtype):
    for value in (0.1, 1e3 / 3, 54321.7, 1e6 + 0.1, LARGEST[dtype]):
        x = be.full(shape, min(value, LARGEST[dtype]), dtype=dtype)
        for op, y in forward(x).items():
            assert not values(y).any(), (op, value)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_at_equal_elements(be, shape, dtype):
    grad = be.asarray(ordinary(shape, dtype)).astype(dtype)
    g = values(grad)
    for value in (0.1, 54321.7, LARGEST[dtype]):
        for op, (dx, dweight, _) in backward(grad, be.full(shape, value, dtype=dtype)).items():
            assert not values(dweight).any(), op
            if op in ("layer_norm", "batch_norm"):
                axes = -1 if op == "layer_norm" else (0, *range(2, len(shape)))
                want = (g - g.mean(axis=axes, keepdims=True)) / np.sqrt(1e-5)
                np.testing.assert_allclose(values(dx), want, rtol=0.02 if dtype == "bfloat16" else 1e-5, atol=2e-3)


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("shape", SHAPES)
def test_scaled_elements_are_normalised_alike(be, shape, dtype):
    x = be.asarray(ordinary(shape, dtype)).astype(dtype)
    exact = {"rtol": 0, "atol": 0.02 if dtype == "bfloat16" else 2e-5}
    plain, rms = forward(x, eps=0.0), nn.rms_norm(x, eps=0.0)
    grad = be.asarray(ordinary(shape, dtype, 1)).astype(dtype)
    slopes = {op: values(found[0]) for op, found in backward(grad, x, eps=0.0).items()}
    largest = {op: np.nanmax(np.abs(slope)) for op, slope in slopes.items()}
    for scale in SCALES[dtype]:
        scaled = x * scale
        np.testing.assert_allclose(values(nn.rms_norm(scaled, eps=0.0)), values(rms), **exact)
        for op, y in forward(scaled, eps=0.0).items():
            np.testing.assert_allclose(values(y), values(plain[op]), **exact, err_msg=op)
        # A gradient is divided by the scale, and here multiplied by it.
        for op, (dx, dweight, _) in backward(grad * scale if scale < 1 else grad, scaled, eps=0.0).items():
            got = values(dx) * (1 if scale < 1 else scale)
            np.testing.assert_allclose(got, slopes[op], rtol=1e-3, atol=max(0.03 * largest[op], 1e-5), err_msg=op)
            if largest[op] == np.abs(slopes[op]).max():  # else a channel has equal elements and no deviation
                assert np.isfinite(values(dweight)).all()


@pytest.mark.parametrize("dtype", SCALES)
def test_elements_far_apart_are_normalised(be, dtype):
    top = LARGEST[dtype]
    x = be.asarray(np.array([[top, -top, -top, 0.0]])).astype(dtype)
    want = np.array([[1.25, -0.75, -0.75, 0.25]]) / np.sqrt(0.6875)
    np.testing.assert_allclose(values(nn.layer_norm(x)), want, rtol=0.01 if dtype == "bfloat16" else 1e-6)
    np.testing.assert_allclose(values(nn.batch_norm(x.T, training=True)[0]), want.T, rtol=0.01)


def test_a_variance_beyond_its_dtype_is_infinite_and_normalises(be):
    x = be.asarray(np.array([[1e30], [-1e30], [2e30]], "float32"))
    y, mean, var = nn.batch_norm(x, training=True)
    assert np.isinf(var.to_numpy()).all()
    np.testing.assert_allclose(mean.to_numpy(), [2e30 / 3], rtol=1e-6)
    wide = x.to_numpy().astype(np.float64)
    np.testing.assert_allclose(y.to_numpy(), (wide - wide.mean()) / wide.std(), rtol=1e-5)


def test_infinities_and_nan_stay_in_their_rows(be):
    x = np.ones((3, 5), np.float32) * np.arange(5, dtype=np.float32)
    x[0, 1], x[1, 1] = np.inf, np.nan
    y = nn.layer_norm(be.asarray(x)).to_numpy()
    assert np.isnan(y[:2]).all()
    assert np.isfinite(y[2]).all()


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("shape", [(3, 5), (4, 3000), (2, 20_000)])
def test_lengths_of_scaled_weights(be, shape, dtype):
    v, g = be.asarray(ordinary(shape, dtype)).astype(dtype), be.ones((shape[0], 1), dtype=dtype)
    rtol = 0.02 if dtype == "bfloat16" else 1e-5
    w, lengths = nn.weight_norm(v, g)
    for scale in SCALES[dtype]:
        if scale * float(lengths.max()) > LARGEST[dtype]:
            continue
        scaled, scaled_lengths = nn.weight_norm(v * scale, g)
        np.testing.assert_allclose(values(scaled), values(w), rtol=rtol)
        np.testing.assert_allclose(values(scaled_lengths), values(lengths) * scale, rtol=rtol)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spectral_norm_of_scaled_weights(be, dtype):
    weight, u = be.asarray(ordinary((4, 6), dtype)), be.asarray(ordinary(4, dtype, 1))
    w, *_, sigma = nn.spectral_norm(weight, u / stator.linalg.vector_norm(u), n_iterations=5)
    for scale in SCALES[dtype]:
        if scale < 1:  # below eps
            continue
        scaled, *_, large = nn.spectral_norm(weight * scale, u / stator.linalg.vector_norm(u), n_iterations=5)
        np.testing.assert_allclose(scaled.to_numpy(), w.to_numpy(), rtol=1e-4)
        np.testing.assert_allclose(large.to_numpy(), sigma.to_numpy() * scale, rtol=1e-4)
        long_u, *_, large = nn.spectral_norm(weight * scale, u * scale, n_iterations=5)
        np.testing.assert_allclose(long_u.to_numpy(), w.to_numpy(), rtol=1e-4)
        np.testing.assert_allclose(large.to_numpy(), sigma.to_numpy() * scale, rtol=1e-4)


@pytest.mark.parametrize("size", [3, 20])
@pytest.mark.parametrize("shape", [(2, 5), (2, 30, 140)])
@pytest.mark.parametrize("scale", [1e18, 1e25, 1e37])
def test_local_response_norm_of_large_elements(be, scale, shape, size):
    x = ordinary(shape, "float32") * np.float32(scale)
    y, _ = nn.local_response_norm(be.asarray(x), size)
    wide, before = x.astype(np.float64), size // 2
    padded = np.pad(wide**2, [(0, 0), (before, size - 1 - before)] + [(0, 0)] * (len(shape) - 2))
    squares = sum(padded[:, k : k + shape[1]] for k in range(size))
    np.testing.assert_allclose(y.to_numpy(), wide * (1 + 1e-4 / size * squares) ** -0.75, rtol=1e-5)


@pytest.mark.parametrize("size", [3, 20])
@pytest.mark.parametrize("shape", [(2, 5), (2, 30, 140)])
@pytest.mark.parametrize("dtype, scale", [("float16", 1e4), ("bfloat16", 1e25), ("float32", 1e22), ("float64", 1e170)])
def test_gradients_of_local_response_norm_at_infinite_denominators(be, dtype, scale, shape, size):
    """The limits are not 0: denominators that their dtype cannot hold are found again."""
    x, grad = (
        be.asarray(np.clip(ordinary(shape, "float64", k), -3, 3) * s).astype(dtype)
        for k, s in enumerate((scale, min(scale, 1e20)))
    )
    alpha = 0.01 if dtype == "float16" else 1e-4
    denom = nn.local_response_norm(x, size, alpha=alpha)[1]
    assert np.isinf(values(denom)).any()
    wide, slope = values(x).astype(np.longdouble), values(grad).astype(np.longdouble)

    def windows(v, before):
        padded = np.pad(v, [(0, 0), (before, size - 1 - before)] + [(0, 0)] * (len(shape) - 2))
        return sum(padded[:, k : k + shape[1]] for k in range(size))

    d = 1 + np.longdouble(alpha) / size * windows(wide**2, size // 2)
    terms, before = slope * wide * d**-1.75, size - 1 - size // 2
    own, factor = slope * d**-0.75, 1.5 * np.longdouble(alpha) / size * wide
    got = values(nn.local_response_norm_backward(grad, x, denom, size, alpha=alpha))
    off = np.abs(got - (own - factor * windows(terms, before)))
    rtol = {"float16": 0.003, "bfloat16": 0.02}.get(dtype, 1e-5)
    assert np.all(off <= rtol * (np.abs(own) + np.abs(factor) * windows(np.abs(terms), before)))


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0)])
def test_batch_norm_of_an_empty_batch(be, shape):
    x = be.ones(shape, dtype="float32")
    y, mean, var = nn.batch_norm(x, training=True)
    assert y.shape == shape
    assert np.isnan(mean.to_numpy()).all()
    assert np.isnan(var.to_numpy()).all()
    dx, dweight, dbias = nn.batch_norm_backward(x, x, mean, var, training=True)
    assert dx.shape == shape
    assert not dweight.to_numpy().any()
    assert not dbias.to_numpy().any()
    running = be.ones((3,), dtype="float32"), be.ones((3,), dtype="float32") * 2
    nn.update_running_stats(*running, mean, var, count=0)
    assert [r.tolist() for r in running] == [[1, 1, 1], [2, 2, 2]]
