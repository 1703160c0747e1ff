"""The same ops in PyTorch and CuPy, where they are installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from .numpy_peer import SELU
from .table import TABLE, kind, numbers


class Imported:
    """A module that is imported at its first use, since it may not be installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


torch: Any = Imported("torch")
functional: Any = Imported("torch.nn.functional")

# Ops that have another name in PyTorch; those that need more than a name are functions of torch.
RENAMED = {
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "negative": "neg",
    "bitwise_invert": "bitwise_not",
    "gammaln": "lgamma",
    "cumulative_sum": "cumsum",
    "cumulative_prod": "cumprod",
    "cumulative_max": "cummax",
    "cumulative_min": "cummin",
    **dict.fromkeys(("nanmin", "nanmax", "has_inf_nan"), ""),
    "k0": "modified_bessel_k0",
    "k1": "modified_bessel_k1",
    "k0e": "scaled_modified_bessel_k0",
    "k1e": "scaled_modified_bessel_k1",
    "j0": "bessel_j0",
    "j1": "bessel_j1",
    "y0": "bessel_y0",
    "y1": "bessel_y1",
}


def _special_cases(torch: Any) -> dict[str, Callable[..., Any]]:
    aten, functional = torch.ops.aten, torch.nn.functional
    return {
        "positive": torch.clone,  # torch.positive returns the tensor itself
        "conj": lambda x: torch.conj_physical(x) if x.is_complex() else x.clone(),
        "relu": torch.relu,
        "rsqrt": torch.rsqrt,
        "where": torch.where,
        "lerp": torch.lerp,
        "clip_backward": lambda g, x, low, high: aten.hardtanh_backward(g, x, low, high),
        "real": lambda x: torch.real(x).clone(),
        "imag": lambda x: torch.imag(x).clone() if x.is_complex() else torch.zeros_like(x),
        "clip": torch.clamp,
        "nan_to_num": torch.nan_to_num,
        "add_scaled": lambda x, y, alpha: torch.add(x, y, alpha=alpha),
        "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "gelu_sigmoid": lambda x: x * torch.sigmoid(1.702 * x),
        "relu_backward": lambda g, x: aten.threshold_backward(g, x, 0),
        "leaky_relu_backward": lambda g, x, slope: aten.leaky_relu_backward(g, x, slope, False),
        "elu_backward": lambda g, x, alpha: aten.elu_backward(g, alpha, 1, 1, False, x),
        "celu_backward": lambda g, x, alpha: aten.elu_backward(g, alpha, 1, 1 / alpha, False, x),
        "selu_backward": lambda g, x: aten.elu_backward(g, SELU[1], SELU[0], 1, False, x),
        "gelu_backward": aten.gelu_backward,
        "gelu_tanh_backward": lambda g, x: aten.gelu_backward(g, x, approximate="tanh"),
        "softplus_backward": aten.softplus_backward,
        "abs_backward": lambda g, x: g * torch.sgn(x),
        **{f"{n}_backward": getattr(aten, f"{n}_backward") for n in ("silu", "mish", "sigmoid", "tanh", "hardswish")},
        "hardsigmoid_backward": aten.hardsigmoid_backward,
    }


def _along(torch: Any, name: str, axis: int | None) -> Callable[..., Any]:
    """A reduction or scan along an axis (PyTorch's dim), or over all axes."""
    if name in ("max", "min"):
        return (lambda x: getattr(torch, f"a{name}")(x, dim=axis)) if axis is not None else getattr(torch, name)
    if name in ("var", "std"):
        return lambda x: getattr(torch, name)(x, dim=axis, correction=0)
    if name == "vector_norm":
        return lambda x: torch.linalg.vector_norm(x, dim=axis)
    if name == "logsumexp":
        return lambda x: torch.logsumexp(x, (0, 1) if axis is None else axis)
    function = getattr(torch, RENAMED.get(name, name))
    return function if axis is None else (lambda x: function(x, dim=axis))


def torch_call(torch: Any, name: str, axis: int | None) -> Callable[..., Any] | None:
    """PyTorch's function of the op, or None; the op's numbers follow its arrays."""
    function, given = _function(torch, name, axis), numbers(name)
    return (lambda *x: function(*x, *given)) if function is not None and given else function


def _function(torch: Any, name: str, axis: int | None) -> Callable[..., Any] | None:
    if RENAMED.get(name, name) == "":
        return None
    if kind(name) in ("reduce", "scan"):
        return _along(torch, name, axis) if hasattr(torch, RENAMED.get(name, name)) or name == "vector_norm" else None
    special = _special_cases(torch)
    if name in special:
        return special[name]
    if name.endswith("_backward"):
        return None
    asked = RENAMED.get(name, name)
    for place in (torch, torch.special, torch.nn.functional):
        if hasattr(place, asked):
            return getattr(place, asked)
    return None


def set_precision(torch: Any, tf32: bool) -> None:
    """Says whether products of float32 may round their operands to TF32 on a GPU."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32


def _attention(torch: Any, *operands: Any) -> str:
    return str(torch.nn.attention.SDPBackend(torch._fused_sdp_choice(*operands)).name)


def _convolution(torch: Any, x: Any, w: Any, options: dict[str, int], transposed: bool) -> str:
    stride, padding, one, none = ([n] * (x.ndim - 2) for n in (options["stride"], options["padding"], 1, 0))
    choose = torch._C._select_conv_backend
    return str(choose(x, w, None, stride, padding, one, transposed, none, options["groups"]).name)


def _batch_norm(torch: Any, x: Any, w: Any) -> str:
    return str(torch._C._select_batch_norm_backend(x, w, w, w, w, True, 1e-5).name)


CHOICES = {"attention": _attention, "convolution": _convolution, "batch_norm": _batch_norm}


def path(kind: str) -> Callable[..., str]:
    """What tells which of its kernels or libraries PyTorch chooses, by functions that it may not have; else ""."""

    def chosen(torch: Any, *operands: Any) -> str:
        try:
            return CHOICES[kind](torch, *operands).lower()
        except (AttributeError, RuntimeError, TypeError):
            return ""

    return chosen


def to_torch(torch: Any, x: np.ndarray, device: str) -> Any:
    """The array as a tensor on the device, with the same memory order."""
    dense = x if x.flags.c_contiguous else x.T
    made = dense.astype(np.float32) if x.dtype.name == "bfloat16" else dense
    there = torch.from_numpy(made.copy()).to(device)
    there = there.to(torch.bfloat16) if x.dtype.name == "bfloat16" else there
    return there if x.flags.c_contiguous else there.T


def cupy_call(name: str) -> Callable[..., Any] | None:
    """CuPy's function of the op, which has the name that NumPy or SciPy gives it."""
    place, _, attribute = TABLE[name]["oracle"].rpartition(".")
    module = {"numpy": "cupy", "numpy.linalg": "cupy.linalg", "scipy.special": "cupyx.scipy.special"}.get(place)
    return getattr(import_module(module), attribute, None) if module else None
