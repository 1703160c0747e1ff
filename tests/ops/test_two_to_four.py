"""2:4 sparsity against NumPy."""

import inputs
import numpy as np
import pytest
from reference import assert_matches, widen

import stator
from stator import sparse

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def pruned(x, axis=-1):
    """Of each four along the axis the two largest magnitudes, the first of equal ones; NaN is the largest."""
    lines = np.moveaxis(x.copy(), axis, -1)
    for at in np.ndindex(lines.shape[:-1]):
        for begin in range(0, lines.shape[-1], 4):
            four = lines[at][begin : begin + 4]
            size = np.abs(four.astype(np.float64))
            order = np.argsort(-np.where(np.isnan(size), np.inf, size) - np.isnan(size) * 1e308, kind="stable")
            four[order[2:]] = 0
    return np.moveaxis(lines, -1, axis)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "reversed"])
def test_prune(be, dtype, axis, layout):
    x = np.round(inputs.random(np.random.default_rng(0), (12, 20, 8), dtype)).astype(inputs.numpy_dtype(dtype))
    on = inputs.on_device(be, inputs.layouts()[layout](x))
    np.testing.assert_array_equal(sparse.prune_2to4(on, axis=axis).to_numpy(), pruned(x, axis))
    packed = sparse.compress(on, axis=axis)
    assert packed.values.shape[axis] == x.shape[axis] // 2 and packed.positions.shape[axis] == x.shape[axis] // 4
    np.testing.assert_array_equal(packed.to_dense().to_numpy(), pruned(x, axis))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 7, 1030])
def test_lengths_that_are_no_multiple_of_four(be, n):
    x = np.random.default_rng(1).normal(size=(3, n))
    np.testing.assert_array_equal(sparse.prune_2to4(be.asarray(x)).to_numpy(), pruned(x))
    np.testing.assert_array_equal(sparse.compress(be.asarray(x)).to_dense().to_numpy(), pruned(x))


def test_nan_stays_and_infinity_beats_numbers(be):
    x = np.array([1.0, np.nan, np.inf, 5.0, np.nan, np.nan, np.nan, 9.0])
    np.testing.assert_array_equal(
        sparse.prune_2to4(be.asarray(x)).to_numpy(), [0, np.nan, np.inf, 0, np.nan, np.nan, 0, 0]
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_product_with_a_pruned_matrix(be, dtype):
    a = inputs.random(np.random.default_rng(0), (33, 64), dtype, -1, 1)
    b = inputs.random(np.random.default_rng(1), (64, 17), dtype, -1, 1)
    got = sparse.matmul_2to4(be.asarray(a), be.asarray(b)).to_numpy()
    want = pruned(b, 0)
    scale = np.abs(widen(a)) @ np.abs(widen(want))
    assert_matches(got, widen(a) @ widen(want), (8, 8), scale=scale)
    again = sparse.matmul_2to4(be.asarray(a), be.asarray(want)).to_numpy()
    np.testing.assert_array_equal(again, got)


def test_what_cannot_be_pruned(be):
    errors = stator.errors
    with pytest.raises(errors.DTypeError, match="2:4"):
        sparse.prune_2to4(be.asarray(np.ones(4, int)))
    with pytest.raises(errors.DTypeError, match="2:4"):
        sparse.prune_2to4(be.asarray(np.ones(4, complex)))
    with pytest.raises(errors.AxisError):
        sparse.prune_2to4(be.asarray(np.ones(4)), axis=1)
    with pytest.raises(errors.AxisError):
        sparse.prune_2to4(be.asarray(np.array(1.0)))
    with pytest.raises(errors.ShapeError, match="two axes"):
        sparse.matmul_2to4(be.asarray(np.ones(4)), be.asarray(np.ones(4)))
    np.testing.assert_array_equal(sparse.prune_2to4(be.asarray(np.ones(4))).to_numpy(), [1, 1, 0, 0])
