"""The distributions of stator.numpy.random against scipy.stats: Kolmogorov-Smirnov, chi-squared tests, fixed seeds."""

import numpy as np
import pytest
from scipy import stats

import stator
import stator.numpy as snp
from stator.numpy.random._discrete import _OFFSET, _WIDTH

N = 20_000
LEAST = 1e-4  # of a p-value; the seeds are fixed

# name, arguments, the law of scipy.stats
CONTINUOUS = [
    ("random", (), stats.uniform()),
    ("uniform", (-2, 3), stats.uniform(-2, 5)),
    ("standard_normal", (), stats.norm()),
    ("normal", (1, 2), stats.norm(1, 2)),
    ("lognormal", (0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    ("standard_exponential", (), stats.expon()),
    ("exponential", (3,), stats.expon(scale=3)),
    ("standard_gamma", (0.3,), stats.gamma(0.3)),
    ("standard_gamma", (4,), stats.gamma(4)),
    ("gamma", (2, 3), stats.gamma(2, scale=3)),
    ("beta", (0.1, 0.2), stats.beta(0.1, 0.2)),
    ("beta", (2, 5), stats.beta(2, 5)),
    ("chisquare", (3,), stats.chi2(3)),
    ("noncentral_chisquare", (3, 2), stats.ncx2(3, 2)),
    ("noncentral_chisquare", (0.5, 2), stats.ncx2(0.5, 2)),
    ("f", (4, 7), stats.f(4, 7)),
    ("noncentral_f", (4, 7, 2), stats.ncf(4, 7, 2)),
    ("standard_t", (3,), stats.t(3)),
    ("standard_cauchy", (), stats.cauchy()),
    ("laplace", (1, 2), stats.laplace(1, 2)),
    ("logistic", (1, 2), stats.logistic(1, 2)),
    ("gumbel", (1, 2), stats.gumbel_r(1, 2)),
    ("pareto", (3,), stats.lomax(3)),
    ("power", (2.5,), stats.powerlaw(2.5)),
    ("weibull", (1.5,), stats.weibull_min(1.5)),
    ("rayleigh", (2,), stats.rayleigh(scale=2)),
    ("triangular", (-1, 0, 3), stats.triang(0.25, -1, 4)),
    ("triangular", (0, 0, 1), stats.triang(0, 0, 1)),
    ("vonmises", (0, 4), stats.vonmises(4)),
    ("vonmises", (0, 0.01), stats.vonmises(0.01)),
    ("vonmises", (0, 0), stats.uniform(-np.pi, 2 * np.pi)),
    ("vonmises", (0, 1e7), stats.norm(0, 1e7**-0.5)),
    ("wald", (2, 3), stats.invgauss(2 / 3, scale=3)),
]
DISCRETE = [
    ("poisson", (0.3,), stats.poisson(0.3)),
    ("poisson", (50,), stats.poisson(50)),
    ("binomial", (1, 0.3), stats.binom(1, 0.3)),
    ("binomial", (9, 0.7), stats.binom(9, 0.7)),
    ("binomial", (500, 0.2), stats.binom(500, 0.2)),
    ("negative_binomial", (3.5, 0.4), stats.nbinom(3.5, 0.4)),
    ("geometric", (0.2,), stats.geom(0.2)),
    ("hypergeometric", (5, 7, 4), stats.hypergeom(12, 5, 4)),
    ("hypergeometric", (1, 1, 1), stats.hypergeom(2, 1, 1)),
    ("hypergeometric", (300, 200, 450), stats.hypergeom(500, 300, 450)),
    ("logseries", (0.6,), stats.logser(0.6)),
    ("logseries", (0.01,), stats.logser(0.01)),
    ("zipf", (2.5,), stats.zipf(2.5)),
    ("zipf", (5,), stats.zipf(5)),
]


def frequencies_fit(drawn, law):
    """The p-value of a chi-squared test over classes that expect 10 draws or more; the last one has all the rest."""
    low = int(max(law.support()[0], law.ppf(1e-3)))
    high = int(law.ppf(1 - 10 / N))
    edges = np.arange(low, max(high, low + 1) + 1)
    expected = np.diff(law.cdf(edges), prepend=0.0, append=1.0) * drawn.size
    expected[-1] = drawn.size - expected[:-1].sum()
    observed = np.bincount(np.searchsorted(edges, drawn, side="left"), minlength=expected.size)
    kept = expected >= 10
    observed = np.append(observed[kept], observed[~kept].sum())
    expected = np.append(expected[kept], expected[~kept].sum())
    used = expected > 0
    assert observed[~used].sum() == 0
    return stats.chisquare(observed[used], expected[used], sum_check=False).pvalue


def hat_cover(law, low, high):
    """The largest |x - mean - 0.5| sqrt(f(x) / f(mode)) over the hat's half width; above 1 draws would be lost."""
    with np.errstate(all="ignore"):
        mean, variance = float(law.mean()), float(law.var())
    wide = 40 * (variance + 1) ** 0.5
    k = np.arange(max(low, int(mean - wide)), min(high, int(mean + wide)) + 1)
    logarithms = law.logpmf(k)
    root = np.exp((logarithms - logarithms.max()) / 2)
    distance = np.maximum(abs(k - mean - 0.5), abs(k - mean + 0.5))
    return (distance * root).max() / ((_WIDTH * (variance + 0.5) ** 0.5 + _OFFSET) / 2)


def test_the_hat_of_the_ratio_of_uniforms_covers_the_laws():
    cover = [hat_cover(stats.poisson(lam), 0, 10**9) for lam in np.append(np.geomspace(1e-4, 1e4, 60), 1.0)]
    cover += [hat_cover(stats.binom(n, p), 0, n) for n in (1, 2, 3, 10, 1000) for p in (1e-3, 0.1, 0.3, 0.5)]
    for every in (2, 5, 40):
        for good in range(1, every, 3):
            cover += [hat_cover(stats.hypergeom(every, good, s), 0, min(s, good)) for s in range(1, every, 3)]
    assert 0.999 < max(cover) <= 1 + 1e-12


@pytest.mark.parametrize("row", range(len(CONTINUOUS)))
def test_continuous_distributions(be, row):
    name, args, law = CONTINUOUS[row]
    drawn = getattr(snp.random.default_rng(100 + row), name)(*args, size=N)
    assert drawn.dtype == np.float64
    assert stats.kstest(drawn.to_numpy(), law.cdf).pvalue > LEAST


@pytest.mark.parametrize("row", range(len(DISCRETE)))
def test_discrete_distributions(be, row):
    name, args, law = DISCRETE[row]
    drawn = getattr(snp.random.default_rng(200 + row), name)(*args, size=N)
    assert drawn.dtype == np.int64
    assert frequencies_fit(drawn.to_numpy(), law) > LEAST


@pytest.mark.parametrize("row", [r for r, (_, args, _) in enumerate(CONTINUOUS) if args])
def test_continuous_distributions_with_arrays_of_parameters(be, row):
    name, args, law = CONTINUOUS[row]
    given = [stator.full((N, 1), float(a)) for a in args]
    drawn = getattr(snp.random.default_rng(300 + row), name)(*given)
    assert drawn.shape == (N, 1)
    assert stats.kstest(drawn.to_numpy()[:, 0], law.cdf).pvalue > LEAST


@pytest.mark.parametrize("row", range(len(DISCRETE)))
def test_discrete_distributions_with_arrays_of_parameters(be, row):
    name, args, law = DISCRETE[row]
    given = [stator.full((N, 1), float(a)) for a in args]
    drawn = getattr(snp.random.default_rng(400 + row), name)(*given)
    assert (drawn.shape, drawn.dtype) == ((N, 1), np.int64)
    assert frequencies_fit(drawn.to_numpy()[:, 0], law) > LEAST


def test_rows_of_parameters_are_drawn_from_their_own_laws(be):
    rng = snp.random.default_rng(1)
    lam = [0.0, 0.5, 20.0, 3e9]
    drawn = rng.poisson(lam, size=(N, 4)).to_numpy()
    assert (drawn[:, 0] == 0).all()
    np.testing.assert_allclose(drawn.mean(0), lam, rtol=0.02)
    np.testing.assert_allclose(drawn.var(0), lam, rtol=0.05)
    n, p = [0, 10, 10, 1000], [0.5, 0.0, 1.0, 0.9]
    drawn = rng.binomial(n, p, size=(N, 4)).to_numpy()
    assert (drawn[:, :3] == [0, 0, 10]).all()
    np.testing.assert_allclose(drawn[:, 3].mean(), 900, rtol=0.001)
    drawn = rng.gamma([0.0, 0.01, 30.0], [1.0, 2.0, 0.5], size=(N, 3)).to_numpy()
    assert (drawn[:, 0] == 0).all()
    np.testing.assert_allclose(drawn.mean(0), [0, 0.02, 15], rtol=0.15)
    drawn = rng.hypergeometric([0, 5, 5, 0], [5, 0, 5, 0], [3, 3, 10, 0], size=(N, 4)).to_numpy()
    assert (drawn == [0, 3, 5, 0]).all()


def test_beta_draws_do_not_underflow(be):
    drawn = snp.random.default_rng(2).beta(1e-3, 1e-3, size=N).to_numpy()
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(drawn.mean(), 0.5, atol=0.02)


def test_dirichlet(be):
    alpha = [0.5, 2.0, 1e-3, 4.0]
    drawn = snp.random.default_rng(3).dirichlet(alpha, size=(N, 1)).to_numpy()
    assert drawn.shape == (N, 1, 4)
    np.testing.assert_allclose(drawn.sum(-1), 1, rtol=1e-12)
    for k, a in enumerate(alpha):
        if a > 0.1:
            assert stats.kstest(drawn[:, 0, k], stats.beta(a, sum(alpha) - a).cdf).pvalue > LEAST


@pytest.mark.parametrize("pvals", [[0.2, 0.3, 0.5], [[0.2, 0.3, 0.5]] * 4])
def test_multinomial(be, pvals):
    drawn = snp.random.default_rng(4).multinomial(20, pvals, size=(N // 4, 4)).to_numpy()
    assert drawn.shape == (N // 4, 4, 3)
    assert (drawn.sum(-1) == 20).all()
    for k, p in enumerate((0.2, 0.3, 0.5)):
        assert frequencies_fit(drawn[..., k].ravel(), stats.binom(20, p)) > LEAST


def test_multinomial_with_arrays_of_trials(be):
    drawn = snp.random.default_rng(5).multinomial([0, 5, 1000], [0.1, 0.9, 0.0], size=(1000, 3)).to_numpy()
    assert (drawn.sum(-1) == [0, 5, 1000]).all()
    assert (drawn[..., 2] == 0).all()
    np.testing.assert_allclose(drawn[:, 2, 0].mean(), 100, rtol=0.02)


def test_multivariate_hypergeometric(be):
    drawn = snp.random.default_rng(6).multivariate_hypergeometric([5, 0, 8, 3], 6, size=N).to_numpy()
    assert drawn.shape == (N, 4)
    assert (drawn.sum(-1) == 6).all()
    for k, colour in enumerate((5, 0, 8, 3)):
        if colour:
            assert frequencies_fit(drawn[:, k], stats.hypergeom(16, colour, 6)) > LEAST
    assert (drawn[:, 1] == 0).all()


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(be, method):
    cov = np.array([[2.0, 0.6], [0.6, 1.0]])
    rng = snp.random.default_rng(7)
    drawn = rng.multivariate_normal([1, -1], cov.tolist(), size=N, method=method).to_numpy()
    np.testing.assert_allclose(drawn.mean(0), [1, -1], atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.T), cov, atol=0.06)
    assert stats.kstest(drawn[:, 0], stats.norm(1, 2**0.5).cdf).pvalue > LEAST


def test_an_invalid_covariance(be):
    rng = snp.random.default_rng(8)
    with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="positive-semidefinite"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise")
    assert rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="ignore").shape == (2,)
