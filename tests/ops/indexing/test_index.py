"""x[index] and x[index] = value with arrays: cases that the property test does not name."""

import itertools

import inputs
import numpy as np
import pytest

import stator
from stator.errors import BackendMismatchError, DTypeError, ShapeError


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_every_dtype_is_read_and_written(be, dtype):
    x = inputs.random(np.random.default_rng(0), (6, 40), dtype)
    value = inputs.random(np.random.default_rng(1), (3, 2), dtype)
    rows, cols = np.array([[5], [0], [3]]), np.array([-1, 7])
    ours = be.asarray(x)
    np.testing.assert_array_equal(ours[be.asarray(rows), be.asarray(cols)].to_numpy(), x[rows, cols])
    ours[be.asarray(rows), be.asarray(cols)] = be.asarray(value)
    x[rows, cols] = value
    np.testing.assert_array_equal(ours.to_numpy(), x)


def test_parted_arrays_put_their_axes_first(be):
    x, i = np.arange(120).reshape(2, 3, 4, 5), np.array([1, 0, 1])
    ours, at = be.asarray(x), be.asarray(i)
    assert ours[:, at, :, at].shape == x[:, i, :, i].shape == (3, 2, 4)
    assert ours[0, :, at].shape == x[0, :, i].shape
    assert ours[:, at, at].shape == x[:, i, i].shape == (2, 3, 5)
    np.testing.assert_array_equal(ours[at, None, ..., at].to_numpy(), x[i, None, ..., i])


@pytest.mark.parametrize("shape", [(200_000,), (500, 300), (3, 70_000), (40_000, 3)])
def test_large_arrays(be, shape):
    rng = np.random.default_rng(2)
    x = rng.normal(size=shape).astype(np.float32)
    ours = be.asarray(x)
    for axis in range(len(shape)):
        index = rng.permutation(shape[axis])
        key, device = (slice(None),) * axis + (index,), (slice(None),) * axis + (be.asarray(index),)
        got = ours[device]
        np.testing.assert_array_equal(got.to_numpy(), x[key])
        back = be.zeros(shape, dtype="float32")
        back[device] = got
        np.testing.assert_array_equal(back.to_numpy(), x)


def test_an_index_or_a_value_may_share_the_memory(be):
    x = np.array([3, 2, 1, 0, 4])
    ours = be.asarray(x)
    ours[ours] = ours[::-1]
    x[x.copy()] = x[::-1].copy()
    np.testing.assert_array_equal(ours.to_numpy(), x)


def test_augmented_assignment(be):
    x = be.arange(5)
    at = be.asarray(np.array([0, 3]))
    x[at] += 10
    x[x > 10] *= 2
    assert x.to_numpy().tolist() == [10, 1, 2, 26, 4]


@pytest.mark.parametrize("dtype", ["float64", "complex64", "complex128"])
def test_a_number_is_put_through_an_index(be, dtype):
    x, i = np.zeros((9, 40), dtype), np.array([3, 0, -1])
    ours = be.asarray(x)
    ours[be.asarray(i)] = 2.5
    x[i] = 2.5
    np.testing.assert_array_equal(ours.to_numpy(), x)


def test_values_are_converted(be):
    x = be.zeros((4,), dtype="float32")
    at = be.asarray(np.array([1, 2]))
    x[at] = be.asarray(np.array([1, 2], np.int8))
    assert x.to_numpy().tolist() == [0, 1, 2, 0]
    with pytest.warns(np.exceptions.ComplexWarning):
        x[at] = be.ones((2,), dtype="complex128")
    assert x.to_numpy().tolist() == [0, 1, 1, 0]
    with pytest.raises(DTypeError, match="complex"):
        x[at] = 1j


def test_an_index_outside_is_raised_once(be):
    x, at = be.arange(5), be.asarray(np.array([1, 9]))
    got = x[at]
    with pytest.raises(IndexError, match="9") as caught:
        be.synchronize()
    assert caught.value.op == "Array.__getitem__"
    assert got.to_numpy().tolist() == [1, 0]
    x[at] = -1
    with pytest.raises(IndexError, match="9"):
        be.synchronize()
    assert x.to_numpy().tolist() == [0, -1, 2, 3, 4]
    with pytest.raises(IndexError, match="extent 5"):
        be.zeros((3, 5))[at, 5]
    assert x[at[:1]].to_numpy().tolist() == [-1]


def test_bad_keys_and_values(be):
    x, at = be.zeros((3, 4)), be.asarray(np.array([0, 1]))
    with pytest.raises(DTypeError, match="integer"):
        x[be.ones((2,))]
    with pytest.raises(ShapeError, match="broadcast"):
        x[at, be.asarray(np.array([0, 1, 2]))]
    with pytest.raises(ShapeError, match="broadcast"):
        x[at] = be.ones((3,))
    with pytest.raises(IndexError, match="3 axes"):
        x[at, at, at]
    with stator.Backend(be.device) as other, pytest.raises(BackendMismatchError):
        x[other.asarray(np.array([0]))]
    assert x[at].shape == (2, 4)


MASKS = [(), (2,), (3,), (0,), (2, 3), (3, 3), (2, 2), (0, 3), (2, 0), (0, 0), (3, 0), (1, 3), (2, 1), (2, 3, 0)]


@pytest.mark.parametrize("shape", MASKS)
def test_masks_fit_or_are_index_errors_as_in_numpy(be, shape):
    mask = np.ones(shape, bool)
    for of, place in itertools.product([(2, 3), (0, 3), (2, 0)], ["only", "last", "new axis"]):
        x = np.arange(np.prod(of)).reshape(of) + 1.0
        ours, on = be.asarray(x), be.asarray(mask)
        key, at = {"only": (mask, on), "last": ((..., mask), (..., on)), "new axis": ((None, mask), (None, on))}[place]
        try:
            want = x[key]
        except IndexError:
            with pytest.raises(IndexError) as caught:
                ours[at]
            assert isinstance(caught.value, stator.errors.StatorError)
            with pytest.raises(IndexError):
                ours[at] = 0
            with pytest.raises(IndexError):
                ours[at] = be.ones((1, 1))
            continue
        np.testing.assert_array_equal(ours[at].to_numpy(), want)
        for value in (-1.0, np.full((1,), -2.0), -want):
            x[key] = value
            ours[at] = be.asarray(value) if isinstance(value, np.ndarray) else value
            np.testing.assert_array_equal(ours.to_numpy(), x)
        if mask.size == 0:
            with pytest.raises(ShapeError):
                ours[at] = be.ones((5,))


def test_more_than_eight_arrays_are_refused(be):
    x, at = be.zeros((1,) * 9), be.asarray(np.array([0]))
    assert x[(at,) * 8].shape == (1, 1)
    with pytest.raises(NotImplementedError, match="9 arrays"):
        x[(at,) * 9]


def test_cdist_of_near_points_keeps_its_digits(be):
    a = np.array([[1e4, 1e4]], np.float32)
    b = a + np.float32(2**-9)
    np.testing.assert_allclose(stator.cdist(be.asarray(a), be.asarray(b)).to_numpy(), [[2**-9 * 2**0.5]], rtol=1e-6)


def test_cdist_layouts_batches_and_errors(be):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 1, 70, 33)), rng.normal(size=(3, 40, 33))
    want = np.sqrt(((a[..., :, None, :] - b[..., None, :, :]) ** 2).sum(-1))
    np.testing.assert_allclose(stator.cdist(be.asarray(a), be.asarray(b)).to_numpy(), want, rtol=1e-13)
    turned = stator.cdist(be.asarray(np.asarray(a[0, 0].T.copy())).T, be.asarray(b[0])[::-1]).to_numpy()
    np.testing.assert_allclose(turned, want[0, 0][:, ::-1], rtol=1e-13)
    assert stator.cdist(be.zeros((0, 3)), be.zeros((2, 3))).shape == (0, 2)
    assert stator.cdist(be.zeros((1, 0)), be.zeros((2, 0))).to_numpy().tolist() == [[0, 0]]
    nan = np.array([[np.nan, 1.0]])
    for p in (1, 2, 3, np.inf):
        assert np.isnan(stator.cdist(be.asarray(nan), be.zeros((1, 2)), p=p).to_numpy()).all()
    with pytest.raises(ShapeError, match="features"):
        stator.cdist(be.zeros((2, 3)), be.zeros((2, 4)))
    with pytest.raises(ValueError, match="p="):
        stator.cdist(be.zeros((2, 3)), be.zeros((2, 3)), p=-1)
    with pytest.raises(DTypeError, match="float16"):
        stator.cdist(be.zeros((2, 3), dtype="float16"), be.zeros((2, 3), dtype="float16"))
