"""Masks: select, scatter, fill, nonzero, compress; fixed sizes; synchronisation; errors."""

import inputs
import numpy as np
import pytest

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError

SHAPES = [(0,), (1,), (31,), (257,), (40, 33), (3, 0, 2), (), (3, 50_000)]


def drawn(shape, dtype="float32", density=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return inputs.random(rng, shape, dtype), np.asarray(rng.random(shape) < density)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("density", [0, 0.02, 0.5, 1])
def test_shapes_and_densities(be, shape, density):
    x, mask = drawn(shape, density=density)
    np.testing.assert_array_equal(be.asarray(x)[be.asarray(mask)].to_numpy(), x[mask])
    if shape:
        for got, want in zip(stator.nonzero(be.asarray(mask)), np.nonzero(mask), strict=True):
            assert got.dtype == stator.int64
            np.testing.assert_array_equal(got.to_numpy(), want)
    grad = np.arange(mask.sum(), dtype=np.float32)
    want = np.zeros(shape, np.float32)
    want[mask] = grad
    got = stator.nn.masked_select_backward(be.asarray(grad), be.asarray(mask))
    np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_every_dtype(be, dtype):
    x, mask = drawn((40, 33), dtype)
    source = inputs.random(np.random.default_rng(5), (1320,), dtype)
    ours, where = be.asarray(x), be.asarray(mask)
    np.testing.assert_array_equal(stator.masked_select(ours, where).to_numpy(), x[mask])
    want = x.copy()
    want[mask] = source[: mask.sum()]
    np.testing.assert_array_equal(stator.masked_scatter(ours, where, be.asarray(source)).to_numpy(), want)
    for got, coordinates in zip(stator.nonzero(ours), np.nonzero(x.astype(np.complex128)), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), coordinates)
    ours[where] = be.asarray(x[0, 0])
    np.testing.assert_array_equal(ours.to_numpy(), np.where(mask, x[0, 0], x))


@pytest.mark.parametrize(
    ("of", "by"), [((3,), (4, 3)), ((4, 3), (3,)), ((4, 1), (3,)), ((), (3,)), ((2, 1), (0, 1, 3))]
)
def test_masked_scatter_broadcasts_both_ways(be, of, by):
    x, mask = np.random.default_rng(0).normal(size=of), np.random.default_rng(1).random(by) < 0.5
    shape = np.broadcast_shapes(of, by)
    source, want = np.arange(12.0), np.broadcast_to(x, shape).copy()
    where = np.broadcast_to(mask, shape)
    want[where] = source[: where.sum()]
    got = stator.masked_scatter(be.asarray(x), be.asarray(mask), be.asarray(source))
    np.testing.assert_array_equal(got.to_numpy(), want)


@pytest.mark.parametrize("layout", inputs.layouts())
def test_layouts(be, layout):
    make = inputs.layouts()[layout]
    x, mask = (make(a) for a in drawn((7, 40, 9)))
    ours, where = inputs.on_device(be, x), inputs.on_device(be, mask)
    np.testing.assert_array_equal(stator.masked_select(ours, where).to_numpy(), x[mask])
    source = np.arange(float(mask.sum())).astype(np.float32)
    want = x.copy()
    want[mask] = source
    np.testing.assert_array_equal(stator.masked_scatter(ours, where, be.asarray(source)).to_numpy(), want)
    np.testing.assert_array_equal(stator.masked_scatter(ours, where, be.asarray(source[::-1])[::-1]).to_numpy(), want)
    np.testing.assert_array_equal(stator.masked_fill(ours, where, 3).to_numpy(), np.where(mask, np.float32(3), x))


@pytest.mark.parametrize("layout", inputs.layouts())
@pytest.mark.parametrize("dtype", ["int8", "float16", "int32", "float64", "complex128"])
def test_arrays_are_assigned_where_a_mask_is_true(be, layout, dtype):
    make = inputs.layouts()[layout]
    x, mask = (make(a) for a in drawn((7, 40, 9)))
    x = make((x * 9).astype(dtype))
    source = np.arange(1, mask.sum() + 1).astype(dtype)
    ours, where, given = inputs.on_device(be, x), inputs.on_device(be, mask), be.asarray(source)[::-1]
    before = be.statistics()["kernel_launches"]
    ours[where] = given
    assert be.statistics()["kernel_launches"] - before == 2  # the true elements are counted, then written
    want = x.copy()
    want[mask] = source[::-1]
    np.testing.assert_array_equal(ours.to_numpy(), want)


def test_a_mask_and_values_may_share_the_memory_that_is_assigned_to(be):
    x = be.asarray(np.arange(12) % 3 == 0)
    x[x] = be.asarray(np.array([True, False, False, True]))
    assert np.flatnonzero(x.to_numpy()).tolist() == [0, 9]
    y, mask = np.arange(6.0), np.arange(6) % 2 == 1
    ours = be.asarray(y)
    ours[be.asarray(mask)] = ours[:3]
    y[mask] = y[:3].copy()
    np.testing.assert_array_equal(ours.to_numpy(), y)


def test_positions_that_are_one_element_are_refused(be):
    x = be.zeros(6)
    with pytest.raises(InvalidValueError, match="same memory"):
        stator.as_strided(x, (4, 3), (1, 1))[be.ones((4, 3), dtype="bool")] = be.ones(12)
    np.testing.assert_array_equal(x.to_numpy(), 0)


def test_arrays_that_do_not_fit_the_mask_are_refused_and_change_nothing(be):
    x, mask = be.zeros((3, 2)), be.asarray(np.array([[1, 0], [1, 1], [0, 0]], bool))
    for values in ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [[1.0], [2.0], [3.0]]):
        with pytest.raises(ValueError, match="Shape"):
            x[mask] = be.asarray(values)
    assert not x.to_numpy().any()


def test_masks_broadcast(be):
    x, mask = drawn((5, 33))[0], np.random.default_rng(1).random(33) < 0.5
    np.testing.assert_array_equal(
        stator.masked_select(be.asarray(x), be.asarray(mask)).to_numpy(), x[np.broadcast_to(mask, x.shape)]
    )
    np.testing.assert_array_equal(
        stator.masked_fill(be.asarray(x), be.asarray(mask[None]), -1).to_numpy(), np.where(mask, np.float32(-1), x)
    )


@pytest.mark.parametrize("size", [0, 5, 40, 2000, 70_000])
def test_a_fixed_capacity_does_not_synchronise(be, size):
    x, mask = drawn((45, 44))
    found = x[mask]
    ours, where = be.asarray(x), be.asarray(mask)
    before = be.statistics()["d2h_bytes"]
    got = stator.masked_select(ours, where, size=size, fill_value=7)
    rows, cols = stator.nonzero(where, size=size, fill_value=-1)
    assert be.statistics()["d2h_bytes"] == before
    want = np.full(size, 7, np.float32)
    want[: min(size, len(found))] = found[:size]
    np.testing.assert_array_equal(got.to_numpy(), want)
    for ours, theirs in zip((rows, cols), np.nonzero(mask), strict=True):
        want = np.full(size, -1)
        want[: min(size, len(theirs))] = theirs[:size]
        np.testing.assert_array_equal(ours.to_numpy(), want)


def test_a_size_of_one_more_than_there_are_gives_one_fill(be):
    where = np.array([True, False, True])
    np.testing.assert_array_equal(stator.nonzero(be.asarray(where), size=3, fill_value=-7)[0].to_numpy(), [0, 2, -7])


def test_a_size_on_nothing_gives_fills(be):
    nothing, none = be.zeros((2, 0)), be.zeros((2, 0), dtype="bool")
    np.testing.assert_array_equal(stator.masked_select(nothing, none, size=3, fill_value=2).to_numpy(), [2, 2, 2])
    assert [a.to_numpy().tolist() for a in stator.nonzero(nothing, size=2, fill_value=-1)] == [[-1, -1], [-1, -1]]
    np.testing.assert_array_equal(stator.nn.masked_scatter_backward(nothing, none, (3,))[1].to_numpy(), [0, 0, 0])


def test_writing_a_number_through_a_mask_does_not_synchronise(be):
    x, mask = drawn((45, 44))
    ours, where = be.asarray(x), be.asarray(mask)
    before = be.statistics()["d2h_bytes"]
    ours[where] = 2
    ours[:, be.asarray(mask[0])] = 3
    assert be.statistics()["d2h_bytes"] == before
    x[mask] = 2
    x[:, mask[0]] = 3
    np.testing.assert_array_equal(ours.to_numpy(), x)


def test_masked_fill_keeps_the_dtype(be):
    x = be.asarray(np.arange(4, dtype=np.int8))
    where = be.asarray(np.array([True, False, True, False]))
    assert stator.masked_fill(x, where, 100).dtype == stator.int8
    assert stator.masked_fill(x, where, be.asarray(np.array(3, np.int8))).to_numpy().tolist() == [3, 1, 3, 3]
    with pytest.raises(DTypeError, match="kind"):
        stator.masked_fill(x, where, 1.5)
    with pytest.raises(InvalidValueError, match="out of range"):
        stator.masked_fill(x, where, 300)


def test_a_source_that_is_too_short_is_an_index_error(be):
    x = be.asarray(np.arange(6.0))
    got = stator.masked_scatter(x, x > 1, be.asarray(np.array([-1.0, -2.0])))
    with pytest.raises(IndexError, match="masked_scatter"):
        be.synchronize()
    np.testing.assert_array_equal(got.to_numpy(), [0, 1, -1, -2, 4, 5])


def test_masked_scatter_backward(be):
    grad, mask = drawn((6, 9))
    x, source = stator.nn.masked_scatter_backward(be.asarray(grad), be.asarray(mask), (9, 6))
    np.testing.assert_array_equal(x.to_numpy(), np.where(mask, 0, grad))
    want = np.zeros(54, np.float32)
    want[: mask.sum()] = grad[mask]
    np.testing.assert_array_equal(source.to_numpy(), want.reshape(9, 6))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress(be, axis):
    x = np.arange(20).reshape(4, 5)
    for condition in ([True, False, True], [False] * 4, [False, True, True, True]):
        got = stator.compress(be.asarray(np.array(condition)), be.asarray(x), axis=axis)
        np.testing.assert_array_equal(got.to_numpy(), np.compress(condition, x, axis))


def test_errors_name_the_rule_and_the_next_call_works(be):
    x, mask = be.ones((3, 4)), be.ones((3, 4), dtype="bool")
    for error, text, call in (
        (DTypeError, "mask", lambda: stator.masked_select(x, x)),
        (DTypeError, "mask", lambda: stator.masked_fill(x, x, 1.0)),
        (ShapeError, "broadcast", lambda: stator.masked_select(x, mask[:, :3])),
        (IndexError, "mask", lambda: x[mask[:, :3]]),
        (IndexError, "mask", lambda: x.__setitem__(mask[:2], 1.0)),
        (ShapeError, "0-d array", lambda: stator.masked_fill(x, mask, x)),
        (ShapeError, "size", lambda: stator.masked_select(x, mask, size=-1)),
        (InvalidValueError, "fill_value", lambda: stator.masked_select(x, mask, fill_value=1)),
        (DTypeError, "floating", lambda: stator.nonzero(x, size=3, fill_value=0.5)),
        (ShapeError, "coordinates", lambda: stator.nonzero(x[0, 0])),
        (ShapeError, "one axis", lambda: stator.compress(mask, x)),
        (ShapeError, "slice", lambda: stator.compress(mask[0], x, axis=0)),
        (ShapeError, "one axis", lambda: stator.nn.masked_select_backward(x, mask)),
        (ShapeError, "broadcast", lambda: stator.masked_scatter(x, be.ones((5,), dtype="bool"), x)),
        (DTypeError, "values of dtype", lambda: stator.masked_scatter(be.ones((3, 4), dtype="int32"), mask, x)),
    ):
        with pytest.raises(error, match=text):
            call()
    assert stator.masked_select(x, mask).shape == (12,)
