"""Softmax of rows that a block holds in shared memory: more rows than multiprocessors, too long for registers."""

import inputs
import numpy as np
import oracles
import pytest
import scipy.special
from cases import tolerance
from reference import assert_matches, numpy_dtype, widen

import stator

nn = stator.nn
ROWS = 132  # of the device that is emulated
FORMS = {"softmax": scipy.special.softmax, "log_softmax": scipy.special.log_softmax}


def given(dtype, rows, n, seed=0):
    return inputs.random(np.random.default_rng(seed), (rows, n), dtype, -4, 4)


@pytest.mark.parametrize(("name", "to"), [("softmax", "float32"), ("log_softmax", "float16")])
def test_rows_of_odd_length(be, name, to):
    """They begin at every address that the dtype has."""
    x = given("float16", ROWS, 8193)
    got = getattr(nn, name)(be.asarray(x), dtype=to)
    want = FORMS[name](widen(x), axis=1).astype(numpy_dtype(to))
    assert got.dtype.name == to
    for row in (0, 1, 2, 3, 5, 6, 7, ROWS - 1):
        assert_matches(got[row].to_numpy(), want[row], tolerance(name), name)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_rows_in_a_larger_array(be, dtype):
    """A column of rows that does not begin where memory is aligned, forward and backward."""
    x, g = (given(dtype, ROWS, 8_210, seed) for seed in (1, 2))
    on = be.asarray(x)[:, 3:8_203]
    got = nn.softmax(on)
    want = scipy.special.softmax(widen(x[:, 3:8_203]), axis=1)
    assert_matches(got[:9].to_numpy(), want[:9].astype(x.dtype), tolerance("softmax"), "softmax")
    y = got.to_numpy()
    back = nn.softmax_backward(be.asarray(g)[:, 3:8_203], got)[:9].to_numpy()
    want = oracles.softmax_backward(widen(g[:9, 3:8_203]), widen(y[:9]), axis=1)
    size = np.broadcast_to(np.abs(want).max(axis=1, keepdims=True), want.shape)
    assert_matches(back, want.astype(x.dtype), tolerance("softmax_backward"), "softmax_backward", scale=size)


def test_infinities_of_long_rows(be):
    x = np.full((ROWS, 8200), -np.inf, np.float16)
    x[:, 8100] = 1
    x[1, 3] = np.nan
    x[2, 8100] = -np.inf
    got = nn.softmax(be.asarray(x), dtype="float32").to_numpy()
    assert got[0, 8100] == 1
    assert got[0].sum() == 1
    assert np.isnan(got[1:3]).all()
