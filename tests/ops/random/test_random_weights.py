"""choice and multinomial by probabilities that stay on the device, with equal bits on every target."""

import math
import os
from unittest import mock

import numpy as np
import pytest
import scipy.stats
from reference import numpy_dtype

import stator
from stator.errors import BackendMismatchError, DTypeError, ShapeError

REALS = ["bool", "int8", "int64", "uint16", "float16", "bfloat16", "float32", "float64"]


def chi_square(counts, probabilities):
    return scipy.stats.chisquare(counts, np.asarray(probabilities) * np.sum(counts)).pvalue


def weights(n, seed=0):
    p = np.random.default_rng(seed).gamma(0.5, size=n)
    return p / p.sum()


def drawn(be, call, seed=3):
    be.random.seed(seed)
    return call(be.random).to_numpy()


@pytest.mark.parametrize("n", [1, 2, 3, 31, 257, 4099])
def test_probabilities_of_an_array_are_those_of_a_list(be, n):
    p = weights(n)
    on = be.asarray(p)
    for call in (
        lambda r, p: r.choice(n, (70, 3), p=p),
        lambda r, p: r.choice(n, min(n, 20), replace=False, p=p),
        lambda r, p: r.multinomial(1000, p, 5),
    ):
        a, b = (drawn(be, lambda r, q=q, call=call: call(r, q)) for q in (on, p.tolist()))
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", REALS)
def test_probabilities_of_every_dtype(be, dtype):
    p = be.asarray(np.array([0, 1, 0]).astype(numpy_dtype(dtype)))
    assert (drawn(be, lambda r: r.choice(3, 100, p=p)) == 1).all()
    assert drawn(be, lambda r: r.multinomial(7, p)).tolist() == [0, 7, 0]
    assert drawn(be, lambda r: r.choice(3, 1, replace=False, p=p)).tolist() == [1]


def test_probabilities_of_few_digits_need_not_sum_to_one_exactly(be):
    for dtype in ("float32", "float16", "bfloat16"):
        p = be.asarray(weights(300).astype(numpy_dtype(dtype)))
        assert drawn(be, lambda r, p=p: r.choice(300, 50, p=p)).max() < 300


def test_probabilities_of_any_layout(be):
    p = weights(40)
    table = be.asarray(np.stack([p, p], 1))
    want = drawn(be, lambda r: r.choice(40, 200, p=be.asarray(p)))
    np.testing.assert_array_equal(drawn(be, lambda r: r.choice(40, 200, p=table[:, 1])), want)
    flipped = be.asarray(p[::-1].copy())[::-1]
    np.testing.assert_array_equal(drawn(be, lambda r: r.choice(40, 200, p=flipped)), want)
    even = drawn(be, lambda r: r.choice(8, 4000, p=stator.broadcast_to(be.asarray(1 / 8), (8,))))
    assert chi_square(np.bincount(even, minlength=8), np.full(8, 1 / 8)) > 1e-3


@pytest.mark.parametrize("n", [5, 300, 20000])
def test_choice_has_its_probabilities(be, n):
    p = weights(n, n)
    x = drawn(be, lambda r: r.choice(n, 60000, p=be.asarray(p)), n)
    groups = np.array_split(np.argsort(p), 5)
    assert chi_square([np.isin(x, g).sum() for g in groups], [p[g].sum() for g in groups]) > 1e-3


def test_impossible_outcomes_are_never_drawn(be):
    p = np.zeros(1000)
    p[[3, 500, 997]] = 0.25, 0.5, 0.25
    on = be.asarray(p)
    assert set(drawn(be, lambda r: r.choice(1000, 5000, p=on)).tolist()) == {3, 500, 997}
    assert set(drawn(be, lambda r: r.choice(1000, 3, replace=False, p=on)).tolist()) == {3, 500, 997}
    counts = drawn(be, lambda r: r.multinomial(100, on, 50))
    assert counts[:, [3, 500, 997]].sum() == 5000


def test_choice_without_replacement_follows_successive_draws(be):
    p = np.array([0.5, 0.3, 0.15, 0.05])
    on = be.asarray(p)
    be.random.seed(8)
    pairs = [tuple(be.random.choice(4, 2, replace=False, p=on).to_numpy()) for _ in range(3000)]
    want = {(i, j): p[i] * p[j] / (1 - p[i]) for i in range(4) for j in range(4) if i != j}
    assert chi_square([pairs.count(k) for k in want], list(want.values())) > 1e-3


@pytest.mark.parametrize("trials", [3, 40, 100_000, 10**15])
def test_counts_have_the_marginals_and_the_covariance(be, trials):
    p = np.array([0.1, 0.25, 0.05, 0.6])
    x = drawn(be, lambda r: r.multinomial(trials, be.asarray(p), 4000), trials % 97)
    assert (x.sum(-1) == trials).all() and (x >= 0).all()
    z = (x - trials * p) / np.sqrt(trials * p * (1 - p))
    assert abs(z.mean(0)).max() < 5 / np.sqrt(4000)
    want = -np.sqrt(np.outer(p / (1 - p), p / (1 - p)))
    np.fill_diagonal(want, 1)
    assert abs(np.corrcoef(x.T) - want).max() < 0.08
    assert abs(z.std(0) - 1).max() < 0.1
    if trials <= 100_000:
        law = scipy.stats.binom(trials, p[1])
        edges = np.unique(law.ppf(np.linspace(0.1, 0.9, 9)))
        counts = np.bincount(np.searchsorted(edges, x[:, 1]), minlength=len(edges) + 1)
        assert chi_square(counts, np.diff(np.concatenate([[0], law.cdf(edges), [1]]))) > 1e-4


def test_nothing_goes_to_the_host(be):
    p = be.asarray(weights(100))
    with be.forbid_host_copies():
        be.random.choice(100, 50, p=p)
        be.random.choice(100, 50, replace=False, p=p)
        be.random.choice(be.zeros((100, 2)), 5, p=p)
        be.random.multinomial(10, p, 5)
        be.random.multinomial(10, [0.5, 0.5])


BAD = {
    "negative": ([0.5, 0.75, -0.25], r"p\[2\] is -0.25"),
    "NaN": ([0.5, float("nan"), 0.5], r"p\[1\] is -?nan"),
    "infinite": ([float("inf"), 0, 0], r"p\[0\] is inf"),
    "a sum below 1": ([0.3, 0.3, 0.3], "sum to 0.9"),
    "a sum above 1": ([0.3, 0.3, 0.5], "sum to 1.1"),
    "a sum that would wrap": ([1.0] * 5, "sum to"),
    "only zeros": ([0.0, 0.0, 0.0], "sum to 0"),
}


@pytest.mark.parametrize("why", BAD)
def test_bad_probabilities_are_raised_when_the_stream_synchronises(be, why):
    numbers, text = BAD[why]
    p = be.asarray(np.array(numbers))
    n = len(numbers)
    for call, op in (
        (lambda r: r.choice(n, 4, p=p), "random.choice"),
        (lambda r: r.choice(n, 2, replace=False, p=p), "random.choice"),
        (lambda r: r.multinomial(4, p), "random.multinomial"),
    ):
        x = call(be.random)
        with pytest.raises(ValueError, match=text) as caught:
            be.synchronize()
        assert caught.value.op == op
        got = x.to_numpy()
        assert (got >= 0).all() and (got < n).all()
        assert be.random.choice(2, 3, p=be.asarray([0.0, 1.0])).to_numpy().tolist() == [1, 1, 1]


def test_too_few_possible_outcomes_are_raised_when_the_stream_synchronises(be):
    p = be.asarray([0.5, 0.5, 0.0, 0.0])
    be.random.choice(4, 3, replace=False, p=p)
    with pytest.raises(ValueError, match="Only 2"):
        be.synchronize()
    be.random.choice(4, 2, replace=False, p=p)
    be.synchronize()


def test_eager_checks_raise_at_once(be):
    with stator.Backend(be.device, check_indices="eager") as eager:
        p = eager.asarray([0.5, 0.6])
        for call in (
            lambda: eager.random.choice(2, 4, p=p),
            lambda: eager.random.choice(2, 2, replace=False, p=p),
            lambda: eager.random.multinomial(4, p),
        ):
            with pytest.raises(ValueError, match=r"sum to 1\.1"):
                call()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r, a: r.choice(3, 2, p=a(np.ones((3, 1)))), ShapeError, "shape"),
        (lambda r, a: r.choice(3, 2, p=a(np.ones(2))), ShapeError, "2 probabilities"),
        (lambda r, a: r.choice(3, 2, p=a(np.ones(3, np.complex64))), DTypeError, "complex64"),
        (lambda r, a: r.multinomial(3, a(np.ones((2, 2)))), ShapeError, "shape"),
        (lambda r, a: r.multinomial(3, a(np.array(1.0))), ShapeError, "shape"),
        (lambda r, a: r.multinomial(3, a(np.ones(0))), ValueError, "sum to 0"),
        (lambda r, a: r.multinomial(-3, a(np.ones(1))), ValueError, "n=-3"),
    ],
)
def test_what_is_seen_without_looking_is_raised_at_once(be, call, error, text):
    be.random.seed(1)
    with pytest.raises(error, match=text):
        call(be.random, be.asarray)
    assert be.random.get_state().counter == 0


def test_probabilities_of_another_backend_are_refused(be):
    with stator.Backend(be.device) as other:
        p = other.asarray([0.5, 0.5])
        with pytest.raises(BackendMismatchError):
            be.random.choice(2, 3, p=p)
        with pytest.raises(BackendMismatchError):
            be.random.multinomial(2, p)


DRAWS = {
    "uniform": lambda r, d: r.uniform(-1.0, 3.0, 3001, dtype=d),
    "normal": lambda r, d: r.normal(0.5, 2.0, 3001, dtype=d),
    "exponential": lambda r, d: r.exponential(0.7, 3001, dtype=d),
    "gamma above 1": lambda r, d: r.gamma(4.5, 2.0, 3001, dtype=d),
    "gamma below 1": lambda r, d: r.gamma(0.03, 1.0, 3001, dtype=d),
    "few events": lambda r, d: r.poisson(3.3, 3001),
    "many events": lambda r, d: r.poisson(1234.5, 3001),
    "integers": lambda r, d: r.integers(3 << 30, size=3001),
    "wide integers": lambda r, d: r.integers(-(2**62), 2**62, 3001),
    "bernoulli": lambda r, d: r.bernoulli(0.3, 3001, dtype=d),
    "short permutation": lambda r, d: r.permutation(200),
    "permutation": lambda r, d: r.permutation(3001),
    "choice": lambda r, d: r.choice(777, 3001, p=weights(777).tolist()),
    "choice of many": lambda r, d: r.choice(20000, 301, p=weights(20000).tolist()),
    "choice without replacement": lambda r, d: r.choice(777, 300, replace=False, p=weights(777).tolist()),
    "counts of few": lambda r, d: r.multinomial(20, weights(9).tolist(), 301),
    "counts of many": lambda r, d: r.multinomial(10**6, weights(9).tolist(), 301),
    "dropout": lambda r, d: stator.nn.dropout(stator.ones((3001,), dtype=d), 0.4, rng=r)[0],
}


@pytest.fixture(scope="module")
def checked():
    with mock.patch.dict(os.environ, STATOR_HOST_MODE="checked"):
        backend = stator.Backend("cpu")
    with backend:
        yield backend


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DRAWS)
def test_every_column_draws_the_same_bits(be, checked, name, dtype):
    assert (be.kernels, checked.kernels) != ("host_checked", "host_checked")
    with checked.use():
        want = drawn(checked, lambda r: DRAWS[name](r, dtype), 123)
    got = drawn(be, lambda r: DRAWS[name](r, dtype), 123)
    np.testing.assert_array_equal(got, want)
    assert be.random.get_state()[:2] == checked.random.get_state()[:2]


@pytest.mark.parametrize("n", [1, 2, 3, 127, 128, 129, 1000, 4096])
@pytest.mark.parametrize(
    "law", ["gamma(0.4)", "gamma(7.0)", "poisson(2.0)", "poisson(50.0)", "normal()", "exponential()"]
)
def test_draws_are_the_first_of_longer_ones(be, law, n):
    call = f"r.{law[:-1]}{', ' if law[-2] != '(' else ''}size=n)"
    many, few = (drawn(be, lambda r, n=n: eval(call, {"r": r, "n": n})) for n in (9001, n))
    np.testing.assert_array_equal(few, many[:n])


@pytest.mark.parametrize("shape", [1e-3, 0.2, 0.999, 1.0, 1.5, 30.0, 1e6])
def test_gamma_over_its_shapes(be, shape):
    x = drawn(be, lambda r: r.gamma(shape, 3.0, 30000), 17)
    assert (x >= 0).all() and np.isfinite(x).all()
    law = scipy.stats.gamma(shape, scale=3.0)
    if shape < 0.01:  # half of the draws are below the smallest number
        for bound in (1e-290, 1e-100, 1e-5, 1.0):
            share = law.sf(bound)
            assert abs((x > bound).mean() - share) < 5 * np.sqrt(share * (1 - share) / len(x))
    else:
        assert scipy.stats.kstest(x, law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean", [1e-9, 0.7, 9.999, 10.0, 12.0, 1e5])
def test_poisson_over_its_means(be, mean):
    x = drawn(be, lambda r: r.poisson(mean, 30000), 5)
    law = scipy.stats.poisson(mean)
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 15)))
    counts = np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1)
    expected = np.diff(np.concatenate([[0], law.cdf(edges), [1]]))
    assert counts[expected == 0].sum() == 0
    if (expected > 1e-6).sum() > 1:
        assert chi_square(counts[expected > 1e-6], expected[expected > 1e-6] / expected[expected > 1e-6].sum()) > 1e-4


# Vectors of the Random123 distribution (Salmon et al., SC 2011): counter, key, 32-bit words.
KNOWN = [
    ((0, 0), 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((2**64 - 1, 2**64 - 1), 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ((0x85A308D3243F6A88, 0x0370734413198A2E), 0x299F31D0A4093822, "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_the_reference_has_the_published_words(counter, key, words):
    import oracles

    got = oracles.philox4x32_10(key, np.array([counter[0]], np.uint64), counter[1])[0]
    assert " ".join(f"{w:08x}" for w in got) == words


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 11, 2**64 - 1])
@pytest.mark.parametrize("counter", [0, 7, 2**32 - 3, 2**63])
def test_words_of_the_device_are_the_reference(be, seed, counter):
    import oracles

    be.random.set_state((seed, counter, 0, "cpu"))
    got = be.random.integers(0, 2**32 - 1, 2001, dtype="uint32", endpoint=True).to_numpy()
    blocks = np.uint64(counter) + np.arange(501, dtype=np.uint64)
    np.testing.assert_array_equal(got, oracles.philox4x32_10(seed, blocks).ravel()[:2001])


def events_up_to(count, mean):
    """The probability of at most `count` events, added up as the device does."""
    term = total = math.exp(-mean)
    for k in range(count):
        term *= mean / (k + 1)
        total += term
    return total


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_a_draw_that_equals_the_probability_of_few_events_counts_one_more(be, count):
    import oracles

    found = 0
    for counter in range(20):
        words = oracles.philox4x32_10(3, np.array([counter], np.uint64)).ravel()
        draw = ((int(words[0]) >> 5) * 2.0**26 + (int(words[1]) >> 6)) * 2.0**-53
        low, high = 0.0, 9.9
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if events_up_to(count, middle) > draw else (low, middle)
        if not draw > 0.5 or events_up_to(count, high) != draw:
            continue
        be.random.set_state((3, counter, 0, "cpu"))
        assert int(be.random.poisson(high, 1)[0]) == count + 1
        found += 1
    assert found


@pytest.mark.parametrize("counter", [2**30, 2**31, 2**32, 2**63])
@pytest.mark.parametrize("name", ["few", "many"])
def test_counts_of_other_counters_are_others(be, name, counter):
    draws = []
    for first in (0, counter):
        be.random.set_state((5, first, 0, "cpu"))
        draws.append(be.random.poisson(2.0 if name == "few" else 300.0, 500).to_numpy())
    assert (draws[0] != draws[1]).mean() > 0.5


def test_subnormal_probabilities_come_before_zero_ones(be):
    for seed in range(20):
        got = drawn(be, lambda r: r.choice(3, 2, replace=False, p=[0.0, 1.0, 1e-320]), seed)
        assert sorted(got) == [1, 2]


@pytest.mark.parametrize("n", [10**9, 10**13, 2**53])
@pytest.mark.parametrize("p", [0.5, 0.01])
def test_counts_of_many_trials_have_the_spread_of_a_binomial(be, n, p):
    count = drawn(be, lambda r: r.multinomial(n, [p, 1 - p], 20_000))
    assert (count >= 0).all() and (count.sum(axis=1) == n).all()
    standard = (count[:, 0] - n * p) / np.sqrt(n * p * (1 - p))
    assert abs(standard.std() - 1) < 0.03 and abs(standard.mean()) < 0.03


def test_trials_beyond_two_to_the_53_are_refused(be):
    with pytest.raises(stator.errors.InvalidValueError, match="53"):
        be.random.multinomial(2**53 + 3, [1.0, 1e-17])
