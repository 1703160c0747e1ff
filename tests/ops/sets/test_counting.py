"""Histograms and bin counts against NumPy, and torch's formula for histc."""

import inputs
import numpy as np
import pytest
from reference import numpy_dtype

import stator

REALS = [d for d in inputs.DTYPES if d != "bool" and not d.startswith("complex")]
INTEGERS = [d for d in REALS if "int" in d]


def histc(x, bins, low, high):
    """torch.histc's formula in float64."""
    x = x.astype(np.float64).reshape(-1)
    if low == high:
        low, high = x.min(), x.max()
    if low == high:
        low, high = low - 1, high + 1
    x = x[(x >= low) & (x <= high)]
    at = np.minimum(((x - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return np.bincount(at, minlength=bins)


@pytest.mark.parametrize("dtype", REALS)
def test_histc(be, dtype):
    for n, bins, low, high in ((0, 4, 0, 1), (33, 1, -2, 2), (1000, 7, -3, 3), (120, 10, 0, 0), (5000, 9000, 0, 2)):
        x = inputs.random(np.random.default_rng(n), (n,), dtype)
        if dtype in inputs.FLOATS and low != high and n:
            x[:4] = [np.nan, np.inf, -np.inf, high]
        got = stator.histc(be.asarray(x), bins, min=low, max=high)
        assert got.dtype == dtype and got.shape == (bins,)
        want = histc(x, bins, low, high) if n else np.zeros(bins)
        if dtype in ("int8", "uint8"):
            want = np.minimum(want, 127) if want.max() > 127 else want
        if want.max() < 120:
            np.testing.assert_array_equal(got.to_numpy().astype(np.float64), want)


def test_histc_counts_are_exact(be):
    x = np.random.default_rng(2).normal(size=200000).astype(np.float32)
    got = stator.histc(be.asarray(x), 100, min=-3, max=3)
    np.testing.assert_array_equal(got.to_numpy(), histc(x, 100, -3, 3))
    got = stator.histc(be.asarray(np.full((9,), 4.0)), 4)
    np.testing.assert_array_equal(got.to_numpy(), [0, 0, 9, 0])
    assert not stator.histc(be.asarray(np.array([np.nan, 1.0])), 4).to_numpy().any()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("low, high, bins", [(-3, 3, 100), (0, 0.7, 7), (1000, 1001, 10), (-1e-20, 2e-20, 9)], ids=str)
def test_histc_counts_numbers_beside_edges_exactly(be, low, high, bins, dtype):
    """A guess in float32 must not decide them."""
    edges = np.linspace(low, high, bins + 1).astype(np.float32)
    beside = below = above = edges
    for _ in range(4):
        below, above = np.nextafter(below, np.float32(-np.inf)), np.nextafter(above, np.float32(np.inf))
        beside = np.concatenate([beside, below, above])
    x = beside.astype(numpy_dtype(dtype))
    got = stator.histc(be.asarray(x), bins, min=low, max=high).to_numpy()
    np.testing.assert_array_equal(got.astype(np.float64), histc(x, bins, low, high))


@pytest.mark.parametrize("layout", inputs.layouts())
def test_every_layout(be, layout):
    x = inputs.layouts()[layout](np.random.default_rng(0).normal(size=(40, 33, 3)))
    got = stator.histc(inputs.on_device(be, x), 20, min=-2, max=2)
    np.testing.assert_array_equal(got.to_numpy(), histc(x, 20, -2, 2))
    k = inputs.layouts()[layout](np.random.default_rng(1).integers(0, 30, (40, 33, 3)))
    np.testing.assert_array_equal(stator.bincount(inputs.on_device(be, k)).to_numpy(), np.bincount(k.ravel()))
    got = stator.bincount(inputs.on_device(be, k), weights=inputs.on_device(be, x))
    np.testing.assert_allclose(got.to_numpy(), np.bincount(k.ravel(), x.ravel()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [*REALS, "bool"])
def test_histogram(be, dtype):
    x = inputs.random(np.random.default_rng(1), (3, 900), dtype)
    wide = x.astype(np.float64)
    for bins, span in ((1, (0, 1)), (10, (-3.0, 2.5)), (33, None), (10000, (-4, 4))):
        hist, edges = stator.histogram(be.asarray(x), bins, range=span)
        assert hist.dtype == stator.int64
        assert edges.dtype == (dtype if dtype in inputs.FLOATS else "float64")
        if span or dtype != "bfloat16":  # NumPy has no arithmetic of bfloat16
            kept = x if dtype in inputs.FLOATS else wide
            at = np.linspace(*(span or (kept.min(), kept.max())), bins + 1)
            np.testing.assert_array_equal(edges.to_numpy(), at.astype(edges.to_numpy().dtype))
        own = edges.to_numpy().astype(np.float64)  # the counts must be those between the returned edges
        if (np.diff(own) > 0).all():
            want = np.histogram(wide, own)[0]
            np.testing.assert_array_equal(hist.to_numpy(), want)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_elements_on_edges_count_in_the_bins_of_numpy(be, dtype):
    rng = np.random.default_rng(7)
    for span in (None, (-1.0, 1.5), (0.1, 0.7)):
        for bins in (7, 10, 24):
            edges = np.histogram(rng.normal(size=100).astype(dtype), bins, span)[1]
            hist, at = stator.histogram(be.asarray(edges), bins, range=span)
            want, own = np.histogram(edges, bins, span)
            np.testing.assert_array_equal(at.to_numpy(), own)
            np.testing.assert_array_equal(hist.to_numpy(), want)


def test_histogram_by_edges(be):
    x = np.random.default_rng(4).normal(size=5000)
    x[:3] = [np.nan, 2.0, -1.0]
    edges = np.array([-1.0, -0.5, -0.5, 0.25, 2.0])
    want = np.histogram(x[1:], edges)[0]
    for given in (edges, list(edges), be.asarray(edges), be.asarray(np.repeat(edges, 2))[::2]):
        hist, at = stator.histogram(be.asarray(x), given)
        np.testing.assert_array_equal(hist.to_numpy(), want)
        np.testing.assert_array_equal(at.to_numpy(), edges)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bfloat16"])
def test_weights(be, dtype):
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(40, 50)), np.round(rng.uniform(-4, 4, (40, 50)) * 4).astype(numpy_dtype(dtype))
    hist = stator.histogram(be.asarray(x), 9, weights=be.asarray(w)).hist
    want = np.histogram(x, 9, weights=w.astype(np.float64))[0].astype(numpy_dtype(dtype))
    assert hist.dtype == dtype
    np.testing.assert_array_equal(hist.to_numpy(), want)
    k = rng.integers(0, 70, (40, 50))
    got = stator.bincount(be.asarray(k), weights=be.asarray(w), minlength=80)
    assert got.dtype == stator.float64
    np.testing.assert_array_equal(got.to_numpy(), np.bincount(k.ravel(), w.ravel().astype(np.float64), 80))


def test_density(be):
    x = np.random.default_rng(6).normal(size=999)
    for bins in (7, np.array([-2.0, 0, 0.5, 3])):
        got = stator.histogram(be.asarray(x), bins, density=True)
        np.testing.assert_allclose(got.hist.to_numpy(), np.histogram(x, bins, density=True)[0], rtol=1e-13)


def test_histograms_of_nothing_and_of_one_value(be):
    none, at = stator.histogram(be.zeros((0,)), 4)
    np.testing.assert_array_equal(none.to_numpy(), np.zeros(4))
    np.testing.assert_array_equal(at.to_numpy(), np.linspace(0, 1, 5))
    one, at = stator.histogram(be.full((5,), 3.0), 2)
    np.testing.assert_array_equal(one.to_numpy(), np.histogram(np.full(5, 3.0), 2)[0])
    np.testing.assert_array_equal(at.to_numpy(), [2.5, 3, 3.5])
    np.testing.assert_array_equal(stator.histogram(be.zeros((0,)), 4, weights=be.zeros((0,))).hist.to_numpy(), 0)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bincount(be, dtype):
    for n, most in ((1, 1), (300, 90), (20000, 127)):
        x = np.random.default_rng(n).integers(0, most, n).astype(dtype)
        got = stator.bincount(be.asarray(x))
        assert got.dtype == stator.int64
        np.testing.assert_array_equal(got.to_numpy(), np.bincount(x))
        np.testing.assert_array_equal(
            stator.bincount(be.asarray(x), minlength=200).to_numpy(), np.bincount(x, None, 200)
        )


def test_many_bins(be):
    x = np.random.default_rng(8).integers(0, 50000, 70000)
    np.testing.assert_array_equal(stator.bincount(be.asarray(x)).to_numpy(), np.bincount(x))
    assert stator.bincount(be.zeros((0,), dtype="int32")).shape == (0,)
    np.testing.assert_array_equal(stator.bincount(be.zeros((0,), dtype="int32"), minlength=3).to_numpy(), [0, 0, 0])


@pytest.mark.parametrize("bins", [300, 600, 1000])
def test_bins_that_are_no_multiple_of_the_threads(be, bins):
    x = np.arange(3 * bins) % bins
    np.testing.assert_array_equal(stator.bincount(be.asarray(x)).to_numpy(), np.full(bins, 3))


def test_bincount_of_a_given_size_reports_what_is_outside(be):
    x = np.array([0, 2, 2, 1])
    before = be.statistics()["d2h_bytes"]
    got = stator.bincount(be.asarray(x), size=5)
    assert be.statistics()["d2h_bytes"] == before
    np.testing.assert_array_equal(got.to_numpy(), [1, 1, 2, 0, 0])
    got = stator.bincount(be.asarray(np.array([0, 7, 0])), size=3)
    with pytest.raises(IndexError, match="7") as caught:
        be.synchronize()
    assert caught.value.op == "bincount"
    np.testing.assert_array_equal(got.to_numpy(), [2, 0, 0])
    stator.bincount(be.asarray(np.array([-1], np.int8)), size=3)
    with pytest.raises(IndexError, match="-1"):
        be.synchronize()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda x: stator.histc(x, 0), stator.errors.InvalidValueError, "bins=0"),
        (lambda x: stator.histc(x, 5, min=2, max=1), stator.errors.InvalidValueError, "range"),
        (lambda x: stator.histc(x, 5, min=0, max=float("inf")), stator.errors.InvalidValueError, "range"),
        (lambda x: stator.histc(stator.astype(x, "complex64")), stator.errors.DTypeError, "complex64"),
        (lambda x: stator.histogram(x, 0), stator.errors.InvalidValueError, "bins=0"),
        (lambda x: stator.histogram(x, range=(1, 0)), stator.errors.InvalidValueError, "range"),
        (lambda x: stator.histogram(x, range=3), stator.errors.DTypeError, "range=3"),
        (lambda x: stator.histogram(x, [0, 2, 1]), stator.errors.InvalidValueError, "decrease"),
        (lambda x: stator.histogram(x, [0.0]), stator.errors.ShapeError, "edges"),
        (lambda x: stator.histogram(x, "auto"), stator.errors.DTypeError, "bins=.auto. of type str"),
        (lambda x: stator.histogram(x, weights=x[0]), stator.errors.ShapeError, "weights of shape"),
        (lambda x: stator.bincount(x), stator.errors.DTypeError, "float64"),
        (lambda x: stator.bincount(stator.astype(x, "int8") - 1), stator.errors.InvalidValueError, "negative"),
        (lambda x: stator.bincount(stator.astype(x, "int64"), minlength=-1), stator.errors.InvalidValueError, "min"),
        (lambda x: stator.bincount(stator.astype(x, "int64"), size=-2), stator.errors.InvalidValueError, "size=-2"),
    ],
)
def test_errors_name_the_op_and_the_next_call_works(be, call, kind, text):
    x = be.asarray(np.arange(12.0).reshape(3, 4))
    with pytest.raises(kind, match=text) as caught:
        call(x)
    assert caught.value.op and caught.value.remedy
    assert int(stator.histc(x, 1, min=0, max=20).to_numpy()[0]) == 12


@pytest.mark.parametrize(
    "x",
    [[1e17, 1e17], [0.0, 5e-324], [1700000000000000000, 1700000000000000100]],
    ids=["equal", "subnormal", "int64"],
)
def test_a_histogram_whose_edges_coincide_counts_every_element(be, x):
    counts, edges = stator.histogram(be.asarray(np.asarray(x)), 5)
    assert counts.to_numpy().tolist() == [0, 0, 0, 0, 2] and np.isfinite(edges.to_numpy()).all()


@pytest.mark.parametrize("bounds", [None, (-1.7e308, 1.7e308)])
def test_a_histogram_spans_more_than_the_largest_number(be, bounds):
    x = np.array([-1e300, 1e300] if bounds else [-1.7e308, -1e300, 1e300, 1.7e308])
    counts, edges = stator.histogram(be.asarray(x), 4, range=bounds)
    np.testing.assert_allclose(edges.to_numpy(), [-1.7e308, -0.85e308, 0, 0.85e308, 1.7e308])
    assert counts.to_numpy().tolist() == ([0, 1, 1, 0] if bounds else [1, 1, 1, 1])


@pytest.mark.parametrize("x", [[1, np.inf], [np.nan, 1], [np.inf], [-np.inf, np.inf]])
def test_extremes_that_are_not_finite_count_nothing(be, x):
    on = be.asarray(np.array(x))
    counts, edges = stator.histogram(on, 5)
    assert not counts.to_numpy().any() and np.isnan(edges.to_numpy()).all()
    assert not stator.histc(on, 5).to_numpy().any()


def test_histc_of_equal_extremes_that_cannot_be_moved_apart(be):
    assert stator.histc(be.asarray(np.array([1e17, 1e17])), 4).to_numpy().sum() == 2


def test_more_bins_than_numbers_of_the_dtype(be):
    x = np.linspace(1, 1.01, 12).astype(np.float16)
    counts, edges = stator.histogram(be.asarray(x), 20_000)
    edges = edges.to_numpy()
    for value in np.unique(x):
        at = min(np.searchsorted(edges, value, side="right") - 1, 19_999)
        assert counts.to_numpy()[at] == (x == value).sum()
