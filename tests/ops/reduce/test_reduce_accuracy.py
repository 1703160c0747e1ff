"""The errors of long float32 sums are not larger than NumPy's."""

import math

import numpy as np

import stator


def test_long_float32_sums_are_as_exact_as_numpys(be):
    for low in (0, -1):  # terms of one sign, and of both, which cancel
        x = np.random.default_rng(3).random(2**24, dtype=np.float32) + np.float32(low)
        # Multiples of 2^-24, of which float64 adds 4096 without rounding.
        exact = math.fsum(np.sum(x.reshape(-1, 4096), axis=1, dtype=np.float64))
        ours = abs(float(stator.sum(be.asarray(x))) - exact)
        assert ours <= max(abs(float(np.sum(x)) - exact), np.spacing(np.float32(abs(exact))) / 2)
