"""The domains of the ops: one interval per operand, from which points and timed inputs are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .table import TABLE, numpy_dtype, operands

INF = float("inf")


@dataclass(frozen=True)
class Interval:
    """The interval [low, high]; `whole` for whole numbers only (orders, shifts).

    normal: its ends are three standard deviations from the mean of what is drawn, and bound it.
    """

    low: float = -INF
    high: float = INF
    whole: bool = False
    normal: bool = False

    def __str__(self) -> str:
        if self.whole:
            return f"{self.low:g}..{self.high:g}"
        if self.low == -INF and self.high == INF:
            return "all finite"
        return f"[{self.low:g}, {self.high:g}]".replace("-inf", "-max").replace("inf", "max")


REAL, POSITIVE, UNIT, WITHIN = Interval(), Interval(low=0), Interval(0, 1), Interval(-1, 1)
DEGREE = Interval(0, 12, whole=True)

# Ops that are not defined, or have no known reference, for all finite numbers.
DOMAINS: dict[str, tuple[Interval, ...]] = {
    **{n: (POSITIVE,) for n in ("log", "log2", "log10", "sqrt", "rsqrt", "entr", "k0", "k0e", "k1", "k1e")},
    **{n: (WITHIN,) for n in ("acos", "asin", "atanh", "erfinv")},
    **{n: (UNIT,) for n in ("logit", "ndtri")},
    **{n: (Interval(0, 1e6),) for n in ("y0", "y1")},
    **{n: (Interval(-1e6, 1e6),) for n in ("j0", "j1", "spherical_bessel_j0")},
    "acosh": (Interval(low=1),),
    "log1p": (Interval(low=-1),),
    "airy_ai": (Interval(-1e4, 100),),
    "gammaln": (Interval(low=-100),),
    "digamma": (Interval(low=-100),),
    "erfcx": (Interval(low=-26),),
    "beta": (Interval(1e-3, 1e3), Interval(1e-3, 1e3)),
    "betaln": (Interval(1e-3, 1e6), Interval(1e-3, 1e6)),
    **{n: (Interval(1e-3, 1e3), Interval(1e-3, 1e3)) for n in ("gammainc", "gammaincc")},
    "polygamma": (Interval(0, 6, whole=True), Interval(1e-3, 1e6)),
    "zeta": (Interval(1.001, 50), Interval(1e-2, 1e4)),
    **{n: (Interval(0.5, 2),) for n in ("nansum", "nanmean", "logsumexp", "cumulative_sum")},  # no cancellation
    # Gradients where the slope is a normal float32: subnormal slopes have fewer digits.
    **{f"{n}_backward": (REAL, Interval(low=-50)) for n in ("elu", "selu", "celu", "silu", "mish", "softplus")},
    "gelu_backward": (REAL, Interval(low=-12)),
    "gelu_tanh_backward": (REAL, Interval(low=-8)),
    "gelu_sigmoid_backward": (REAL, Interval(low=-45)),
    "clip": (REAL, Interval(-3, 0), Interval(0, 3)),
    "sigmoid_backward": (REAL, UNIT),
    "tanh_backward": (REAL, WITHIN),
    "xlogy": (REAL, POSITIVE),
    "xlog1py": (REAL, Interval(low=-1)),
    "pow": (Interval(0, 1e6), Interval(-60, 60)),
    "sinc": (Interval(-1e6, 1e6),),
    **{n: (Interval(0.999, 1.001),) for n in ("prod", "cumulative_prod")},  # 2^24 factors neither overflow nor vanish
    "lerp": (Interval(-1e6, 1e6), Interval(-1e6, 1e6), UNIT),
    "bitwise_left_shift": (REAL, Interval(0, 7, whole=True)),
    "bitwise_right_shift": (REAL, Interval(0, 7, whole=True)),
    **{n: (WITHIN, DEGREE) for n in TABLE if "chebyshev" in n or "legendre" in n},
    **{n: (UNIT, DEGREE) for n in TABLE if "shifted_chebyshev" in n},
    **{n: (Interval(-20, 20), DEGREE) for n in TABLE if "hermite" in n},
    **{n: (Interval(0, 40), DEGREE) for n in TABLE if "laguerre" in n},
}


def _from_tests(domain: Any) -> Interval:
    """The interval of a domain in tests/support/cases.py; for a domain that is a function, [0.5, 4]."""
    if isinstance(domain, range):
        return Interval(domain.start, domain.stop - 1, whole=True)
    return Interval(0.5, 4) if callable(domain) else Interval(float(domain[0]), float(domain[1]))


def core(name: str) -> tuple[Interval, ...]:
    """The intervals from which the tests draw each array operand, for timed inputs and the core of measured points."""
    made = [_from_tests(d) for d in operands(name) if not isinstance(d, (int, float))]
    given = DOMAINS.get(name, ())
    if not given:
        return tuple(made)
    limits = given if len(given) > 1 else given * len(made)
    return tuple(_meet(m, w) for m, w in zip(made, limits, strict=True))


# What networks and statistics pass to functions whose domains, from which tests draw, have long tails.
NORMAL, COUNTS = Interval(-3, 3, normal=True), Interval(0.1, 10)
WIDE_ACTIVATIONS = ("elu", "celu", "selu", "gelu", "gelu_tanh", "gelu_sigmoid", "silu", "mish", "hardswish", "softplus")
USED: dict[str, tuple[Interval, ...]] = {
    **dict.fromkeys(("relu", "leaky_relu", "sigmoid", "hardsigmoid", "softsign", "tanh", *WIDE_ACTIVATIONS), (NORMAL,)),
    **{f"{n}_backward": (NORMAL, NORMAL) for n in ("relu", "leaky_relu", "hardsigmoid", "softsign", *WIDE_ACTIVATIONS)},
    **dict.fromkeys(("exp", "exp2", "sinh", "cosh", "expit", "erf", "erfc", "erfcx", "ndtr", "log_ndtr"), (NORMAL,)),
    **dict.fromkeys(("gammaln", "digamma", "k0", "k1", "k0e", "k1e", "y0", "y1"), (COUNTS,)),
    **dict.fromkeys(("beta", "betaln", "gammainc", "gammaincc"), (COUNTS, COUNTS)),
    **dict.fromkeys(("i0", "i1", "i0e", "i1e", "j0", "j1", "spherical_bessel_j0"), (Interval(-10, 10),)),
    "airy_ai": (Interval(-5, 5),),
    "entr": (UNIT,),
}


def timed(name: str) -> tuple[Interval, ...]:
    """The intervals of the operands of timed calls."""
    return USED.get(name) or core(name)


def _meet(core: Interval, within: Interval) -> Interval:
    low, high = max(core.low, within.low), min(core.high, within.high)
    return Interval(low, high, core.whole or within.whole) if low < high else within


def intervals(name: str) -> tuple[Interval, ...]:
    """The whole domain of each array operand; for whole numbers the interval of the tests."""
    made = core(name)
    given = DOMAINS.get(name, ())
    if given:
        return given if len(given) > 1 else given * len(made)
    return tuple(c if c.whole else REAL for c in made)


def _magnitudes(rng: np.random.Generator, within: Interval, count: int, low: float, high: float) -> np.ndarray:
    """Numbers log-uniform in magnitude between low and high, of each sign in the interval."""
    parts = []
    sides = [(1, max(within.low, low), min(within.high, high)), (-1, max(-within.high, low), min(-within.low, high))]
    for sign, near, far in sides:
        if near < far:
            parts.append(sign * np.exp(rng.uniform(np.log(near), np.log(far), count)))
    return np.concatenate(parts) if parts else np.empty(0)


def points(
    rng: np.random.Generator, within: Interval, middle: Interval, dtype: str, count: int, least: float = 0.0
) -> np.ndarray:
    """`count` numbers of a real dtype: a third uniform in the middle, the others of all magnitudes and at the ends."""
    kind = numpy_dtype(dtype)
    top, tiny = {"float16": (6.5e4, 6e-8), "bfloat16": (3e38, 1e-38), "float32": (3e38, 1e-38)}.get(
        dtype, (1e308, 1e-308)
    )
    if within.whole:
        return rng.integers(int(within.low), int(within.high), count, endpoint=True).astype(kind)
    low, high = max(within.low, -top), min(within.high, top)
    some = [_magnitudes(rng, within, count, 1e-5, 1e3), _magnitudes(rng, within, count, max(tiny, least), top)]
    for end, inward in ((within.low, 1), (within.high, -1)):
        if np.isfinite(end) and end != 0:
            some.append(end + inward * (high - low) / 2 * np.exp(rng.uniform(np.log(1e-9), 0, count // 2)))
    rest = rng.choice(np.concatenate(some), count - count // 3)
    drawn = np.concatenate([rng.uniform(middle.low, middle.high, count // 3), rest])
    with np.errstate(over="ignore"):
        return rng.permutation(np.clip(drawn, low, high)).astype(kind)
