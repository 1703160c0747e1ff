"""The cases of gated units, dropout with a residual, normalised weights and the gradient of linear layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from ..cases import Plan
from ..domains import Interval
from ..inputs import SHAPES, Pool

Arrays = tuple[np.ndarray, ...]
Draw = Callable[[Plan, Pool, int], Arrays]
nn = stator.nn
SIDE = {1_000: 32, 1_000_000: 500, 1 << 24: 2048}


def matrices(count: int) -> Draw:
    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        shape = SHAPES[plan.size][:: -1 if plan.layout == "transposed" else 1]
        every = range(count * turn, count * (turn + 1))
        return tuple(pool.array(shape, plan.dtype, Interval(-4, 4), k, plan.layout) for k in every)

    return draw


def weights(count: int) -> Draw:
    """Matrices, and a number for each row and for each column."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        drawn = matrices(count)(plan, pool, turn)
        return *drawn, *(pool.array((n,), plan.dtype, Interval(0.5, 2), turn) for n in drawn[0].shape)

    return draw


def products(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = SIDE[plan.size]
    return tuple(pool.array((n, n), plan.dtype, Interval(-1, 1), 3 * turn + k, plan.layout) for k in range(3))


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
    a, b = _halves(x)
    return np.concatenate([g * _sigmoid(b), g * a * _sigmoid(b) * (1 - _sigmoid(b))], axis=-1)


def _length(v: Any) -> Any:
    return np.sqrt(np.sum(v * v, axis=1, keepdims=True))


def _weight_slope(g: Any, v: Any, rows: Any) -> Any:
    unit = v / _length(v)
    return rows[:, None] / _length(v) * (g - unit * np.sum(g * unit, axis=1, keepdims=True))


def _spectral(w: Any, u: Any, v: Any) -> Any:
    u = w @ v / np.linalg.norm(w @ v)
    v = w.T @ u / np.linalg.norm(w.T @ u)
    return w / (u @ w @ v)


def _even(call: Callable[..., Any]) -> Callable[..., Any]:
    """Of arrays whose last extent is even."""

    def of(*given: Any) -> Any:
        return call(*(x[..., : x.shape[-1] // 2 * 2] for x in given))

    return of


def _torch(name: str) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        import torch

        return getattr(_Torch, name)(torch.nn.functional, *operands)

    return call


class _Torch:
    """Calls of torch, which is imported where it is installed."""

    @staticmethod
    def swiglu(F: Any, gate: Any, up: Any) -> Any:
        return F.silu(gate) * up

    @staticmethod
    def geglu(F: Any, gate: Any, up: Any) -> Any:
        return F.gelu(gate, approximate="tanh") * up

    @staticmethod
    def glu(F: Any, x: Any) -> Any:
        return F.glu(x)

    @staticmethod
    def dropout_add(F: Any, x: Any, residual: Any) -> Any:
        return F.dropout(x, 0.5) + residual

    @staticmethod
    def weight_norm(F: Any, v: Any, rows: Any, columns: Any) -> Any:
        return v * (rows[:, None] / v.norm(dim=1, keepdim=True))


CASES: dict[str, tuple[Any, ...]] = {
    "glu": (
        matrices(1),
        _even(nn.glu),
        _even(lambda x: _halves(x)[0] * _sigmoid(_halves(x)[1])),
        _even(_torch("glu")),
    ),
    "glu_backward": (
        matrices(2),
        lambda g, x: nn.glu_backward(_halves(g)[0], x[..., : x.shape[-1] // 2 * 2]),
        lambda g, x: _glu_slope(_halves(g)[0], x),
        None,
    ),
    "swiglu": (matrices(2), nn.swiglu, lambda gate, up: gate * _sigmoid(gate) * up, _torch("swiglu")),
    "swiglu_backward": (
        matrices(3),
        lambda g, gate, up: nn.swiglu_backward(g, gate, up)[0],
        lambda g, gate, up: g * up * _silu_slope(gate),
        None,
    ),
    "geglu": (
        matrices(2),
        lambda gate, up: nn.geglu(gate, up, approximate="tanh"),
        lambda gate, up: gate * _tanh_gate(gate) * up,
        _torch("geglu"),
    ),
    "geglu_backward": (
        matrices(3),
        lambda g, gate, up: nn.geglu_backward(g, gate, up, approximate="tanh")[0],
        lambda g, gate, up: g * up * _geglu_slope(gate),
        None,
    ),
    "dropout_add": (
        matrices(2),
        lambda x, r: nn.dropout_add(x, r, 0.5, rng=7)[0],
        lambda x, r: np.where(np.random.default_rng(0).random(x.shape, np.float32) < 0.5, 0, 2 * x) + r,
        _torch("dropout_add"),
        True,
    ),
    "weight_norm": (
        weights(1),
        lambda v, rows, columns: nn.weight_norm(v, rows)[0],
        lambda v, rows, columns: rows[:, None] * v / _length(v),
        _torch("weight_norm"),
    ),
    "weight_norm_backward": (
        weights(2),
        lambda g, v, rows, columns: nn.weight_norm_backward(g, v, rows)[0],
        lambda g, v, rows, columns: _weight_slope(g, v, rows),
        None,
    ),
    "spectral_norm": (
        weights(1),
        lambda w, u, v: nn.spectral_norm(w, u, v)[0],
        _spectral,
        None,
    ),
    "spectral_norm_backward": (
        weights(2),
        lambda g, w, u, v: nn.spectral_norm_backward(g, w, u, v, u[0]),
        lambda g, w, u, v: (g - np.sum(g * w) * np.outer(u, v)) / u[0],
        None,
    ),
    "linear_backward": (
        products,
        lambda g, x, w: nn.linear_backward(g, x, w)[0],
        lambda g, x, w: (g @ w, g.T @ x, np.sum(g, axis=0))[0],
        None,
    ),
}
