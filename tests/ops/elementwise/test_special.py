"""Special functions in double precision against mpmath, with their poles and limits.

A few dozen points per function; orthogonal polynomials also at degrees that are not small whole numbers.
"""

import zlib

import inputs
import mpmath as mp
import numpy as np
import pytest
import scipy.special
from cases import TABLE, bound, case, domains, draw, function, invoke
from reference import assert_matches

import stator

inf, nan = np.inf, np.nan


def angle(f):
    """A Chebyshev polynomial computed from its angle, which is complex outside [-1, 1]."""
    return lambda x, n: mp.re(f(mp.acos(x), n))


CHEBYSHEV = {
    "t": angle(lambda t, n: mp.cos(n * t)),
    "u": angle(lambda t, n: mp.sin((n + 1) * t) / mp.sin(t)),
    "v": angle(lambda t, n: mp.cos((n + 0.5) * t) / mp.cos(t / 2)),
    "w": angle(lambda t, n: mp.sin((n + 0.5) * t) / mp.sin(t / 2)),
}


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def bessel_k(n, x):
    """exp(x) K(n, x) by the trapezoidal rule for DLMF 10.32.9, since mpmath's besselk takes a second."""
    step = min(mp.mpf(0.1), 0.5 / mp.sqrt(x))
    total, k, term = mp.mpf(0.5), 1, 1
    while term > mp.eps * total:
        term = mp.exp(-2 * x * mp.sinh(k * step / 2) ** 2) * mp.cosh(n * k * step)
        total, k = total + term, k + 1
    return step * total


def beta(a, b):
    return mp.exp(mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))


def incomplete_gamma(a, x):
    """P and Q: the sum of the series of P, DLMF 8.7.1, and far right of its turn the complement, by mpmath."""
    if x > 2 * a + 50:
        upper = mp.gammainc(a, x, regularized=True)
        return 1 - upper, upper
    with mp.workdps(400):
        total, term, n = mp.mpf(1), mp.mpf(1), a
        while term > total * mp.eps:
            n += 1
            term *= x / n
            total += term
        lower = total * mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
        return lower, 1 - lower


EXACT = {
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x) if x < 1e8 else 1 / (x * mp.sqrt(mp.pi)),
    "beta": beta,
    "betaln": lambda a, b: mp.log(beta(a, b)),
    "gammainc": lambda a, x: incomplete_gamma(a, x)[0],
    "gammaincc": lambda a, x: incomplete_gamma(a, x)[1],
    "erfinv": mp.erfinv,
    "gammaln": lambda x: mp.log(abs(mp.gamma(x))),
    "digamma": mp.digamma,
    "entr": lambda x: -x * mp.log(x),
    "ndtr": normal,
    "log_ndtr": lambda x: mp.log(normal(x)) if x < 5 else mp.log1p(-normal(-x)),
    "ndtri": lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "logit": lambda p: mp.log(p / (1 - p)),
    **{f"i{n}": lambda x, n=n: mp.besseli(n, x) for n in (0, 1)},
    **{f"i{n}e": lambda x, n=n: mp.besseli(n, x) * mp.exp(-abs(x)) for n in (0, 1)},
    **{f"k{n}": lambda x, n=n: mp.exp(-x) * bessel_k(n, x) for n in (0, 1)},
    **{f"k{n}e": lambda x, n=n: bessel_k(n, x) for n in (0, 1)},
    **{f"j{n}": lambda x, n=n: mp.besselj(n, x) for n in (0, 1)},
    **{f"y{n}": lambda x, n=n: mp.bessely(n, x) for n in (0, 1)},
    "spherical_bessel_j0": mp.sinc,
    "airy_ai": mp.airyai,
    "polygamma": lambda n, x: mp.psi(int(n), x),
    "zeta": mp.zeta,
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    **{f"chebyshev_polynomial_{k}": f for k, f in CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{k}": lambda x, n, f=f: f(2 * x - 1, n) for k, f in CHEBYSHEV.items()},
    "hermite_polynomial_h": lambda x, n: mp.hermite(int(n), x),
    "hermite_polynomial_he": lambda x, n: mp.hermite(int(n), x / mp.sqrt(2)) / mp.sqrt(2) ** int(n),
    "laguerre_polynomial_l": lambda x, n: mp.laguerre(int(n), 0, x),
    "legendre_polynomial_p": lambda x, n: mp.legendre(int(n), x),
}
# Points beyond the case's domain: tails, zeros of the function, and ends of the intervals in its code.
FURTHER = {
    "erf": [1e-300, 1e-9, 0.625, 5.9],
    "erfc": [0.625, 20, 26.5],
    "erfcx": [-26.6, -0.625, 1e-300, 0.625, 26, 1e10, 1e300],
    "erfinv": [1e-200, 0.9375, 1 - 1e-15],
    "gammaln": [1e-300, 1 + 1e-9, 2 - 1e-9, 1e5, 1e300],
    "digamma": [1e-300, 1.4616321449683623, 1e8, 1e300],
    "entr": [1e-300, 1 + 1e-12, 1e300],
    "ndtr": [-38, -1e-10, 1e-10, 8.2],
    "log_ndtr": [-1e100, -1e5, -38, 12, 30],
    "ndtri": [1e-20, 1e-16, 0.0625, 0.5 - 1e-10, 1 - 1e-15],
    "expit": [-745, -700, 36, 40],
    "logit": [1e-300, 0.5 + 1e-12, 1 - 1e-15],
    "i0": [1e-9, 2, 700, 713],
    "i1": [1e-300, 2, 700, 713],
    "i0e": [1e-9, 1e5, 1e300],
    "i1e": [1e-300, 1e5, 1e300],
    "k0": [1e-300, 1, 700, 740],
    "k1": [1e-300, 1, 700, 740],
    "k0e": [1e-300, 1e5],
    "k1e": [1e-300, 1e5],
    "j0": [1e-9, 2.404825557695773, 1e5, 1e9],
    "j1": [1e-300, 3.8317059702075125, 1e5, 1e9],
    "y0": [1e-300, 0.8935769662791675, 1e5, 1e9],
    "y1": [1e-300, 2.197141326031017, 1e5, 1e9],
    "spherical_bessel_j0": [1e-9, 3.141592653589793, 1e5],
    "airy_ai": [-1e5, -2.338107410459767, 1e-300, 2, 100],
}


def to_longdouble(x: mp.mpf) -> np.longdouble:
    high = float(x)
    return np.longdouble(high) + np.longdouble(float(x - high)) if np.isfinite(high) else np.longdouble(high)


def test_every_special_function_has_an_exact_reference():
    assert {n for n, row in TABLE.items() if row["call"].startswith("special.")} == set(EXACT)


@pytest.mark.parametrize("name", EXACT)
def test_matches_mpmath_in_double_precision(be, name):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    made = [draw(rng, (30,), "float64", d) for d in domains(name)]
    if len(made) == 1:
        made[0] = np.concatenate([made[0], FURTHER.get(name, [])])
    with mp.workdps(50):
        want = np.array([to_longdouble(EXACT[name](*map(mp.mpf, map(float, p)))) for p in zip(*made, strict=True)])
    scale = case(name).scale
    size = None if scale is None else scale(*[x.astype(np.longdouble) for x in made])
    got = invoke(name, *map(be.asarray, made)).to_numpy()
    assert_matches(got, want, bound(name, "float64"), name, size)


LIMITS = {
    "erf": [(0, 0), (inf, 1), (-inf, -1)],
    "erfc": [(0, 1), (inf, 0), (-inf, 2), (30, 0)],
    "erfcx": [(0, 1), (inf, 0), (-inf, inf), (-27, inf)],
    "beta": [
        *((0, 1, inf), (-0.0, 2.5, inf), (0, 0, inf), (3, inf, 0), (inf, inf, nan), (-inf, 1, inf), (-2, 0.5, inf)),
        *((-1, 1, -1), (-1, 2, inf), (1, 1, 1), (-1.5, 1.5, 0), (-2.5, -1, inf), (1e38, 1e38, 0)),
    ],
    "betaln": [(1, 1, 0), (0, 1, inf), (3, inf, -inf), (inf, inf, nan), (-1, 1, 0), (-1.5, 1.5, -inf)],
    "gammainc": [
        *((0, 0, nan), (0, 1, 1), (0, inf, 1), (2, 0, 0), (2, -0.0, 0), (2, inf, 1), (inf, 2, 0), (inf, inf, nan)),
        *((-1, 1, nan), (1, -1, nan), (1e30, 1, 0), (1, 1e30, 1), (1e-40, 1, 1), (7.5, 1e100, 1)),
    ],
    "gammaincc": [
        *((0, 0, nan), (0, 1, 0), (0, inf, 0), (2, 0, 1), (2, -0.0, 1), (2, inf, 0), (inf, 2, 1), (inf, inf, nan)),
        *((-1, 1, nan), (1, -1, nan), (1e30, 1, 1), (1, 1e30, 0), (7.5, 1e100, 0)),
    ],
    "erfinv": [(0, 0), (1, inf), (-1, -inf), (1.5, nan), (-2, nan), (inf, nan)],
    "gammaln": [(0, inf), (-1, inf), (-7, inf), (1, 0), (2, 0), (inf, inf), (1e306, inf)],
    "digamma": [(0, -inf), (-0.0, inf), (-1, nan), (-7, nan), (inf, inf)],
    "entr": [(0, 0), (1, 0), (-1, -inf), (inf, -inf)],
    "ndtr": [(0, 0.5), (inf, 1), (-inf, 0), (-40, 0)],
    "log_ndtr": [(inf, 0), (-inf, -inf)],
    "ndtri": [(0, -inf), (1, inf), (0.5, 0), (-0.1, nan), (1.1, nan)],
    "expit": [(0, 0.5), (inf, 1), (-inf, 0), (-800, 0)],
    "logit": [(0, -inf), (1, inf), (0.5, 0), (-0.1, nan), (1.1, nan)],
    "i0": [(0, 1), (inf, inf), (-inf, inf), (800, inf)],
    "i1": [(0, 0), (inf, inf), (-inf, -inf), (-800, -inf)],
    "i0e": [(0, 1), (inf, 0)],
    "i1e": [(0, 0), (inf, 0)],
    **{k: [(0, inf), (inf, 0), (-1, nan)] for k in ("k0", "k1", "k0e", "k1e")},
    "j0": [(0, 1), (inf, 0), (-inf, 0)],
    "j1": [(0, 0), (inf, 0), (-inf, 0)],
    **{k: [(0, -inf), (inf, 0), (-1, nan), (-inf, nan)] for k in ("y0", "y1")},
    "spherical_bessel_j0": [(0, 1), (inf, 0), (-inf, 0)],
    "airy_ai": [(inf, 0), (1000, 0), (-inf, 0)],
    "polygamma": [(0, 0, -inf), (1, 0, inf), (0, inf, inf), (1, inf, 0), (1.5, 1, nan), (-1, 1, nan)],
    "zeta": [(1, 3, inf), (0.5, 1, nan), (2, 0, inf), (2, -3, inf), (2.5, -0.5, nan), (inf, 2, 0)],
    "xlogy": [(0, 0, 0), (0, inf, 0), (0, nan, nan), (2, 0, -inf), (0, -1, 0), (1, -1, nan)],
    "xlog1py": [(0, -1, 0), (0, inf, 0), (0, nan, nan), (2, -1, -inf), (0, -2, 0), (1, -2, nan)],
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_and_poles(be, name):
    for dtype in ("float32", "float64"):
        *x, want = np.array(LIMITS[name]).T
        with np.errstate(over="ignore"):
            got = invoke(name, *[be.asarray(v.astype(dtype)) for v in x]).to_numpy()
        np.testing.assert_array_equal(got, want, f"{name} {dtype}")
        lost = invoke(name, *[be.asarray(np.array([nan], dtype))] * len(x)).to_numpy()
        assert np.isnan(lost).all()


POLYNOMIALS = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "shifted_chebyshev_polynomial_t": scipy.special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": scipy.special.eval_sh_chebyu,
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
}
FAMILIES = [n for n in EXACT if "polynomial" in n]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_are_scipys_at_larger_degrees(be, name):
    x = np.linspace(-0.9, 0.9, 13)
    for degree in (2, 9, 30):
        got = function(name)(be.asarray(x), degree).to_numpy()
        want = POLYNOMIALS[name](degree, x)
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11 * np.max(np.abs(want)))


@pytest.mark.parametrize("name", FAMILIES)
def test_polynomials_of_any_degree(be, name):
    x = be.asarray(np.array([-0.5, 0.25, 0.75]))
    np.testing.assert_array_equal(function(name)(x, 0).to_numpy(), [1, 1, 1])
    np.testing.assert_array_equal(function(name)(x, -1).to_numpy(), [0, 0, 0])
    np.testing.assert_array_equal(function(name)(x, 3.75).to_numpy(), function(name)(x, 3).to_numpy())
    assert np.isnan(function(name)(be.asarray(np.array([nan, 0.5])), be.asarray(np.array([2, nan]))).to_numpy()).all()


def test_chebyshev_polynomials_of_a_large_degree_are_cosines(be):
    x = np.cos(np.linspace(0.05, 3.1, 9))
    got = stator.special.chebyshev_polynomial_t(be.asarray(x), 500).to_numpy()
    np.testing.assert_allclose(got, np.cos(500 * np.arccos(x.astype(np.longdouble))).astype(float), atol=3e-13)


def test_integers_and_bools_give_double_precision(be):
    whole = be.asarray(np.array([1, 2, 3], np.int8))
    for name in ("erf", "gammaln", "k0", "j1"):
        got = function(name)(whole)
        assert got.dtype == stator.float64
        np.testing.assert_array_equal(got.to_numpy(), function(name)(be.asarray(np.array([1.0, 2, 3]))).to_numpy())
    assert stator.special.zeta(whole, be.asarray(np.array([True]))).dtype == stator.float64


def test_signs_of_zero_stay(be):
    zeros = np.array([0.0, -0.0])
    for name in ("erf", "erfinv", "i1", "i1e", "j1"):
        for dtype in inputs.FLOATS[2:]:
            got = function(name)(be.asarray(zeros.astype(dtype))).to_numpy()
            np.testing.assert_array_equal(np.signbit(got), [False, True], name)
