"""Sizes beyond 2^31, by views that repeat one element or one row, so that nothing of that size is stored."""

import numpy as np
import pytest

import stator

BIG = 2**31 + 5


@pytest.fixture
def one(be):
    """A view of BIG times the same element."""
    return lambda value, dtype: stator.broadcast_to(be.asarray(np.array(value, dtype)), (BIG,))


def test_reductions_count_in_64_bits(one):
    assert int(stator.sum(one(1, np.int8))) == BIG
    assert int(stator.count_nonzero(one(True, np.bool_))) == BIG


def test_reductions_of_rows_that_repeat(be):
    row = np.zeros(2**16, np.int8)
    row[-1] = 1
    table = stator.broadcast_to(be.asarray(row), (2**15 + 1, 2**16))
    assert int(stator.argmax(table)) == 2**16 - 1
    np.testing.assert_array_equal(stator.sum(table, axis=0).to_numpy(), row.astype(np.int64) * (2**15 + 1))


def test_indices_beyond_32_bits_read_where_they_say(be):
    x = stator.broadcast_to(be.asarray(np.arange(3, dtype=np.uint8)), (BIG, 3))
    places = be.asarray(np.array([0, 2**31 - 1, 2**31 + 4, -1, -BIG]))
    for got in (
        stator.take(x, places, axis=0),
        x[places],
        x[::-1][places],
        stator.concat([x[2**31 :], x[:0]], axis=0),
        stator.roll(x[-5:], 2, axis=0),
        x[2**31 :: 1],
        stator.copy(x[BIG - 5 :]),
        stator.take_along_axis(x[:, :1], places[:, None], axis=0) + be.asarray(np.arange(3, dtype=np.uint8)),
    ):
        np.testing.assert_array_equal(got.to_numpy(), np.tile(np.arange(3), (5, 1)))


def test_an_index_just_outside_a_large_axis_is_reported(be):
    x = stator.broadcast_to(be.asarray(np.zeros(1, np.uint8)), (BIG,))
    stator.take(x, be.asarray([BIG]), axis=0)
    with pytest.raises(IndexError, match=str(BIG)):
        be.synchronize()


def test_strides_beyond_32_bits_reach_their_elements(be):
    """Rows with stride 0 and columns far apart need 64-bit offsets in elementwise ops and copies."""
    x = stator.broadcast_to(be.asarray(np.array([[1], [2]], np.uint8)), (2, BIG))
    far = x[:, 2**31 :: 2]
    np.testing.assert_array_equal(far.to_numpy(), [[1] * 3, [2] * 3])
    np.testing.assert_array_equal(stator.add(far, far[::-1]).to_numpy(), np.full((2, 3), 3))
    np.testing.assert_array_equal(stator.permute_dims(x, (1, 0))[-2:].to_numpy(), [[1, 2], [1, 2]])
