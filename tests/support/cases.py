"""Facts about each elementwise op beyond the op table: the domains of its inputs, its call, and its oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import inputs
import numpy as np
from oracles import precise
from reference import assert_matches, numpy_dtype, widen

import stator

TABLE = {row["name"]: row for row in stator.op_table()}
ARITY = {"unary": 1, "binary": 2, "ternary": 3, "quaternary": 4, "select": 3}


def tolerance(name: str) -> tuple[int, int]:
    """The bound of an op in units in the last place, for float32 and float64."""
    bound = TABLE[name]["tolerance"]
    return bound["float32"], bound["float64"]


def function(name: str):
    """The Python function of an op."""
    target = stator
    for part in TABLE[name]["call"].split("."):
        target = getattr(target, part)
    return target


# The domain of an operand: an interval [low, high); a range of whole numbers; a number, which is passed as it is; or a
# function of (rng, shape, dtype).
Domain = tuple[float, float] | range | float | Callable[..., np.ndarray]


@dataclass(frozen=True)
class Case:
    """Inputs in [low, high), where the reference is well conditioned; `special`: also NaN, infinity and so on."""

    low: float = -4
    high: float = 4
    special: bool | str = True  # "moderate": none that are huge or subnormal, where SciPy's limits are wrong
    kwargs: dict = field(default_factory=dict)
    first: Domain | None = None  # of the first operand, in place of [low, high)
    then: tuple[Domain, ...] = ()  # of further operands, where they differ from the first
    keywords: tuple[str, ...] = ()  # keywords for the last operands
    ours: dict = field(default_factory=dict)  # keyword arguments that select this op
    scale: Callable[..., np.ndarray] | None = None  # errors count in its last place where it is larger


def nonzero(rng, shape, dtype):
    x = inputs.random(rng, shape, dtype)
    return np.where(x == 0, np.ones_like(x), x)


def exponents(rng, shape, dtype):
    """Of any sign, but none negative for integers, which have no such powers."""
    x = inputs.random(rng, shape, dtype)
    return np.where(x < 0, ~x, x) if _whole(dtype) else x


def larger(*terms):
    """The scale of a sum."""
    return np.maximum.reduce(np.broadcast_arrays(*[np.abs(t) for t in terms]))


def decay(x, start=2.0):
    """The scale of an oscillation whose amplitude falls as 1 / sqrt(x)."""
    return np.where(np.abs(x) > start, np.sqrt(2 / (np.pi * np.maximum(np.abs(x), start))), 0)


def airy_amplitude(x):
    """The scale of Ai where it oscillates."""
    return np.where(x < -1.5, np.maximum(np.abs(x), 1) ** -0.25 / np.sqrt(np.pi), 0)


def gate_root(grad, x):
    """The scale of gradients of x * logistic(z), which have a root between -2 and -0.5."""
    return np.where((x > -2) & (x < -0.5), np.abs(grad) / 4, 0)


def of_double(scale):
    """The scale for float64 alone: results of float32 are precise near zeros too."""
    return lambda x: scale(x) if x.dtype == np.longdouble else np.zeros(x.shape)


def near_roots(x, n):
    """The scale near roots, where the reference cancels."""
    return np.full(np.broadcast_shapes(np.shape(x), np.shape(n)), 0.01)


def reflected(f):
    """The scale of the terms that a reflection formula subtracts."""

    def scale(x):
        import scipy.special

        return np.where(x < 0, 1 + np.abs(getattr(scipy.special, f)(np.abs(x).astype(float))), 0)

    return scale


WIDE = Case(-20, 20)  # tails
GRADIENT = Case(then=((-20, 20),))
ROOTED = Case(then=((-20, 20),), scale=gate_root)
SHIFT = Case(then=(range(-3, 70),))
DIVISION = Case(then=(nonzero,))
UNIT = Case(-1, 1)
DEGREE = (range(0, 7),)
BESSEL_I, BESSEL_K = Case(-30, 30, "moderate"), Case(0.01, 80, "moderate")
CHEBYSHEV, SHIFTED = Case(-1.5, 1.5, False, then=DEGREE), Case(-0.25, 1.25, False, then=DEGREE)

CASES = {
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
    **dict.fromkeys(["exp", "exp2", "cosh", "sinh"], WIDE),
    **dict.fromkeys(["log2", "log10"], Case(0.01, 50)),
    "log1p": Case(-0.9, 20),
    **dict.fromkeys(["acos", "asin", "atanh"], UNIT),
    "acosh": Case(1, 50),
    "logaddexp": Case(scale=larger),
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
    "erfinv": UNIT,
    "gammaln": Case(-6, 60, "moderate", scale=of_double(reflected("gammaln"))),
    "digamma": Case(-6, 60, scale=of_double(reflected("digamma"))),
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


def case(name: str) -> Case:
    return CASES.get(name, Case())


# Bounds of complex results, in units of the larger component's last place, where the op's bound is for real ones: a
# part of a product is a difference of two rounded products, a quotient by Smith's method rounds six times, and a power
# multiplies the error of the angle by the exponent.
COMPLEX_TOLERANCE = {"multiply": (3, 3), "divide": (8, 8), "mean": (8, 8), "square": (3, 3)}
COMPLEX_TOLERANCE |= dict.fromkeys(["sqrt", "reciprocal", "abs"], (2, 2))
COMPLEX_TOLERANCE |= {"pow": (4, 32), "lerp": (4, 4)}


def bound(name: str, dtype: str) -> tuple[int, int]:
    """The bound of an op for a result dtype."""
    return COMPLEX_TOLERANCE.get(name, tolerance(name)) if dtype.startswith("complex") else tolerance(name)


# SciPy's own errors in float64, in units in the last place, rounded up: the bound for most points there.
# test_special.py checks the bounds of the op table, against mpmath.
SCIPY_ERROR = {"gammaln": 1e4, "digamma": 1e5, "i1": 20, "airy_ai": 200}
SCIPY_ERROR |= dict.fromkeys(["j0", "j1", "y0", "y1"], 100)


def names(*shape_classes: str) -> list[str]:
    return [n for n, row in TABLE.items() if row["shape_class"] in shape_classes]


ELEMENTWISE = names(*ARITY)


def _whole(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def draw(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, domain: Domain):
    """An operand drawn from a domain; integers go beyond the default domain, to their extremes."""
    if callable(domain):
        return domain(rng, shape, dtype)
    if isinstance(domain, (int, float)):
        return bool(domain) if dtype == "bool" else domain
    if dtype == "bool" or (domain == (-4, 4) and not isinstance(domain, range)):
        return inputs.random(rng, shape, dtype)
    if isinstance(domain, range):
        first = max(domain.start, np.iinfo(dtype).min) if _whole(dtype) else domain.start
        return rng.integers(first, domain.stop, shape).astype(numpy_dtype(dtype))
    if _whole(dtype):
        return draw(rng, shape, dtype, range(int(np.floor(domain[0])), int(np.ceil(domain[1])) + 1))
    return inputs.random(rng, shape, dtype, *((-4, 4) if dtype.startswith("complex") else domain))


def domains(name: str) -> tuple[Domain, ...]:
    c = case(name)
    first = (c.low, c.high) if c.first is None else c.first
    rest = c.then or (first,) * (ARITY[TABLE[name]["shape_class"]] - 1)
    return (first, *rest)


def operands(rng: np.random.Generator, name: str, shape, dtype: str, arrays: bool = False) -> list:
    """The operands of an elementwise op, of one shape or one shape each; `arrays`: numbers as arrays too."""
    found = domains(name)
    shapes = shape if isinstance(shape, list) else [shape] * len(found)
    made = [draw(rng, s, dtype, d) for s, d in zip(shapes, found, strict=True)]
    if TABLE[name]["shape_class"] == "select":
        made[0] = inputs.random(rng, shapes[0], "bool")
    made = [np.asarray(x) if isinstance(x, np.generic) else x for x in made]
    if arrays:
        kind = numpy_dtype(dtype)
        made = [x if isinstance(x, np.ndarray) else np.full(s, x, kind) for s, x in zip(shapes, made, strict=True)]
    return made


def promoted(name: str, *dtypes: str) -> str:
    """The dtype that array operands except a condition are converted to."""
    dtypes = dtypes[TABLE[name]["shape_class"] == "select" :]
    return stator.result_type(*dtypes).name if len(dtypes) > 1 else dtypes[0]


def result_dtype(name: str, *dtypes: str) -> str:
    """The dtype that the op's result rule gives for array operands."""
    common, rule = promoted(name, *dtypes), TABLE[name]["result"]
    whole = common == "bool" or _whole(common)
    if rule == "boolean":
        return "bool"
    if rule == "index":
        return "int64"
    if rule == "inexact" or (rule == "real" and whole and TABLE[name]["shape_class"] == "reduce"):
        return "float64" if whole else common
    if rule == "real":
        return {"complex64": "float32", "complex128": "float64"}.get(common, common)
    if rule == "accumulate":
        if common == "bool" or common.startswith("int"):
            return "int64"
        return "uint64" if common.startswith("uint") else common
    return common


def wide_operands(name: str, *arrays) -> list:
    """The operands in the precision in which the oracle is computed; numbers stay as they are."""
    common = promoted(name, *[a.dtype.name for a in arrays if isinstance(a, np.ndarray)])
    target = numpy_dtype(common)
    if TABLE[name]["result"] == "inexact" and (common == "bool" or _whole(common)):
        target = np.dtype("float64")
    # An exact op rounds once: its reference is computed in the dtype itself, or in float32 for halves.
    own = np.float32 if target.name in ("float16", "bfloat16") else target
    exact, select = tolerance(name) == (0, 0), TABLE[name]["shape_class"] == "select"
    return [
        a
        if not isinstance(a, np.ndarray) or (select and k == 0)
        else a.astype(target).astype(own)
        if exact
        else widen(a.astype(target))
        for k, a in enumerate(arrays)
    ]


def _narrow(x):
    """Converts from extended precision to double."""
    kinds = {"longdouble": np.float64, "clongdouble": np.complex128}
    return x.astype(kinds.get(type(x.dtype.type(0)).__name__, x.dtype)) if isinstance(x, np.ndarray) else x


def expected(name: str, *arrays, **kwargs) -> np.ndarray:
    """The oracle's result: on widened floats, or for integers in the op's own arithmetic, which wraps."""
    wide, oracle = wide_operands(name, *arrays), precise(TABLE[name]["oracle"])
    with np.errstate(all="ignore"):
        try:
            return oracle(*wide, **kwargs)
        except TypeError:  # most of SciPy's functions have no wider type than float64
            return oracle(*[_narrow(x) for x in wide], **kwargs)


def invoke(name: str, *operands, **options):
    """Calls the op's function on arrays and numbers."""
    c = case(name)
    plain = len(operands) - len(c.keywords)
    return function(name)(
        *operands[:plain], **dict(zip(c.keywords, operands[plain:], strict=True)), **c.ours, **options
    )


def assert_close(got: np.ndarray, name: str, made: list, what: str = "") -> None:
    """Asserts that got equals the oracle's result within the op's bound."""
    want, scale = expected(name, *made), case(name).scale
    if np.shape(want) != got.shape:  # a reference that ignores an operand has another shape
        want = np.broadcast_to(want, got.shape)
    size = None
    if scale is not None and got.dtype.kind not in "biu":
        with np.errstate(all="ignore"):
            size = scale(*wide_operands(name, *made))
    limit = bound(name, promoted(name, *[x.dtype.name for x in made if isinstance(x, np.ndarray)]))
    if TABLE[name]["call"].startswith("special."):
        limit = (limit[0], limit[1] + SCIPY_ERROR.get(name, 8))
    assert_matches(got, want, limit, f"{name} {what}", size, made)


def check(be, name: str, made: list, what: str = "", **options):
    """Runs an elementwise op on operands, arrays in their own layout or numbers, and checks it. Returns the result."""
    got = invoke(name, *[inputs.on_device(be, x) if isinstance(x, np.ndarray) else x for x in made], **options)
    dtypes = [x.dtype.name for x in made if isinstance(x, np.ndarray)]
    assert got.dtype.name == options.get("dtype", result_dtype(name, *dtypes)), f"{name} {what}"
    assert_close(got.to_numpy(), name, made, f"{what} {' '.join(dtypes)}")
    return got
