"""Continuous distributions of a Generator. Parameters broadcast; where one is an array, of float64."""

from __future__ import annotations

import math
from typing import Any

import stator
from stator import special
from stator._array import Array
from stator.errors import DTypeError, InvalidValueError, NumberRangeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike, DTypeLike, Out
from stator.numpy.random._draws import (
    ANY,
    NOT_NEGATIVE,
    POSITIVE,
    Draws,
    Parameter,
    Size,
    shape_of,
)


def _finite(*parameters: Parameter) -> bool:
    """Whether all are finite numbers, with which stator's own distributions draw in one launch."""
    return all(not isinstance(p, Array) and math.isfinite(p) for p in parameters)


class Continuous(Draws):
    """The methods that draw real numbers."""

    def random(self, size: Size = None, dtype: DTypeLike = float, out: Out = None) -> Array:
        """Uniform draws from [0, 1)."""
        found = _convert.dtype(dtype)
        return self._fill(lambda shape: self._bits.uniform(size=shape, dtype=found), size, out, "random.random")

    def uniform(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Size = None) -> Array:
        """Uniform draws from [low, high). NumberRangeError if high - low is not finite."""
        op = "random.uniform"
        a, b = self._parameter(op, "low", low, ANY), self._parameter(op, "high", high, ANY)
        shape = shape_of(size, a, b, op=op)
        if not isinstance(a, Array) and not isinstance(b, Array) and not math.isfinite(b - a):
            raise NumberRangeError(
                f"Got low={a}, high={b}, whose difference is not a finite number",
                op=op,
                remedy="Pass finite numbers that differ by less than 1.8e308.",
            )
        if not isinstance(a, Array) and not isinstance(b, Array) and a <= b:
            return self._bits.uniform(a, b, size=shape)
        return a + (b - a) * self._unit(shape)

    def standard_normal(self, size: Size = None, dtype: DTypeLike = float, out: Out = None) -> Array:
        """Normal draws of mean 0 and standard deviation 1."""
        found = _convert.dtype(dtype)
        op = "random.standard_normal"
        return self._fill(lambda shape: self._bits.normal(size=shape, dtype=found), size, out, op)

    def normal(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Normal draws of mean loc and standard deviation scale."""
        op = "random.normal"
        mean, deviation = self._parameter(op, "loc", loc, ANY), self._parameter(op, "scale", scale, NOT_NEGATIVE)
        shape = shape_of(size, mean, deviation, op=op)
        if _finite(mean, deviation):
            return self._bits.normal(mean, deviation, size=shape)  # type: ignore[arg-type]
        return mean + deviation * self._normal(shape)

    def lognormal(self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Size = None) -> Array:
        """Exponentials of normal draws."""
        op = "random.lognormal"
        loc, scale = self._parameter(op, "mean", mean, ANY), self._parameter(op, "sigma", sigma, NOT_NEGATIVE)
        return stator.exp(loc + scale * self._normal(shape_of(size, loc, scale, op=op)))

    def standard_exponential(
        self, size: Size = None, dtype: DTypeLike = float, method: str = "zig", out: Out = None
    ) -> Array:
        """Exponential draws of mean 1. method: accepted, and changes nothing."""
        op = "random.standard_exponential"
        found = _convert.dtype(dtype)
        return self._fill(lambda shape: self._bits.exponential(size=shape, dtype=found), size, out, op)

    def exponential(self, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Exponential draws of mean scale."""
        mean = self._parameter("random.exponential", "scale", scale, NOT_NEGATIVE)
        shape = shape_of(size, mean, op="random.exponential")
        if _finite(mean):
            return self._bits.exponential(mean, size=shape)  # type: ignore[arg-type]
        return mean * self._exponential(shape)

    def standard_gamma(self, shape: ArrayLike, size: Size = None, dtype: DTypeLike = float, out: Out = None) -> Array:
        """Gamma draws of mean shape and scale 1. Arrays of parameters take rounds of rejection, which synchronise."""
        op = "random.standard_gamma"
        a = self._parameter(op, "shape", shape, NOT_NEGATIVE)
        found = _convert.dtype(dtype)
        if size is None and out is None:
            size = shape_of(None, a, op=op)
        return self._fill(lambda at: self._gamma(a, at).astype(found, copy=False), size, out, op)

    def gamma(self, shape: ArrayLike, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Gamma draws of mean shape * scale. Arrays as in standard_gamma."""
        op = "random.gamma"
        a, factor = self._parameter(op, "shape", shape, NOT_NEGATIVE), self._parameter(op, "scale", scale, NOT_NEGATIVE)
        at = shape_of(size, a, factor, op=op)
        if _finite(a, factor) and a != 0:
            return self._bits.gamma(a, factor, size=at)  # type: ignore[arg-type]
        return factor * self._gamma(a, at)

    def beta(self, a: ArrayLike, b: ArrayLike, size: Size = None) -> Array:
        """Beta draws, as x / (x + y) of gamma draws x and y by their logarithms."""
        op = "random.beta"
        p, q = self._parameter(op, "a", a, POSITIVE), self._parameter(op, "b", b, POSITIVE)
        shape = shape_of(size, p, q, op=op)
        return special.expit(self._log_gamma(p, shape) - self._log_gamma(q, shape))

    def _chisquare(self, df: Parameter, shape: tuple[int, ...]) -> Array:
        return 2 * self._gamma(df / 2, shape)

    def chisquare(self, df: ArrayLike, size: Size = None) -> Array:
        """Sums of df squares of normal draws."""
        op = "random.chisquare"
        k = self._parameter(op, "df", df, POSITIVE)
        return self._chisquare(k, shape_of(size, k, op=op))

    def noncentral_chisquare(self, df: ArrayLike, nonc: ArrayLike, size: Size = None) -> Array:
        """Sums of df squares of normal draws, of squared means nonc in all."""
        op = "random.noncentral_chisquare"
        k, mean = self._parameter(op, "df", df, POSITIVE), self._parameter(op, "nonc", nonc, NOT_NEGATIVE)
        return self._noncentral(k, mean, shape_of(size, k, mean, op=op))

    def _noncentral(self, df: Parameter, nonc: Parameter, shape: tuple[int, ...]) -> Array:
        if not isinstance(df, Array) and df > 1:
            shifted = self._normal(shape) + (stator.sqrt(nonc) if isinstance(nonc, Array) else math.sqrt(nonc))
            return self._chisquare(df - 1, shape) + shifted * shifted
        # A mixture of central draws with Poisson weights, for any degrees of freedom.
        extra = self._poisson(nonc / 2, shape).astype("float64")
        return self._chisquare(df + 2 * extra, shape)

    def _poisson(self, lam: Parameter, shape: tuple[int, ...]) -> Array:
        raise NotImplementedError

    def f(self, dfnum: ArrayLike, dfden: ArrayLike, size: Size = None) -> Array:
        """Quotients of two chisquare draws, each over its degrees of freedom."""
        op = "random.f"
        n, d = self._parameter(op, "dfnum", dfnum, POSITIVE), self._parameter(op, "dfden", dfden, POSITIVE)
        shape = shape_of(size, n, d, op=op)
        return self._chisquare(n, shape) / n / (self._chisquare(d, shape) / d)

    def noncentral_f(self, dfnum: ArrayLike, dfden: ArrayLike, nonc: ArrayLike, size: Size = None) -> Array:
        """As f, with a noncentral numerator."""
        op = "random.noncentral_f"
        n, d = self._parameter(op, "dfnum", dfnum, POSITIVE), self._parameter(op, "dfden", dfden, POSITIVE)
        mean = self._parameter(op, "nonc", nonc, NOT_NEGATIVE)
        shape = shape_of(size, n, d, mean, op=op)
        return self._noncentral(n, mean, shape) / n / (self._chisquare(d, shape) / d)

    def standard_t(self, df: ArrayLike, size: Size = None) -> Array:
        """Student's t: a normal draw over the root of a chisquare draw per degree of freedom."""
        op = "random.standard_t"
        k = self._parameter(op, "df", df, POSITIVE)
        shape = shape_of(size, k, op=op)
        return self._normal(shape) / stator.sqrt(self._chisquare(k, shape) / k)

    def standard_cauchy(self, size: Size = None) -> Array:
        """Quotients of two normal draws."""
        shape = shape_of(size, op="random.standard_cauchy")
        return self._normal(shape) / self._normal(shape)

    def laplace(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Differences of two exponential draws."""
        op = "random.laplace"
        mean, width = self._parameter(op, "loc", loc, ANY), self._parameter(op, "scale", scale, NOT_NEGATIVE)
        shape = shape_of(size, mean, width, op=op)
        return mean + width * (self._exponential(shape) - self._exponential(shape))

    def logistic(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Logarithms of the quotient of two exponential draws."""
        op = "random.logistic"
        mean, width = self._parameter(op, "loc", loc, ANY), self._parameter(op, "scale", scale, NOT_NEGATIVE)
        shape = shape_of(size, mean, width, op=op)
        return mean + width * stator.log(self._exponential(shape) / self._exponential(shape))

    def gumbel(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Extreme values of the first type: minus logarithms of exponential draws."""
        op = "random.gumbel"
        mode, width = self._parameter(op, "loc", loc, ANY), self._parameter(op, "scale", scale, NOT_NEGATIVE)
        return mode - width * stator.log(self._exponential(shape_of(size, mode, width, op=op)))

    def pareto(self, a: ArrayLike, size: Size = None) -> Array:
        """Pareto's second distribution (Lomax), by inversion."""
        k = self._parameter("random.pareto", "a", a, POSITIVE)
        return stator.expm1(self._exponential(shape_of(size, k, op="random.pareto")) / k)

    def power(self, a: ArrayLike, size: Size = None) -> Array:
        """Draws from [0, 1] of density a x^(a - 1), by inversion."""
        k = self._parameter("random.power", "a", a, POSITIVE)
        return (-stator.expm1(-self._exponential(shape_of(size, k, op="random.power")))) ** (1 / k)

    def weibull(self, a: ArrayLike, size: Size = None) -> Array:
        """Exponential draws to the power 1 / a."""
        k = self._parameter("random.weibull", "a", a, NOT_NEGATIVE)
        drawn = self._exponential(shape_of(size, k, op="random.weibull"))
        if not isinstance(k, Array):
            return drawn ** (1 / k) if k else drawn * 0
        return stator.where(k > 0, drawn ** (1 / k), 0.0)

    def rayleigh(self, scale: ArrayLike = 1.0, size: Size = None) -> Array:
        """Lengths of vectors of two normal draws of standard deviation scale."""
        width = self._parameter("random.rayleigh", "scale", scale, NOT_NEGATIVE)
        return width * stator.sqrt(2 * self._exponential(shape_of(size, width, op="random.rayleigh")))

    def triangular(self, left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Size = None) -> Array:
        """Draws from [left, right], most likely at mode, by inversion."""
        op = "random.triangular"
        a, c, b = (self._parameter(op, n, v, ANY) for n, v in (("left", left), ("mode", mode), ("right", right)))
        if not any(isinstance(v, Array) for v in (a, b, c)) and not (a <= c <= b and a < b):
            raise InvalidValueError(
                f"left={left}, mode={mode}, right={right}", op=op, remedy="Pass left <= mode <= right, left < right."
            )
        u = self._unit(shape_of(size, a, b, c, op=op))
        base, rise, fall = b - a, c - a, b - c
        low = a + _root(u * (base * rise))
        high = b - _root((1 - u) * (base * fall))
        return stator.where(u <= rise / base, low, high)

    def vonmises(self, mu: ArrayLike, kappa: ArrayLike, size: Size = None) -> Array:
        """Angles around mu of concentration kappa, in [-pi, pi]. Rounds of rejection, which synchronise.

        Best and Fisher, "Efficient simulation of the von Mises distribution", Applied Statistics 28 (1979); uniform for
        kappa below 1e-8 and a wrapped normal distribution above 1e6, from which it cannot be told apart.
        """
        op = "random.vonmises"
        mean, k = self._parameter(op, "mu", mu, ANY), self._parameter(op, "kappa", kappa, NOT_NEGATIVE)
        shape = shape_of(size, mean, k, op=op)
        backend = self._bits.backend
        concentration = k if isinstance(k, Array) else stator.full((), k, device=backend)
        limited = stator.clip(concentration, 1e-8, 1e6)
        r = 1 + stator.sqrt(1 + 4 * limited * limited)
        rho = (r - stator.sqrt(2 * r)) / (2 * limited)
        s = stator.where(limited < 1e-5, 1 / limited + limited, (1 + rho * rho) / (2 * rho))

        def candidates(n: int, k: Array, s: Array) -> tuple[Array, Array]:
            z = stator.cos(math.pi * self._unit((n,)))
            w = stator.clip((1 + s * z) / (s + z), -1.0, 1.0)
            y, v = k * (s - w), self._unit((n,))
            rejected = stator.logical_and(y * (2 - y) < v, stator.log(y / v) + 1 - y < 0)
            return stator.acos(w), rejected

        at = self._rounds(shape, (limited, s), candidates)
        angle = stator.where(self._unit(shape) < 0.5, -at, at)
        angle = stator.where(concentration < 1e-8, math.pi * (2 * self._unit(shape) - 1), angle)
        angle = stator.where(concentration > 1e6, self._normal(shape) / stator.sqrt(concentration), angle)
        turned = angle + mean
        return turned - 2 * math.pi * stator.round(turned / (2 * math.pi))

    def wald(self, mean: ArrayLike, scale: ArrayLike, size: Size = None) -> Array:
        """Inverse normal draws.

        Michael, Schucany and Haas, "Generating random variates using transformations with multiple roots", The American
        Statistician 30 (1976).
        """
        op = "random.wald"
        mu, lam = self._parameter(op, "mean", mean, POSITIVE), self._parameter(op, "scale", scale, POSITIVE)
        shape = shape_of(size, mu, lam, op=op)
        normal = self._normal(shape)
        y = mu * normal * normal
        x = mu * (1 - 2 / (1 + stator.sqrt(1 + 4 * lam / y)))
        return stator.where(self._unit(shape) * (mu + x) <= mu, x, mu * mu / x)

    def dirichlet(self, alpha: ArrayLike, size: Size = None) -> Array:
        """Vectors of shares that add up to 1: (*size, len(alpha))."""
        op = "random.dirichlet"
        a = self._parameter(op, "alpha", alpha, NOT_NEGATIVE)
        if not isinstance(a, Array) or a.ndim != 1:
            kind = InvalidValueError if isinstance(a, Array) else DTypeError
            raise kind("alpha must be a vector", op=op, remedy="Pass one number for each share.")
        shape = (*shape_of(size, op=op), a.shape[0])
        return stator.nn.softmax(self._log_gamma(a, shape), axis=-1)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Array:
        """Normal vectors of a mean and a covariance matrix: (*size, n). Synchronises."""
        from stator.numpy.random._multivariate import multivariate_normal

        return multivariate_normal(self, mean, cov, size, check_valid, tol, method)


def _root(x: Any) -> Array:
    """The square root of what rounding may have made less than 0."""
    return stator.sqrt(stator.clip(x, 0, None))
