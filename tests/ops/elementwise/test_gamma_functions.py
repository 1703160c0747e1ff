"""The beta function and the incomplete gamma functions at the ends of their ranges and where their methods meet."""

import math

import mpmath as mp
import numpy as np
import pytest
from cases import bound, function
from reference import assert_matches

from tests.ops.elementwise.test_special import EXACT, to_longdouble


def magnitudes(rng, low, high, count):
    return np.exp(rng.uniform(np.log(low), np.log(high), count))


def compare(be, name, a, b, scale=None):
    with mp.workdps(80):
        want = np.array(
            [to_longdouble(EXACT[name](mp.mpf(float(x)), mp.mpf(float(y)))) for x, y in zip(a, b, strict=True)]
        )
    got = function(name)(be.asarray(a), be.asarray(b)).to_numpy()
    assert_matches(got, want, bound(name, "float64"), name, scale, [a, b])


def incomplete_operands(rng):
    """Around x = a, in the tails, at both ends of the uniform expansion, near 0 and near the turns of the methods."""
    large = magnitudes(rng, 15, 1e4, 20)
    return {
        "around a": (large, np.abs(large + np.sqrt(large) * rng.uniform(-5, 5, 20))),
        "tails": (large, np.abs(large + np.sqrt(large) * rng.uniform(-30, 30, 20))),
        "ends of the expansion": (np.full(6, 25.0), np.array([7.4, 7.6, 7.7, 58.5, 59.0, 60.0])),
        "small": (magnitudes(rng, 1e-10, 2, 20), magnitudes(rng, 1e-10, 2, 20)),
        "the fraction": (rng.uniform(0, 3, 20), rng.uniform(0.9, 3, 20)),
        "least": (np.array([1e-300, 1e-3, 1.5, 20]), np.array([1e-3, 1e-300, 1e-200, 1e-15])),
    }


@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
@pytest.mark.parametrize("where", incomplete_operands(np.random.default_rng(0)))
def test_incomplete_gamma_functions_keep_their_digits(be, name, where):
    compare(be, name, *incomplete_operands(np.random.default_rng(3))[where])


def test_incomplete_gamma_functions_of_very_large_numbers(be):
    """Where P is the normal distribution function of (x - a) / sqrt(a) and terms that vanish with a."""
    for a in (1e12, 1e15):
        x = np.round(a + np.sqrt(a) * np.array([-3.0, -0.5, 0.0, 0.5, 3.0]))
        t = (x - a) / np.sqrt(a)
        want = np.array([float(mp.ncdf(v)) for v in t]) - (t * t - 1) / 3 * np.exp(-t * t / 2) / np.sqrt(2 * np.pi * a)
        operands = be.asarray(np.full(5, a)), be.asarray(x)
        lower, upper = (function(n)(*operands).to_numpy() for n in ("gammainc", "gammaincc"))
        # The next term of the expansion is of the size 1 / a.
        np.testing.assert_allclose(lower, want, rtol=1e-9)
        np.testing.assert_allclose(lower + upper, np.ones(5), rtol=1e-15)


def test_beta_of_all_magnitudes(be):
    rng = np.random.default_rng(5)
    sets = [
        (rng.uniform(0, 10, 20), rng.uniform(0, 10, 20)),
        (rng.uniform(5, 500, 20), rng.uniform(5, 500, 20)),
        (magnitudes(rng, 1e-300, 8, 10), magnitudes(rng, 8, 1e15, 10)),
        (magnitudes(rng, 8, 20, 10), magnitudes(rng, 8, 1e12, 10)),
        (magnitudes(rng, 1e-300, 1, 10), magnitudes(rng, 1e-300, 1, 10)),
    ]
    for a, b in sets:
        compare(be, "beta", a, b)
        compare(be, "beta", b, a)
        compare(be, "betaln", a, b, np.ones(a.shape))


def test_betaln_where_beta_is_out_of_range(be):
    a, b = np.array([1e3, 1e5, 1e-310, 1e-310, 1e10, 500.0]), np.array([1e3, 1e9, 1e-3, 90, 1e10, 1e300])
    with mp.workdps(400):
        want = [mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(mp.mpf(x) + mp.mpf(y)) for x, y in zip(a, b, strict=True)]
        want = np.array([to_longdouble(w) for w in want])
    got = function("betaln")(be.asarray(a), be.asarray(b)).to_numpy()
    assert_matches(got, want, bound("betaln", "float64"), "betaln", operands=[a, b])
    huge = be.asarray(np.array([1e308, 1e300]))
    np.testing.assert_array_equal(function("beta")(huge, huge).to_numpy(), [0, 0])


def test_beta_of_negative_numbers(be):
    rng = np.random.default_rng(6)
    a, b = rng.uniform(-9, 9, 60), rng.uniform(-9, 9, 60)
    with mp.workdps(60):
        want = np.array([float(mp.beta(x, y)) for x, y in zip(a, b, strict=True)])
    got = function("beta")(be.asarray(a), be.asarray(b)).to_numpy()
    # The sine of a + b, which is small near a zero, has the rounding error of its argument.
    np.testing.assert_allclose(got, want, rtol=1e-13)
    assert (want < 0).any() and ((a < 0) & (b < 0)).any()
    logarithms = function("betaln")(be.asarray(a), be.asarray(b)).to_numpy()
    np.testing.assert_allclose(logarithms, np.log(np.abs(want)), rtol=1e-12, atol=1e-13)


def test_beta_where_one_pole_cancels_another(be):
    for a, b in ((-3, 2), (-3, 3), (-7, 4), (-20, 1)):
        got = function("beta")(be.asarray(np.array([float(a)])), float(b)).to_numpy()
        np.testing.assert_allclose(got, [math.factorial(b - 1) / math.prod(range(a, a + b))], rtol=1e-14)
