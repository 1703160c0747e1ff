"""Rare arguments give NumPy's values and dtypes: integers beyond float64, infinities, 0-d arrays, pads and so on."""

import numpy as np
import pytest
from numpy_names import assert_alike, evaluated

import stator
import stator.numpy as snp

P = "np.array([2**60 + 1, -1, 5, 2**62, 0])"
Q = 'np.array([2**60 + 2, 2**64 - 1, 5, 2**62, 2**63], dtype="uint64")'
COMPARISONS = "\n".join(
    f"np.{name}({a}, {b})\nnp.{name}({b}, {a})"
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    for a, b in ((P, Q), (P + '.astype("int8")', Q))
)
CALLS = {
    "int64 beside uint64": COMPARISONS
    + f"""
np.array_equal(np.array([2**60 + 1]), np.array([2**60 + 2], dtype="uint64"))
np.array_equal(np.array([2**60 + 2]), np.array([2**60 + 2], dtype="uint64"))
np.isin({P}, np.array([2**60 + 2, 5, 2**64 - 1], dtype="uint64"))
np.isin(np.array([2**60 + 2, 5, 2**64 - 1], dtype="uint64"), {P})
np.isin(np.array([1, -1], dtype="int8"), np.array([255, 1], dtype="uint8"), invert=True)
np.array([2**60 + 2, 2**64 - 1], dtype="uint64")
np.maximum({P}, {Q})
np.searchsorted(np.sort({P}), np.array([1, 2**63], dtype="uint64"))
np.unique(np.concatenate([{P}, {Q}]))
""",
    "histograms have their largest element": """
np.histogramdd(np.array([[0.2], [0.9]]), 1)[0]
np.histogramdd(np.array([[0.1, 0.7], [0.3, 0.9], [0.8, 0.2]]), 3)
np.histogramdd(h, 2)[1][0]
np.histogramdd(h, 2, range=[(0, 1)] * 3)[1][0]
np.histogramdd(h.astype(np.float16), 2)[1][0]
np.histogram2d(h[0], h[1])[1]
np.histogram2d([1, 2], [1, 2], bins=[0, 1, 3])
np.histogram_bin_edges(np.array([0.2, 0.9]), 1)
np.histogram_bin_edges(np.array([0.1, 0.7, 0.3]), 7)[-1]
""",
    "quantiles": """
np.nanmedian(np.array([1.0, 2.0, np.inf]))
np.nanmedian(np.array([-np.inf, 1.0, np.nan, 2.0]), 0)
np.percentile(np.array([2**62 + 1, 5, 7]), 100, method="nearest")
np.quantile(np.array([2**62 + 1, 5, 7]), [0.0, 1.0], method="lower")
np.quantile(np.array([[2**64 - 1, 5, 7]], dtype="uint64"), 0.9, axis=1, method="higher")
np.nanquantile(np.array([2**62 + 1, 5]), 1.0, method="inverted_cdf")
np.quantile(np.array([2**62 + 1, 5, 7]), [[0.3], [0.9]], method="closest_observation")
np.quantile(h, np.array([0.5], dtype="float32"))
np.quantile(h, [0.5])
np.quantile(h.astype(np.float16), np.array([0.5], dtype="float32"))
np.percentile(h, 50)
""",
    "numbers beside small integers": """
np.float_power(np.array([2], dtype="uint8"), 300)
np.float_power(2, np.array([3], dtype="int8"))
np.float_power(np.array([2], dtype="uint8"), 1j)
np.ldexp(np.array([1.5], dtype="float32"), 100)
np.insert(s, 0, 1.9)
changed(s, np.put, [0, 1], [1.9, 7])
changed(s, np.putmask, s > 2, [1.9, 7])
changed(s, np.place, s > 2, [1.9, 7])
changed(s[:, :2].copy(), np.fill_diagonal, 1.9)
changed(s, np.copyto, [[300, 1, 2]])
np.piecewise(s, [s > 2], [1.9, lambda x: 300 * x.astype("int32")])
np.full_like(s, 1.9)
np.full(2, [1, 44], dtype="int8")
""",
    "axis=()": """
np.sum(f, (), where=f > 0)
np.sum(i, (), initial=5)
np.prod(s, axis=())
np.max(f, (), initial=2.0, where=f > 1)
np.min(s, ())
np.any(f, (), where=b)
np.all(i, ())
np.nansum(n, ())
np.nanmax(f, (), initial=0.5)
np.mean(i, ())
np.add.reduce(s, axis=(), initial=10, where=b)
np.subtract.reduce(s, axis=(), initial=10)
""",
    "initial": """
np.subtract.reduce(v, initial=10)
np.subtract.reduce(f, 1, initial=10)
np.divide.reduce(v, initial=64)
np.subtract.reduce(v, initial=10, where=v > 2)
np.power.reduce(np.array([2, 2]), initial=3)
np.add.reduce(v, initial=5, where=v > 2)
np.add.reduce(s, 1, initial=300)
np.multiply.reduce(np.zeros((0, 2)), initial=3)
np.divide.reduce(np.zeros((0, 2)), initial=5)
np.maximum.reduce(np.zeros((0, 2)), initial=5)
np.maximum.reduce(np.zeros((2, 0)), 0, initial=5)
np.gcd.reduce(np.array([8, 12]), initial=6)
np.nanmin(np.zeros(0), initial=5)
np.nanmax(np.zeros((0, 2)), 0, initial=5)
np.max(np.zeros((0, 2), int), 0, initial=5)
np.sum(-np.array([1, 2]), initial=1.5)
np.prod(np.array([1, 3]), initial=1.5)
np.max(i, initial=5.5)
np.add.reduce(i, None, initial=2.7)
np.max(b, initial=True)
""",
    "nothing is combined": """
np.add.reduce(s[:1])
np.add.reduce(b)
np.logical_and.reduce(i[:1])
np.divide.reduce(i[:1])
np.subtract.reduce(np.array([5], dtype="int8"), dtype="f4")
np.hypot.reduce(np.array([5], dtype="int8"))
np.add.reduceat(s[0], [0, 2, 1])
np.multiply.reduceat(u, [0, 1], 1)
np.subtract.reduceat(s[0], [0, 2, 1])
np.add.reduceat(s[0], [])
np.add.accumulate(s[0])
np.multiply.accumulate(u, 1)
np.logical_and.accumulate(i[1])
np.logical_or.accumulate(i[1][:1])
np.divide.accumulate(np.array([8, 2]))
np.maximum.accumulate(b, 1)
np.maximum.accumulate(c, 1)
np.minimum.accumulate(s[0], dtype="f8")
np.multiply.reduce(np.array([], dtype="uint8"))
np.bitwise_and.reduce(np.array([], dtype="uint8"))
np.equal.reduce(np.array([True, False]))
np.add.reduce(np.array(3, dtype="int8"))
""",
    "ufunc.at": """
changed(np.array([1, 2, 3]), np.multiply.at, [1, 0], 1.5)
changed(np.array([1, 2, 3]), np.subtract.at, [0, 0], 1.5)
changed(np.array([1, 2, 3], dtype="uint8"), np.subtract.at, [0, 1, 0], [1, 300, 2])
changed(np.array([1, 2, 3], dtype="int8"), np.multiply.at, [0, 0], 300)
changed(np.array([1, 2, 3], dtype="int8"), np.maximum.at, [0, 0], 300)
changed(np.array([1.0, 2.0, 3.0]), np.add.at, [], 1.0)
changed(np.array([1.0, 2.0, 3.0]), np.add.at, [0, 0, 2], [1.0, 2.0, 3.0])
changed(np.array([1.0, 2.0, 3.0]), np.power.at, [1, 1], 3)
changed(np.array([1.0, 2.0, 3.0]), np.divide.at, [1, 1, 0], [4.0, 2.0, 8.0])
changed(np.array([1.0, -2.0, 3.0]), np.negative.at, [1, 0, 1])
changed(np.array([True, False]), np.add.at, [0, 0], -1)
changed(f, np.add.at, (slice(None), [0, 0]), g[:, :2])
changed(h, np.add.at, 0, 1e-9)
""",
    "reciprocal": """
np.reciprocal(np.array([-9, -1, 1, 2, 7]))
np.reciprocal(np.array([1, 2, 255], dtype="uint8"))
np.reciprocal(np.array([-128, -1], dtype="int8"))
""",
    "windows and bins": """
np.kaiser(5, -3.4)
np.kaiser(np.int64(5), 90.0)
np.hanning(np.int64(3))
np.hanning(np.array(3))
np.interp([0, 1, 2], [0, 1, 2], [0, 5, np.inf])
np.interp([0.5, 1.5, 2], [0, 1, 2], [-np.inf, np.inf, np.inf])
np.interp([0, 0.5, 1], [0, 1], [1 + 2j, np.inf + 1j])
np.interp([0.5, 3], [0, 1], [1 + 2j, 3], right=2j)
np.interp([1, 1.5, 2], [1, 1, 2, 2], [1, 2, 3, 4])
np.piecewise(np.array(3.0), [True, False], [1.0, 2.0])
np.piecewise(np.array(3.0), True, [1.0, 2.0])
np.piecewise(np.array([1.0, 2.0]), [[True, False], [False, True]], [1.0, 2.0, 3.0])
np.digitize([1.0, 3.0], [np.nan, 3.0, 2.0, 1.0])
np.digitize([1.0, 3.0], [1.0, 2.0, np.nan])
np.digitize([1], [2, 2])
np.digitize([1, 3], [3, 3, 1])
np.unique(np.array([np.nan, np.nan, 1.0]), axis=0, return_counts=True)
""",
    "dtypes": """
np.cov(h, dtype="f4")
np.corrcoef(h, dtype="f4")
np.cov(h, dtype="f4", aweights=w).dtype
np.fft.irfft(h[0].astype(np.float16))
np.fft.hfft(h[0].astype(np.float16))
np.poly(w.astype(np.float16))
np.poly(w.astype(np.float32))
np.linalg.matrix_power(np.array([[1, 2], [0, 1]], dtype="f2"), 3)
np.linalg.matrix_power(np.array([[1, 2], [0, 1]], dtype="f2"), 0)
np.quantile(np.zeros((0, 2), int), 0.5, axis=1)
np.nanquantile(np.zeros(0, int), 0.5, method="lower")
""",
    "arguments that are arrays of no axes": """
np.gradient(v, np.array(2.0))
np.gradient(f, np.array(2.0))
np.gradient(f, 2.0, w)
np.gradient(h, w, axis=1)
np.gradient(h.astype(np.float16), axis=1)
np.gradient(np.array(3.0))
np.arange(i.max() + 1)
np.arange(np.array(0.5), np.int64(3))
np.arange(1 + 1j, 3 + 3j)
np.arange(3 + 0j)
np.arange(True)
np.arange(2, dtype=bool)
np.arange(3, dtype=complex)
np.zeros(np.array(3))
np.ones((np.array(2), 1))
np.full(np.array([2, 1]), 1.5)
np.eye(np.array(2))
np.squeeze(z, axis=0)
np.squeeze(z, -1)
np.sum(z, axis=0)
np.max(z, -1, keepdims=True)
np.argmax(z, 0)
np.cumsum(z, 0)
np.nanmean(z, 0)
np.nanvar(z, -1)
np.count_nonzero(z, 0)
np.ptp(z, 0)
np.repeat(z, 2, 0)
np.add.reduce(z)
""",
    "writing and choosing": """
changed(w[:2].copy(), np.copyto, [[7.0, 8.0]])
changed(np.array([1, 2], dtype="int8"), np.copyto, 3, where=[True, False])
changed(np.array([1, 2]), np.copyto, True)
changed(np.zeros(4), lambda x: x.flat.__setitem__(slice(None), [1, 2]))
changed(np.zeros(3), lambda x: x.flat.__setitem__(slice(None), [1, 2, 3, 4]))
changed(np.zeros((2, 2)), lambda x: x.flat.__setitem__(slice(1, None), [1, 2]))
np.compress([True] + [False] * 5, v[:3])
np.compress([False, True, False, False], f, axis=0)
np.take(v, [True, False])
np.take(v, True)
np.repeat(w[:2], [True, False])
changed(v, np.put, [True, False], 5)
np.choose([True, False], [[1, 2], [3, 4]])
np.delete(v, [True, False, True, False, False])
np.insert(v, np.array([True, False, True, False, False]), 9)
np.reshape(f, (3, 2), order="f")
np.ravel(f, "f")
np.array(f, order="c")
""",
    "padding": """
np.pad(v, (2, 3), "linear_ramp", end_values=(5, -4))
np.pad(i, 2, "linear_ramp", end_values=7)
np.pad(c, 1, "linear_ramp")
np.pad(h, ((1, 2), (0, 3)), "mean")
np.pad(i, 2, "mean", stat_length=2)
np.pad(f, 1, "median")
np.pad(u, ((0, 1), (2, 1)), "median", stat_length=((1, 2), (2, 2)))
np.pad(f, (2, 1), "maximum")
np.pad(s, (2, 1), "minimum", stat_length=(1, 2))
np.pad(v, (2, 3), "reflect", reflect_type="odd")
np.pad(v, (9, 12), "reflect", reflect_type="odd")
np.pad(f, 3, "symmetric", reflect_type="odd")
np.pad(i, ((1, 0), (4, 5)), "symmetric", reflect_type="odd")
np.pad(np.array([3.0]), (2, 1), "reflect", reflect_type="odd")
np.pad(v, 1, "maximum", stat_length=None)
np.pad(s, 1, constant_values=((1, 2), (3, 4)))
np.pad(z, 0)
""",
    "windows of arrays": """
np.lib.stride_tricks.sliding_window_view(v, 3)
np.lib.stride_tricks.sliding_window_view(f, (2, 2))
np.lib.stride_tricks.sliding_window_view(f[:, ::-1], 2, axis=1)
np.lib.stride_tricks.sliding_window_view(t, (2, 2), axis=(2, 0))
np.lib.stride_tricks.sliding_window_view(f, (2, 2), axis=(1, 1))
np.lib.stride_tricks.as_strided(v, (2, 2), (8, 16))
np.finfo(np.float32).nmant
np.finfo(np.float16).tiny
np.finfo(float).resolution
np.finfo(h.dtype).smallest_subnormal
np.finfo(np.complex64).precision
""",
}


@pytest.mark.parametrize("kind", list(CALLS))
def test_rare_arguments_give_what_numpy_gives(be, kind):
    for text in filter(None, map(str.strip, CALLS[kind].splitlines())):
        assert_alike(evaluated(text, snp, be.asarray), evaluated(text, np, lambda x: x), text)


REFUSED = """
np.insert(s, 0, 300)
np.insert(s, 0, [300])
np.put(s, 0, 300)
np.put(s, [0, 1], [300, 1])
np.putmask(s, s > 0, 300)
np.place(s, s > 0, [300])
np.fill_diagonal(s[:, :2].copy(), 300)
np.piecewise(s, [s > 0], [300, 1])
np.copyto(s, 300)
np.copyto(i, 3.7, where=b)
np.copyto(i, 3.7)
np.copyto(f, 1j)
np.copyto(b, 1)
np.full_like(s, 300)
np.full_like(u, -1)
np.pad(s, 1, constant_values=300)
np.max(s, initial=300)
np.sum(i, initial=1j)
np.subtract.reduce(s, initial=1000)
np.less.reduce(v)
np.less.accumulate(v)
np.subtract.reduce(f, axis=None)
np.subtract.reduce(v, where=v > 2)
np.nanmax(v, where=v > 2)
np.partition(c, 5)
np.delete(v, True)
np.delete(v, [True, False])
np.cov(f, fweights=[1, -1, 2])
np.cov(f, aweights=[1, -1, 2])
np.cov(f, fweights=[1, 1.5, 2])
np.fft.rfft(v, norm="")
np.fft.fftn(v, norm="")
np.dot(v, v, out=np.zeros((), "f4"))
np.digitize([1.0], [1, 3, 2])
np.compress([False] * 5 + [True], v)
np.arange(3, dtype=bool)
np.squeeze(z, 1)
np.squeeze(z, (0,))
np.mean(z, 0)
np.gradient(b)
np.gradient(v, f)
np.pad(z, [], mode="edge")
np.pad(v, 1.5)
np.pad(v, -1)
np.pad(v, 1, "maximum", stat_length=0)
np.pad(v, 1, "edge", constant_values=1)
np.lib.stride_tricks.sliding_window_view(v, 9)
np.lib.stride_tricks.sliding_window_view(f, 2)
"""


@pytest.mark.parametrize("text", [t.strip() for t in REFUSED.splitlines() if t.strip()])
def test_rare_arguments_are_refused_with_the_class_of_numpy(be, text):
    with pytest.raises(Exception) as wanted:
        evaluated(text, np, lambda x: x)
    with pytest.raises(stator.errors.StatorError) as found:
        evaluated(text, snp, be.asarray)
    bases = (OverflowError, IndexError, ValueError, TypeError)
    assert isinstance(found.value, next(b for b in bases if isinstance(wanted.value, b)))


def test_nan_into_integers_is_refused(be):
    """NumPy gives the smallest integer."""
    with pytest.raises(stator.errors.InvalidValueError, match="NaN"):
        snp.full_like(be.asarray([1]), float("nan"))


def test_an_end_that_a_quantile_is_on_is_its_value_beside_an_infinity(be):
    """NumPy gives NaN."""
    x = be.asarray([1.0, 2.0, np.inf])
    assert snp.nanquantile(x, [0.0, 0.5, 1.0]).tolist() == [1.0, 2.0, np.inf]
    assert snp.nanpercentile(x, 50).item() == 2.0


def test_ufuncs_name_the_dtypes_of_their_loops():
    assert snp.add.types[0] == "??->?" and "dd->d" in snp.add.types and snp.add.ntypes == len(snp.add.types)
    assert not any(char in text for text in snp.add.types for char in "gGOmM")


def test_numbers_beyond_the_array_compare_exactly(be):
    x = be.asarray(np.array([0, 2**63, 2**64 - 1], np.uint64))
    assert [(x == -1).tolist(), (x > -1).tolist(), (x < -1).tolist()] == [[False] * 3, [True] * 3, [False] * 3]
    y = be.asarray(np.array([-1, 2**63 - 1]))
    assert [(y < 2**63).tolist(), (y >= 2**63).tolist(), (y == 2**63).tolist()] == [
        [True] * 2,
        [False] * 2,
        [False] * 2,
    ]
    small = be.asarray(np.array([0, 255], np.uint8))
    assert [(small != 2**64 - 1).tolist(), (small > 2**63).tolist()] == [[True] * 2, [False] * 2]


@pytest.mark.parametrize("invert", [False, True])
def test_isin_of_integers_of_both_signs(be, invert):
    x = np.array([2**60 + 1, -1, 5, 0, 2**63 - 1, -(2**63)])
    y = np.array([2**60 + 2, 2**64 - 1, 5, 2**63, 2**63 - 1], np.uint64)
    for one, other in ((x, y), (y, x), (x.astype("int8"), y)):
        held = {int(v) for v in other}
        want = [(int(v) in held) != invert for v in one]
        assert stator.isin(be.asarray(one), be.asarray(other), invert=invert).tolist() == want


@pytest.mark.parametrize("dtype", ["int64", "int8"])
def test_mixed_comparisons_of_views_and_outputs(be, dtype):
    rng = np.random.default_rng(5)
    x = rng.integers(-100, 100, (33, 40)).astype(dtype)
    y = rng.integers(-100, 100, (40, 33)).astype("int64").view("uint64")
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        out = be.zeros((33, 40), dtype="bool")
        getattr(stator, name)(be.asarray(x), be.asarray(y).T, out=out)
        np.testing.assert_array_equal(out.to_numpy(), getattr(np, name)(x, y.T), err_msg=name)
        found = getattr(stator, name)(be.asarray(y)[:, :1], be.asarray(x)[0, :])
        np.testing.assert_array_equal(found.to_numpy(), getattr(np, name)(y[:, :1], x[0]), err_msg=name)
