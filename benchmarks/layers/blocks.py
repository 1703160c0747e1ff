"""The cases of gated units, dropout with a residual, normalised weights and the gradient of linear layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from ..cases import Other, Others, Plan
from ..inputs import CORE, POSITIVE, Arrays, Draw, Pool, arrays, squares
from ..torch_peer import functional as F

nn = stator.nn
TWO, THREE = arrays(CORE, CORE), arrays(CORE, CORE, CORE)


def weights(count: int) -> Draw:
    """Matrices, and a number for each row and for each column."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        drawn = arrays(*[CORE] * count)(plan, pool, turn)
        return *drawn, *(pool.array((n,), plan.dtype, POSITIVE, turn) for n in drawn[0].shape)

    return draw


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _tanh_gate(x: Any) -> Any:
    return 0.5 * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def _silu_slope(x: Any) -> Any:
    return _sigmoid(x) * (1 + x * (1 - _sigmoid(x)))


def _geglu_slope(x: Any) -> Any:
    gate = _tanh_gate(x)
    return gate + 2 * x * gate * (1 - gate) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x)


def _halves(x: Any) -> Any:
    n = x.shape[-1] // 2
    return x[..., :n], x[..., n : 2 * n]


def _glu_slope(g: Any, x: Any) -> Any:
    (g, _), (a, b) = _halves(g), _halves(x)
    return np.concatenate([g * _sigmoid(b), g * a * _sigmoid(b) * (1 - _sigmoid(b))], axis=-1)


def _length(v: Any) -> Any:
    return np.sqrt(np.sum(v * v, axis=1, keepdims=True))


def _weight_slope(g: Any, v: Any, rows: Any, _: Any) -> Any:
    unit = v / _length(v)
    return rows[:, None] / _length(v) * (g - unit * np.sum(g * unit, axis=1, keepdims=True))


def _spectral(w: Any, u: Any, v: Any) -> Any:
    u = w @ v / np.linalg.norm(w @ v)
    v = w.T @ u / np.linalg.norm(w.T @ u)
    return w / (u @ w @ v)


def _even(call: Callable[..., Any]) -> Callable[..., Any]:
    """Of an array whose last extent is even."""
    return lambda x: call(x[..., : x.shape[-1] // 2 * 2])


BLOCKS: Others = {
    "glu": Other(
        arrays(CORE),
        _even(nn.glu),
        lambda x: _halves(x)[0] * _sigmoid(_halves(x)[1]),
        _even(lambda x: F.glu(x)),
    ),
    "glu_backward": Other(TWO, lambda g, x: nn.glu_backward(_halves(g)[0], x[..., : x.shape[-1] // 2 * 2]), _glu_slope),
    "swiglu": Other(TWO, None, lambda gate, up: gate * _sigmoid(gate) * up, lambda gate, up: F.silu(gate) * up),
    "swiglu_backward": Other(
        THREE, lambda *x: nn.swiglu_backward(*x)[0], lambda g, gate, up: g * up * _silu_slope(gate)
    ),
    "geglu": Other(
        TWO,
        lambda gate, up: nn.geglu(gate, up, approximate="tanh"),
        lambda gate, up: gate * _tanh_gate(gate) * up,
        lambda gate, up: F.gelu(gate, approximate="tanh") * up,
    ),
    "geglu_backward": Other(
        THREE,
        lambda *x: nn.geglu_backward(*x, approximate="tanh")[0],
        lambda g, gate, up: g * up * _geglu_slope(gate),
    ),
    "dropout_add": Other(
        TWO,
        lambda x, r: nn.dropout_add(x, r, 0.5, rng=7)[0],
        lambda x, r: np.where(np.random.default_rng(0).random(x.shape, np.float32) < 0.5, 0, 2 * x) + r,
        lambda x, r: F.dropout(x, 0.5) + r,
        random=True,
    ),
    "weight_norm": Other(
        weights(1),
        lambda v, rows, _: nn.weight_norm(v, rows)[0],
        lambda v, rows, _: rows[:, None] * v / _length(v),
        lambda v, rows, _: v * (rows[:, None] / v.norm(dim=1, keepdim=True)),
    ),
    "weight_norm_backward": Other(
        weights(2), lambda g, v, rows, _: nn.weight_norm_backward(g, v, rows)[0], _weight_slope
    ),
    "spectral_norm": Other(weights(1), lambda *x: nn.spectral_norm(*x)[0], _spectral),
    "spectral_norm_backward": Other(
        weights(2),
        lambda g, w, u, v: nn.spectral_norm_backward(g, w, u, v, u[0]),
        lambda g, w, u, v: (g - np.sum(g * w) * np.outer(u, v)) / u[0],
    ),
    "linear_backward": Other(
        squares(3, {1_000: 32, 1_000_000: 500, 1 << 24: 2048}),
        lambda *x: nn.linear_backward(*x)[0],
        lambda g, x, w: (g @ w, g.T @ x, np.sum(g, axis=0))[0],
    ),
}
