"""NumPy's elementwise functions with one row each: the op that computes it, or the composition."""

from __future__ import annotations

from typing import Any

import stator
from stator.numpy import _compose, _rows
from stator.numpy._ufunc import ufunc

SLOW = "The values are NumPy's; composed of several launches"

# NumPy's name: stator's where it differs.
UNARY = {
    **dict.fromkeys(["exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sqrt", "cbrt"], ""),
    **dict.fromkeys(["sin", "cos", "tan", "sinh", "cosh", "tanh"], ""),
    **dict.fromkeys(
        [
            "square",
            "negative",
            "positive",
            "sign",
            "signbit",
            "isnan",
            "isinf",
            "isfinite",
            "logical_not",
            "deg2rad",
            "rad2deg",
        ],
        "",
    ),
    "absolute": "abs",
    "fabs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "conjugate": "conj",
    "degrees": "rad2deg",
    "invert": "bitwise_invert",
    "radians": "deg2rad",
    "rint": "round",
}
BINARY = {
    **dict.fromkeys(
        [
            "add",
            "subtract",
            "multiply",
            "divide",
            "floor_divide",
            "remainder",
            "fmod",
            "copysign",
            "gcd",
            "heaviside",
            "hypot",
            "lcm",
            "nextafter",
        ],
        "",
    ),
    **dict.fromkeys(["logaddexp", "logaddexp2", "equal", "not_equal"], ""),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor"], ""),
    "arctan2": "atan2",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
}
IDENTITIES = {
    **dict.fromkeys(["add", "bitwise_or", "bitwise_xor", "gcd", "hypot"], 0),
    **dict.fromkeys(["multiply"], 1),
    **{"logical_and": True, "logical_or": False, "logical_xor": False, "bitwise_and": -1},
    **dict.fromkeys(["logaddexp", "logaddexp2"], float("-inf")),
}
HOW = {
    **dict.fromkeys(["bitwise_count", "float_power", "ldexp", "modf", "spacing"], SLOW),
    "reciprocal": "Of the integer 0 it is 0, as elsewhere in stator",
    "divmod": "The values are NumPy's; two launches",
}
CASTS = {"frexp", "ldexp", "modf", "nextafter", "spacing"}
ALIASES = {
    **{"abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan"},
    **{"atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift"},
    **{"bitwise_not": "invert", "bitwise_right_shift": "right_shift", "conj": "conjugate", "mod": "remainder"},
    **{"pow": "power", "true_divide": "divide"},
}
COMPOSED = {
    **{name: (getattr(_compose, name), 2, 1) for name in ("float_power", "ldexp")},
    **{name: (getattr(_compose, name), 1, 1) for name in ("bitwise_count", "reciprocal", "spacing")},
    **{name: (_compose.integral(name), 1, 1) for name in ("ceil", "floor", "trunc")},
    **{name: (_compose.extreme(name), 2, 1) for name in ("maximum", "minimum", "fmax", "fmin")},
    **{name: (_compose.ordered(name), 2, 1) for name in ("greater", "greater_equal", "less", "less_equal")},
    "divmod": (_compose.divmod, 2, 2),
    "frexp": (stator.frexp, 1, 2),
    "modf": (_compose.modf, 1, 2),
}


def _register(name: str, compute: Any, nin: int, nout: int = 1) -> None:
    casts = name in CASTS
    _rows.add(name, ufunc(name, compute, nin, nout, IDENTITIES.get(name), casts), HOW.get(name, "same"))


for _name, _op in UNARY.items():
    _register(_name, getattr(stator, _op or _name), 1)
for _name, _op in BINARY.items():
    _register(_name, getattr(stator, _op or _name), 2)
for _name, (_compute, _nin, _nout) in COMPOSED.items():
    _register(_name, _compute, _nin, _nout)
for _name, _op in ALIASES.items():
    _rows.add(_name, _rows.ROWS[_op].value, _rows.ROWS[_op].how)
_rows.add(
    "ufunc", ufunc, "Elementwise functions are of this class; it cannot be made from Python functions of elements."
)
