"""What a NumPy user writes for ops that NumPy and SciPy do not have, with few temporaries."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from .table import first, numbers, oracle


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, 0)


def _cdf(x: Any) -> Any:
    return import_module("scipy.special").ndtr(x)


def _tanh_form(x: Any) -> Any:
    return np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))


def _gelu_tanh_slope(x: Any) -> Any:
    t = _tanh_form(x)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (0.7978845608028654 + 0.1070322243 * x * x)


def _silu_slope(x: Any, steep: float = 1.0) -> Any:
    s = _sigmoid(steep * x)
    return s * (1 + steep * x * (1 - s))


def _mish_slope(x: Any) -> Any:
    t = np.tanh(_softplus(x))
    return t + x * (1 - t * t) * _sigmoid(x)


def _logsumexp(x: Any, axis: int | None = None) -> Any:
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    top = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis=axis)) + np.squeeze(top, axis)


def _minimum_so_far(x: Any, axis: int = -1) -> Any:
    return np.minimum.accumulate(x, axis=axis)


def _maximum_so_far(x: Any, axis: int = -1) -> Any:
    return np.maximum.accumulate(x, axis=axis)


def _scipy_polynomial(name: str) -> Callable[..., Any]:
    """SciPy's polynomial, by the recurrence that it uses for orders of integer dtype."""
    return lambda x, n: getattr(import_module("scipy.special"), name)(n.astype(np.int64), x)


def _third(x: Any, n: Any) -> Any:
    half = np.arccos(x) / 2
    return np.cos((2 * n + 1) * half) / np.cos(half)


def _fourth(x: Any, n: Any) -> Any:
    half = np.arccos(x) / 2
    return np.sin((2 * n + 1) * half) / np.sin(half)


_POLYNOMIALS = {
    "chebyshev_polynomial_t": _scipy_polynomial("eval_chebyt"),
    "chebyshev_polynomial_u": _scipy_polynomial("eval_chebyu"),
    "chebyshev_polynomial_v": _third,
    "chebyshev_polynomial_w": _fourth,
    "shifted_chebyshev_polynomial_t": _scipy_polynomial("eval_sh_chebyt"),
    "shifted_chebyshev_polynomial_u": _scipy_polynomial("eval_sh_chebyu"),
    "shifted_chebyshev_polynomial_v": lambda x, n: _third(2 * x - 1, n),
    "shifted_chebyshev_polynomial_w": lambda x, n: _fourth(2 * x - 1, n),
    "hermite_polynomial_h": _scipy_polynomial("eval_hermite"),
    "hermite_polynomial_he": _scipy_polynomial("eval_hermitenorm"),
    "laguerre_polynomial_l": _scipy_polynomial("eval_laguerre"),
    "legendre_polynomial_p": _scipy_polynomial("eval_legendre"),
}

SELU = (1.0507009873554805, 1.6732632423543772)

COMPOSED: dict[str, Callable[..., Any]] = {
    **_POLYNOMIALS,
    "airy_ai": lambda x: import_module("scipy.special").airy(x)[0],
    "spherical_bessel_j0": lambda x: import_module("scipy.special").spherical_jn(0, x),
    "sinc": np.sinc,
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "lerp": lambda a, b, w: a + w * (b - a),
    "add_scaled": lambda x, y, alpha: x + alpha * y,
    "nan_to_num": lambda x, *numbers: np.nan_to_num(x, True, *numbers),
    "real": lambda x: np.array(np.real(x)),  # NumPy returns a view
    "imag": lambda x: np.array(np.imag(x)),
    "signbit": lambda x: np.signbit(x),
    "clip_backward": lambda g, x, min, max: np.where((x >= min) & (x <= max), g, 0),
    "vector_norm": lambda x, axis=None: np.linalg.vector_norm(x, axis=axis),
    "has_inf_nan": lambda x, **k: ~np.isfinite(x).all(**k),
    "logsumexp": _logsumexp,
    "logcumsumexp": lambda x, axis=-1: np.logaddexp.accumulate(x, axis=axis),
    "cumulative_sum": np.cumsum,
    "cumulative_prod": np.cumprod,
    "cumulative_max": _maximum_so_far,
    "cumulative_min": _minimum_so_far,
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x, slope: np.where(x > 0, x, slope * x),
    "elu": lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x)),
    "celu": lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
    "selu": lambda x: SELU[0] * np.where(x > 0, x, SELU[1] * np.expm1(x)),
    "gelu": lambda x: x * _cdf(x),
    "gelu_tanh": lambda x: 0.5 * x * (1 + _tanh_form(x)),
    "gelu_sigmoid": lambda x: x * _sigmoid(1.702 * x),
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "sigmoid": _sigmoid,
    "hardsigmoid": lambda x: np.clip(x / 6 + 0.5, 0, 1),
    "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "softplus": lambda x, steep, end: np.where(x * steep > end, x, _softplus(x * steep) / steep),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "relu_backward": lambda g, x: np.where(x > 0, g, 0),
    "leaky_relu_backward": lambda g, x, slope: np.where(x > 0, g, slope * g),
    "elu_backward": lambda g, x, alpha: np.where(x > 0, g, g * alpha * np.exp(x)),
    "celu_backward": lambda g, x, alpha: np.where(x > 0, g, g * np.exp(x / alpha)),
    "selu_backward": lambda g, x: SELU[0] * np.where(x > 0, g, SELU[1] * g * np.exp(x)),
    "gelu_backward": lambda g, x: g * (_cdf(x) + x * 0.3989422804014327 * np.exp(-0.5 * x * x)),
    "gelu_tanh_backward": lambda g, x: g * _gelu_tanh_slope(x),
    "gelu_sigmoid_backward": lambda g, x: g * _silu_slope(x, 1.702),
    "silu_backward": lambda g, x: g * _silu_slope(x),
    "mish_backward": lambda g, x: g * _mish_slope(x),
    "sigmoid_backward": lambda g, y: g * y * (1 - y),
    "tanh_backward": lambda g, y: g * (1 - y * y),
    "hardsigmoid_backward": lambda g, x: np.where(np.abs(x) < 3, g / 6, 0),
    "hardswish_backward": lambda g, x: g * np.where(x <= -3, 0, np.where(x < 3, x / 3 + 0.5, 1)),
    "softplus_backward": lambda g, x, steep, end: np.where(x * steep > end, g, g * _sigmoid(x * steep)),
    "softsign_backward": lambda g, x: g / (1 + np.abs(x)) ** 2,
    "abs_backward": lambda g, x: g * np.sign(x),
}


def numpy_call(name: str) -> Callable[..., Any]:
    """The peer of an op: the function composed here, else the oracle, mostly a function of NumPy or SciPy."""
    function = COMPOSED.get(name) or oracle(name)
    given = numbers(name)
    return (lambda *x: function(*x, *given)) if given else function


def widened(function: Callable[..., Any], dtype: Any) -> Callable[..., Any]:
    """The function, computed in float32 for dtypes that NumPy has no loop for (bfloat16)."""

    def through(*arrays: Any, **more: Any) -> Any:
        result = first(function(*[a.astype(np.float32) for a in arrays], **more))
        return result.astype(dtype) if result.dtype == np.float32 else result

    return through
