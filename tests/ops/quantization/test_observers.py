"""Observers: ranges and histograms that accumulate on the device."""

import inputs
import numpy as np
import pytest
from layer_loops import quantization as oracle
from reference import widen

import stator

nn = stator.nn


def nothing(be, shape=(), dtype="float32"):
    return [be.asarray(np.full(shape, v, dtype)) for v in (np.inf, -np.inf)]


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_ranges_grow(be, dtype, axis):
    arrays = [inputs.random(np.random.default_rng(seed), (3, 5, 70), dtype, -4, 4) for seed in (0, 1)]
    low, high = nothing(be, () if axis is None else ((3, 5, 70)[axis],))
    for x in arrays:
        nn.observe_range(be.asarray(x), low, high, axis=axis)
    every = np.stack([widen(x) for x in arrays])
    along = None if axis is None else tuple(d for d in range(4) if d != axis + 1)
    np.testing.assert_array_equal(low.to_numpy(), every.min(axis=along).astype(np.float32))
    np.testing.assert_array_equal(high.to_numpy(), every.max(axis=along).astype(np.float32))


def test_long_ranges_layouts_and_nan(be):
    x = np.random.default_rng(0).normal(size=(2, 150_001)).astype(np.float32)
    low, high = nothing(be)
    nn.observe_range(be.asarray(x), low, high)
    assert (low.to_numpy(), high.to_numpy()) == (x.min(), x.max())
    low, high = nothing(be, (2,), "float64")
    nn.observe_range(be.asarray(x.T.astype(np.float64)).T[:, ::-1], low, high, axis=0)
    np.testing.assert_array_equal(low.to_numpy(), x.min(axis=1))
    x[0, 77] = np.nan
    nn.observe_range(be.asarray(x), *(pair := nothing(be, (2,))), axis=0)
    assert np.isnan([pair[0].to_numpy()[0], pair[1].to_numpy()[0]]).all() and pair[0].to_numpy()[1] == x[1].min()
    nn.observe_range(be.zeros((2, 0), dtype="float32"), *pair, axis=0)
    assert pair[0].to_numpy()[1] == x[1].min()


def test_parameters_before_anything_was_observed(be):
    scale, zero = nn.quantization_parameters(*nothing(be, (3,)), dtype="uint8", symmetric=True)
    assert scale.to_numpy().tolist() == [1.0] * 3 and zero.to_numpy().tolist() == [0] * 3
    middle = nn.quantization_parameters(be.zeros((1,)), be.ones((1,)), dtype="uint8", symmetric=True, quant_max=15)[1]
    assert middle.to_numpy().tolist() == [7]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("to", ["int8", "uint8"])
def test_ranges_whose_length_is_beyond_float32(be, to, dtype):
    low, high = (stator.astype(be.asarray(np.array([v, v / 4])), dtype) for v in (-3e38, 2e38))
    bottom, top = (widen(v.to_numpy()).astype(np.float64) for v in (low, high))
    for symmetric, length in ((False, top - bottom), (True, -2 * bottom)):
        scale, zero = nn.quantization_parameters(low, high, dtype=to, symmetric=symmetric)
        np.testing.assert_allclose(scale.to_numpy(), length / 255, rtol=1e-6)
        least, middle = (-128, 0) if to == "int8" else (0, 128)
        want = [middle] * 2 if symmetric else np.round(least - bottom / (length / 255))
        np.testing.assert_array_equal(zero.to_numpy(), want)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_histograms_of_ranges_that_grow(be, dtype):
    """Of eighths and of bins that are cut in halves, so that every element stays in its place."""
    counts, (low, high) = be.zeros((16,), dtype="float32"), nothing(be)
    rng = np.random.default_rng(0)
    first, second = (np.concatenate([rng.integers(-n, n, 40), [-n, n]]) / 8 for n in (8, 16))
    for x in (first, second):
        on = stator.astype(be.asarray(np.append(x, [np.nan, np.inf, -np.inf])), dtype)
        nn.observe_histogram(on, counts, low, high)
    assert (low.to_numpy(), high.to_numpy()) == (-2, 2)
    edges = np.histogram(first, 16, (-1, 1))[0].reshape(8, 2).sum(axis=1)
    want = np.histogram(second, 16, (-2, 2))[0] + np.concatenate([np.zeros(4), edges, np.zeros(4)])
    np.testing.assert_array_equal(counts.to_numpy(), want)


def test_histograms_of_one_value_and_of_many_bins(be):
    counts, (low, high) = be.zeros((9000,), dtype="float32"), nothing(be)
    one = be.ones((5,), dtype="float32")
    for x in (one, one, one - 1, one + 1):
        nn.observe_histogram(x, counts, low, high)
    got = counts.to_numpy()
    assert got.sum() == 20 and got[0] == 5 and got[-1] == 5 and got[4490:4510].sum() == 10
    nn.observe_histogram(one / 0, counts, low, high)
    assert counts.to_numpy().sum() == 20


@pytest.mark.parametrize("levels", [4, 16])
@pytest.mark.parametrize("kind", ["bell", "ends", "spike"])
def test_the_range_of_least_error(be, kind, levels):
    at = np.arange(64)
    counts = {
        "bell": np.round(1000 * np.exp(-(((at - 40) / 9) ** 2))),
        "ends": np.where((at == 0) | (at == 63), 1.0, 50.0),
        "spike": np.where(at == 20, 10000.0, at % 2),
    }[kind].astype(np.float32)
    low, high = (be.asarray(np.float32(v)) for v in (-1, 3))
    got = nn.histogram_range(be.asarray(counts), low, high, levels=levels)
    want = oracle.search(counts.astype(np.float64), -1.0, 3.0, levels)
    np.testing.assert_allclose([v.to_numpy() for v in got], want, rtol=1e-6)


def test_observers_begin_with_their_first_array(be):
    observer = nn.MinMaxObserver(axis=-1)
    with pytest.raises(stator.errors.InvalidValueError, match="No array was observed"):
        observer.parameters()
    with pytest.raises(stator.errors.DTypeError):
        observer.observe(be.ones((2, 3), dtype="int32"))
    observer.observe(be.ones((2, 3)))
    assert observer.parameters()[0].shape == (3,)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_observers_of_nothing_finite_have_the_parameters_of_nothing(be, dtype):
    for values in ([np.nan, np.inf, -np.inf], [np.inf]):
        observer = stator.nn.HistogramObserver(bins=16)
        observer.observe(be.asarray(values).astype(dtype))
        scale, zero_point = observer.parameters()
        assert (float(scale), int(zero_point)) == (1, 0)
        observer.observe(be.asarray([-1.0, 1.0]).astype(dtype))
        assert observer.histogram.to_numpy().sum() == 2
        assert 0 < float(observer.parameters()[0]) < 1


def test_histograms_of_the_largest_numbers(be):
    observer = stator.nn.HistogramObserver(bins=4)
    observer.observe(be.asarray(np.array([-3e38, -1e38, 1e38, 3e38, 3e38], "float32")))
    assert observer.histogram.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("name", ["MinMaxObserver", "HistogramObserver"])
def test_errors_of_observers_name_the_method(name):
    with pytest.raises(stator.errors.DTypeError, match=rf"^nn\.{name}\.observe: Expected an Array, got int"):
        getattr(nn, name)().observe(1)
