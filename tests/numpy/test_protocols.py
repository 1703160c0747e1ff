"""NumPy's own functions, called with stator's arrays, are those of stator.numpy."""

import numpy as np
import pytest

import stator


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x),
        lambda x: np.sum(x, axis=0, keepdims=True),
        lambda x: np.sin(x),
        lambda x: np.add(x, 1),
        lambda x: np.add.reduce(x),
        lambda x: np.add.outer(x[0], x[0]),
        lambda x: np.maximum.accumulate(x, 1),
        lambda x: np.concatenate([x, x], 1),
        lambda x: np.where(x > 1, x, 0),
        lambda x: np.percentile(x, 30),
        lambda x: np.zeros_like(x),
        lambda x: np.moveaxis(x, 0, 1),
        lambda x: np.stack([x, x]),
        lambda x: np.clip(x, 0, 1),
        lambda x: np.divmod(x, 2),
        lambda x: np.tril(x),
    ],
)
def test_numpys_functions_give_arrays(be, call):
    host = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]])
    wanted, found = call(host), call(be.asarray(host))
    for one, other in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
        assert isinstance(one, stator.Array) and one.backend is be
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.to_numpy(), other, rtol=1e-13)


def test_results_that_are_no_arrays(be):
    x = be.asarray([1.0, 2.0], dtype="float32")
    assert np.shape(x) == (2,) and np.ndim(x) == 1 and np.size(x) == 2
    assert np.result_type(x, np.int8) is np.dtype("float32")
    assert np.allclose(x, x) and np.array_equal(x, x)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, host: np.add(x, host),
        lambda x, host: np.add(host, x),
        lambda x, host: host + x,
        lambda x, host: x + host,
        lambda x, host: host == x,
        lambda x, host: np.concatenate([host, x]),
        lambda x, host: np.copyto(host, x),
        lambda x, host: np.add(x, 1, out=host),
        lambda x, host: host.__iadd__(x),
    ],
)
def test_a_numpy_array_is_never_copied_silently(be, call):
    host = np.ones(2)
    x = be.asarray([1.0, 2.0])
    with be.forbid_host_copies(), pytest.raises(TypeError, match="Array"):
        call(x, host)
    assert host.tolist() == [1.0, 1.0]


def test_numpys_scalars_count_by_their_dtype_on_either_side(be):
    x = be.asarray([1.0, 2.0], dtype="float32")
    for got in (x * np.float64(2), np.float64(2) * x, np.int64(2) * x, np.multiply(np.float64(2), x)):
        assert got.dtype == stator.float64
        assert got.to_numpy().tolist() == [2.0, 4.0]


def test_what_is_absent_says_so(be):
    with pytest.raises(TypeError, match="to_numpy"):
        np.busday_count(be.asarray([1]), be.asarray([2]))
    with pytest.raises(TypeError, match="to_numpy"):
        np.frompyfunc(lambda v: v, 1, 1)(be.asarray([1.0]))


def test_copies_that_are_asked_for_are_made(be):
    x = be.asarray([1.0, 2.0])
    assert np.asarray(x).tolist() == [1.0, 2.0]
    assert np.array(x).tolist() == [1.0, 2.0]


def test_another_class_that_takes_part_decides(be):
    class Other:
        def __array_function__(self, function, types, args, options):
            return "other"

        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return "other"

    x = be.asarray([1.0, 2.0])
    assert np.concatenate([x, Other()]) == "other"
    assert np.add(x, Other()) == "other"


@pytest.mark.parametrize("name", ["log1p", "expm1"])
def test_functions_of_scipy_are_those_of_stator(be, name):
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    function = getattr(special, name)
    host = [np.array([0.5, 2.0, 3.0])] * function.nin
    got = function(*map(be.asarray, host))
    assert isinstance(got, stator.Array) and got.backend is be
    np.testing.assert_allclose(got.to_numpy(), function(*host), rtol=1e-13)


def test_a_function_of_scipy_that_is_not_there_says_so(be):
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    with pytest.raises(TypeError, match=r"scipy\.special\.hyp2f1.*to_numpy"):
        special.hyp2f1(*[be.asarray([0.5])] * 4)


def test_a_range_of_a_histogram_may_be_arrays(be):
    x = be.asarray([0.0, 1.0, 2.0, 3.0])
    counts, edges = np.histogram(x, bins=3, range=(x[0], x[2]))
    np.testing.assert_array_equal(counts.to_numpy(), [1, 1, 1])
    np.testing.assert_allclose(edges.to_numpy(), np.linspace(0, 2, 4))
