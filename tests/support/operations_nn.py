"""Cases of the softmax family and of Adam, for test_operation_cases.py.

Errors count in the last place of the largest term of the formula, where that is larger than the result. A softmax has
no such term, but its relative error is that of x - max(x): its inputs are near each other.
"""

import inputs
import numpy as np
import oracles
import scipy.special
from cases import tolerance
from reference import assert_matches, numpy_dtype, widen

import stator
from stator._verify.domains import larger

OPERATIONS = """
f32 f64 f16 bf16: softmax softmax2d softmax_backward log_softmax log_softmax_backward fused_adam
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
