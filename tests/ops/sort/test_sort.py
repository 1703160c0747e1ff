"""Sorting, order statistics, quantiles and modes, against NumPy."""

import inputs
import numpy as np
import pytest
from reference import numpy_dtype
from sort_inputs import DTYPES, complex_lines, drawn

import stator


def places(x, axis=-1, descending=False):
    """The indices of the stable order, with NaN above every number; by ranks, which are exact in every dtype."""
    wide = x.astype(np.float64) if x.dtype.kind not in "iub" else x
    ranks = np.unique(wide, return_inverse=True, equal_nan=True)[1].reshape(x.shape)
    return np.argsort(-ranks if descending else ranks, axis=axis, kind="stable")


def equal(got, want):
    """Asserts equal numbers, and NaN in the same positions."""
    assert got.dtype == want.dtype and got.shape == want.shape
    got, want = (a.astype(np.float64) if a.dtype.kind not in "iub" else a for a in (got, want))
    np.testing.assert_array_equal(got, want)
    return got, want


def same(got, want):
    """As equal, and with equal signs of zeros."""
    got, want = equal(got, want)
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_and_argsort_are_stable(be, dtype, descending):
    for shape in ((), (0,), (1,), (2, 33), (7, 300), (3, 0), (70, 3), (5000,)):
        if not shape:
            continue
        x = drawn(shape, dtype)
        want = places(x, -1, descending)
        got = stator.argsort(be.asarray(x), descending=descending)
        assert got.dtype == stator.int64
        np.testing.assert_array_equal(got.to_numpy(), want)
        same(stator.sort(be.asarray(x), descending=descending).to_numpy(), np.take_along_axis(x, want, -1))


LONG = {(40000,): "bool int8 uint16 float16 float32 int64 float64", (3, 70001): "int8 float16 float32 int64"}


@pytest.mark.parametrize(("shape", "dtype"), [(s, d) for s, dtypes in LONG.items() for d in dtypes.split()])
def test_long_lines(be, shape, dtype):
    """The longer ones in one dtype of each width: keys of a width are sorted by the same kernels."""
    x = drawn(shape, dtype, 3)
    want = places(x)
    np.testing.assert_array_equal(stator.argsort(be.asarray(x)).to_numpy(), want)
    same(stator.sort(be.asarray(x)).to_numpy(), np.take_along_axis(x, want, -1))
    top = stator.topk(be.asarray(x), 1000)
    best = places(x, descending=True)[..., :1000]
    np.testing.assert_array_equal(top.indices.to_numpy(), best)
    same(top.values.to_numpy(), np.take_along_axis(x, best, -1))


@pytest.mark.parametrize("layout", inputs.layouts())
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_axes_and_strides(be, layout, axis):
    x = inputs.layouts()[layout](drawn((6, 35, 5), "float32", 1))
    got = stator.sort(inputs.on_device(be, x), axis=axis)
    same(got.to_numpy(), np.take_along_axis(x, places(x, axis), axis))
    got = stator.argsort(inputs.on_device(be, x), axis=axis)
    np.testing.assert_array_equal(got.to_numpy(), places(x, axis))


def test_long_strided_lines(be):
    x = drawn((20000, 2), "float64", 2)
    on = be.asarray(x)
    np.testing.assert_array_equal(stator.argsort(on, axis=0).to_numpy(), places(x, 0))
    same(stator.sort(on, axis=0).to_numpy(), np.take_along_axis(x, places(x, 0), 0))
    same(stator.sort(on[::-1], axis=0).to_numpy(), np.take_along_axis(x[::-1], places(x[::-1], 0), 0))


def test_broadcast_lines(be):
    x = np.array([3.0, 1.0, 2.0])
    got = stator.sort(stator.broadcast_to(be.asarray(x), (4, 3)))
    np.testing.assert_array_equal(got.to_numpy(), np.broadcast_to(np.sort(x), (4, 3)))


def test_many_short_lines(be):
    for n in (1, 2, 7, 8, 9, 31, 65):
        x = drawn((3001, n), "float32", n)
        np.testing.assert_array_equal(stator.argsort(be.asarray(x)).to_numpy(), places(x))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_topk(be, dtype, largest):
    x = drawn((5, 67, 3), dtype)
    for axis, k in ((-1, 2), (1, 10), (0, 5), (1, 0), (1, 67)):
        values, indices = stator.topk(be.asarray(x), k, axis=axis, largest=largest)
        want = np.take(places(x, axis, largest), np.arange(k), axis)
        assert indices.dtype == stator.int64
        np.testing.assert_array_equal(indices.to_numpy(), want)
        same(values.to_numpy(), np.take_along_axis(x, want, axis))


def test_kthvalue(be):
    x = drawn((4, 90), "float32")
    order = places(x)
    for k in (1, 45, 90):
        values, indices = stator.kthvalue(be.asarray(x), k)
        np.testing.assert_array_equal(indices.to_numpy(), order[:, k - 1])
        np.testing.assert_array_equal(values.to_numpy(), x[np.arange(4), order[:, k - 1]])
    assert stator.kthvalue(be.asarray(x), 3, axis=0, keepdims=True).values.shape == (1, 90)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 90), (3, 40000)])
def test_partition(be, dtype, shape):
    """At all kinds of indices; long lines of most dtypes at one, as what is chosen are keys of a width."""
    x, n = drawn(shape, dtype), shape[1]
    ordered = np.take_along_axis(x, places(x), 1)
    kinds = [[n // 3, n // 3 + 1], 0, -1, [7, n // 2, -3], [*range(n - 20, n)]]
    for kth in kinds if n < 100 or dtype in ("int8", "float16", "float32", "int64") else kinds[:1]:
        got = stator.partition(be.asarray(x), kth, axis=1).to_numpy()
        at = np.sort(np.atleast_1d(kth) % n)
        equal(got[:, at], ordered[:, at])
        for part in np.split(np.arange(n), at):
            equal(np.take_along_axis(got[:, part], places(got[:, part]), 1), ordered[:, part])


def awkward(kind, n):
    """64-bit keys that are hard to distinguish, or to distribute over blocks."""
    rng = np.random.default_rng(7)
    return {
        "distinct": lambda: rng.standard_normal(n),
        "few": lambda: rng.integers(0, 5, n),
        "one": lambda: np.zeros(n, np.int64),
        "low bits": lambda: rng.integers(0, 100, n) + np.where(rng.random(n) < 1e-3, np.int64(2) ** 62, 0),
        "neighbours": lambda: 1 + rng.integers(0, 1000, n) * 2.0**-52 + np.where(rng.random(n) < 0.5, 0, 1e300),
        "wide": lambda: rng.integers(0, 2**64 - 1, n, np.uint64, endpoint=True),
        "sorted": lambda: np.arange(n, dtype=np.float64),
        "nan": lambda: np.where(rng.random(n) < 0.5, np.nan, rng.standard_normal(n)),
    }[kind]()


@pytest.mark.parametrize("kind", ["distinct", "few", "one", "low bits", "neighbours", "wide", "sorted", "nan"])
def test_long_lines_of_64_bits_keep_their_places(be, kind):
    x = awkward(kind, 100_003)
    on, order = be.asarray(x), np.argsort(x, kind="stable")
    np.testing.assert_array_equal(stator.argsort(on).to_numpy(), order)
    for k in (1, 50_000, 100_003):
        values, index = stator.kthvalue(on, k)
        assert int(index) == order[k - 1]
        np.testing.assert_array_equal(values.to_numpy(), x[order[k - 1]])
    np.testing.assert_array_equal(stator.topk(on, 500, largest=False).indices.to_numpy(), order[:500])


METHODS = ["linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased", "normal_unbiased"]


@pytest.mark.parametrize("method", METHODS)
def test_quantile_methods(be, method):
    for n in (1, 2, 9, 10):
        x = np.random.default_rng(n).normal(size=(3, n))
        q = [0, 0.1, 0.25, 0.5, 0.77, 1.0]
        got = stator.quantile(be.asarray(x), q, axis=1, method=method)
        np.testing.assert_allclose(got.to_numpy(), np.quantile(x, q, axis=1, method=method), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("dtype", DTYPES)
def test_median_and_quantile_of_every_dtype(be, dtype):
    x = inputs.random(np.random.default_rng(5), (4, 7, 6), dtype)
    wide = x.astype(np.float64)
    for axis in (None, 0, -1, (0, 2), ()):
        if axis == ():
            continue
        got = stator.median(be.asarray(x), axis=axis)
        want = np.median(wide, axis=axis)
        assert got.dtype == (dtype if dtype in inputs.FLOATS else "float64")
        np.testing.assert_allclose(
            got.to_numpy().astype(np.float64), want.astype(got.to_numpy().dtype).astype(np.float64), rtol=1e-15
        )
    got = stator.quantile(be.asarray(x), 0.3, axis=1, keepdims=True)
    assert got.shape == (4, 1, 6)
    want = np.quantile(wide, 0.3, axis=1, keepdims=True).astype(got.to_numpy().dtype)
    np.testing.assert_allclose(got.to_numpy().astype(np.float64), want.astype(np.float64), rtol=4 * 2.0**-7)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_between_a_number_and_an_infinity_lies_the_infinity(be, dtype):
    inf, numpy_type = np.inf, numpy_dtype(dtype)
    for line, want in (([1, inf], inf), ([-inf, 1], -inf), ([inf, inf], inf), ([-inf, inf], np.nan)):
        x = be.asarray(np.array(line).astype(numpy_type))
        for got in (stator.median(x), stator.quantile(x, 0.5), stator.quantile(x, 0.75)):
            np.testing.assert_equal(float(got), want)


def test_quantiles_of_special_values(be):
    x = np.array([[1, np.nan, 2], [-np.inf, np.inf, 0], [np.inf, np.inf, 1], [-1.7e308, 1.7e308, 1.7e308]])
    np.testing.assert_array_equal(stator.median(be.asarray(x), axis=1).to_numpy(), [np.nan, 0, np.inf, 1.7e308])
    np.testing.assert_array_equal(stator.median(be.asarray(x[3, :2])).to_numpy(), 0)
    assert stator.quantile(be.asarray(x), list(np.linspace(0, 1, 130)), axis=1).shape == (130, 4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_mode(be, dtype):
    x = drawn((6, 80), dtype, 4)
    for axis in (0, 1):
        values, counts = stator.mode(be.asarray(x), axis=axis)
        lines = np.moveaxis(x, axis, -1).astype(np.float64 if dtype in inputs.FLOATS else x.dtype)
        for line, value, count in zip(lines, values.to_numpy(), counts.to_numpy(), strict=True):
            of, times = np.unique(line, return_counts=True, equal_nan=True)
            assert count == times.max()
            np.testing.assert_array_equal(value.astype(of.dtype), of[times.argmax()])
    assert stator.mode(be.asarray(x), keepdims=True).counts.shape == (6, 1)


def test_mode_of_one_long_run_and_of_none(be):
    values, counts = stator.mode(be.asarray(np.r_[np.full(700, 5), np.arange(600)]))
    assert int(values.to_numpy()) == 5 and int(counts.to_numpy()) == 701
    values, counts = stator.mode(be.asarray(np.arange(1000)[::-1].copy()))
    assert int(values.to_numpy()) == 0 and int(counts.to_numpy()) == 1


def test_empty_axes(be):
    x = be.zeros((3, 0))
    assert stator.sort(x).shape == stator.argsort(x).shape == (3, 0)
    assert stator.topk(x, 0).values.shape == (3, 0)
    assert stator.median(x, axis=0).shape == (0,)
    assert stator.mode(x, axis=0).values.shape == (0,)
    assert stator.quantile(x, [], axis=0).shape == (0, 0)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda x: stator.sort(x, axis=2), stator.errors.AxisError, "2"),
        (lambda x: stator.argsort(x[0, 0]), stator.errors.AxisError, "0-d"),
        (lambda x: stator.topk(x, 5), stator.errors.InvalidValueError, "k=5"),
        (lambda x: stator.topk(x, -1), stator.errors.InvalidValueError, "k=-1"),
        (lambda x: stator.kthvalue(x, 0), stator.errors.InvalidValueError, "from 1 to 4"),
        (lambda x: stator.partition(x, [1, 4]), stator.errors.InvalidValueError, "kth=4"),
        (lambda x: stator.quantile(x, 1.5), stator.errors.InvalidValueError, "q=1.5"),
        (lambda x: stator.quantile(x, float("nan")), stator.errors.InvalidValueError, "q=nan"),
        (lambda x: stator.quantile(x, 0.5, method="best"), stator.errors.InvalidValueError, "best"),
        (lambda x: stator.quantile(x, x), stator.errors.DTypeError, "q=Array"),
        (lambda x: stator.quantile(x, 0.5, axis=(0, 0)), stator.errors.AxisError, "0"),
        (lambda x: stator.median(x[:0], axis=0), stator.errors.InvalidValueError, "no element"),
        (lambda x: stator.mode(x[:0], axis=0), stator.errors.InvalidValueError, "empty"),
        (lambda x: stator.topk(stator.astype(x, "complex64"), 1), stator.errors.DTypeError, "complex64"),
        (lambda x: stator.median(stator.astype(x, "complex64")), stator.errors.DTypeError, "complex64"),
    ],
)
def test_errors_name_the_op_and_the_next_call_works(be, call, kind, text):
    x = be.asarray(np.arange(12.0).reshape(3, 4))
    with pytest.raises(kind, match=text) as caught:
        call(x)
    assert caught.value.op and caught.value.remedy
    np.testing.assert_array_equal(stator.sort(x, descending=True).to_numpy()[0], [3, 2, 1, 0])


def complex_places(x, descending=False):
    """The indices of NumPy's order, stable."""
    re, im = np.isnan(x.real), np.isnan(x.imag)
    keys = [np.where(np.isnan(part), np.inf, part) for part in (x.imag, x.real)]
    keys = [k * (-1 if descending else 1) for k in (*keys, 2 * re + im)]
    return np.stack([np.lexsort(line) for line in np.stack(keys, -2)])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_sort_by_real_part_then_by_imaginary_part(be, dtype, descending):
    for shape in ((1, 1), (3, 50), (7, 300), (1, 20000)):
        x = complex_lines(shape, dtype)
        want = complex_places(x, descending)
        got = stator.argsort(be.asarray(x), descending=descending)
        np.testing.assert_array_equal(got.to_numpy(), want)
        got = stator.sort(be.asarray(x), descending=descending).to_numpy()
        assert got.tobytes() == np.take_along_axis(x, want, -1).tobytes()
        if not descending:
            np.testing.assert_array_equal(got, np.sort(x))
    x = complex_lines((40, 3), dtype)
    got = stator.sort(be.asarray(x), axis=0).to_numpy()
    np.testing.assert_array_equal(got, np.sort(x, axis=0))
    np.testing.assert_array_equal(stator.sort(be.asarray(x).T[:, ::-1]).to_numpy(), np.sort(x.T[:, ::-1]))
    assert stator.sort(be.zeros((3, 0), dtype=dtype)).shape == (3, 0)


@pytest.mark.parametrize("rank", range(1, 6))
def test_complex_views_of_any_rank_sort(be, rank):
    x = complex_lines((3,) * rank, "complex64")
    every_other = (slice(None, None, 2),) * rank
    shape = x[every_other].shape
    want = complex_places(x[every_other].reshape(-1, 2), False).reshape(shape)
    view = be.asarray(x)[every_other]
    np.testing.assert_array_equal(stator.argsort(view).to_numpy(), want)
    np.testing.assert_array_equal(stator.sort(view).to_numpy(), np.take_along_axis(x[every_other], want, -1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("n", [5, 130, 2000, 17000])
def test_what_is_selected_is_what_sorting_gives(be, dtype, n):
    for x in (drawn((2, n), dtype, n), np.random.default_rng(n).normal(size=(2, n)).astype(dtype)):
        on, order = be.asarray(x), places(x)
        for k in sorted({1, n // 3 + 1, n}):
            values, indices = stator.kthvalue(on, k)
            np.testing.assert_array_equal(indices.to_numpy(), order[:, k - 1])
            same(values.to_numpy(), np.take_along_axis(x, order[:, k - 1 : k], -1)[:, 0])
        wide = x.astype(np.float64)
        for q in ([0.5], [0.1, 0.5, 0.9], list(np.linspace(0, 1, 20))):
            got = stator.quantile(on, q, axis=-1).to_numpy().astype(np.float64)
            np.testing.assert_allclose(got, np.quantile(wide, q, axis=-1), rtol=1e-6)


@pytest.mark.parametrize("shape", [(2, 1), (1, 2, 2), (2, 1, 2, 2)])
def test_selection_finds_the_lines_of_a_view_of_many_axes(be, shape):
    whole = np.random.default_rng(6).normal(size=(*(n + 1 for n in shape), 5000)).astype(np.float32)
    x = whole[(*(slice(n) for n in shape), slice(None))]
    view = be.asarray(whole)[(*(slice(n) for n in shape), slice(None))]
    same(stator.kthvalue(view, 1234).values.to_numpy(), np.sort(x, -1)[..., 1233])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_infinities_are_selected_before_nan(be, dtype):
    x = np.random.default_rng(0).normal(size=20_000).astype(numpy_dtype(dtype))
    x[::3], x[1::3] = np.inf, np.nan
    order = places(x)
    for k in (len(x) // 3 + 1, len(x) // 2, len(x) * 2 // 3):
        assert int(stator.kthvalue(be.asarray(x), k).indices) == order[k - 1]


def test_lines_of_one_value_and_of_sorted_ones(be):
    for n in (300, 5000, 70000):
        for x in (np.full(n, 3.0), np.arange(n) * 1.0, np.arange(n)[::-1] * 1.0, np.arange(n) % 2 * 1.0):
            same(stator.sort(be.asarray(x)).to_numpy(), np.sort(x))
            np.testing.assert_array_equal(stator.argsort(be.asarray(x)).to_numpy(), np.argsort(x, kind="stable"))
            assert float(stator.median(be.asarray(x)).to_numpy()) == np.median(x)


def test_argsort_tells_64_bit_keys_apart_that_share_their_leading_bits(be):
    x = np.random.default_rng(0).integers(0, 5, 3000) + np.where(np.arange(3000) % 7, 1 << 62, -(1 << 62))
    np.testing.assert_array_equal(stator.argsort(be.asarray(x)).to_numpy(), np.argsort(x, kind="stable"))
    x = 1.0 + np.random.default_rng(1).permutation(3000) * 2.0**-52
    x[0] = -1e300
    np.testing.assert_array_equal(stator.argsort(be.asarray(x)).to_numpy(), np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(
        stator.topk(be.asarray(x), 9, largest=False).indices.to_numpy(), np.argsort(x, kind="stable")[:9]
    )
