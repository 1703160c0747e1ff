"""Cases of the softmax family, normalisations, pooling, convolutions, attention, Adam, embeddings and a recurrent step,
for test_operation_cases.py.

Errors count in the last place of the largest term of the formula, where that is larger than the result. A softmax has
no such term, but its relative error is that of x - max(x): its inputs are near each other.
"""

import inputs
import numpy as np
import oracles
import oracles_nn
import oracles_norm
import scipy.special
from cases import tolerance
from layer_loops import recurrence
from reference import assert_matches, numpy_dtype, widen

import stator
from stator._catalogue.domains import larger

OPERATIONS = """
f32 f64 f16 bf16: softmax softmax2d softmax_backward log_softmax log_softmax_backward fused_adam
f32 f64 f16 bf16: layernorm layernorm_backward rmsnorm rmsnorm_backward group_norm batch_norm batch_norm_backward
f32 f64 f16 bf16: local_response_norm local_response_norm_backward maxpool2d avgpool2d
f32 f64 f16 bf16: embed_lookup embed_lookup_batch scatter_add_rows conv2d flash_attention_forward fused_gru_cell
"""
# Rows for a warp, a block and several blocks; contiguous rows, and strided ones.
LINES = [((1,), 0), ((4, 33), -1), ((4, 33), 0), ((3, 257), 1), ((2, 5000), -1), ((300, 3), 0), ((3, 5, 17), 1)]
EXTREMES = np.array([[1e4, 1e4, -1e4], [0, -np.inf, 1], [60, -60, 0]])
ONE = np.ones(())  # log_softmax: the error of the logarithm of a sum near 1 is a last place of 1


def drawn(shape, dtype, seed, low=-4, high=4):
    return inputs.random(np.random.default_rng(seed), shape, dtype, low, high)


def matches(got, want, name, scale=None):
    assert_matches(got.to_numpy(), want, tolerance(name), name, scale)


def softmax(be, dtype):
    for shape, axis in LINES:
        x = drawn(shape, dtype, 0, -2, 2)
        matches(stator.nn.softmax(be.asarray(x), axis=axis), scipy.special.softmax(widen(x), axis=axis), "softmax")
    x = EXTREMES.astype(numpy_dtype(dtype))
    matches(stator.nn.softmax(be.asarray(x)), scipy.special.softmax(widen(x), axis=-1), "softmax")


def softmax2d(be, dtype):
    """Softmax over the channels of images (n, c, h, w) or (c, h, w): one distribution per pixel."""
    for shape in ((2, 5, 3, 4), (3, 33, 7, 9), (5, 3, 4)):
        x = drawn(shape, dtype, 1, -2, 2)
        got = stator.nn.softmax(be.asarray(x), axis=-3)
        matches(got, scipy.special.softmax(widen(x), axis=-3), "softmax")


def log_softmax(be, dtype):
    for shape, axis in LINES:
        x = drawn(shape, dtype, 2)
        want = scipy.special.log_softmax(widen(x), axis=axis)
        matches(stator.nn.log_softmax(be.asarray(x), axis=axis), want, "log_softmax", ONE)
    x = EXTREMES.astype(numpy_dtype(dtype))
    matches(stator.nn.log_softmax(be.asarray(x)), scipy.special.log_softmax(widen(x), axis=-1), "log_softmax", ONE)


def softmax_backward(be, dtype):
    for shape, axis in LINES:
        grad, x = drawn(shape, dtype, 3), drawn(shape, dtype, 4)
        y = scipy.special.softmax(widen(x), axis=axis).astype(x.dtype)
        g, p = widen(grad), widen(y)
        scale = p * larger(g, np.sum(np.abs(g * p), axis=axis, keepdims=True))
        got = stator.nn.softmax_backward(be.asarray(grad), be.asarray(y), axis=axis)
        matches(got, oracles.softmax_backward(g, p, axis=axis), "softmax_backward", scale)


def log_softmax_backward(be, dtype):
    for shape, axis in LINES:
        grad, x = drawn(shape, dtype, 5), drawn(shape, dtype, 6)
        y = scipy.special.log_softmax(widen(x), axis=axis).astype(x.dtype)
        g, p = widen(grad), widen(y)
        scale = larger(g, np.exp(p) * np.sum(np.abs(g), axis=axis, keepdims=True))
        got = stator.nn.log_softmax_backward(be.asarray(grad), be.asarray(y), axis=axis)
        matches(got, oracles.log_softmax_backward(g, p, axis=axis), "log_softmax_backward", scale)


def fused_adam(be, dtype):
    """Several steps on several parameters, with moments in the parameters' dtype and, for halves, in float32."""
    shapes = [(7,), (3, 5), (5000,), ()]
    hyper = {"lr": 0.01, "eps": 1e-8, "weight_decay": 0.1, "decoupled": False, "maximize": False}
    for moments in {dtype, "float32"} if dtype in ("float16", "bfloat16") else {dtype}:
        for step in (1, 2, 10):
            params, grads = ([drawn(s, dtype, step + k) for s in shapes] for k in (0, 100))
            means, squares = ([drawn(s, moments, step + k, 0.1, 2) for s in shapes] for k in (200, 300))
            groups = params, grads, means, squares
            on = [[be.asarray(x) for x in group] for group in groups]
            assert stator.nn.adam_step(*on, step=step, betas=(0.9, 0.99), **hyper) is None
            for k, given in enumerate(zip(*groups, strict=True)):
                p, g, m, v = map(widen, given)
                want = oracles.adam_step(p, g, m, v, step, beta1=0.9, beta2=0.99, **hyper)
                scales = larger(p, want[0] - p), larger(m, g), larger(v)
                for got, wanted, scale in zip((on[0][k], on[2][k], on[3][k]), want, scales, strict=True):
                    matches(got, wanted, "adam_step", scale)
                np.testing.assert_array_equal(on[1][k].to_numpy(), given[1])


def normalised(be, dtype, op, shape, *numbers, weights=("weight", "bias"), grad=False, **options):
    """Errors count in last places of the largest result."""
    x, found = drawn(shape, dtype, 7), [drawn(shape, dtype, 8)] * grad
    channels = shape[-1:] if op.startswith(("layer", "rms")) else shape[1:2]
    given = [*found, x, *numbers, *(drawn(channels, dtype, 9 + k, 0.5, 2) for k in range(len(weights)))]
    on = [a if isinstance(a, int) else be.asarray(a) for a in given]
    wide = [a if isinstance(a, int) else widen(a) for a in given]
    got, want = getattr(stator.nn, op)(*on, **options), getattr(oracles_norm, op)(*wide, **options)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    for one, expected in pairs:
        matches(one, expected, op, np.full(expected.shape, max(1.0, float(np.max(np.abs(expected))))))


def layernorm(be, dtype):
    for shape in ((4, 33), (3, 5, 768), (2, 9000)):
        normalised(be, dtype, "layer_norm", shape)


def layernorm_backward(be, dtype):
    for shape in ((4, 33), (3, 5, 768), (2, 9000)):
        normalised(be, dtype, "layer_norm_backward", shape, weights=("weight",), grad=True)


def rmsnorm(be, dtype):
    for shape in ((4, 33), (3, 5, 768), (2, 9000)):
        normalised(be, dtype, "rms_norm", shape, weights=("weight",))


def rmsnorm_backward(be, dtype):
    for shape in ((4, 33), (3, 5, 768), (2, 9000)):
        normalised(be, dtype, "rms_norm_backward", shape, weights=("weight",), grad=True)


def group_norm(be, dtype):
    for shape, groups in (((2, 6, 5), 3), ((3, 8, 7, 9), 2)):
        normalised(be, dtype, "group_norm", shape, groups)


def batch_norm(be, dtype):
    """By the statistics of the batch, and by given ones."""
    for shape in ((40, 6), (3, 5, 7, 9)):
        normalised(be, dtype, "batch_norm", shape, training=True)
        x, stats = drawn(shape, dtype, 10), statistics(shape, dtype)
        got = stator.nn.batch_norm(be.asarray(x), mean=be.asarray(stats[0]), var=be.asarray(stats[1]))[0]
        want = oracles_norm.batch_norm(widen(x), mean=widen(stats[0]), var=widen(stats[1]))[0]
        matches(got, want, "batch_norm", np.full(want.shape, max(1.0, float(np.max(np.abs(want))))))


def batch_norm_backward(be, dtype):
    for shape in ((40, 6), (3, 5, 7, 9)):
        grad, x, stats = drawn(shape, dtype, 11), drawn(shape, dtype, 12), statistics(shape, dtype)
        for training in (False, True):
            got = stator.nn.batch_norm_backward(*(be.asarray(a) for a in (grad, x, *stats)), training=training)
            want = oracles_norm.batch_norm_backward(*(widen(a) for a in (grad, x, *stats)), training=training)
            for one, expected in zip(got, want, strict=True):
                size = max(8.0, float(np.max(np.abs(expected))))
                matches(one, expected, "batch_norm_backward", np.full(expected.shape, size))


def statistics(shape, dtype):
    """A mean and a variance of each channel."""
    wide = "float64" if dtype == "float64" else "float32"
    return drawn(shape[1:2], wide, 13, -1, 1), drawn(shape[1:2], wide, 14, 0.5, 2)


def local_response_norm(be, dtype):
    for shape in ((2, 7, 5), (1, 40, 3, 9)):
        x = drawn(shape, dtype, 15)
        got = stator.nn.local_response_norm(be.asarray(x), 5, alpha=0.5)
        for one, expected in zip(got, oracles_norm.local_response_norm(widen(x), 5, alpha=0.5), strict=True):
            matches(one, expected, "local_response_norm", np.ones(expected.shape))


def local_response_norm_backward(be, dtype):
    for shape in ((2, 7, 5), (1, 40, 3, 9)):
        grad, x = drawn(shape, dtype, 16), drawn(shape, dtype, 17)
        denom = oracles_norm.local_response_norm(widen(x), 5, alpha=0.5)[1].astype(x.dtype)
        got = stator.nn.local_response_norm_backward(*(be.asarray(a) for a in (grad, x, denom)), 5, alpha=0.5)
        want = oracles_norm.local_response_norm_backward(*(widen(a) for a in (grad, x, denom)), 5, alpha=0.5)
        matches(got, want, "local_response_norm_backward", np.full(want.shape, max(1.0, float(np.max(np.abs(want))))))


def windows(x, padding):
    """Windows of 3 x 3 at every second position of images, on two last axes."""
    wide = np.pad(widen(x), [(0, 0)] * (x.ndim - 2) + [(1, 1)] * 2, constant_values=padding)
    return np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (-2, -1))[..., ::2, ::2, :, :]


def maxpool2d(be, dtype):
    for shape in ((2, 3, 9, 8), (3, 12, 40)):
        x = drawn(shape, dtype, 18)
        matches(stator.nn.max_pool2d(be.asarray(x), 3, 2, 1), np.max(windows(x, -np.inf), (-2, -1)), "max_pool")


def avgpool2d(be, dtype):
    for shape in ((2, 3, 9, 8), (3, 12, 40)):
        x = drawn(shape, dtype, 19)
        want = np.mean(windows(x, 0), (-2, -1))
        matches(stator.nn.avg_pool2d(be.asarray(x), 3, 2, 1), want, "avg_pool", np.full(want.shape, 4.0))


def embed_lookup(be, dtype):
    weight = drawn((50, 17), dtype, 0)
    for at in (0, 49, -1):
        got = stator.nn.embedding(be.asarray(weight), be.asarray(np.array(at)))
        np.testing.assert_array_equal(got.to_numpy(), weight[at])


def embed_lookup_batch(be, dtype):
    for shape, d in (((7,), 17), ((3, 40), 64), ((0,), 3)):
        weight, at = drawn((50, d), dtype, 0), np.random.default_rng(1).integers(0, 50, shape)
        got = stator.nn.embedding(be.asarray(weight), be.asarray(at))
        np.testing.assert_array_equal(got.to_numpy(), weight[at])


def scatter_add_rows(be, dtype):
    """Sums whose error counts in the last place of the sum of the terms' magnitudes."""
    for n, rows, d in ((7, 50, 17), (2000, 3, 5), (300, 300, 64)):
        grad, at = drawn((n, d), dtype, 0), np.random.default_rng(1).integers(0, rows, n)
        got = stator.nn.embedding_backward(be.asarray(grad), be.asarray(at), rows)
        want, scale = (oracles.embedding_backward(x, at, rows) for x in (widen(grad), np.abs(widen(grad))))
        matches(got, want, "embedding_backward", scale)


def conv2d(be, dtype):
    """Errors are half a unit for each term at most, of the sum of the terms' magnitudes."""
    for shape, weight, options in (
        ((2, 9, 7, 8), (6, 9, 3, 3), {"padding": 1}),
        ((1, 6, 9, 9), (6, 1, 3, 2), {"groups": 6, "stride": 2}),
    ):
        x, w = drawn(shape, dtype, 0), drawn(weight, dtype, 1)
        got = stator.nn.conv2d(be.asarray(x), be.asarray(w), **options).to_numpy()
        want, most = (oracles_nn.conv2d(*a, **options) for a in ((widen(x), widen(w)), (abs(widen(x)), abs(widen(w)))))
        bound = max(tolerance("conv2d")) + np.prod(weight[1:]) / 2
        eps = 2.0**-52 if dtype == "float64" else 2.0**-23
        rounding = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(dtype, 0)
        assert np.all(np.abs(widen(got) - want) <= bound * eps * most + rounding * np.abs(want))


def flash_attention_forward(be, dtype):
    """Sums over keys and features: errors count in the last place of the largest value."""
    for q, k, v in (((2, 3, 7, 16), (2, 3, 9, 16), (2, 3, 9, 20)), ((40, 64), (70, 64), (70, 64))):
        x = [drawn(shape, dtype, seed, -1, 1) for seed, shape in enumerate((q, k, v))]
        got = stator.nn.attention(*map(be.asarray, x))
        want, _ = oracles_nn.attention(*map(widen, x))
        matches(got, want, "attention", np.ones(want.shape))


def fused_gru_cell(be, dtype):
    """Gates, state and workspace of the fused cell, with biases and without; gates are at most 1 beside the states."""
    for batch, hidden in ((5, 7), (3, 300)):
        width = 3 * hidden
        gates, state = [drawn((batch, width), dtype, 20 + k, -2, 2) for k in (0, 1)], drawn((batch, hidden), dtype, 22)
        biases = [drawn((width,), dtype, 23 + k, -1, 1) for k in (0, 1)]
        a, b = (widen(x) + widen(bias) for x, bias in zip(gates, biases, strict=True))
        h, _, workspace = recurrence.step("gru", a, b, widen(state))
        for got, want in zip(
            stator.nn.gru_pointwise(*map(be.asarray, (*gates, state, *biases))), (h, workspace), strict=True
        ):
            matches(got, want, "gru_pointwise", np.maximum(np.abs(want), 1.0))
