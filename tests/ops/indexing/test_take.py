"""take against NumPy, and indices out of range."""

import inputs
import numpy as np
import pytest

import stator


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_every_dtype(be, dtype):
    x = inputs.random(np.random.default_rng(0), (9, 70), dtype)
    index = np.array([[0, 8, -1], [-9, 3, 3]])
    for axis, values in ((0, index), (1, index * 7), (None, index * 60)):
        got = stator.take(be.asarray(x), be.asarray(values), axis=axis)
        np.testing.assert_array_equal(got.to_numpy(), np.take(x, values, axis=axis))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("width", [257, 601, 1023, 1025])
def test_every_item_size_in_rows_of_odd_lengths(be, width, dtype):
    x = np.arange(4 * width).reshape(4, width).astype(dtype)
    index = np.array([3, 0, 2, 1, 1])
    for view in (lambda a: a, lambda a: a[:, ::-1]):
        got = stator.take(view(be.asarray(x)), be.asarray(index), axis=0)
        np.testing.assert_array_equal(got.to_numpy(), view(x)[index])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_every_index_dtype(be, dtype):
    x = np.arange(100.0)
    index = np.arange(90, 3, -7).astype(dtype)
    np.testing.assert_array_equal(stator.take(be.asarray(x), be.asarray(index), axis=0).to_numpy(), x[index])


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("shape", [(5, 64), (5, 65), (5, 4096), (70, 1), (3, 4, 5), (40, 3, 128)])
def test_row_lengths_and_strides(be, shape, dtype):
    x = inputs.random(np.random.default_rng(1), shape, dtype)
    for view in (lambda a: a, lambda a: a[..., ::-1], lambda a: a[::2], lambda a: a[:, 1:] if a.shape[1] > 1 else a):
        for axis in range(len(shape)):
            n = view(x).shape[axis]
            index = np.random.default_rng(2).integers(-n, n, 33)
            got = stator.take(view(be.asarray(x)), be.asarray(index), axis=axis)
            np.testing.assert_array_equal(got.to_numpy(), np.take(view(x), index, axis=axis))


def test_transposed_source_and_scalar_index(be):
    x = np.arange(12).reshape(3, 4)
    got = stator.take(be.asarray(x).T, be.asarray(np.array(2)), axis=0)
    np.testing.assert_array_equal(got.to_numpy(), np.take(x.T, 2, axis=0))


def test_out_may_be_the_very_same_view_as_an_input(be):
    x, index = be.asarray(np.arange(9)), be.asarray(np.arange(8, -1, -1))
    stator.take(x, index, axis=0, out=x)
    np.testing.assert_array_equal(x.to_numpy(), np.arange(9)[::-1])
    stator.take(x, index, axis=0, out=index)
    np.testing.assert_array_equal(index.to_numpy(), np.arange(9))


def test_empty_indices(be):
    got = stator.take(be.asarray(np.ones((3, 4))), be.empty((0,), dtype="int64"), axis=1)
    assert got.shape == (3, 0)


@pytest.mark.parametrize("bad", [5, -6, 2**40, -(2**63)])
def test_an_index_outside_reads_zero_and_is_raised_once(be, bad):
    x = be.asarray(np.arange(1.0, 6.0))
    got = stator.take(x, be.asarray(np.array([1, bad, 4])), axis=0)
    with pytest.raises(IndexError, match=str(bad)) as caught:
        be.synchronize()
    assert caught.value.op == "take"
    be.synchronize()
    np.testing.assert_array_equal(got.to_numpy(), [2, 0, 5])


def test_the_reader_of_the_result_gets_the_error_too(be):
    got = stator.take(be.asarray(np.arange(3)), be.asarray(np.array([3])), axis=0)
    with pytest.raises(IndexError, match="take"):
        got.to_numpy()
    assert int(got.to_numpy()[0]) == 0


def test_eager_checking_raises_in_the_call(be):
    with stator.Backend(be.device, check_indices="eager") as eager, pytest.raises(IndexError, match="take"):
        stator.take(eager.asarray(np.arange(3)), eager.asarray(np.array([7])), axis=0)


def test_huge_unsigned_index(be):
    stator.take(be.asarray(np.arange(3)), be.asarray(np.array([2**64 - 1], np.uint64)), axis=0)
    with pytest.raises(IndexError, match=r"2\*\*63"):
        be.synchronize()


def test_bad_arguments(be):
    x, index = be.zeros((2, 3)), be.asarray(np.array([0]))
    with pytest.raises(stator.errors.DTypeError):
        stator.take(x, be.asarray(np.array([0.5])), axis=0)
    with pytest.raises(stator.errors.AxisError):
        stator.take(x, index, axis=2)


def test_integer_array_in_brackets_takes(be):
    x = np.arange(20).reshape(5, 4)
    np.testing.assert_array_equal(be.asarray(x)[be.asarray(np.array([3, 1]))].to_numpy(), x[[3, 1]])
