"""Ways of NumPy in which stator's functions are called: names of dtypes, axis by position, full of an array."""

import pickle

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, InvalidValueError

SPELLINGS = ["f4", "<f4", "float", "double", "int", "i2", "?", "b", "D", "single", "half", "u1", "complex", "intp"]
SPELLINGS += [float, int, bool, complex, np.float32, np.bool_, np.intp, np.dtype("i2"), np.dtype("<u4")]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
def test_dtypes_are_named_as_in_numpy(be, spelling):
    assert be.zeros((2,), dtype=spelling).dtype.numpy() == np.dtype(spelling)
    assert stator.dtype(spelling) == spelling
    assert be.zeros((2,)).astype(spelling).dtype == np.dtype(spelling)


@pytest.mark.parametrize("bad", ["f5", ">f4", "U3", "O", "i4,f4", "M8[s]", "g", "", np.dtype(object)], ids=str)
def test_other_dtypes_are_refused(be, bad):
    with pytest.raises(DTypeError, match="is not an element type"):
        be.zeros((2,), dtype=bad)
    assert stator.float32 != bad


X = np.random.default_rng(0).integers(0, 9, (3, 4)).astype(np.float64)


@pytest.mark.parametrize(
    "name", ["sum", "mean", "max", "min", "std", "var", "argmax", "argmin", "all", "prod", "median"]
)
@pytest.mark.parametrize("axis", [0, -1, None])
def test_the_axis_of_a_reduction_may_be_given_by_position(be, name, axis):
    got = getattr(stator, name)(be.asarray(X), axis)
    np.testing.assert_allclose(got.to_numpy(), getattr(np, name)(X, axis))


def test_an_axis_given_twice_is_refused(be):
    with pytest.raises(TypeError, match="axis"):
        stator.sum(be.asarray(X), 0, axis=1)
    with pytest.raises(TypeError, match="positional"):
        stator.sum(be.asarray(X), 0, "float64")


def test_sort_take_and_cumulative_sums_take_the_axis_by_position(be):
    on = be.asarray(X)
    np.testing.assert_array_equal(stator.sort(on, 0).to_numpy(), np.sort(X, 0))
    np.testing.assert_array_equal(stator.argsort(on, 1).to_numpy(), np.argsort(X, 1, kind="stable"))
    np.testing.assert_array_equal(stator.cumulative_sum(on, 1).to_numpy(), np.cumsum(X, 1))
    np.testing.assert_array_equal(stator.take(on, be.asarray([1]), 1).to_numpy(), np.take(X, [1], 1))
    np.testing.assert_array_equal(stator.diff(on, 2, 0).to_numpy(), np.diff(X, 2, 0))
    np.testing.assert_array_equal(stator.repeat(on, 2, 0).to_numpy(), np.repeat(X, 2, 0))
    np.testing.assert_array_equal(stator.quantile(on, 0.5, 0).to_numpy(), np.quantile(X, 0.5, 0))


@pytest.mark.parametrize("dtype", [None, "float32"])
@pytest.mark.parametrize(("values", "of"), [(2.5, "f8"), ([0, 1, 2], "i8"), (3, "i2")], ids=str)
def test_full_takes_an_array(be, values, of, dtype):
    value = np.array(values, of)
    want = np.full((2, 3), value, dtype)
    with be.use():
        for given in (be.asarray(value), value):
            got = stator.full((2, 3), given, dtype=dtype)
            assert got.dtype == want.dtype and got.backend is be
            np.testing.assert_array_equal(got.to_numpy(), want)
        assert stator.full_like(be.zeros((2, 2), dtype="i4"), be.asarray(7.5)).dtype == stator.int32
    with pytest.raises(ValueError, match="full"):
        be.full((2, 2), be.zeros((3,)))


def test_full_of_an_array_reads_nothing(be):
    with be.forbid_host_copies():
        be.full((3,), be.asarray(2.0))


def test_lstsq_takes_rcond(be):
    a = np.diag([1.0, 1e-3, 1e-9])
    b = np.ones(3)
    for rcond in (None, -1, 1e-6, 1e-2):
        x, _, rank, _ = np.linalg.lstsq(a, b, rcond)
        for got in (
            stator.linalg.lstsq(be.asarray(a), be.asarray(b), rcond),
            stator.linalg.lstsq(be.asarray(a), be.asarray(b), rcond=rcond),
        ):
            np.testing.assert_allclose(got.x.to_numpy(), x)
            assert int(got.rank) == rank
    with pytest.raises(InvalidValueError, match="rcond"):
        stator.linalg.lstsq(be.asarray(a), be.asarray(b), rcond=1e-3, rtol=1e-3)


def test_an_axis_out_of_range_is_an_error_of_numpy(be):
    with pytest.raises(np.exceptions.AxisError, match=r"sum: .*2 dimensions") as caught:
        stator.sum(be.asarray(X), 5)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.op, type(again)) == (str(caught.value), "sum", stator.errors.AxisError)
    assert isinstance(again, (IndexError, ValueError)) and isinstance(again, stator.errors.ShapeError)


def test_elements_are_views_and_are_exchanged_as_documented(be):
    x = be.asarray([1.0, 2.0, 3.0])
    first, kept, number = x[0], x[0].copy(), x[0].item()
    x[0], x[1] = x[1], x[0]
    assert x.tolist() == [2.0, 2.0, 3.0]  # what the documentation warns of
    assert (first.item(), kept.item(), number) == (2.0, 1.0, 1.0)
    x[[0, 2]] = x[[2, 0]]
    assert x.tolist() == [3.0, 2.0, 2.0]
    rows = be.asarray([[1, 2], [3, 4]])
    rows[[0, 1]] = rows[[1, 0]]
    assert rows.tolist() == [[3, 4], [1, 2]]
    assert "x[[0, 1]] = x[[1, 0]]" in stator.Array.__doc__
    assert sorted(stator.random.permutation(be.arange(50)).tolist()) == list(range(50))
