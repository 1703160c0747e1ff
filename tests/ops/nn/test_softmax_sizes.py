"""Softmax of lines of every size that has a kernel of its own: in few or many registers of a warp or a block."""

import inputs
import numpy as np
import oracles
import pytest
import scipy.special
from cases import tolerance
from reference import assert_matches, widen

import stator

# Elements of a row: a warp, 256 and 1024 threads hold up to 16, 8 or 4 for each thread, by the size of a dtype. Rows of
# one element more are not read in vectors.
ROWS = (96, 480, 1200, 2000, 5200, 12_000)
COLUMNS = (96, 200, 400, 800, 1600)  # elements of a column; seven columns side by side are not read in vectors


def checked(be, x, g, axis):
    """The results are as near to the exact ones as the table says, of the size of the largest."""
    y = scipy.special.softmax(widen(x), axis=axis)
    got = stator.nn.softmax(be.asarray(x), axis=axis).to_numpy()
    assert_matches(got, y, tolerance("softmax"), "softmax")
    y = y.astype(x.dtype)
    got = stator.nn.softmax_backward(be.asarray(g), be.asarray(y), axis=axis).to_numpy()
    want = oracles.softmax_backward(widen(g), widen(y), axis=axis)
    size = np.broadcast_to(np.abs(want).max(axis=axis, keepdims=True), want.shape)
    assert_matches(got, want, tolerance("softmax_backward"), "softmax_backward", scale=size)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("more", [0, 1])
def test_rows(be, dtype, more):
    for n in ROWS:
        x, g = (inputs.random(np.random.default_rng(seed), (2, n + more), dtype, -4, 4) for seed in (n, n + 1))
        checked(be, x, g, 1)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("columns", [8, 7])
def test_columns(be, dtype, columns):
    for n in COLUMNS:
        x, g = (inputs.random(np.random.default_rng(seed), (n, columns), dtype, -4, 4) for seed in (n, n + 1))
        checked(be, x, g, 0)
