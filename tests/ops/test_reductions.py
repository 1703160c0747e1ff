"""Every reduction row against its oracle: dtypes, axes, layouts, lengths around blocks, NaN, empty."""

import zlib

import inputs
import ml_dtypes  # noqa: F401  (registers bfloat16 with NumPy)
import numpy as np
import pytest
from cases import TABLE, bound, case, expected, function, names, result_dtype
from reference import assert_matches

import stator

ROWS = names("reduce")
LAYOUTS = inputs.layouts()


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def make(name, shape, dtype, *key):
    c = case(name)
    x = inputs.random(rng_of(name, dtype, *key), shape, dtype, c.low, c.high)
    # A mean of both signs cancels, and no bound in its own last place holds for any summation.
    return np.abs(x // 2) if name == "mean" and dtype.startswith("int") else x


def reference(name, x, **kwargs):
    if name == "sum" and result_dtype(name, x.dtype.name) in ("int64", "uint64"):
        return np.sum(x, dtype=result_dtype(name, x.dtype.name), **kwargs)
    if name == "argmax":
        kwargs.pop("keepdims", None) if x.dtype.name == "bfloat16" else None
    return expected(name, x, **kwargs)


def check(be, name, x, **kwargs):
    got = function(name)(inputs.on_device(be, x), **kwargs)
    assert got.dtype.name == result_dtype(name, x.dtype.name)
    assert_matches(got.to_numpy(), np.asarray(reference(name, x, **kwargs)), bound(name, got.dtype.name), name)


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ROWS for d in TABLE[n]["dtypes"]])
def test_matches_oracle_for_each_dtype(be, name, dtype):
    for size in (1, 31, 33, 256, 4099, 70001):
        check(be, name, make(name, (size,), dtype, size))
    x = make(name, (65, 130), dtype)
    for axis in (0, 1):
        check(be, name, x, axis=axis)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ROWS)
def test_matches_oracle_for_each_layout_and_axis(be, name, layout):
    for dtype in ("float32", "int32"):
        x = LAYOUTS[layout](make(name, (6, 35, 9), dtype, layout))
        for axis in (None, 0, 1, 2, -1):
            for keepdims in (False, True):
                check(be, name, x, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("axis", [(0, 1), (0, 2), (1, 2), (0, 1, 2), (-1, 0)])
@pytest.mark.parametrize("name", [n for n in ROWS if not n.startswith("arg")])
def test_reduces_several_axes(be, name, axis):
    check(be, name, make(name, (5, 18, 33), "float32", axis), axis=axis)


@pytest.mark.parametrize("shape", [(2, 100003), (100003, 2), (1, 70000), (3000, 300), (4, 3, 5000), (1000, 1000)])
@pytest.mark.parametrize("name", ROWS)
def test_long_and_wide_shapes(be, name, shape):
    x = make(name, shape, "float32", shape)
    for axis in range(len(shape)):
        check(be, name, x, axis=axis)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_nan_propagates_and_the_first_wins(be, dtype):
    x = inputs.random(rng_of(dtype), (300, 40), dtype)
    x[7, 3] = x[9, 3] = x[299, 39] = np.nan
    on = be.asarray(x)
    assert np.isnan(float(stator.max(on)))
    got = stator.max(on, axis=0).to_numpy()
    assert list(np.flatnonzero(np.isnan(got.astype(float)))) == [3, 39]
    assert int(stator.argmax(on)) == 7 * 40 + 3
    assert stator.argmax(on, axis=0).to_numpy()[[3, 39]].tolist() == [7, 299]


def test_ties_give_the_first_index_and_signed_zeros_are_equal(be):
    assert int(stator.argmax(be.asarray(np.array([-0.0, 0.0, -0.0])))) == 0
    assert int(stator.argmax(be.zeros((1000,)))) == 0
    assert int(stator.argmax(be.asarray(np.tile([1, 5, 5], 1000)))) == 1


def test_minus_infinity_has_a_maximum(be):
    assert float(stator.max(be.full((40,), -float("inf")))) == -float("inf")
    assert int(stator.argmax(be.full((40,), -float("inf")))) == 0


def test_sum_of_many_floats_is_as_exact_as_numpy(be):
    x = np.random.default_rng(3).random(2**22, dtype=np.float32)
    exact = float(np.sum(x, dtype=np.float64))
    ours = abs(float(stator.sum(be.asarray(x))) - exact)
    assert ours <= max(abs(float(np.sum(x)) - exact), np.spacing(np.float32(exact)))


def test_half_sums_accumulate_in_float32(be):
    assert float(stator.sum(be.full((65536,), 0.5, dtype="float16"))) == 32768.0
    assert float(stator.mean(be.full((300000,), 1.0, dtype="bfloat16"))) == 1.0


def test_dtype_is_the_accumulator(be):
    x = be.asarray(np.full(300, 100, np.int8))
    assert stator.sum(x, dtype="int8").dtype == stator.int8
    assert int(stator.sum(x, dtype="int16")) == 30000
    assert stator.sum(x, dtype="float32").dtype == stator.float32
    assert stator.mean(be.asarray(np.ones(4, np.float32)), dtype="float64").dtype == stator.float64


def test_empty_reductions(be):
    empty = be.empty((0, 3))
    assert float(stator.sum(empty)) == 0
    np.testing.assert_array_equal(stator.sum(empty, axis=0).to_numpy(), np.zeros(3))
    assert stator.sum(empty, axis=1).shape == (0,)
    assert np.isnan(float(stator.mean(empty)))
    for name in ("max", "argmax"):
        with pytest.raises(ValueError, match=name):
            function(name)(empty)
        assert function(name)(be.empty((3, 0)), axis=0).shape == (0,)


def test_no_axes_is_a_copy(be):
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(stator.sum(be.asarray(x), axis=()).to_numpy(), x)


def test_results_are_equal_bits_run_to_run(be):
    x = be.asarray(np.random.default_rng(0).normal(size=(257, 4099)).astype(np.float32))
    for axis in (None, 0, 1):
        first = stator.sum(x, axis=axis).to_numpy().tobytes()
        assert all(stator.sum(x, axis=axis).to_numpy().tobytes() == first for _ in range(5))


def test_out_receives_the_result(be):
    out = be.empty((3,), dtype="float64")
    stator.sum(be.asarray(np.ones((4, 3), np.float32)), axis=0, out=out)
    np.testing.assert_array_equal(out.to_numpy(), [4, 4, 4])
