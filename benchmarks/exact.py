"""References with 50 digits by the op's name, and the scales that errors are measured by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from .table import scale

mp.dps = 50
Steps = tuple[Callable[..., Any], Callable[..., Any]]


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _log1pexp(x: Any) -> Any:
    return x if x > 300 else mp.log1p(mp.exp(x))


def _elu(x: Any, alpha: Any) -> Any:
    return x if x > 0 else alpha * mp.expm1(x)


def _elu_slope(x: Any, alpha: Any = 1) -> Any:
    return mpf(1) if x > 0 else alpha * mp.exp(x)


def _tanh_gate(x: Any) -> Any:
    """(1 + tanh u) / 2 is the logistic function of 2u."""
    return mp.sqrt(8 / mp.pi) * (x + CUBIC * x**3)


def _gelu_tanh_slope(x: Any) -> Any:
    u, slope = _tanh_gate(x), mp.sqrt(8 / mp.pi) * (1 + 3 * CUBIC * x * x)
    return _sigmoid(u) * (1 + x * slope * _sigmoid(-u))


def _silu_slope(x: Any, steep: Any = 1) -> Any:
    s = _sigmoid(steep * x)
    return s * (1 + steep * x * _sigmoid(-steep * x))


STEEP, CUBIC = mpf("1.702"), mpf("0.044715")
SELU = (mpf("1.0507009873554804934193349852946"), mpf("1.6732632423543772848170429916717"))


def _log_abs_gamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x)) if x > 0 else mp.log(mp.pi / abs(mp.sinpi(x))) - mp.re(mp.loggamma(1 - x))


def _ndtri(p: Any) -> Any:
    if p < 0:
        raise ValueError
    with mp.workdps(80 + max(0, -int(mp.log10(p)) if p > 0 else 0)):
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def _erfcx(x: Any) -> Any:
    """By its asymptotic expansion (DLMF 7.12.1) where exp(x^2) is beyond mpmath's reach."""
    if x < 1e8:
        return mp.exp(x * x) * mp.erfc(x)
    return (1 - 1 / (2 * x * x) + 3 / (4 * x**4)) / (x * mp.sqrt(mp.pi))


def _beta(a: Any, b: Any) -> Any:
    """With as many more digits as the logarithms of gamma have before the point."""
    with mp.workdps(60 + int(mp.log10(1 + max(a, b) * abs(mp.log(1 + max(a, b)))))):
        return mp.exp(mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b))


def _gammainc(a: Any, x: Any) -> tuple[Any, Any]:
    """P and Q, the smaller one by the series of P (DLMF 8.7.1) or as mpmath's Q; their limits at a = 0."""
    if a == 0 < x:
        return mpf(1), mpf(0)
    if x <= a + 10:
        with mp.workdps(80):
            total = term = mp.mpf(1)
            n = a
            while term > total * mp.mpf(10) ** -80:
                n += 1
                term *= x / n
                total += term
            lower = total * mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1))
            return lower, 1 - lower
    upper = mp.gammainc(a, x, regularized=True)
    return 1 - upper, upper


def _zeta(s: Any, q: Any) -> Any:
    """The sum, which exists for s > 1, computed with as many more digits as it, about q^-s, has zeros first."""
    if s <= 1:  # mpmath continues the function
        raise ValueError
    with mp.workdps(60 + int(abs(s * mp.log10(q)))):
        return mp.zeta(s, q)


def _scaled_bessel_k(n: int, x: Any) -> Any:
    """exp(x) K_n(x).

    Between its series and its asymptotic expansion mp.besselk takes up to half a second. There this uses the
    trapezoidal rule for the integral of DLMF 10.32.9, whose error falls exponentially with the inverse of the step
    (Trefethen and Weideman, SIAM Review 56, 2014).
    """
    if not 1 <= x <= 150:
        return mp.besselk(n, x) * mp.exp(x)
    with mp.extradps(10):
        digits = mp.dps * mp.log(10)
        step = min(3 * mp.pi / digits, mp.pi * mp.sqrt(2 / (digits * x)))
        total, t, term, least = mp.mpf(0.5), mp.mpf(0), mp.mpf(1), mp.power(10, -mp.dps)
        while term > least * total:
            t += step
            term = mp.exp(-2 * x * mp.sinh(t / 2) ** 2) * mp.cosh(n * t)
            total += term
        return total * step


def _recurrence(first: Callable[..., Any], step: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The function p_n(x) with p_1 = first(x) and p_{k+1} = step(k, x, p_k, p_{k-1})."""

    def value(x: Any, n: Any) -> Any:
        before, now = x * 0 + 1, first(x)
        if n == 0:
            return before
        for k in range(1, int(n)):
            before, now = now, step(k, x, now, before)
        return now

    return value


def _chebyshev(slope: int, offset: int) -> Steps:
    return (lambda x: slope * x + offset), (lambda k, x, now, before: 2 * x * now - before)


POLYNOMIALS: dict[str, Steps] = {
    **{
        f"chebyshev_polynomial_{c}": _chebyshev(*s)
        for c, s in zip("tuvw", ((1, 0), (2, 0), (2, -1), (2, 1)), strict=True)
    },
    "hermite_polynomial_h": (lambda x: 2 * x, lambda k, x, now, before: 2 * (x * now - k * before)),
    "hermite_polynomial_he": (lambda x: x, lambda k, x, now, before: x * now - k * before),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda k, x, now, before: ((2 * k + 1 - x) * now - k * before) / (k + 1),
    ),
    "legendre_polynomial_p": (lambda x: x, lambda k, x, now, before: ((2 * k + 1) * x * now - k * before) / (k + 1)),
}


def _mish_slope(x: Any) -> Any:
    t = mp.tanh(_log1pexp(x))
    return t + x * (1 - t * t) * _sigmoid(x)


EXACT: dict[str, Callable[..., Any]] = {
    **{n: getattr(mp, n) for n in ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh")},
    **{n: getattr(mp, n) for n in ("tanh", "acos", "asin", "atan", "acosh", "asinh", "atanh", "atan2", "hypot")},
    **{n: getattr(mp, n) for n in ("erf", "erfc")},
    "zeta": _zeta,
    "sigmoid": _sigmoid,
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * mp.tanh(_log1pexp(x)),
    "softplus": lambda x, steep, end: x if x * steep > end else _log1pexp(x * steep) / steep,
    "elu": _elu,
    "celu": lambda x, alpha: x if x > 0 else alpha * mp.expm1(x / alpha),
    "selu": lambda x: SELU[0] * _elu(x, SELU[1]),
    "gelu_tanh": lambda x: x * _sigmoid(_tanh_gate(x)),
    "gelu_sigmoid": lambda x: x * _sigmoid(STEEP * x),
    "softsign": lambda x: x / (1 + abs(x)),
    "gelu": lambda x: x * _ndtr(x),
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "exp2": lambda x: mp.power(2, x),
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": lambda x: mp.log(x) / mp.log(10),
    "logaddexp2": lambda x, y: mp.log(mp.power(2, x) + mp.power(2, y)) / mp.log(2),
    "logaddexp": lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
    "pow": lambda x, y: mp.power(x, y),
    "sinc": lambda x: mp.sincpi(x),
    "deg2rad": lambda x: x * mp.pi / 180,
    "rad2deg": lambda x: x * 180 / mp.pi,
    "erfcx": _erfcx,
    "beta": _beta,
    "betaln": lambda a, b: mp.log(_beta(a, b)),
    "gammainc": lambda a, x: _gammainc(a, x)[0],
    "gammaincc": lambda a, x: _gammainc(a, x)[1],
    "erfinv": mp.erfinv,
    "ndtri": _ndtri,
    "ndtr": _ndtr,
    "log_ndtr": lambda x: mp.log(_ndtr(x)),
    "expit": _sigmoid,
    "logit": lambda p: mp.log(p / (1 - p)),
    "entr": lambda x: -x * mp.log(x),
    "gammaln": _log_abs_gamma,
    "digamma": lambda x: mp.psi(0, x),
    "polygamma": lambda n, x: mp.psi(int(n), x),
    **{f"i{n}": lambda x, n=n: mp.besseli(n, x) for n in (0, 1)},
    **{f"i{n}e": lambda x, n=n: mp.besseli(n, x) * mp.exp(-abs(x)) for n in (0, 1)},
    **{f"k{n}": lambda x, n=n: _scaled_bessel_k(n, x) * mp.exp(-x) for n in (0, 1)},
    **{f"k{n}e": lambda x, n=n: _scaled_bessel_k(n, x) for n in (0, 1)},
    **{f"j{n}": lambda x, n=n: mp.besselj(n, x) for n in (0, 1)},
    **{f"y{n}": lambda x, n=n: mp.bessely(n, x) for n in (0, 1)},
    "spherical_bessel_j0": lambda x: mp.sinc(x),
    "airy_ai": lambda x: mp.airyai(x),
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    **{n: _recurrence(*parts) for n, parts in POLYNOMIALS.items()},
    "silu_backward": lambda grad, x: grad * _silu_slope(x),
    "elu_backward": lambda grad, x, alpha: grad * _elu_slope(x, alpha),
    "celu_backward": lambda grad, x, alpha: grad * _elu_slope(x / alpha),
    "selu_backward": lambda grad, x: grad * SELU[0] * _elu_slope(x, SELU[1]),
    "gelu_tanh_backward": lambda grad, x: grad * _gelu_tanh_slope(x),
    "gelu_sigmoid_backward": lambda grad, x: grad * _silu_slope(x, STEEP),
    "mish_backward": lambda grad, x: grad * _mish_slope(x),
    "softplus_backward": lambda grad, x, steep, end: grad if x * steep > end else grad * _sigmoid(x * steep),
    "gelu_backward": lambda grad, x: grad * (_ndtr(x) + x * mp.npdf(x)),
    "softsign_backward": lambda grad, x: grad / (1 + abs(x)) ** 2,
    "sigmoid_backward": lambda grad, y: grad * y * (1 - y),
    "tanh_backward": lambda grad, y: grad * (1 - y * y),
}
for _n in "tuvw":
    EXACT[f"shifted_chebyshev_polynomial_{_n}"] = lambda x, n, p=EXACT[f"chebyshev_polynomial_{_n}"]: p(2 * x - 1, n)


def longdouble(value: Any) -> np.longdouble:
    """A number of 50 digits rounded to a long double, in two parts, so that nothing is lost to range or rounding."""
    if not mp.isfinite(value):
        return np.longdouble(float(value))
    fraction, exponent = mp.frexp(value)
    high = float(fraction)
    part = np.longdouble(high) + np.longdouble(float(fraction - high))
    return np.ldexp(part, int(max(min(exponent, 16000), -16400)))


def exact(name: str, *operands: np.ndarray | float) -> np.ndarray | None:
    """The op's function of float64 or complex128 arrays and numbers, NaN where undefined; None if there is none."""
    function = EXACT.get(name)
    if function is None:
        return None
    arrays = np.broadcast_arrays(*operands)
    intricate = any(a.dtype.kind == "c" for a in arrays)
    made = np.empty(arrays[0].shape, np.clongdouble if intricate else np.longdouble)
    number = mpmath.mpc if intricate else mpf
    for i, values in enumerate(zip(*(a.tolist() for a in arrays), strict=True)):
        try:
            with mp.workdps(120 if intricate else mp.dps):  # mpmath's complex functions lose digits near 0
                value = function(*map(number, values))
            if intricate:
                made[i] = longdouble(mp.re(value)) + np.clongdouble(1j) * longdouble(mp.im(value))
            else:
                made[i] = longdouble(mp.re(value)) if mp.im(value) == 0 else np.nan
        except (ValueError, ZeroDivisionError, OverflowError, TypeError, mp.NoConvergence):
            made[i] = np.nan
    return made


def _terms(name: str, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The terms that the last step of the recurrence subtracts: the local amplitude of an orthogonal polynomial."""
    shifted = name.startswith("shifted_")
    start, step = POLYNOMIALS[name.removeprefix("shifted_")]
    x = 2 * x - 1 if shifted else x
    before, now, size = np.ones_like(x), start(x), np.abs(start(x)) + 1
    size[n == 0] = 1
    for k in range(1, int(n.max(initial=0))):
        largest = np.abs(step(k, x, now, 0 * before)) + np.abs(step(k, x, 0 * now, before))
        before, now = now, step(k, x, now, before)
        size = np.where(n > k, largest, size)
    return size


def amplitude(name: str, *arrays: np.ndarray) -> np.ndarray | float:
    """The scale that an op's error is measured by where the value itself is smaller."""
    if name.removeprefix("shifted_") in POLYNOMIALS:
        return _terms(name, *(a.astype(np.float64) for a in arrays))
    return scale(name, *arrays)
