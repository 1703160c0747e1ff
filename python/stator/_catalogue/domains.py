"""The domains of elementwise ops: what operands are drawn from, for the catalogue and for the tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]

# The domain of an operand: an interval [low, high); a range of whole numbers; a number, which is passed as it is; or a
# function that makes operands of values drawn from [-4, 4).
Domain = tuple[float, float] | range | float | Callable[[Values], Values]
Scale = Callable[..., Values]


@dataclass(frozen=True)
class Case:
    """Inputs in [low, high), where the reference is well conditioned; `special`: also NaN, infinity and so on."""

    low: float = -4
    high: float = 4
    special: bool | str = True  # "moderate": none that are huge or subnormal, where SciPy's limits are wrong
    first: Domain | None = None  # of the first operand, in place of [low, high)
    then: tuple[Domain, ...] = ()  # of further operands, where they differ from the first
    keywords: tuple[str, ...] = ()  # keywords for the last operands
    ours: dict[str, Any] = field(default_factory=dict)  # keyword arguments that select this op
    scale: Scale | None = None  # errors count in its last place where it is larger


def nonzero(x: Values) -> Values:
    """x with ones in place of zeros."""
    return np.where(x == 0, np.ones_like(x), x)


def exponents(x: Values) -> Values:
    """x of any sign, but none negative for integers, which have no such powers."""
    return np.where(x < 0, ~x, x) if x.dtype.kind in "iu" else x


def larger(*terms: Any) -> Values:
    """The scale of a sum."""
    return np.asarray(np.maximum.reduce(np.broadcast_arrays(*[np.abs(t) for t in terms])))


def decay(x: Values, start: float = 2.0) -> Values:
    """The scale of an oscillation whose amplitude falls as 1 / sqrt(x)."""
    return np.where(np.abs(x) > start, np.sqrt(2 / (np.pi * np.maximum(np.abs(x), start))), 0)


def airy_amplitude(x: Values) -> Values:
    """The scale of Ai where it oscillates."""
    return np.where(x < -1.5, np.maximum(np.abs(x), 1) ** -0.25 / np.sqrt(np.pi), 0)


def gate_root(grad: Values, x: Values) -> Values:
    """The scale of gradients of x * logistic(z), which have a root between -2 and -0.5."""
    return np.where((x > -2) & (x < -0.5), np.abs(grad) / 4, 0)


def of_double(scale: Scale) -> Scale:
    """The scale only for float64, which tests widen to long double: results of float32 are precise near zeros too."""
    return lambda x: scale(x) if x.dtype == np.longdouble else np.zeros(x.shape)


def near_roots(x: Values, n: Values) -> Values:
    """The scale near roots, where the reference cancels."""
    return np.full(np.broadcast_shapes(np.shape(x), np.shape(n)), 0.01)


def near_one(a: Values, b: Values) -> Values:
    """The scale of a logarithm of a number with a relative error, near 1."""
    return np.ones(np.broadcast_shapes(np.shape(a), np.shape(b)))


def _gammaln(x: float) -> float:
    try:
        return math.lgamma(x) if x > 0 and math.isfinite(x) else math.inf
    except OverflowError:  # beyond 2.5e305
        return math.inf


def _digamma(x: float) -> float:
    return math.log(x + 1) - 0.5 / (x + 1) - 1 / x if x > 0 and math.isfinite(x) else math.inf


def reflected(f: Callable[[float], float]) -> Scale:
    """The scale of the terms that a reflection formula subtracts."""
    along = np.vectorize(f, otypes=[float])
    return lambda x: np.where(x < 0, 1 + np.abs(along(np.abs(x).astype(float))), 0)


WIDE = Case(-20, 20)  # tails
GRADIENT = Case(then=((-20, 20),))
ROOTED = Case(then=((-20, 20),), scale=gate_root)
SHIFT = Case(then=(range(-3, 70),))
DIVISION = Case(then=(nonzero,))
UNIT = Case(-1, 1)
DEGREE = (range(0, 7),)
BESSEL_I, BESSEL_K = Case(-30, 30, "moderate"), Case(0.01, 80, "moderate")
CHEBYSHEV, SHIFTED = Case(-1.5, 1.5, False, then=DEGREE), Case(-0.25, 1.25, False, then=DEGREE)

CASES: dict[str, Case] = {
    "log": Case(0.01, 50),
    "divide": Case(0.5, 8),
    "sum": Case(0.5, 2),
    "mean": Case(0.5, 2),
    # arithmetic
    "add_scaled": Case(
        special=False, then=((-4, 4), 3), keywords=("alpha",), scale=lambda x, y, alpha: larger(x, y * alpha)
    ),
    **dict.fromkeys(["floor_divide", "remainder", "fmod"], DIVISION),
    "pow": Case(0.1, 6, then=(exponents,)),
    "rsqrt": Case(0.01, 50),
    "lerp": Case(special=False, then=((-4, 4), (0, 1)), scale=lambda a, b, t: larger(a, b, t * (b - a))),
    "clip": Case(then=((-3, 0), (0, 3))),
    "nan_to_num": Case(then=(1.5, 2, -3), keywords=("nan", "posinf", "neginf")),
    **dict.fromkeys(["bitwise_left_shift", "bitwise_right_shift"], SHIFT),
    # exponentials, trigonometry
    **dict.fromkeys(["gcd", "lcm"], Case(-60, 60)),
    **dict.fromkeys(["exp", "exp2", "cosh", "sinh"], WIDE),
    **dict.fromkeys(["log2", "log10"], Case(0.01, 50)),
    "log1p": Case(-0.9, 20),
    **dict.fromkeys(["acos", "asin", "atanh"], UNIT),
    "acosh": Case(1, 50),
    **dict.fromkeys(["logaddexp", "logaddexp2"], Case(scale=larger)),
    # activations
    **dict.fromkeys(["gelu", "silu", "mish", "sigmoid", "hardswish", "softsign"], WIDE),
    **{f"gelu_{form}": Case(-20, 20, ours={"approximate": form}) for form in ("tanh", "sigmoid")},
    **dict.fromkeys(["gelu_backward", "silu_backward", "mish_backward"], ROOTED),
    **{
        f"gelu_{form}_backward": Case(then=((-20, 20),), ours={"approximate": form}, scale=gate_root)
        for form in ("tanh", "sigmoid")
    },
    **dict.fromkeys(["selu_backward", "hardswish_backward", "softsign_backward"], GRADIENT),
    "sigmoid_backward": Case(then=((0, 1),)),
    "tanh_backward": Case(then=((-1, 1),)),
    "leaky_relu": Case(then=(0.25,)),
    "leaky_relu_backward": Case(then=((-4, 4), 0.25)),
    **dict.fromkeys(["elu", "celu"], Case(-20, 20, then=(1.5,))),
    **dict.fromkeys(["elu_backward", "celu_backward"], Case(then=((-20, 20), 1.5))),
    "softplus": Case(-20, 20, then=(1.5, 16)),
    "softplus_backward": Case(then=((-20, 20), 1.5, 16)),
    "clip_backward": Case(then=((-4, 4), -1.5, 2)),
    # special functions
    "erfc": Case(-5, 10),
    "erfcx": Case(-5, 60),
    "beta": Case(0.1, 20, special=False),
    "betaln": Case(0.1, 200, special=False, scale=near_one),
    **dict.fromkeys(["gammainc", "gammaincc"], Case(0.1, 40, special=False)),
    "erfinv": UNIT,
    "gammaln": Case(-6, 60, "moderate", scale=of_double(reflected(_gammaln))),
    "digamma": Case(-6, 60, scale=of_double(reflected(_digamma))),
    "entr": Case(0, 20),
    **dict.fromkeys(["ndtr", "log_ndtr"], Case(-30, 8)),
    **dict.fromkeys(["ndtri", "logit"], Case(0.001, 0.999)),
    "expit": WIDE,
    **dict.fromkeys(["i0", "i1"], BESSEL_I),
    **dict.fromkeys(["i0e", "i1e"], Case(-100, 100, "moderate")),
    **dict.fromkeys(["k0", "k1"], BESSEL_K),
    **dict.fromkeys(["k0e", "k1e"], Case(0.01, 200, "moderate")),
    **dict.fromkeys(["j0", "j1"], Case(-60, 60, "moderate", scale=of_double(decay))),
    **dict.fromkeys(["y0", "y1"], Case(0.1, 60, "moderate", scale=of_double(lambda x: decay(x, 0.5)))),
    "spherical_bessel_j0": Case(-60, 60),
    "airy_ai": Case(-20, 10, "moderate", scale=of_double(airy_amplitude)),
    "polygamma": Case(0, 5, special=False, first=range(0, 5), then=((0.2, 20),)),
    "zeta": Case(1.1, 8, special=False, then=((0.1, 8),)),
    "xlogy": Case(then=((0.01, 50),)),
    "xlog1py": Case(then=((-0.9, 20),)),
    **{f"chebyshev_polynomial_{k}": CHEBYSHEV for k in "tuvw"},
    **{f"shifted_chebyshev_polynomial_{k}": SHIFTED for k in "tuvw"},
    **{f"hermite_polynomial_{k}": Case(-3, 3, False, then=DEGREE) for k in ("h", "he")},
    "laguerre_polynomial_l": Case(-2, 10, False, then=DEGREE, scale=near_roots),
    "legendre_polynomial_p": Case(-1.25, 1.25, False, then=DEGREE, scale=near_roots),
}

# Bounds of complex results, in units of the larger component's last place, where the op's bound is for real ones: a
# part of a product is a difference of two rounded products, a quotient by Smith's method rounds six times, and a power
# multiplies the error of the angle by the exponent.
COMPLEX_TOLERANCE: dict[str, tuple[int, int]] = {
    "multiply": (3, 3),
    "divide": (8, 8),
    "mean": (8, 8),
    "square": (3, 3),
    **dict.fromkeys(["sqrt", "reciprocal", "abs"], (2, 2)),
    "rsqrt": (2, 4),
    "pow": (4, 32),
    "lerp": (4, 4),
}

__all__ = ["CASES", "COMPLEX_TOLERANCE", "Case", "Domain", "Values", "exponents", "larger", "nonzero"]
