"""scatter, index_add and segment reductions against NumPy's ufunc.at; determinism; indices out of range; errors."""

import inputs
import numpy as np
import pytest
from reference import assert_matches, numpy_dtype, widen

import stator
from stator.errors import AxisError, DTypeError, InvalidValueError, ShapeError

AT = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
ORDERED = [d for d in inputs.DTYPES if not d.startswith("complex") and d != "bool"]


def reduced(x, index, src, reduce, axis):
    """ufunc.at along one axis, in the dtype for integers, which wrap, and wider for floats."""
    out = x.copy() if np.issubdtype(x.dtype, np.integer) or x.dtype == bool else widen(x)
    src = np.broadcast_to(np.asarray(src), index.shape).astype(out.dtype)
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[axis] = index
    AT[reduce].at(out, tuple(grid), src)
    return out


@pytest.mark.parametrize("reduce", AT)
@pytest.mark.parametrize("dtype", ORDERED)
def test_every_reduction_and_dtype(be, dtype, reduce):
    rng = np.random.default_rng(0)
    x, src = inputs.random(rng, (5, 9), dtype, 0.5, 2), inputs.random(rng, (5, 14), dtype, 0.5, 2)
    index = rng.integers(-9, 9, (5, 14))
    got = stator.scatter(be.asarray(x), 1, be.asarray(index), be.asarray(src), reduce=reduce).to_numpy()
    assert got.dtype == numpy_dtype(dtype)
    assert_matches(got, reduced(x, index, src, reduce, 1), (8, 8) if reduce in ("add", "mul") else (0, 0))


@pytest.mark.parametrize("dtype", inputs.DTYPES)
def test_set_keeps_bits_of_every_dtype(be, dtype):
    x = inputs.random(np.random.default_rng(1), (40, 3), dtype)
    index = np.random.default_rng(2).permutation(40)[:33, None]
    src = inputs.random(np.random.default_rng(3), (33, 3), dtype)
    want = x.copy()
    np.put_along_axis(want, np.broadcast_to(index, (33, 3)), src, 0)
    np.testing.assert_array_equal(stator.scatter(be.asarray(x), 0, be.asarray(index), be.asarray(src)).to_numpy(), want)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_sums(be, dtype):
    src = inputs.random(np.random.default_rng(4), (70, 3), dtype)
    index = np.random.default_rng(5).integers(0, 5, 70)
    want = np.zeros((5, 3), np.complex128)
    np.add.at(want, index, src)
    for got in (
        stator.segment_sum(be.asarray(src), be.asarray(index), 5),
        stator.index_add(be.zeros((5, 3), dtype=dtype), 0, be.asarray(index), be.asarray(src)),
    ):
        np.testing.assert_allclose(got.to_numpy(), want, rtol=1e-5, atol=1e-5)


def test_bool_extremes(be):
    x, index = np.array([True, False, True]), np.array([0, 1, 1])
    got = stator.scatter(be.asarray(x), 0, be.asarray(index), be.asarray(np.array([False, False, True])), reduce="min")
    np.testing.assert_array_equal(got.to_numpy(), [False, False, True])


@pytest.mark.parametrize("layout", inputs.layouts())
def test_layouts_and_broadcast_indices(be, layout):
    make = inputs.layouts()[layout]
    rng = np.random.default_rng(6)
    x, src = make(rng.normal(size=(4, 33, 5))), make(rng.normal(size=(4, 40, 5)))
    index = make(rng.integers(0, 33, (4, 40, 1)))
    full = np.broadcast_to(index, src.shape)
    got = stator.scatter_add(*[inputs.on_device(be, a) if not isinstance(a, int) else a for a in (x, 1, index, src)])
    np.testing.assert_allclose(got.to_numpy(), reduced(x, full, src, "add", 1).astype(float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(200_000,), (3000, 70), (4, 60_000)])
def test_many_blocks_share_the_elements(be, shape):
    rng = np.random.default_rng(7)
    src, index = rng.integers(-9, 9, shape).astype(np.float32), rng.integers(0, 50, shape[0])
    want = np.zeros((50, *shape[1:]))
    np.add.at(want, index, src)
    got = stator.segment_sum(be.asarray(src), be.asarray(index), 50)
    np.testing.assert_array_equal(got.to_numpy(), want)
    wide = stator.index_add(be.zeros((shape[0], 50), dtype="float32"), 1, be.asarray(index[:40]), 1.0)
    np.testing.assert_array_equal(wide.to_numpy()[-1], np.bincount(index[:40], minlength=50))


def test_the_last_of_several_writes_stays_on_cpu(cpu):
    rng = np.random.default_rng(8)
    for n, m in ((10, 100), (1000, 200_000)):
        index, src = rng.integers(0, n, m), np.arange(float(m))
        want = np.zeros(n)
        want[index] = src
        np.testing.assert_array_equal(
            stator.scatter(cpu.zeros((n,)), 0, cpu.asarray(index), cpu.asarray(src)).to_numpy(), want
        )


def test_deterministic_sums_are_equal_run_to_run(be):
    rng = np.random.default_rng(9)
    src, index = be.asarray(rng.normal(size=(3000, 3))), be.asarray(rng.integers(0, 7, 3000))
    first = stator.segment_sum(src, index, 7, deterministic=True).to_numpy()
    for _ in range(3):
        assert stator.segment_sum(src, index, 7, deterministic=True).to_numpy().tobytes() == first.tobytes()
    with stator.Backend(be.device, deterministic=True) as own:
        a, b = own.asarray(src.to_numpy()), own.asarray(index.to_numpy())
        assert stator.segment_sum(a, b, 7).to_numpy().tobytes() == first.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint64"])
def test_deterministic_sums_of_every_type_that_is_added_to(be, dtype):
    src = inputs.random(np.random.default_rng(3), (300, 3), dtype, 0.5, 2)
    index = np.random.default_rng(4).integers(0, 7, 300)
    want = np.zeros((7, 3), dtype)
    np.add.at(want, index, src)
    got = stator.segment_sum(be.asarray(src), be.asarray(index), 7, deterministic=True).to_numpy()
    np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 0)


def test_nan_propagates_through_extremes(be):
    src, index = be.asarray(np.array([1, np.nan, 3, -np.inf], np.float32)), be.asarray(np.array([0, 0, 1, 1]))
    np.testing.assert_array_equal(stator.segment_max(src, index, 2).to_numpy(), [np.nan, 3])
    np.testing.assert_array_equal(stator.segment_min(src, index, 2).to_numpy(), [np.nan, -np.inf])


@pytest.mark.parametrize("dtype", ORDERED)
def test_segments_of_every_dtype_and_of_nothing(be, dtype):
    src = inputs.random(np.random.default_rng(10), (60, 4), dtype, 0.5, 2)
    index = np.random.default_rng(11).integers(0, 6, 60)
    index[index == 3] = 2
    floating = dtype in inputs.FLOATS
    info = None if floating else np.iinfo(dtype)
    for name, f, nothing in (
        ("segment_min", np.min, np.inf if floating else info.max),
        ("segment_max", np.max, -np.inf if floating else info.min),
    ):
        got = getattr(stator, name)(be.asarray(src), be.asarray(index), 6).to_numpy()
        for s in range(6):
            rows = src[index == s]
            want = f(rows, axis=0) if len(rows) else np.full(4, nothing, got.dtype)
            np.testing.assert_array_equal(got[s], want)
    if not floating:
        return
    got = stator.segment_mean(be.asarray(src), be.asarray(index), 6).to_numpy()
    assert np.isnan(got[3].astype(float)).all()
    for s in (0, 1, 2, 4, 5):
        assert_matches(got[s], widen(src[index == s]).mean(0), (4, 4))


def test_half_sums_round_once(be):
    src = be.full((4096,), 1.0, dtype="float16")
    got = stator.segment_sum(src, be.zeros((4096,), dtype="int32"), 1)
    assert float(got[0]) == 4096  # a sum in float16 would stop at 2048


@pytest.mark.parametrize("bad", [5, -6, 2**40])
def test_a_write_outside_is_dropped_and_raised_once(be, bad):
    x, index = be.zeros((5,)), be.asarray(np.array([1, bad, 4]))
    got = stator.scatter_add(x, 0, index, 1.0)
    with pytest.raises(IndexError, match=str(bad)) as caught:
        be.synchronize()
    assert caught.value.op == "scatter_add"
    np.testing.assert_array_equal(got.to_numpy(), [0, 1, 0, 0, 1])


def test_put_along_axis_writes_in_place_and_handles_overlap(be):
    x = np.arange(12.0).reshape(3, 4)
    ours = be.asarray(x)
    index = np.array([[3, 0], [1, 2], [0, 3]])
    stator.put_along_axis(ours, be.asarray(index), ours[:, :2], axis=1)
    np.put_along_axis(x, index, x[:, :2].copy(), 1)
    np.testing.assert_array_equal(ours.to_numpy(), x)
    assert stator.put_along_axis(ours, be.asarray(index), 0, axis=-1) is None


def test_nothing_to_do(be):
    index = be.zeros((0,), dtype="int64")
    np.testing.assert_array_equal(stator.scatter_add(be.ones((3,)), 0, index, be.ones((0,))).to_numpy(), np.ones(3))
    assert stator.segment_sum(be.ones((0, 3)), index, 2).to_numpy().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert stator.segment_max(be.ones((0,)), index, 0).shape == (0,)
    assert stator.take_along_axis(be.ones((3, 0)), be.zeros((3, 0), dtype="int32"), axis=1).shape == (3, 0)


def test_errors_name_the_rule_and_the_next_call_works(be):
    x, i = be.ones((3, 4)), be.zeros((3, 2), dtype="int64")
    for error, text, call in (
        (DTypeError, "integer", lambda: stator.scatter(x, 0, be.ones((3, 2)), 1.0)),
        (AxisError, "axis 2", lambda: stator.scatter(x, 2, i, 1.0)),
        (AxisError, "0-dimensional", lambda: stator.take_along_axis(be.asarray(np.array(1.0)), i)),
        (ShapeError, "as many axes", lambda: stator.take_along_axis(x, i[0])),
        (ShapeError, "equal, or 1 long", lambda: stator.scatter(x, 1, be.zeros((2, 2), dtype="int64"), 1.0)),
        (ShapeError, "broadcast", lambda: stator.scatter(x, 1, i, be.ones((3, 3)))),
        (InvalidValueError, "reduce", lambda: stator.scatter(x, 1, i, 1.0, reduce="mean")),
        (DTypeError, "mul", lambda: stator.scatter(be.ones((3, 4), dtype="complex64"), 1, i, 1.0, reduce="mul")),
        (DTypeError, "add", lambda: stator.scatter_add(be.ones((3, 4), dtype="bool"), 1, i, True)),
        (DTypeError, "values of dtype", lambda: stator.scatter_add(be.ones((3, 4), dtype="int32"), 1, i, x[:, :2])),
        (ShapeError, "one axis", lambda: stator.index_add(x, 0, i, 1.0)),
        (ShapeError, "one element for each row", lambda: stator.segment_sum(x, i[0], 3)),
        (ShapeError, "negative extent", lambda: stator.segment_sum(x, i[:, 0], -1)),
        (DTypeError, "src of dtype", lambda: stator.segment_mean(i, i[:, 0], 2)),
    ):
        with pytest.raises(error, match=text):
            call()
    assert float(stator.scatter_add(x, 1, i, 1.0)[0, 0]) == 3
