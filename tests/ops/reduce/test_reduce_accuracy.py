"""The errors of long float32 sums are not larger than NumPy's."""

import math

import numpy as np
import pytest

import stator


def test_long_float32_sums_are_as_exact_as_numpys(be):
    for low in (0, -1):  # terms of one sign, and of both, which cancel
        x = np.random.default_rng(3).random(2**24, dtype=np.float32) + np.float32(low)
        # Multiples of 2^-24, of which float64 adds 4096 without rounding.
        exact = math.fsum(np.sum(x.reshape(-1, 4096), axis=1, dtype=np.float64))
        ours = abs(float(stator.sum(be.asarray(x))) - exact)
        assert ours <= max(abs(float(np.sum(x)) - exact), np.spacing(np.float32(abs(exact))) / 2)


@pytest.mark.parametrize("rows, lines", [(3, 2000), (16, 2000), (100, 2000), (16384, 16)])
@pytest.mark.parametrize("axis", [0, 1])
def test_variances_do_not_depend_on_which_element_comes_first(be, rows, lines, axis):
    # The first element of a line is far from its mean, by up to the square root of the number of elements deviations.
    x = np.random.default_rng(4).normal(size=(rows, lines))
    x[0] *= 1e6
    x[:, ::2] += 1e3
    exact = x.astype(np.longdouble).var(axis=0)
    ours = stator.var(be.asarray(x if axis == 0 else x.T.copy()), axis=axis).to_numpy()
    assert np.max(np.abs(ours - exact) / exact) < 16 * np.finfo(np.float64).eps


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("op", ["sum", "nansum", "mean"])
def test_sums_of_equal_elements_do_not_round_in_one_direction(be, op, dtype):
    """Whatever the layout: the bound of the op table holds for each, of which many have errors of the same sign."""
    rng = np.random.default_rng(5)
    row = rng.uniform(0.5, 2, 65).astype(dtype)
    if dtype.startswith("complex"):
        row = row + 1j * row[::-1]
    wide = row.astype("clongdouble" if dtype.startswith("complex") else "longdouble")
    x = be.asarray(row.astype(dtype))
    for rows in (15, 33, 64, 127, 500, 4096):
        count = 1 if op == "mean" else rows
        repeated = stator.broadcast_to(x, (rows, 65))
        dense = be.asarray(np.repeat(row.astype(dtype)[None], rows, axis=0))
        across = be.asarray(np.repeat(row.astype(dtype)[:, None], rows, axis=1))
        halves = be.asarray(np.repeat(row.astype(dtype)[:, None], 2 * rows, axis=1))[:, ::2]
        for y, axis in ((repeated, 0), (dense, 0), (dense.T, 1), (across, 1), (halves, 1), (repeated.T, 1)):
            got = getattr(stator, op)(y, axis=axis).to_numpy()
            for mine, exact in ((got.real, wide.real * count), (got.imag, wide.imag * count)):
                unit = np.spacing(np.abs(exact).astype(mine.dtype))
                assert np.max(np.abs(mine - exact) / np.where(unit > 0, unit, 1)) <= 4
