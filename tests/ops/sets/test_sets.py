"""Searching and sets against NumPy."""

import inputs
import numpy as np
import pytest
from reference import numpy_dtype
from sort_inputs import DTYPES, complex_lines, drawn

import stator


def wide(x):
    """The array in a dtype in which NumPy can search, without rounding."""
    return x if x.dtype.kind in "iubc" else x.astype(np.float64)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_searchsorted(be, dtype, side):
    for n in (0, 1, 33, 256, 1000):
        boundaries = np.sort(wide(drawn((n,), dtype, n))).astype(numpy_dtype(dtype)) if n else np.zeros(0, dtype)
        values = np.concatenate([drawn((70,), dtype, 1), boundaries[::7]])
        got = stator.searchsorted(be.asarray(boundaries), be.asarray(values), side=side)
        assert got.dtype == stator.int64
        np.testing.assert_array_equal(got.to_numpy(), np.searchsorted(wide(boundaries), wide(values), side))


@pytest.mark.parametrize("layout", inputs.layouts())
def test_values_of_any_shape_and_strides(be, layout):
    boundaries = np.arange(0, 50, 3).astype(np.float32)
    values = inputs.layouts()[layout](np.random.default_rng(0).uniform(-5, 60, (7, 5, 3)).astype(np.float32))
    got = stator.searchsorted(be.asarray(boundaries), inputs.on_device(be, values))
    np.testing.assert_array_equal(got.to_numpy(), np.searchsorted(boundaries, values))
    got = stator.searchsorted(be.asarray(boundaries[::-1].copy())[::-1], inputs.on_device(be, values), side="right")
    np.testing.assert_array_equal(got.to_numpy(), np.searchsorted(boundaries, values, "right"))
    assert stator.searchsorted(be.asarray(boundaries), be.asarray(np.float32(7))).shape == ()
    assert stator.searchsorted(be.asarray(boundaries), be.zeros((0, 3), dtype="float32")).shape == (0, 3)


def test_rows_of_boundaries(be):
    rng = np.random.default_rng(1)
    boundaries, values = np.sort(rng.normal(size=(3, 4, 20))), rng.normal(size=(3, 4, 9))
    got = stator.searchsorted(be.asarray(boundaries), be.asarray(values)).to_numpy()
    turned = stator.searchsorted(be.asarray(boundaries[..., ::-1].copy())[..., ::-1], be.asarray(values)).to_numpy()
    for at in np.ndindex(3, 4):
        np.testing.assert_array_equal(got[at], np.searchsorted(boundaries[at], values[at]))
    np.testing.assert_array_equal(turned, got)


def test_sorter(be):
    x = drawn((90,), "float32", 5)
    x[np.isnan(x)] = 3
    values = np.linspace(-5, 5, 33).astype(np.float32)
    on = be.asarray(x)
    got = stator.searchsorted(on, be.asarray(values), side="right", sorter=stator.argsort(on))
    np.testing.assert_array_equal(got.to_numpy(), np.searchsorted(x, values, "right", sorter=np.argsort(x)))
    bad = stator.searchsorted(on[:4], on, sorter=be.asarray(np.array([0, 9, 9, 9])))
    with pytest.raises(IndexError, match="9") as caught:
        bad.to_numpy()
    assert caught.value.op == "searchsorted"


def test_two_dtypes_are_promoted(be):
    boundaries, values = np.arange(5), np.array([0.5, 3.0, 9.9], np.float32)
    got = stator.searchsorted(be.asarray(boundaries), be.asarray(values))
    np.testing.assert_array_equal(got.to_numpy(), np.searchsorted(boundaries, values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_isin(be, dtype):
    x, test = drawn((7, 40), dtype, 2), drawn((5, 3), dtype, 3)
    for invert in (False, True):
        got = stator.isin(be.asarray(x), be.asarray(test), invert=invert)
        assert got.dtype == stator.bool
        np.testing.assert_array_equal(got.to_numpy(), np.isin(wide(x), wide(test), invert=invert))
    got = stator.isin(be.asarray(x).T, be.asarray(test))
    np.testing.assert_array_equal(got.to_numpy(), np.isin(wide(x.T), wide(test)))
    assert not stator.isin(be.asarray(x), be.asarray(test[:0])).to_numpy().any()
    assert stator.isin(be.asarray(np.arange(4)), be.asarray(np.array([2.0, 2.5]))).to_numpy().tolist() == [0, 0, 1, 0]


def distinct(x):
    return np.unique(wide(x), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(be, dtype):
    for shape in ((), (1,), (7, 33), (20000,)):
        x = drawn(shape, dtype, 6) if shape else np.ones((), numpy_dtype(dtype))
        values, indices, inverse, counts = distinct(x)
        got = stator.unique_all(be.asarray(x))
        for mine, want in zip(got, (values, indices, inverse.reshape(shape), counts), strict=True):
            assert mine.shape == want.shape
            np.testing.assert_array_equal(wide(mine.to_numpy()), want)
        assert got.values.dtype == dtype
        np.testing.assert_array_equal(wide(stator.unique_values(be.asarray(x)).to_numpy()), values)
        np.testing.assert_array_equal(stator.unique_counts(be.asarray(x)).counts.to_numpy(), counts)
        np.testing.assert_array_equal(
            stator.unique_inverse(be.asarray(x)).inverse_indices.to_numpy(), inverse.reshape(shape)
        )


def runs(x):
    flat = wide(x).reshape(-1)
    heads = np.flatnonzero(np.r_[True, flat[1:] != flat[:-1]])
    lengths = np.diff(np.r_[heads, flat.size])
    return flat[heads], np.repeat(np.arange(heads.size), lengths).reshape(x.shape), lengths


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (6, 50), (40000,)])
def test_unique_consecutive(be, dtype, shape):
    x = np.repeat(drawn(shape, dtype, 7), 2, axis=-1)[..., : shape[-1]]
    for view in (lambda a: a, lambda a: a[..., ::-1], lambda a: a.T if a.ndim == 2 else a):
        got = stator.unique_consecutive(view(be.asarray(x)))
        for mine, want in zip(got, runs(view(x)), strict=True):
            np.testing.assert_array_equal(wide(mine.to_numpy()), want)


def test_a_transposed_array_is_flattened_by_rows(be):
    x = np.random.default_rng(3).integers(0, 9, (7, 33))
    got = stator.unique_all(be.asarray(x).T)
    for mine, want in zip(got, distinct(x.T), strict=True):
        np.testing.assert_array_equal(mine.to_numpy(), want.reshape(mine.shape))


@pytest.mark.parametrize("size", [0, 1, 3, 5, 9])
def test_a_given_size_does_not_look_at_the_count(be, size):
    x = np.array([[4, 4, 1], [9, 1, 4], [7, 7, 0]])
    values, indices, inverse, counts = distinct(x)
    on = be.asarray(x)
    before = be.statistics()["d2h_bytes"]
    got = stator.unique_all(on, size=size, fill_value=-5)
    assert be.statistics()["d2h_bytes"] == before
    for mine, want, missing in zip(
        (got.values, got.indices, got.counts), (values, indices, counts), (-5, -1, 0), strict=True
    ):
        np.testing.assert_array_equal(mine.to_numpy(), np.r_[want, np.full(9, missing)][:size])
    np.testing.assert_array_equal(got.inverse_indices.to_numpy(), inverse.reshape(3, 3))
    got = stator.unique_consecutive(on, size=size)
    np.testing.assert_array_equal(got.counts.to_numpy(), np.r_[2, 1, 1, 1, 1, 2, 1, 0, 0][:size])


def test_unique_of_nothing(be):
    x = be.zeros((0, 3), dtype="float32")
    assert [a.shape for a in stator.unique_all(x)] == [(0,), (0,), (0, 3), (0,)]
    assert [a.shape for a in stator.unique_consecutive(x)] == [(0,), (0, 3), (0,)]
    np.testing.assert_array_equal(stator.unique_values(x, size=2, fill_value=1.5).to_numpy(), [1.5, 1.5])


def test_the_sign_of_the_first_zero_is_kept(be):
    got = stator.unique_values(be.asarray(np.array([1.0, -0.0, 0.0])))
    np.testing.assert_array_equal(np.signbit(got.to_numpy()), [True, False])


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda x: stator.searchsorted(x, x, side="middle"), stator.errors.InvalidValueError, "middle"),
        (lambda x: stator.searchsorted(x[0, 0], x), stator.errors.ShapeError, "no axis"),
        (lambda x: stator.searchsorted(x, x[:2]), stator.errors.ShapeError, "leading axes"),
        (lambda x: stator.searchsorted(x[0], x, sorter=x[0]), stator.errors.DTypeError, "sorter"),
        (lambda x: stator.searchsorted(x[0], x, sorter=stator.argsort(x)), stator.errors.ShapeError, "sorter"),
        (lambda x: stator.searchsorted(x[0], stator.astype(x, "complex64")), stator.errors.DTypeError, "complex64"),
        (lambda x: stator.unique_all(x, size=-1), stator.errors.InvalidValueError, "size=-1"),
        (lambda x: stator.unique_values(x, size=3, fill_value="a"), stator.errors.DTypeError, "fill_value"),
        (lambda x: stator.unique_values(x.astype("int64"), size=20, fill_value=1.5), stator.errors.DTypeError, "int64"),
    ],
)
def test_errors_name_the_op_and_the_next_call_works(be, call, kind, text):
    x = be.asarray(np.arange(12.0).reshape(3, 4))
    with pytest.raises(kind, match=text) as caught:
        call(x)
    assert caught.value.op and caught.value.remedy
    assert stator.unique_values(x).shape == (12,)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sets_of_complex_numbers(be, dtype):
    for shape in ((), (7, 33), (20000,)):
        x = complex_lines(shape, dtype, 6) if shape else np.full((), 1 - 2j, dtype)
        x[np.isnan(x)] = 3 + 1j  # NumPy does not group NaN with equal parts
        got = stator.unique_all(be.asarray(x))
        want = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for mine, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(mine.to_numpy(), theirs.reshape(mine.shape))
        np.testing.assert_array_equal(stator.unique_values(be.asarray(x)).to_numpy(), want[0])
        for mine, theirs in zip(stator.unique_consecutive(be.asarray(x)), runs(x), strict=True):
            np.testing.assert_array_equal(mine.to_numpy(), theirs)
        test = complex_lines((9,), dtype, 8)
        got = stator.isin(be.asarray(x), be.asarray(test))
        np.testing.assert_array_equal(got.to_numpy(), np.isin(x, test[~np.isnan(test)]))
    x = np.array([np.nan, 1j, complex(1, np.nan), 1j, np.nan], dtype)
    below_two = 2 - np.finfo(dtype).eps  # all bits of its mantissa are set
    fill = complex(-below_two, below_two)
    values, _, _, counts = stator.unique_all(be.asarray(x), size=6, fill_value=fill)
    np.testing.assert_array_equal(counts.to_numpy(), [2, 1, 1, 1, 0, 0])
    np.testing.assert_array_equal(values.to_numpy()[[0, 4, 5]], [1j, fill, fill])
    assert stator.isin(be.asarray(x), be.asarray(x)).to_numpy().tolist() == [False, True, False, True, False]
    assert stator.unique_values(be.zeros((0,), dtype=dtype)).shape == (0,)


@pytest.mark.parametrize("rank", range(1, 7))
def test_sets_of_complex_views(be, rank):
    x = complex_lines((4,) * rank, "complex64", 6)
    x[np.isnan(x)] = 3 + 1j
    every_other = (slice(None, None, 2),) * rank
    test = x[every_other].reshape(-1)[::3]
    view = be.asarray(x)[every_other]
    np.testing.assert_array_equal(stator.isin(view, be.asarray(test)).to_numpy(), np.isin(x[every_other], test))
    np.testing.assert_array_equal(stator.unique_values(view).to_numpy(), np.unique(x[every_other]))
