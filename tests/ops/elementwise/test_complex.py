"""exp2, rsqrt, sinc, expit, logaddexp and logsumexp of complex numbers: accuracy, ends of the range, branches."""

import mpmath as mp
import numpy as np
import pytest
from cases import bound, function
from reference import assert_matches

import stator

inf, nan = np.inf, np.nan


def exact(function, *operands):
    """The results in float64's complex numbers, from 120 digits."""
    with mp.workdps(120):
        return np.array([complex(function(*map(mp.mpc, map(complex, v)))) for v in zip(*operands, strict=True)])


def box(rng, low, high, count=40):
    return rng.uniform(low, high, count) + 1j * rng.uniform(low, high, count)


REFERENCES = {
    "exp2": lambda z: mp.power(2, z),
    "rsqrt": lambda z: 1 / mp.sqrt(z),
    "sinc": lambda z: mp.sinpi(z) / (mp.pi * z),
    "expit": lambda z: 1 / (1 + mp.exp(-z)),
}


def points(name):
    """In boxes, near 0, with one large part, and near the poles of expit or the zeros of sinc."""
    rng = np.random.default_rng(9)
    tiny = box(rng, -1, 1) * np.exp(rng.uniform(-30, 0, 40))
    far = rng.uniform(-2, 2, 40) + 1j * rng.uniform(-1e6, 1e6, 40)
    poles = 1j * np.pi * rng.choice([-3, -1, 1, 5], 40) + tiny
    wholes = rng.choice([-3, -1, 1, 20], 40) + tiny
    return np.concatenate(
        [box(rng, -4, 4), box(rng, -90, 90), tiny, 1j * far if name == "sinc" else far, poles, wholes]
    )


@pytest.mark.parametrize("name", REFERENCES)
def test_complex_functions_keep_their_digits(be, name):
    for dtype in ("complex64", "complex128"):
        z = points(name).astype(dtype)
        want = exact(REFERENCES[name], z)
        # The reference is rounded to float64.
        limit = bound(name, dtype)
        assert_matches(function(name)(be.asarray(z)).to_numpy(), want, (limit[0], limit[1] + 1), name, operands=[z])


def test_sinc_and_exp2_where_a_factor_overflows_or_vanishes(be):
    z = np.array([0.3 + 226j, -1.7 - 226.4j, 100.25 + 226.9j, 1e-300 + 226j, 1e-300j, 1e60 + 0.5j])
    got = stator.sinc(be.asarray(z)).to_numpy()
    assert_matches(got, exact(REFERENCES["sinc"], z), bound("sinc", "complex128"), "sinc", operands=[z])
    z = np.array([1024 + 1j, 1023.9 - 2.2j, -1074 + 1j, -1060.5 + 2j])
    got = stator.exp2(be.asarray(z)).to_numpy()
    np.testing.assert_allclose(got, exact(REFERENCES["exp2"], z), rtol=1e-14, atol=5e-324)
    z = np.array([-745 + 1j, 745 + 1j, -1e4 + 3j, 1e4 - 3j])
    got = function("expit")(be.asarray(z)).to_numpy()
    np.testing.assert_allclose(got, exact(REFERENCES["expit"], z), rtol=1e-15, atol=5e-324)


LIMITS = {
    "exp2": [(0, 1), (3, 8), (complex(-inf, inf), 0), (complex(-inf, 2), 0), (complex(-inf, nan), 0)],
    "sinc": [(0, 1), (1, 0), (-2, 0), (complex(0.5, -0.0), 2 / np.pi)],
    "expit": [(0, 0.5), (complex(inf, 2), 1), (complex(-inf, 2), 0), (complex(-inf, 0), 0), (complex(800, 1), 1)],
    "rsqrt": [(4, 0.5), (-4, -0.5j), (complex(-4, -0.0), 0.5j), (complex(inf, 1), 0), (complex(-inf, 1), 0)],
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_limits_of_complex_functions(be, name, dtype):
    x, want = np.array(LIMITS[name], dtype).T
    got = function(name)(be.asarray(x)).to_numpy()
    np.testing.assert_allclose(got, want, rtol=1e-6 if dtype == "complex64" else 1e-15, atol=1e-16)
    lost = function(name)(be.asarray(np.array([complex(nan, 1), complex(1, nan), nan], dtype))).to_numpy()
    assert np.isnan(lost).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_logaddexp_is_the_principal_value(be, dtype):
    rng = np.random.default_rng(4)
    a, b = box(rng, -10, 10, 80), box(rng, -10, 10, 80)
    # Half of the terms nearly cancel.
    b[40:] = a[40:] / 5 + 1j * np.pi + box(rng, -1e-3, 1e-3)
    a[40:] /= 5
    a, b = a.astype(dtype), b.astype(dtype)
    want = exact(lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), a, b)
    got = stator.logaddexp(be.asarray(a), be.asarray(b)).to_numpy()
    assert_matches(got, want, bound("logaddexp", dtype), "logaddexp", np.maximum(np.abs(a), np.abs(b)))
    assert (np.abs(got.imag) <= 3.1415928).all()
    large = np.array([2000 + 1j, -2000 + 1j, 2000, -inf, inf, -inf], dtype)
    other = np.array([2000 + 1j, -2000 - 1j, -2000, 1 + 1j, 3j, complex(-inf, 2)], dtype)
    want = np.array([2000 + np.log(2) + 1j, -2000 + np.log(2 * np.cos(1)), 2000, 1 + 1j, inf, -inf])
    np.testing.assert_allclose(stator.logaddexp(be.asarray(large), be.asarray(other)).to_numpy(), want, rtol=3e-7)
    lost = stator.logaddexp(be.asarray(np.array([nan, 1, complex(1, nan)], dtype)), complex(1, nan)).to_numpy()
    assert np.isnan(lost).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_logsumexp_is_the_principal_value(be, dtype):
    rng = np.random.default_rng(8)
    x = (rng.uniform(-3, 3, (7, 700)) + 1j * rng.uniform(-1, 1, (7, 700)) + 2j).astype(dtype)
    turned = x.astype(np.clongdouble)
    for shift in (0, 1e4, -1e4):
        for axis in (None, 0, 1):
            want = np.log(np.sum(np.exp(turned), axis=axis)) + shift
            got = stator.logsumexp(be.asarray((x + shift).astype(dtype)), axis=axis)
            assert got.dtype == dtype
            close = 1e-6 if dtype == "complex64" and not shift else 2e-3 if dtype == "complex64" else 1e-12
            np.testing.assert_allclose(got.to_numpy(), want.astype(complex), rtol=close)
    mask = rng.random((7, 700)) < 0.3
    got = stator.logsumexp(be.asarray(x), axis=1, where=be.asarray(mask)).to_numpy()
    want = np.log(np.sum(np.exp(turned), axis=1, where=mask))
    np.testing.assert_allclose(got, want.astype(complex), rtol=1e-5 if dtype == "complex64" else 1e-13)


def test_complex_logsumexp_of_extremes(be):
    rows = {
        (complex(-inf, 1), complex(-inf, 2)): -inf,
        (complex(-inf, inf), 2j): 2j,
        (inf, 1j): inf,
        (complex(0, np.pi), 1): np.log(np.e - 1),
        (3 + 4j, 3 + 4j): 3 + np.log(2) + (4 - 2 * np.pi) * 1j,
    }
    for dtype in ("complex64", "complex128"):
        x = np.array(list(rows), dtype)
        want = np.array(list(rows.values()), dtype)
        for repeated in (1, 50):
            got = stator.logsumexp(be.asarray(np.repeat(x, repeated, 1)), axis=1).to_numpy()
            np.testing.assert_allclose(got, want + np.log(repeated), rtol=1e-6, atol=1e-6)
        lost = stator.logsumexp(be.asarray(np.array([[nan, 1], [1, complex(1, nan)], [inf, nan]], dtype)), axis=1)
        assert np.isnan(lost.to_numpy()).all()
    assert stator.logsumexp(be.zeros((0,), dtype="complex64")).to_numpy() == -inf
