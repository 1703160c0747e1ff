"""Polynomials and windows of stator.numpy beside NumPy's."""

import numpy as np
import pytest
from beside_numpy import assert_same, compare, on_device

import stator
import stator.numpy as snp

P = np.array([1.0, -3.0, 2.0, 5.0])
Q = np.array([2.0, 0.5])
I = np.array([3, 0, -2])  # noqa: E741
C = np.array([1 + 2j, 3.0, -1j])
random = np.random.default_rng(7)
T = np.linspace(-1, 2, 12)
Y = 3 * T**2 - T + 0.1 * random.normal(size=12)

CALLS = {
    "poly": [(P,), (I,), (C,), ([2, 3],), (np.array([1 + 1j, 1 - 1j]),), (np.array([[1.0, 2], [3, 4]]),)],
    "polyval": [
        (P, T),
        (I, T),
        (I, I),
        (P, 3),
        (C, T),
        ([1, 2], np.ones((2, 2))),
        (np.float32([1, 2]), np.float32([3])),
    ],
    "polyadd": [(P, Q), (Q, P), (I, P), ([1], I), (3, P)],
    "polysub": [(P, Q), (Q, P), (I, P), (I, I)],
    "polymul": [(P, Q), (I, I), (C, P), (3, P), ([0, 0, 1], [0, 2]), ([0, 0], [1, 2]), ([], [1])],
    "polydiv": [(P, Q), (Q, P), (I, [1, 2]), (C, Q), ([1, 0, -1], [1, 1]), (4, 2)],
    "polyder": [(P,), (P, 2), (I,), (P, 0), (P, 9), (C,)],
    "polyint": [(P,), (P, 2), (I, 2), (P, 2, [1, 2]), (P, 3, 4), (P, 0), (C, 1, [3])],
    "vander": [(P,), (I, 5), (P, 2, True), (np.float32([1, 2]),), (C, 3), (P, 1), (P, 0), ([1, 2, 3],)],
    "polyfit": [(T, Y, 2), (T, np.stack([Y, T], 1), 1), (T, Y, 3, 1e-3), ([1, 2, 3], [2, 4, 6], 1)],
}


@pytest.mark.parametrize(("name", "args"), [(n, a) for n, calls in CALLS.items() for a in calls])
def test_polynomials_agree(be, name, args):
    compare(getattr(snp, name), getattr(np, name), *args)


@pytest.mark.parametrize("p", ["P", "Q", "I", "C"])
def test_roots(be, p):
    coefficients = globals()[p]
    found, wanted = snp.roots(on_device(coefficients)).to_numpy(), np.roots(coefficients)
    assert found.dtype == wanted.dtype
    assert_same(np.sort_complex(found), np.sort_complex(wanted))


def test_roots_at_zero_and_of_nothing(be):
    assert_same(snp.roots([0, 0, 1, 0, 0]), np.roots([0, 0, 1, 0, 0]))
    assert_same(np.sort(snp.roots([0, 2, -6, 0]).to_numpy()), np.sort(np.roots([0, 2, -6, 0])))
    assert_same(snp.roots([0, 0]), np.roots([0, 0]))


def test_polyfit_with_weights_and_covariance(be):
    w = np.linspace(1, 2, 12)
    compare(snp.polyfit, np.polyfit, T, Y, 2, w=w)
    compare(snp.polyfit, np.polyfit, T, Y, 2, w=w, cov=True)
    compare(snp.polyfit, np.polyfit, T, Y, 2, cov="unscaled")
    compare(snp.polyfit, np.polyfit, T, np.stack([Y, T**3], 1), 2, cov=True)
    compare(snp.polyfit, np.polyfit, T, Y, 2, full=True)


def test_polyfit_warns_of_deficient_rank(be):
    with pytest.warns(np.exceptions.RankWarning, match="poorly conditioned"):
        snp.polyfit([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], 2)


def test_a_product_equals_its_factors_again(be):
    quotient, remainder = snp.polydiv(snp.polymul(on_device(P), on_device(Q)), on_device(Q))
    assert_same(quotient, P)
    assert_same(remainder, [0.0])


REFUSED = [
    ("poly", (np.ones((2, 3)),)),
    ("roots", (np.ones((2, 3)),)),
    ("polyder", (P, -1)),
    ("polyint", (P, -1)),
    ("polyint", (P, 3, [1, 2])),
    ("vander", (np.ones((2, 2)),)),
    ("polyfit", (T, Y, -1)),
    ("polyfit", (T, Y[:5], 1)),
    ("polyfit", (np.ones((2, 2)), np.ones(2), 1)),
    ("polyfit", (np.ones(0), np.ones(0), 1)),
]


@pytest.mark.parametrize(("name", "args"), REFUSED)
def test_what_numpy_refuses_is_refused_alike(be, name, args):
    with pytest.raises((ValueError, TypeError)) as wanted:
        getattr(np, name)(*args)
    with pytest.raises(wanted.type):
        getattr(snp, name)(*(on_device(a) for a in args))


@pytest.mark.parametrize("M", [0, 1, 2, 7, 8, 12.5])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows_agree(be, name, M):
    compare(getattr(snp, name), getattr(np, name), M)


@pytest.mark.parametrize("beta", [0, 0.5, 5, 14, 600])
@pytest.mark.parametrize("M", [0, 1, 2, 9])
def test_kaiser_windows_agree(be, M, beta):
    assert_same(snp.kaiser(M, beta), np.kaiser(M, beta), rtol=1e-11)


def test_a_kaiser_window_beyond_the_range_of_i0(be):
    window = snp.kaiser(5, 1000.0).to_numpy()
    assert np.isfinite(window).all()
    assert window[2] == 1


def test_windows_are_of_the_current_backend(be):
    assert snp.hanning(5).backend is be
    assert stator.asarray(snp.kaiser(5, 2.0)).backend is be
