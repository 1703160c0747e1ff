"""Distributions of integers of a Generator: int64. Parameters broadcast.

Poisson, binomial and hypergeometric draws with arrays of parameters are made by one algorithm: Stadlober, "The ratio of
uniforms approach for generating discrete random variates", Journal of Computational and Applied Mathematics 31 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import stator
from stator import special
from stator._array import Array
from stator.errors import InvalidValueError, NumberRangeError
from stator.numpy import _convert
from stator.numpy._convert import ArrayLike
from stator.numpy.random._draws import (
    ABOVE_ONE,
    BELOW_ONE,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    Draws,
    Parameter,
    Size,
    shape_of,
)

# The hat of the ratio of uniforms, which covers these distributions for all of their parameters.
_WIDTH = 2 * math.sqrt(2 / math.e)
_OFFSET = 3 - 2 * math.sqrt(3 / math.e)
_LARGEST = 2.0**63


def _log_factorial(n: Array) -> Array:
    return special.gammaln(n + 1)


class Discrete(Draws):
    """The methods that draw integers."""

    def _ratio_of_uniforms(
        self, n: int, mean: Array, variance: Array, mode: Array, low: Any, high: Any, log_mass: Callable[[Array], Array]
    ) -> tuple[Array, Array]:
        """Candidates from low to high, and which are rejected. log_mass: up to a constant."""
        u, v = 1 - self._unit((n,)), self._unit((n,))
        k = stator.floor(mean + 0.5 + (_WIDTH * stator.sqrt(variance + 0.5) + _OFFSET) * (v - 0.5) / u)
        outside = stator.logical_or(k < low, k > high)
        inside = stator.clip(k, low, high)
        rejected = 2 * stator.log(u) > log_mass(inside) - log_mass(mode)
        return inside, stator.logical_or(outside, rejected)

    def _poisson(self, lam: Parameter, shape: tuple[int, ...]) -> Array:
        if not isinstance(lam, Array):
            return self._bits.poisson(lam, size=shape)

        def candidates(n: int, lam: Array) -> tuple[Array, Array]:
            mean = stator.where(lam > 0, lam, 1.0)
            log_mean = stator.log(mean)

            def log_mass(k: Array) -> Array:
                return k * log_mean - _log_factorial(k)

            drawn, rejected = self._ratio_of_uniforms(n, mean, mean, stator.floor(mean), 0.0, _LARGEST, log_mass)
            return stator.where(lam > 0, drawn, 0.0), rejected

        return self._rounds(shape, (lam,), candidates).astype("int64")

    def poisson(self, lam: ArrayLike = 1.0, size: Size = None) -> Array:
        """Numbers of events of which lam are expected. Arrays take rounds of rejection, which synchronise."""
        mean = self._parameter("random.poisson", "lam", lam, NOT_NEGATIVE)
        return self._poisson(mean, shape_of(size, mean, op="random.poisson"))

    def _binomial(self, trials: Parameter, p: Parameter, shape: tuple[int, ...]) -> Array:
        if not isinstance(trials, Array) and not isinstance(p, Array):
            return stator.copy(self._bits.multinomial(int(trials), [p, 1 - p], size=shape)[..., 0])
        backend = self._bits.backend
        trials, p = (v if isinstance(v, Array) else stator.full((), v, device=backend) for v in (trials, p))

        def candidates(n: int, trials: Array, p: Array) -> tuple[Array, Array]:
            rare = stator.minimum(p, 1 - p)
            drawable = stator.logical_and(rare > 0, trials > 0)
            q = stator.where(drawable, rare, 0.5)
            odds = stator.log(q / (1 - q))
            mean = trials * q

            def log_mass(k: Array) -> Array:
                return k * odds - _log_factorial(k) - _log_factorial(trials - k)

            mode = stator.minimum(stator.floor((trials + 1) * q), trials)
            k, rejected = self._ratio_of_uniforms(n, mean, mean * (1 - q), mode, 0.0, trials, log_mass)
            k = stator.where(drawable, k, 0.0)
            return stator.where(p > 0.5, trials - k, k), rejected

        return self._rounds(shape, (trials, p), candidates).astype("int64")

    def binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> Array:
        """Successes in n trials of probability p. Arrays take rounds of rejection, which synchronise."""
        op = "random.binomial"
        trials, chance = self._whole(op, "n", n), self._parameter(op, "p", p, PROBABILITY)
        return self._binomial(trials, chance, shape_of(size, trials, chance, op=op))

    def _whole(self, op: str, name: str, value: ArrayLike) -> Parameter:
        """A count: integers of at least 0, below 2**63."""
        found = self._parameter(op, name, value, NOT_NEGATIVE)
        if isinstance(found, Array):
            return stator.floor(found)
        if found >= _LARGEST:
            raise NumberRangeError(f"Got {name}={found:g}", op=op, remedy="Pass an integer below 2**63.")
        return float(math.floor(found))

    def negative_binomial(self, n: ArrayLike, p: ArrayLike, size: Size = None) -> Array:
        """Failures before the n-th success: Poisson draws of gamma means. Rounds of rejection, which synchronise."""
        op = "random.negative_binomial"
        k, chance = self._parameter(op, "n", n, POSITIVE), self._parameter(op, "p", p, POSITIVE_PROBABILITY)
        shape = shape_of(size, k, chance, op=op)
        return self._poisson(self._gamma(k, shape) * ((1 - chance) / chance), shape)

    def geometric(self, p: ArrayLike, size: Size = None) -> Array:
        """Trials until the first success, by inversion."""
        op = "random.geometric"
        chance = self._parameter(op, "p", p, POSITIVE_PROBABILITY)
        drawn = self._exponential(shape_of(size, chance, op=op))
        if isinstance(chance, Array):
            rate: Any = -stator.log1p(-chance)
        else:
            rate = math.inf if chance == 1 else -math.log1p(-chance)
        return stator.maximum(stator.ceil(drawn / rate), 1.0).astype("int64")

    def _hypergeometric(self, good: Parameter, bad: Parameter, sample: Parameter, shape: tuple[int, ...]) -> Array:
        backend = self._bits.backend
        given = [v if isinstance(v, Array) else stator.full((), v, device=backend) for v in (good, bad, sample)]

        def candidates(n: int, good: Array, bad: Array, sample: Array) -> tuple[Array, Array]:
            every = good + bad
            share = good / stator.maximum(every, 1.0)
            mean = sample * share
            variance = mean * (1 - share) * (every - sample) / stator.maximum(every - 1, 1.0)
            low, high = stator.maximum(sample - bad, 0.0), stator.minimum(sample, good)

            def log_mass(k: Array) -> Array:
                terms = (k, good - k, sample - k, bad - sample + k)
                return -sum((_log_factorial(t) for t in terms[1:]), start=_log_factorial(k))

            mode = stator.clip(stator.floor((sample + 1) * (good + 1) / (every + 2)), low, high)
            return self._ratio_of_uniforms(n, mean, variance, mode, low, high, log_mass)

        return self._rounds(shape, given, candidates).astype("int64")

    def hypergeometric(self, ngood: ArrayLike, nbad: ArrayLike, nsample: ArrayLike, size: Size = None) -> Array:
        """Good ones among nsample drawn without replacement. Rounds of rejection, which synchronise."""
        op = "random.hypergeometric"
        good, bad, sample = (self._whole(op, n, v) for n, v in (("ngood", ngood), ("nbad", nbad), ("nsample", nsample)))
        if not any(isinstance(v, Array) for v in (good, bad, sample)) and good + bad < sample:
            raise InvalidValueError(f"nsample={nsample}", op=op, remedy="Pass at most ngood + nbad.")
        return self._hypergeometric(good, bad, sample, shape_of(size, good, bad, sample, op=op))

    def logseries(self, p: ArrayLike, size: Size = None) -> Array:
        """Draws of mass proportional to p^k / k.

        Kemp, "Efficient generation of logarithmically distributed pseudo-random variables", Applied Statistics 30
        (1981).
        """
        op = "random.logseries"
        chance = self._parameter(op, "p", p, BELOW_ONE)
        shape = shape_of(size, chance, op=op)
        rate = stator.log1p(-chance) if isinstance(chance, Array) else math.log1p(-chance)
        v, u = 1 - self._unit(shape), self._unit(shape)
        q = -stator.expm1(rate * u)
        large = stator.maximum(stator.floor(1 + stator.log(v) / stator.log(q)), 1.0)
        drawn = stator.where(v <= q * q, large, stator.where(v >= q, 1.0, 2.0))
        return stator.where(v >= chance, 1.0, drawn).astype("int64")

    def zipf(self, a: ArrayLike, size: Size = None) -> Array:
        """Draws of mass proportional to k^-a. Rounds of rejection, which synchronise.

        Devroye, "Non-Uniform Random Variate Generation" (1986), X.6.1.
        """
        op = "random.zipf"
        exponent = self._parameter(op, "a", a, ABOVE_ONE)

        def candidates(n: int, a: Parameter) -> tuple[Array, Array]:
            less = a - 1
            x = stator.floor((1 - self._unit((n,))) ** (-1 / less))
            t = (1 + 1 / x) ** less
            b = 2.0**less
            rejected = self._unit((n,)) * x * (t - 1) / (b - 1) > t / b
            return x, stator.logical_or(rejected, x >= _LARGEST)

        shape = shape_of(size, exponent, op=op)
        limited = stator.minimum(exponent, 1000.0) if isinstance(exponent, Array) else min(exponent, 1000.0)
        return self._rounds(shape, (limited,), candidates).astype("int64")

    def multinomial(self, n: ArrayLike, pvals: ArrayLike, size: Size = None) -> Array:
        """How often each outcome occurs in n trials: (*size, outcomes); the last has the probability that is left.

        An array of n or a batch of pvals takes rounds of rejection for each outcome, which synchronise.
        """
        op = "random.multinomial"
        trials, p = self._whole(op, "n", n), self._parameter(op, "pvals", pvals, PROBABILITY)
        if not isinstance(p, Array) or p.ndim == 0:
            raise InvalidValueError(
                "pvals must be a vector or a batch of vectors", op=op, remedy="Pass the probabilities of the outcomes."
            )
        if not isinstance(pvals, Array):
            import numpy as np

            sums = np.sum(np.asarray(pvals, dtype=np.float64)[..., :-1], axis=-1)
            if np.any(sums > 1 + 1e-12):
                raise InvalidValueError(
                    f"sum(pvals[:-1]) = {np.max(sums)}", op=op, remedy="Pass probabilities that add up to at most 1."
                )
        batch = stator.full(p.shape[:-1], 0.0, device=p.backend) if p.ndim > 1 else 0.0
        shape = shape_of(size, trials, batch, op=op)
        left: Any = trials if isinstance(trials, Array) else stator.full((), trials, device=self._bits.backend)
        rest = 1.0 - stator.zeros(p.shape[:-1], device=p.backend)
        counts = []
        for k in range(p.shape[-1] - 1):
            share = stator.clip(p[..., k] / rest, 0.0, 1.0)
            drawn = self._binomial(left, share, shape).astype("float64")
            counts.append(drawn)
            left, rest = left - drawn, stator.maximum(rest - p[..., k], 1e-300)
        counts.append(stator.broadcast_to(left, shape))
        return stator.stack(counts, axis=-1).astype("int64")

    def multivariate_hypergeometric(
        self, colors: ArrayLike, nsample: int, size: Size = None, method: str = "marginals"
    ) -> Array:
        """How many of each colour are among nsample drawn without replacement: (*size, colours).

        One colour after the other from what is left: rounds of rejection for each. method: changes nothing.
        """
        op = "random.multivariate_hypergeometric"
        if method not in ("marginals", "count"):
            raise InvalidValueError(f"method={method!r}", op=op, remedy="Pass 'marginals' or 'count'.")
        whole = _convert.array(colors, op)
        numbers = [int(v) for v in whole.to_numpy()]
        if min(numbers, default=0) < 0 or not 0 <= nsample <= sum(numbers):
            raise InvalidValueError(
                f"nsample={nsample} of {sum(numbers)}",
                op=op,
                remedy="Pass colors of at least 0, and at most their sum.",
            )
        shape = shape_of(size, op=op)
        left: Array = stator.full(shape, float(nsample), device=self._bits.backend)
        rest, counts = float(sum(numbers)), []
        for number in numbers[:-1]:
            rest -= number
            drawn = self._hypergeometric(float(number), rest, left, shape).astype("float64")
            counts.append(drawn)
            left = left - drawn
        return stator.stack([*counts, left][: len(numbers)], axis=-1).astype("int64")
