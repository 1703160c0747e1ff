"""2:4 sparsity against NumPy."""

import inputs
import numpy as np
import pytest
from reference import assert_matches, widen

import stator
from stator import sparse

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def pruned(x, axis=-1):
    """The reference: of each four the two largest magnitudes stay, of equal ones the first; NaN is the largest."""
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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("m", "k", "n"), [(1, 4, 1), (33, 64, 17), (70, 130, 65), (300, 257, 70), (64, 512, 128)])
def test_packed_products_on_either_side(be, dtype, m, k, n):
    a = inputs.random(np.random.default_rng(0), (m, k), dtype, -1, 1)
    b = inputs.random(np.random.default_rng(1), (k, n), dtype, -1, 1)
    right, left = pruned(b, 0), pruned(a, 1)
    got = be.asarray(a) @ sparse.compress(be.asarray(b), axis=0)
    assert_matches(got.to_numpy(), widen(a) @ widen(right), (8, 8), scale=np.abs(widen(a)) @ np.abs(widen(right)))
    got = sparse.compress(be.asarray(a)) @ be.asarray(b)
    assert_matches(got.to_numpy(), widen(left) @ widen(b), (8, 8), scale=np.abs(widen(left)) @ np.abs(widen(b)))


@pytest.mark.parametrize("layout", ["transposed", "sliced", "reversed"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_packed_products_of_any_layout(be, layout, dtype):
    a = inputs.random(np.random.default_rng(0), (90, 72), dtype, -1, 1)
    b = inputs.random(np.random.default_rng(1), (72, 80), dtype, -1, 1)
    on = inputs.on_device(be, inputs.layouts()[layout](a))
    got = sparse.matmul_2to4(on, sparse.compress(be.asarray(b), axis=-2))
    scale = np.abs(widen(a)) @ np.abs(widen(pruned(b, 0)))
    assert_matches(got.to_numpy(), widen(a) @ widen(pruned(b, 0)), (8, 8), scale=scale)
    on = inputs.on_device(be, inputs.layouts()[layout](b))
    got = sparse.matmul_2to4(sparse.compress(be.asarray(a)), on)
    scale = np.abs(widen(pruned(a, 1))) @ np.abs(widen(b))
    assert_matches(got.to_numpy(), widen(pruned(a, 1)) @ widen(b), (8, 8), scale=scale)


def test_packed_stacks_vectors_and_nothing(be):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(3, 1, 5, 12)), rng.normal(size=(2, 12, 7))
    packed = sparse.compress(be.asarray(b), axis=-2)
    assert packed.shape == (2, 12, 7) and packed.dtype == "float64"
    np.testing.assert_allclose((be.asarray(a) @ packed).to_numpy(), a @ pruned(b, 1), atol=1e-12)
    np.testing.assert_allclose((be.asarray(a[0, 0, 0]) @ packed).to_numpy(), a[0, 0, 0] @ pruned(b, 1), atol=1e-12)
    left = sparse.compress(be.asarray(a))
    np.testing.assert_allclose((left @ be.asarray(b[0, :, 0])).to_numpy(), pruned(a) @ b[0, :, 0], atol=1e-12)
    empty = sparse.compress(be.zeros((0, 7)), axis=0)
    np.testing.assert_array_equal((be.zeros((2, 0)) @ empty).to_numpy(), np.zeros((2, 7)))
    assert (be.zeros((0, 12)) @ sparse.compress(be.asarray(b[0]), axis=0)).shape == (0, 7)


def test_values_and_places_take_half_of_the_memory_and_some(be):
    packed = sparse.compress(be.zeros((64, 64), dtype="float32"))
    assert packed.nbytes == 64 * 64 * 4 // 2 + 64 * 16


def test_packed_operands_that_do_not_fit(be):
    errors, x = stator.errors, be.asarray(np.ones((8, 8)))
    rows, cols = sparse.compress(x), sparse.compress(x, axis=0)
    with pytest.raises(errors.ShapeError, match="last but one"):
        x @ rows
    with pytest.raises(errors.ShapeError, match="last axis"):
        cols @ x
    with pytest.raises(errors.ShapeError, match="8 packed elements and an axis of 4"):
        x[:, :4] @ cols
    with pytest.raises(errors.DTypeError, match="complex"):
        be.asarray(np.ones((8, 8), complex)) @ cols
    with pytest.raises(TypeError):
        rows @ cols
    with pytest.raises(TypeError):
        rows @ np.ones(8)
    np.testing.assert_array_equal((rows @ x).to_numpy(), np.full((8, 8), 4))


def test_what_cannot_be_pruned(be):
    errors = stator.errors
    with pytest.raises(errors.DTypeError, match="prune_2to4"):
        sparse.prune_2to4(be.asarray(np.ones(4, int)))
    with pytest.raises(errors.DTypeError, match="prune_2to4"):
        sparse.prune_2to4(be.asarray(np.ones(4, complex)))
    with pytest.raises(errors.AxisError):
        sparse.prune_2to4(be.asarray(np.ones(4)), axis=1)
    with pytest.raises(errors.AxisError):
        sparse.prune_2to4(be.asarray(np.array(1.0)))
    with pytest.raises(errors.ShapeError, match="two axes"):
        sparse.matmul_2to4(be.asarray(np.ones(4)), be.asarray(np.ones(4)))
    np.testing.assert_array_equal(sparse.prune_2to4(be.asarray(np.ones(4))).to_numpy(), [1, 1, 0, 0])
