"""Dropout with a residual in one pass."""

import numpy as np
import pytest
from torch_rows import draw

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError

nn = stator.nn
DTYPES = ["float16", "bfloat16", "float32", "float64"]


def turned(be, x):
    """The same values in columns."""
    return be.asarray(np.ascontiguousarray(x.T)).T


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["rows", "columns of x", "columns of the residual", "odd addresses"])
def test_mask_is_that_of_dropout(be, layout, dtype):
    x, residual = draw((7, 33), dtype), draw((7, 33), dtype, 1)
    keep = nn.dropout(be.ones((7, 33), dtype=dtype), 0.25, rng=3)[0].to_numpy() != 0
    here, there = be.asarray(x), be.asarray(residual)
    if layout == "columns of x":
        here = turned(be, x)
    if layout == "columns of the residual":
        there = turned(be, residual)
    if layout == "odd addresses":
        there = stator.reshape(be.asarray(np.insert(residual.ravel(), 0, 0))[1:], (7, 33))
    y, state = nn.dropout_add(here, there, 0.25, rng=3)
    wide = x.astype(np.float64) * np.float64(np.float32(1 / 0.75)) * keep + residual.astype(np.float64)
    eps = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(dtype, 2.0**-22)
    np.testing.assert_allclose(y.to_numpy().astype(np.float64), wide, rtol=0, atol=8 * eps)
    back = nn.dropout_backward(be.ones((7, 33), dtype=dtype), 0.25, state).to_numpy()
    np.testing.assert_array_equal(back != 0, keep)


def test_generator_advances_as_by_dropout(be):
    x = be.ones(10)
    be.random.seed(5)
    nn.dropout(x, 0.5)
    want = be.random.get_state()
    be.random.seed(5)
    nn.dropout_add(x, x, 0.5)
    assert be.random.get_state() == want


def test_a_refused_call_leaves_the_generator(be):
    state = be.random.get_state()
    with pytest.raises(ShapeError, match="residual"):
        nn.dropout_add(be.ones(4), be.ones(3), 0.5)
    with pytest.raises(InvalidValueError, match="p="):
        nn.dropout_add(be.ones(4), be.ones(4), 1.5)
    with pytest.raises(DTypeError, match="residual"):
        nn.dropout_add(be.ones(4), be.ones(4, dtype="float32"), 0.5)
    assert be.random.get_state() == state
    nn.dropout_add(be.ones(4), be.ones(4), 0.5)  # and its lock


def test_nothing_kept_and_nothing_given(be):
    x = be.ones((3, 5))
    assert (nn.dropout_add(x, x + 1, 1.0)[0].to_numpy() == 2).all()
    assert nn.dropout_add(x[:0], x[:0], 0.5)[0].shape == (0, 5)
