"""Long float32 sums err by no more than NumPy's do."""

import math

import numpy as np

import stator


def test_long_float32_sums_are_as_exact_as_numpys(be):
    for low in (0, -1):  # of one sign, and of both: those cancel
        x = np.random.default_rng(3).random(2**24, dtype=np.float32) + np.float32(low)
        # Multiples of 2^-24: 4096 of them add up in float64 without a rounding.
        exact = math.fsum(np.sum(x.reshape(-1, 4096), axis=1, dtype=np.float64))
        ours = abs(float(stator.sum(be.asarray(x))) - exact)
        assert ours <= max(abs(float(np.sum(x)) - exact), np.spacing(np.float32(abs(exact))) / 2)
