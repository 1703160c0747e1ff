"""Special functions at the ends of their ranges, in float32 near zeros, and complex functions at very many points."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special
from cases import bound, function
from reference import assert_matches

import stator

inf = np.inf


def as_float(value) -> float:
    """A number of mpmath rounded to float64; infinite beyond its range."""
    return float(mp.sign(value)) * inf if abs(value) >= mp.mpf(2) ** 1024 else float(value)


def polygamma(n, x):
    """(-1)^(n+1) n! zeta(n + 1, x) for x > 0 by Euler-Maclaurin summation, because mpmath's psi is slow for large n."""
    s, a, total = n + 1, mp.mpf(x), mp.mpf(0)
    while a < s + 30:
        total, a = total + a**-s, a + 1
    total += a ** (1 - s) / (s - 1) + a**-s / 2
    factor = mp.mpf(s) / a ** (s + 1)
    for j in range(1, 20):
        total += mp.bernoulli(2 * j) / mp.factorial(2 * j) * factor
        factor *= mp.mpf(s + 2 * j - 1) * (s + 2 * j) / a**2
    return (-1) ** s * mp.factorial(n) * total


def test_polygamma_where_its_factors_overflow_and_underflow(be):
    rng = np.random.default_rng(5)
    n = np.concatenate([[200, 169, 400, 400, 399, 1000], rng.integers(1, 400, 40)]).astype(float)
    x = np.concatenate([[50, 100, 1e6, 1e-3, 1e-3, 1000 / np.e], np.exp(rng.uniform(np.log(1e-3), np.log(1e6), 40))])
    with mp.workdps(40):
        want = np.array([as_float(polygamma(int(a), float(b))) for a, b in zip(n, x, strict=True)])
    assert np.isinf(want).any() and (want == 0).any()
    got = stator.special.polygamma(be.asarray(n), be.asarray(x)).to_numpy()
    assert_matches(got, want, bound("polygamma", "float64"), "polygamma", operands=[n, x])


def test_polygamma_of_a_high_order_left_of_zero(be):
    n, x = np.array([200.0, 201, 130, 130]), np.array([-3.25, -0.75, -20.5, -33.375])
    with mp.workdps(60):
        sums = [mp.fsum((mp.mpf(b) + k) ** -(int(a) + 1) for k in range(80)) for a, b in zip(n, x, strict=True)]
        want = [as_float((-1) ** (int(a) + 1) * mp.factorial(a) * v) for a, v in zip(n, sums, strict=True)]
    assert want[:2] == [inf, inf]
    got = stator.special.polygamma(be.asarray(n), be.asarray(x)).to_numpy()
    # Near -20.5 the two largest terms cancel, and errors are relative to one of them.
    scale = np.where(x == -20.5, np.exp2(131) * float(mp.factorial(130)), 0)
    assert_matches(got, np.array(want), bound("polygamma", "float64"), "polygamma", scale, [n, x])


def test_airy_ai_of_huge_arguments_has_the_phase_or_is_zero(be):
    x = -np.array([1e9, 1e10, 1e11, 1e12, 1e14, 1e16])
    with mp.workdps(60):
        want = np.array([float(mp.airyai(mp.mpf(v))) for v in x])
    amplitude = np.abs(x) ** -0.25
    # Two float64 have 104 bits, of which the multiple of a turn takes the first.
    error = amplitude * (1e-15 + np.abs(x) ** 1.5 * 2.0**-104)
    got = stator.special.airy_ai(be.asarray(x)).to_numpy()
    assert (np.abs(got - want) <= error).all(), (got, want)
    far = stator.special.airy_ai(be.asarray(np.array([-1e20, -1e300, -inf]))).to_numpy()
    np.testing.assert_array_equal(far, [0, 0, 0])


@pytest.mark.parametrize("name", ["airy_ai", "j0", "j1", "y0", "y1", "spherical_bessel_j0", "i0e", "i1e", "k0e", "k1e"])
def test_no_huge_argument_is_lost(be, name):
    for dtype in ("float16", "float32", "float64"):
        limits = np.finfo(dtype)
        x = np.append(np.exp2(np.linspace(10, limits.maxexp - 1, 60)), limits.max).astype(dtype)
        x = x if name[0] in "yk" else np.concatenate([x, -x])
        got = function(name)(be.asarray(x)).to_numpy().astype(float)
        assert (np.abs(got) <= 1 / np.abs(x.astype(float)) ** 0.25).all(), (name, dtype)


POLYNOMIALS = {
    "chebyshev_polynomial_t": (lambda x: x, lambda k, x, p, last: 2 * x * p - last),
    "chebyshev_polynomial_u": (lambda x: 2 * x, lambda k, x, p, last: 2 * x * p - last),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, lambda k, x, p, last: 2 * x * p - last),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, lambda k, x, p, last: 2 * x * p - last),
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, p, last: 2 * (x * p - k * last)),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, p, last: x * p - k * last),
    "laguerre_polynomial_l": (lambda x: 1 - x, lambda k, x, p, last: ((2 * k + 1 - x) * p - k * last) / (k + 1)),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, p, last: ((2 * k + 1) * x * p - k * last) / (k + 1)),
}
DEGREES = (0, 1, 2, 3, 40, 301, 900)
ABSCISSAE = (-1e30, -60.5, -3.25, 0.625, 1.5, 7.75, 19.5, 35.25, 700.0, 1777.5, 1e30, 3e38)


def of_degrees(name, x):
    """The polynomial of each of DEGREES at x, in mpmath."""
    first, step = POLYNOMIALS[name]
    values, k = [mp.mpf(1), first(x)], 1
    while len(values) <= max(DEGREES):
        values.append(step(k, x, values[k], values[k - 1]))
        k += 1
    return [values[n] for n in DEGREES]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*POLYNOMIALS, *(f"shifted_{n}" for n in POLYNOMIALS if n.startswith("chebyshev"))])
def test_polynomials_overflow_to_the_infinity_of_their_sign(be, name, dtype):
    x, n = np.array(ABSCISSAE, dtype), np.array(DEGREES, dtype)
    plain = name.removeprefix("shifted_")
    with mp.workdps(60):
        at = [2 * mp.mpf(float(v)) - 1 if plain != name else mp.mpf(float(v)) for v in x]
        want = np.array([[as_float(p) for p in of_degrees(plain, v)] for v in at])
    with np.errstate(over="ignore"):
        want = want.astype(dtype)
    assert np.isinf(want).any()
    got = function(name)(be.asarray(x[:, None]), be.asarray(n[None, :])).to_numpy()
    assert not np.isnan(got).any()
    np.testing.assert_allclose(got, want, rtol={"float32": 1e-6, "float64": 1e-9}[dtype])


@pytest.mark.parametrize("name", [*POLYNOMIALS, *(f"shifted_{n}" for n in POLYNOMIALS if n.startswith("chebyshev"))])
def test_polynomials_at_the_infinities(be, name):
    n = np.array([0.0, 1, 2, 3, 300, 301])
    sign = -1 if name.startswith("laguerre") else 1
    upper, lower = np.array([1, inf, inf, inf, inf, inf]), np.array([1, -inf, inf, -inf, inf, -inf])
    for x, want in ((sign * inf, upper), (-sign * inf, lower)):
        np.testing.assert_array_equal(function(name)(be.asarray(np.array([x])), be.asarray(n)).to_numpy(), want, f"{x}")


ZEROS = {
    "j0": (lambda: scipy.special.jn_zeros(0, 50), lambda x: mp.besselj(0, x)),
    "j1": (lambda: scipy.special.jn_zeros(1, 50), lambda x: mp.besselj(1, x)),
    "y0": (lambda: scipy.special.yn_zeros(0, 50), lambda x: mp.bessely(0, x)),
    "y1": (lambda: scipy.special.yn_zeros(1, 50), lambda x: mp.bessely(1, x)),
    "airy_ai": (lambda: scipy.special.ai_zeros(50)[0], mp.airyai),
    "digamma": (lambda: left_zeros(scipy.special.digamma, 0.01, 0.99), mp.digamma),
    "gammaln": (lambda: GAMMALN_ZEROS, lambda x: mp.re(mp.loggamma(x))),
}
GAMMALN_ZEROS = [-2.457024738220801, -2.747682646727413, -3.14358088834998, -3.955294284858598, -4.039361839740536]


def left_zeros(f, low, high):
    """The zero of an increasing function in each of 50 intervals between whole numbers on the negative axis."""
    below, above = np.arange(-50, 0) + low, np.arange(-50, 0) + high
    for _ in range(60):
        middle = (below + above) / 2
        below, above = np.where(f(middle) < 0, middle, below), np.where(f(middle) < 0, above, middle)
    return below


@pytest.mark.parametrize("name", ZEROS)
def test_float32_is_precise_near_zeros(be, name):
    zeros, exact = ZEROS[name]
    nearest = np.asarray(zeros()).astype(np.float32)
    # The three numbers nearest to each zero, and one that shares half of its digits.
    x = np.concatenate([nearest, *(np.nextafter(nearest, np.float32(s * inf)) for s in (1, -1)), nearest * 1.0002])
    x = x.astype(np.float32)
    with mp.workdps(30):
        want = np.array([float(exact(mp.mpf(float(v)))) for v in x])
    assert_matches(function(name)(be.asarray(x)).to_numpy(), want, bound(name, "float32"), name, operands=[x])


def complex_points(rng, count):
    """Points in boxes, near the poles of tan and tanh, near the axes, with huge and with subnormal parts."""

    def either_sign(low, high):
        return np.exp(rng.uniform(np.log(low), np.log(high), count)) * rng.choice([-1, 1], count)

    def box(end):
        return rng.uniform(-end, end, count)

    poles = (rng.integers(-20, 20, count) + 0.5) * np.pi + either_sign(1e-7, 0.1)
    parts = [
        (box(4), box(4)),
        (box(100), box(100)),
        (poles, either_sign(1e-7, 0.1)),
        (box(4), either_sign(1e-44, 1e-3)),
        (box(4), either_sign(1, 1e38)),
        (either_sign(1e-44, 1e-37), either_sign(1e-44, 1e-37)),
    ]
    z = np.concatenate([re + 1j * im for re, im in parts])
    return np.concatenate([z, 1j * z]).astype(np.complex64)


@pytest.mark.parametrize("name", ["tan", "tanh"])
def test_complex_tangents_at_very_many_points(be, name):
    z = complex_points(np.random.default_rng(11), 30_000)
    want = getattr(np, name)(z.astype(np.complex128))
    got = function(name)(be.asarray(z)).to_numpy()
    assert_matches(got, want, bound(name, "complex64"), name, operands=[z])


@pytest.mark.parametrize("name", ["tan", "tanh"])
def test_complex_tangents_in_double_precision(be, name):
    z = complex_points(np.random.default_rng(12), 30)
    with mp.workdps(120):
        exact = [getattr(mp, name)(mp.mpc(complex(v))) for v in z]
    want = np.array([complex(v) for v in exact])
    got = function(name)(be.asarray(z.astype(np.complex128))).to_numpy()
    assert_matches(got, want, bound(name, "complex128"), name, operands=[z])


@pytest.mark.parametrize("a", [5e-324, 1e-200, 0.5, 7.5, 8.0, 10.0, 20.0, 1e5, 1e300])
def test_incomplete_gamma_of_tiny_arguments(be, a):
    x = np.array([5e-324, 1e-310, 2.3e-308, 1e-300, 1e-200, 1e-100, 1e-50, 1e-10])
    with mp.workdps(360):
        lower = [mp.mpf(0)] * x.size
        if a < 1e6:  # the series, DLMF 8.7.1; of larger a it is 0
            factors = [mp.exp(a * mp.log(mp.mpf(v)) - v - mp.loggamma(1 + mp.mpf(a))) for v in x]
            sums = [mp.fsum(mp.mpf(v) ** k / mp.rf(mp.mpf(a) + 1, k) for k in range(40)) for v in x]
            lower = [factor * total for factor, total in zip(factors, sums, strict=True)]
        wants = {"gammainc": lower, "gammaincc": [1 - v for v in lower]}
    for name, want in wants.items():
        got = function(name)(be.full(x.shape, a), be.asarray(x)).to_numpy()
        want = np.array([as_float(v) for v in want])
        assert_matches(got, want, bound(name, "float64"), name, operands=[np.full(x.shape, a), x])
