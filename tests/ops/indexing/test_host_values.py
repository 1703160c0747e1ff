"""Lists and NumPy arrays as indices and as assigned values, as in NumPy; what they copy is counted."""

import numpy as np
import pytest

import stator
from stator.errors import DTypeError, IndexTypeError, OutOfRangeError

X = np.arange(60.0).reshape(3, 4, 5)
INDICES = [
    [0, 2],
    [-1],
    [],
    [[0, 1], [2, 0]],
    np.array([2, 0]),
    np.array(1),
    np.array([1, -1], np.int8),
    range(2),
    [True, False, True],
    np.array([False, False, True]),
    X > 30,
    ([0, 1], [1, 2]),
    ([0, 1], slice(None), [1, 2]),
    (..., [0, 1]),
    (None, [1], ..., 0),
    (slice(1), np.array([[0], [1]]), [0, 4]),
    (1, [True, False, True, False]),
    (np.int64(1), [1]),
    (np.bool_(True), [2]),
    np.ix_([0, 2], [1, 3], [4]),
    np.nonzero(X > 50),
]


@pytest.mark.parametrize("place", range(len(INDICES)))
def test_indices_of_the_host(be, place):
    on, index = be.asarray(X), INDICES[place]
    np.testing.assert_array_equal(on[index].to_numpy(), X[index])
    host = X.copy()
    host[index] = -1.0
    on[index] = -1.0
    np.testing.assert_array_equal(on.to_numpy(), host)


def test_indices_of_the_host_and_of_the_device_mix(be):
    on = be.asarray(X)
    np.testing.assert_array_equal(on[be.asarray([0, 2]), [1, 3]].to_numpy(), X[[0, 2], [1, 3]])


VALUES = [
    (0, [[1.0] * 5] * 4),
    ((0, 0), [1, 2, 3, 4, 5]),
    ((0, 0), (1, 2, 3, 4, 5)),
    (slice(1, None), np.arange(5, dtype=np.float32)),
    (..., np.array(7)),
    ([0, 2], [[1], [2], [3], [4]]),
    (X > 30, np.arange(29)),
    ((slice(None), [1, 0]), np.ones((3, 2, 5))[::-1]),
    ((0, 0, slice(0, 2)), range(2)),
    ((0, 0, slice(0, 2)), np.array([True, False])),
]


@pytest.mark.parametrize("place", range(len(VALUES)))
def test_assigned_values_of_the_host(be, place):
    on, host = be.asarray(X), X.copy()
    index, value = VALUES[place]
    on[index] = value
    host[index] = value
    np.testing.assert_array_equal(on.to_numpy(), host)


def test_assigned_values_are_counted_as_copies_to_the_device(be):
    on, row = be.zeros((3, 4)), np.arange(4.0)
    before = be.statistics()["h2d_bytes"]
    be.asarray(row)
    one = be.statistics()["h2d_bytes"] - before
    assert one == row.nbytes
    on[1] = row
    assert be.statistics()["h2d_bytes"] - before == 2 * one
    with be.forbid_host_copies():  # these copies go the other way
        on[[0, 2]] = row
    np.testing.assert_array_equal(on.to_numpy(), [row] * 3)


REFUSED_INDICES = {
    "float": 1.5,
    "float of NumPy": np.float64(1),
    "text": "a",
    "list of floats": [0.0, 1.0],
    "array of floats": np.zeros(2),
    "objects": np.array([None, 1]),
    "structured": np.zeros(2, "i4,f4"),
    "texts": ["a"],
    "ragged": [[1], [1, 2]],
    "too large": [3],
    "too small": np.array([0, -4]),
    "integer too large": 3,
    "huge": [2**70],
    "mask of another length": [True, False],
    "too many": ([0], [0], [0], [0]),
    "dict": {},
    "slice of floats": slice(0.5, None),
}


@pytest.mark.parametrize("name", REFUSED_INDICES)
def test_refused_indices_are_those_of_numpy(be, name):
    on, index = be.asarray(X), REFUSED_INDICES[name]
    with pytest.raises((IndexError, ValueError, TypeError)) as theirs:
        X[index]
    for act in (lambda: on[index], lambda: on.__setitem__(index, 0)):
        with pytest.raises(stator.errors.StatorError) as ours:
            act()
        assert isinstance(ours.value, theirs.type) and ours.value.op.startswith("Array.__")
    np.testing.assert_array_equal(on.to_numpy(), X)


def test_an_array_of_floats_is_no_index(be):
    with pytest.raises(IndexTypeError, match="astype"):
        be.asarray(X)[be.zeros(2)]
    assert issubclass(IndexTypeError, (IndexError, DTypeError))


def test_an_index_of_the_host_out_of_range_is_refused_at_once(be):
    with pytest.raises(OutOfRangeError, match="Index 4 on axis 1 of length 4"):
        be.asarray(X)[:, [0, 4]]


REFUSED_VALUES = {
    "ragged": [[1], [1, 2]],
    "objects": np.array([object()] * 3),
    "structured": np.zeros(3, "i4,f4"),
    "shape": [1, 2],
    "dict": {},
    "complex": [1j] * 3,
}


@pytest.mark.parametrize("name", REFUSED_VALUES)
def test_refused_values_are_those_of_numpy(be, name):
    on, value = be.zeros((3,)), REFUSED_VALUES[name]
    with pytest.raises((ValueError, TypeError)) as theirs:
        np.zeros(3)[:] = value
    with pytest.raises(stator.errors.StatorError) as ours:
        on[:] = value
    assert isinstance(ours.value, theirs.type)
    np.testing.assert_array_equal(on.to_numpy(), 0)


def test_integers_are_refused_that_do_not_fit(be):
    on = be.zeros((2,), dtype="uint8")
    on[:] = [255, 0]
    for bad in ([256, 0], [0, -1]):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            on[:] = bad
    np.testing.assert_array_equal(on.to_numpy(), [255, 0])


def test_arithmetic_with_numpy_arrays_asks_for_asarray(be):
    x = be.ones((3,))
    for act in (lambda: x + np.ones(3), lambda: np.ones(3) * x, lambda: x == np.ones(3), lambda: stator.add(x, [1])):
        with pytest.raises(DTypeError, match="asarray"):
            act()
