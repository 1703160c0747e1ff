"""Integers, coins, exponential, gamma, Poisson, permutations, choices, dropout: distributions, bits, states, errors."""

import pickle

import numpy as np
import oracles
import pytest
import scipy.stats
from reference import numpy_dtype

import stator

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def words(seed, counter, n):
    blocks = np.arange(counter, counter + -(-n // 4), dtype=np.uint64)
    return oracles.philox4x32_10(seed, blocks).ravel()[:n].astype(np.uint64)


def chi_square(counts, probabilities):
    return scipy.stats.chisquare(counts, np.asarray(probabilities) * np.sum(counts)).pvalue


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_the_published_words(be, dtype):
    """A range of a power of two rejects nothing: it takes the high bits of each 32-bit word."""
    be.random.seed(99)
    got = be.random.integers(3, 67, (1001,), dtype=dtype).to_numpy()
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, 3 + (words(99, 0, 1001) >> np.uint64(26)).astype(dtype))
    assert be.random.get_state().counter == 251


def test_integers_draw_again_what_would_be_biased(be):
    """Lemire's method on the 32-bit words of the block (counter, attempt)."""
    bound = 3 << 30
    be.random.seed(5)
    got = be.random.integers(bound, size=5000).to_numpy()
    want, first = [], oracles.philox4x32_10(5, np.arange(1250, dtype=np.uint64))
    high = [oracles.philox4x32_10(5, np.arange(1250, dtype=np.uint64), k) for k in range(1, 30)]
    for i in range(5000):
        for block in (first, *high):
            product = int(block[i // 4, i % 4]) * bound
            if product % 2**32 >= 2**32 % bound:
                want.append(product >> 32)
                break
    np.testing.assert_array_equal(got, want)
    assert chi_square(np.bincount(got >> 30, minlength=3), [1 / 3] * 3) > 1e-3


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_reach_both_ends_of_the_dtype(be, dtype):
    be.random.seed(1)
    info = np.iinfo(dtype)
    x = be.random.integers(info.min, info.max, (20000,), dtype=dtype, endpoint=True).to_numpy()
    scaled = (x.astype(np.float64) - float(info.min)) / (float(info.max) - float(info.min))
    assert scipy.stats.kstest(scaled + np.random.default_rng(0).uniform(0, 1 / 256, 20000), "uniform").statistic < 0.02
    narrow = be.random.integers(info.max - 1, info.max, (64,), dtype=dtype, endpoint=True).to_numpy()
    assert set(narrow.tolist()) == {info.max - 1, info.max}


def test_integers_are_uniform(be):
    be.random.seed(2)
    for low, high in ((-5, 6), (0, 1000)):
        x = be.random.integers(low, high, (50000,)).to_numpy()
        assert x.dtype == np.int64 and x.min() >= low and x.max() < high
        assert chi_square(np.bincount(x - low, minlength=high - low), np.full(high - low, 1 / (high - low))) > 1e-3
    wide = be.random.integers(-(2**62), 2**62, (20000,)).to_numpy()
    assert scipy.stats.kstest(wide / 2.0**63 + 0.5, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("n", [0, 1, 3, 5, 257, 70001])
def test_draws_do_not_depend_on_their_number(be, n):
    be.random.seed(8)
    many = be.random.integers(1000, size=80000).to_numpy()
    be.random.seed(8)
    np.testing.assert_array_equal(be.random.integers(1000, size=n).to_numpy(), many[:n])
    be.random.seed(8)
    wide = be.random.integers(2**40, size=80000).to_numpy()
    be.random.seed(8)
    np.testing.assert_array_equal(be.random.integers(2**40, size=n).to_numpy(), wide[:n])
    be.random.seed(8)
    g = be.random.gamma(0.5, size=4000).to_numpy()
    be.random.seed(8)
    np.testing.assert_array_equal(be.random.gamma(0.5, size=min(n, 4000)).to_numpy(), g[:n])


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"])
def test_bernoulli_of_every_dtype(be, dtype):
    be.random.seed(6)
    x = be.random.bernoulli(0.3, (999,), dtype=dtype).to_numpy()
    assert x.dtype == numpy_dtype(dtype)
    np.testing.assert_array_equal(x, (words(6, 0, 999) < 0.3 * 2**32).astype(x.dtype))


def test_bernoulli_at_its_ends(be):
    assert not be.random.bernoulli(0.0, 1000).to_numpy().any()
    assert be.random.bernoulli(1.0, 1000).to_numpy().all()
    assert be.random.bernoulli().dtype == stator.bool


@pytest.mark.parametrize("dtype", FLOATS)
def test_exponential_and_gamma(be, dtype):
    be.random.seed(10)
    draws = [(be.random.exponential(2.5, 40000, dtype=dtype), scipy.stats.expon(scale=2.5))]
    for shape in (0.2, 1.0, 9.5, 500.0):
        draws.append((be.random.gamma(shape, 0.5, 40000, dtype=dtype), scipy.stats.gamma(shape, scale=0.5)))
    for got, law in draws:
        x = got.to_numpy().astype(np.float64)
        assert (x >= 0).all() and np.isfinite(x).all()
        assert abs(x.mean() - law.mean()) < 5 * law.std() / 200 + 0.01 * law.mean() * (dtype == "bfloat16")
        if dtype in ("float32", "float64"):
            assert scipy.stats.kstest(x, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.0, 0.05, 3.0, 9.9, 10.0, 47.5, 5000.0, 1e12])
def test_poisson(be, mean):
    be.random.seed(12)
    x = be.random.poisson(mean, 40000).to_numpy()
    assert x.dtype == np.int64 and x.min() >= 0
    law = scipy.stats.poisson(mean)
    assert abs(x.mean() - mean) <= 5 * np.sqrt(mean) / 200
    if mean == 0:
        return
    edges = np.unique(law.ppf(np.linspace(0.02, 0.98, 25)))
    below = np.searchsorted(edges, x, side="left")
    cdf = np.concatenate([[0], law.cdf(edges), [1]])
    if mean < 1e6:
        assert chi_square(np.bincount(below, minlength=len(edges) + 1), np.diff(cdf)) > 1e-4
    assert be.random.poisson(300.0, 10, dtype="uint8").to_numpy().max() == 255


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 255, 256, 257, 1000, 4097, 70000])
def test_permutations_hold_everything_once(be, n):
    be.random.seed(n)
    p = be.random.permutation(n).to_numpy()
    assert p.dtype == np.int64
    np.testing.assert_array_equal(np.sort(p), np.arange(n))
    np.testing.assert_array_equal(np.sort(stator.random.permutation(n).to_numpy()), np.arange(n))
    if n > 200:
        assert (p != np.arange(n)).mean() > 0.95
        assert (be.random.permutation(n).to_numpy() != p).any()


def test_permutations_are_equally_probable(be):
    be.random.seed(0)
    orders = [tuple(be.random.permutation(4).to_numpy()) for _ in range(2400)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert chi_square(counts, np.full(24, 1 / 24)) > 1e-3


@pytest.mark.parametrize("n", [300, 513])
def test_positions_of_long_permutations_are_uniform(be, n):
    be.random.seed(1)
    p = np.stack([be.random.permutation(n).to_numpy() for _ in range(400)])
    table = np.stack([np.histogram(p[:, i], bins=10, range=(0, n))[0] for i in range(n)]).sum(0)
    assert table.sum() == 400 * n
    first = np.histogram(p[:, :20], bins=10, range=(0, n))[0]
    expected = np.histogram(np.arange(n), bins=10, range=(0, n))[0] / n
    assert chi_square(first, expected) > 1e-3
    steps = (np.diff(p[:, :100], axis=1) > 0).mean()
    assert abs(steps - 0.5) < 0.02
    assert abs(np.corrcoef(p[:, 0], p[:, 1])[0, 1]) < 0.2


def test_permutation_of_an_array(be):
    x = np.arange(600).reshape(300, 2)
    got = stator.random.permutation(be.asarray(x)).to_numpy()
    assert (got != x).any()
    np.testing.assert_array_equal(got[np.argsort(got[:, 0])], x)
    along = be.random.permutation(be.asarray(x), axis=1).to_numpy()
    np.testing.assert_array_equal(np.sort(along, axis=1), x)


def test_choice_with_replacement(be):
    be.random.seed(3)
    x = be.random.choice(7, (100, 50)).to_numpy()
    assert x.shape == (100, 50) and x.dtype == np.int64
    assert chi_square(np.bincount(x.ravel(), minlength=7), np.full(7, 1 / 7)) > 1e-3
    p = [0.1, 0.0, 0.5, 0.15, 0.25, 0.0]
    for given in (p, be.asarray(np.array(p)), be.asarray(np.array(p, np.float32))):
        y = be.random.choice(6, 20000, p=given).to_numpy()
        counts = np.bincount(y, minlength=6)
        assert counts[1] == counts[5] == 0
        assert chi_square(counts[[0, 2, 3, 4]], [0.1, 0.5, 0.15, 0.25]) > 1e-3


def test_choice_without_replacement(be):
    be.random.seed(4)
    for n, k in ((1000, 10), (5, 5), (300, 0), (300, 299)):
        x = be.random.choice(n, k, replace=False).to_numpy()
        assert len(set(x.tolist())) == k and (k == 0 or x.max() < n)
    p = np.array([0.5, 0.3, 0.2])
    pairs = [tuple(be.random.choice(3, 2, replace=False, p=p.tolist()).to_numpy()) for _ in range(3000)]
    want = {(i, j): p[i] * p[j] / (1 - p[i]) for i in range(3) for j in range(3) if i != j}
    assert chi_square([pairs.count(k) for k in want], list(want.values())) > 1e-3


def test_choice_takes_from_an_array(be):
    be.random.seed(4)
    x = np.arange(12.0).reshape(3, 4) * 10
    got = stator.random.choice(be.asarray(x), (2, 5)).to_numpy()
    assert got.shape == (2, 5, 4) and np.isin(got, x).all()
    cols = be.random.choice(be.asarray(x), 4, replace=False, axis=1).to_numpy()
    np.testing.assert_array_equal(np.sort(cols, axis=1), x)


def test_multinomial(be):
    be.random.seed(5)
    p = [0.2, 0.5, 0.3]
    x = be.random.multinomial(20, p, (30, 40)).to_numpy()
    assert x.shape == (30, 40, 3) and x.dtype == np.int64
    np.testing.assert_array_equal(x.sum(-1), 20)
    assert chi_square(x.sum((0, 1)), p) > 1e-3
    assert (
        chi_square(
            np.bincount(x[..., 1].ravel(), minlength=21)[6:15],
            scipy.stats.binom(20, 0.5).pmf(range(6, 15)) / scipy.stats.binom(20, 0.5).pmf(range(6, 15)).sum(),
        )
        > 1e-3
    )
    assert stator.random.multinomial(1000, be.asarray(np.array(p))).to_numpy().sum() == 1000
    assert be.random.multinomial(0, p).to_numpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda r: r.choice(2, 3, p=[0.5, -0.5]), "p\\[1\\]"),
        (lambda r: r.choice(2, 3, p=[0.5, 0.4]), "sum"),
        (lambda r: r.choice(2, 3, p=[0.5, float("nan")]), "p\\[1\\]"),
        (lambda r: r.choice(2, 3, p=[1.0]), "1 probabilities"),
        (lambda r: r.choice(2, 3, replace=False), "without replacement"),
        (lambda r: r.choice(3, 2, replace=False, p=[1.0, 0.0, 0.0]), "not 0"),
        (lambda r: r.choice(0, 2), "0 outcomes"),
        (lambda r: r.choice(-1), "-1 outcomes"),
        (lambda r: r.multinomial(3, [0.5, 0.6]), "sum"),
        (lambda r: r.multinomial(3, [1.5, -0.5]), "p\\[1\\]"),
        (lambda r: r.multinomial(3, []), "sum"),
        (lambda r: r.multinomial(-1, [1.0]), "n=-1"),
        (lambda r: r.integers(5, 5), "low that is less"),
        (lambda r: r.integers(0, 300, dtype="uint8"), "uint8"),
        (lambda r: r.integers(-1, 3, dtype="uint8"), "uint8"),
        (lambda r: r.bernoulli(1.5), "p="),
        (lambda r: r.bernoulli(float("nan")), "p="),
        (lambda r: r.exponential(-1), "scale"),
        (lambda r: r.gamma(0.0), "shape"),
        (lambda r: r.gamma(1.0, -1.0), "scale"),
        (lambda r: r.poisson(-1.0), "lam"),
        (lambda r: r.poisson(float("inf")), "lam"),
        (lambda r: r.permutation(-3), "permutation"),
        (lambda r: r.set_state((1, 2, 3, "cpu")), "offset"),
        (lambda r: r.set_state((1, -2, 0, "cpu")), "counter"),
        (lambda r: r.set_state(7), "state"),
        (lambda r: r.spawn(-1), "spawn"),
    ],
)
def test_refusals_draw_nothing(be, call, text):
    be.random.seed(1)
    with pytest.raises(ValueError, match=text):
        call(be.random)
    assert be.random.get_state() == (1, 0, 0, str(be.device))


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.integers(0.5, 3),
        lambda r: r.integers(3, dtype="float32"),
        lambda r: r.poisson(3, dtype="float32"),
        lambda r: r.gamma(3, dtype="int32"),
        lambda r: r.exponential(3, dtype="complex64"),
        lambda r: r.choice(3, p=np.full(3, 1 / 3)),
        lambda r: r.choice([1, 2]),
        lambda r: r.permutation(np.arange(3)),
        lambda r: stator.nn.dropout(stator.arange(3), 0.5),
    ],
)
def test_wrong_types(be, call):
    with pytest.raises(TypeError):
        call(be.random)


def test_generators_of_their_own(be):
    be.random.seed(1)
    before = be.random.get_state()
    one, two = stator.random.Generator(be, seed=9), stator.random.Generator(be, seed=9)
    first = one.uniform(size=10).to_numpy()
    np.testing.assert_array_equal(two.uniform(size=10).to_numpy(), first)
    assert be.random.get_state() == before
    be.random.seed(9)
    np.testing.assert_array_equal(be.random.uniform(size=10).to_numpy(), first)


def test_spawned_generators_are_independent_and_repeatable(be):
    be.random.seed(1)
    a = be.random.spawn(3)
    be.random.seed(1)
    b = stator.random.spawn(3)
    assert [g.get_state() for g in a] == [g.get_state() for g in b]
    draws = np.stack([g.normal(size=20000).to_numpy() for g in [*a, *a[0].spawn(2), be.random]])
    off = np.corrcoef(draws) - np.eye(6)
    assert np.abs(off).max() < 0.04


def test_state_is_a_value(be):
    be.random.seed(3)
    be.random.uniform(size=9, dtype="float32")
    state = stator.random.get_state()
    assert state == (3, 3, 0, str(be.device)) and state.seed == 3 and state.counter == 3
    assert pickle.loads(pickle.dumps(state)) == state
    assert len(pickle.dumps(state)) < 200
    x = stator.random.gamma(2.0, size=5).to_numpy()
    stator.random.set_state(state)
    np.testing.assert_array_equal(stator.random.gamma(2.0, size=5).to_numpy(), x)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [0, 1, 3, 4, 255, 4099])
def test_dropout_mask_is_that_of_the_state(be, dtype, n):
    x = np.random.default_rng(0).normal(size=n).astype(numpy_dtype(dtype))
    be.random.seed(21)
    be.random.uniform(size=5, dtype="float32")
    y, state = stator.nn.dropout(be.asarray(x), 0.25)
    assert state.counter == 2
    assert be.random.get_state().counter == 2 + -(-n // 4)
    keep = words(21, 2, n) >= 2**30
    wide = np.float64 if dtype == "float64" else np.float32
    want = np.where(keep, x.astype(wide) * wide(1 / 0.75), 0).astype(x.dtype)
    np.testing.assert_array_equal(y.to_numpy(), want)
    np.testing.assert_array_equal(stator.nn.dropout_backward(be.asarray(x), 0.25, state).to_numpy(), want)


def test_dropout_takes_seeds_states_and_generators(be):
    x = be.asarray(np.ones((37, 41), np.float32))
    be.random.seed(77)
    y, state = stator.nn.dropout(x, 0.5)
    for rng in (77, np.int64(77), state, stator.random.Generator(be, seed=77)):
        again, same = stator.nn.dropout(x, 0.5, rng=rng)
        np.testing.assert_array_equal(again.to_numpy(), y.to_numpy())
        assert same == state
    other, _ = stator.nn.dropout(x, 0.5)
    assert (other.to_numpy() != y.to_numpy()).any()


def test_dropout_of_views_has_the_mask_of_the_dense_array(be):
    x = np.random.default_rng(0).normal(size=(20, 30, 7)).astype(np.float32)
    on = be.asarray(x)
    for view, of in ((on.mT, x.swapaxes(1, 2)), (on[::2, ::-1], x[::2, ::-1]), (on[0, 0, 0], x[0, 0, 0])):
        got, _ = stator.nn.dropout(view, 0.4, rng=5)
        want, _ = stator.nn.dropout(be.asarray(np.ascontiguousarray(of)).reshape(of.shape), 0.4, rng=5)
        np.testing.assert_array_equal(got.to_numpy(), want.to_numpy())


def test_dropout_statistics_and_ends(be):
    x = be.asarray(np.full(100000, 3.0))
    y = stator.nn.dropout(x, 0.3, rng=1)[0].to_numpy()
    kept = (y != 0).mean()
    assert abs(kept - 0.7) < 0.01
    np.testing.assert_allclose(y[y != 0], 3 / 0.7)
    np.testing.assert_array_equal(stator.nn.dropout(x, 0.0, rng=1)[0].to_numpy(), x.to_numpy())
    np.testing.assert_array_equal(
        stator.nn.dropout(be.asarray(np.array([np.inf, np.nan])), 1.0, rng=1)[0].to_numpy(), 0
    )
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="dropout"):
            stator.nn.dropout(x, p)
    with pytest.raises(ValueError, match="state"):
        stator.nn.dropout_backward(x, 0.5, None)
