"""Shapes and numbers of the tests of normalisations, and how close their results are."""

import inputs
import numpy as np
from cases import tolerance
from reference import widen

# Rows for a warp, a block and a large block, with and without vectors, and rows that registers do not hold.
ROWS = [(3, 1), (5, 7), (40, 33), (2, 3, 256), (33, 768), (4, 2051), (3, 8200), (2, 20_001)]
# (x, groups): adjacent and separate channels, of one element and more, and rows that registers do not hold.
CHANNELS = [
    ((2, 6, 100), 2),
    ((2, 6, 5), 3),
    ((3, 4, 4, 4), 2),
    ((4, 6), 2),
    ((2, 8, 40, 33), 4),
    ((1, 3, 64), 3),
    ((2, 4, 96, 64), 1),
]
# More samples and elements than one block sums up.
BATCHES = [(7, 5), (300, 33), (4, 6, 5), (3, 4, 4, 8), (40, 3, 400), (9000, 40), (2, 3, 130, 128)]


def drawn(shape, dtype, seed=0, low=-2, high=3):
    return inputs.random(np.random.default_rng(seed), shape, dtype, low, high)


def affine(shape, dtype):
    return drawn(shape, dtype, 11, 0.5, 2), drawn(shape, dtype, 12, -1, 1)


def close(actual, expected, op, terms=1.0):
    """Errors are within the op's bound, in last places of the largest of the results, of `terms`, and of 1."""
    got, want = widen(actual.to_numpy()), np.asarray(expected)
    assert got.shape == want.shape
    if want.size == 0:
        return
    dtype = actual.dtype.name
    eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[dtype]
    bound = max(tolerance(op)) * eps * max(1.0, float(np.max(np.abs(want))), terms)
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=0, atol=bound)
