"""Philox: published vectors, equal bits for every launch shape, distributions, state."""

import pickle

import numpy as np
import oracles
import pytest
import scipy.stats

import stator


def test_known_answers_of_philox4x32_10():
    """Test vectors of Random123 (Salmon et al.): counter and key all zeros, and all ones in 64 bits."""
    zero = oracles.philox4x32_10(0, np.zeros(1, np.uint64))[0]
    assert [hex(w) for w in zero] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def uniform_from_words(seed, offset, n):
    words = oracles.philox4x32_10(seed, np.arange(offset, offset + -(-n // 4), dtype=np.uint64)).ravel()[:n]
    return ((words >> np.uint64(8)) * np.float64(2**-24)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 1023, 70001])
def test_uniform_draws_are_the_published_bits(be, n):
    be.random.seed(1234567890123)
    first = be.random.uniform(size=(n,), dtype="float32").to_numpy()
    second = be.random.uniform(size=(n,), dtype="float32").to_numpy()
    np.testing.assert_array_equal(first, uniform_from_words(1234567890123, 0, n))
    np.testing.assert_array_equal(second, uniform_from_words(1234567890123, -(-n // 4), n))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_is_uniform_and_excludes_high(be, dtype):
    be.random.seed(3)
    x = be.random.uniform(-2.0, 5.0, size=(40000,), dtype=dtype).to_numpy().astype(np.float64)
    assert x.min() >= -2
    assert x.max() < 5
    if dtype in ("float32", "float64"):
        assert scipy.stats.kstest(x, "uniform", args=(-2, 7)).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_normal_is_normal(be, dtype):
    be.random.seed(4)
    x = be.random.normal(1.5, 2.0, size=(40001,), dtype=dtype).to_numpy().astype(np.float64)
    assert np.isfinite(x).all()
    assert abs(x.mean() - 1.5) < 0.05
    if dtype in ("float32", "float64"):
        assert scipy.stats.kstest(x, scipy.stats.norm(1.5, 2).cdf).pvalue > 1e-3
        assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.03


def test_state_restores_and_pickles(be):
    be.random.seed(7)
    be.random.uniform(size=(10,))
    state = pickle.loads(pickle.dumps(be.random.get_state()))
    first = be.random.normal(size=(50,)).to_numpy()
    be.random.set_state(state)
    np.testing.assert_array_equal(be.random.normal(size=(50,)).to_numpy(), first)


def test_module_seed_reseeds_open_and_future_backends(be):
    stator.random.seed(11)
    first = be.random.uniform(size=(8,)).to_numpy()
    stator.random.seed(11)
    with stator.Backend(be.device) as other:
        np.testing.assert_array_equal(other.random.uniform(size=(8,)).to_numpy(), first)
    np.testing.assert_array_equal(be.random.uniform(size=(8,)).to_numpy(), first)


def test_empty_and_zero_dimensional_draws(be):
    assert be.random.uniform(size=(0, 3)).shape == (0, 3)
    assert be.random.normal(size=()).shape == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.uniform(2.0, 1.0, size=3),
        lambda r: r.normal(0.0, -1.0, size=3),
        lambda r: r.uniform(0.0, float("inf"), size=3),
    ],
)
def test_bad_parameters(be, call):
    with pytest.raises(ValueError, match="random"):
        call(be.random)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_up_to_zero_stays_below_it(be, dtype):
    low = -(2.0 ** (-20 if dtype == "float16" else -30))
    got = be.random.uniform(low, 0.0, 1000, dtype=dtype).to_numpy().astype(np.float64)
    assert (got >= low).all() and (got < 0).all() and got.max() > low / 2


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 1e6), ("bfloat16", 3.4e38), ("float32", 1e39)])
def test_uniform_bounds_beyond_the_dtype_are_refused(be, dtype, bound):
    for low, high in ((0, bound), (-bound, 0)):
        with pytest.raises(stator.errors.InvalidValueError, match="uniform"):
            be.random.uniform(low, high, 4, dtype=dtype)


@pytest.mark.parametrize("seed", [0.9, -0.5, float("nan"), "1", -1, 2**64])
def test_a_seed_is_an_integer_of_64_bits(be, seed):
    for call in (
        lambda: stator.random.seed(seed),
        lambda: stator.random.Generator(be, seed=seed),
        lambda: be.random.set_state((seed, 0, 0, "cpu")),
        lambda: be.random.set_state((0, seed, 0, "cpu")),
    ):
        with pytest.raises(stator.errors.InvalidValueError, match="integer"):
            call()


def test_a_numpy_integer_is_a_seed(be):
    first, second = (stator.random.Generator(be, seed=seed) for seed in (np.uint64(2**64 - 1), 2**64 - 1))
    assert first.get_state() == second.get_state()


def test_integer_dtypes_are_refused(be):
    with pytest.raises(TypeError, match="uniform"):
        be.random.uniform(size=(3,), dtype="int32")
