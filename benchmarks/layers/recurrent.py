"""The cases of recurrent layers: whole layers of one direction, a training step of them, and single steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import stator

from ..cases import Plan
from ..domains import Interval
from ..inputs import Pool

Arrays = tuple[np.ndarray, ...]
nn = stator.nn
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
# Steps, batch, inputs and hidden units.
LAYERS = {1_000: (32, 8, 64, 64), 1_000_000: (64, 32, 128, 256), 1 << 24: (64, 64, 512, 512)}
STEPS = {1_000: (8, 64), 1_000_000: (512, 512), 1 << 24: (4096, 1024)}  # batch and hidden units


def layer(kind: str, plan: Plan, pool: Pool, turn: int) -> Arrays:
    """The sequences, and the weights and biases, which keep gates apart from where they saturate."""
    steps, batch, inputs, hidden = LAYERS[plan.size]
    g, near = GATES[kind] * hidden, Interval(-1 / hidden**0.5, 1 / hidden**0.5)
    shapes = ((g, inputs), (g, hidden), (g,), (g,))
    x = pool.array((steps, batch, inputs), plan.dtype, Interval(-2, 2), 5 * turn)
    return x, *(pool.array(s, plan.dtype, near, 5 * turn + k) for k, s in enumerate(shapes, 1))


def step(shapes: Callable[[int, int], tuple[tuple[int, int], ...]]) -> Callable[[Plan, Pool, int], Arrays]:
    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        found = shapes(*STEPS[plan.size])
        return tuple(pool.array(s, plan.dtype, Interval(0.1, 0.9), turn * len(found) + k) for k, s in enumerate(found))

    return draw


def operands(kind: str) -> Callable[[int, int], tuple[tuple[int, int], ...]]:
    return lambda b, h: ((b, GATES[kind] * h), (b, GATES[kind] * h), *[(b, h)] * (kind != "rnn"))


def cells(kind: str) -> Callable[[int, int], tuple[tuple[int, int], ...]]:
    return lambda b, h: ((b, h), (b, h), (GATES[kind] * h, h), (GATES[kind] * h, h))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _next(kind: str, a: Any, b: Any, h: Any, c: Any = None) -> tuple[Any, Any, Any]:
    """The states after a step, and its gates."""
    if kind == "rnn":
        h = np.tanh(a + b)
        return h, c, (h,)
    if kind == "lstm":
        i, f, g, o = np.split(a + b, 4, -1)
        i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
        c = f * c + i * g
        return o * np.tanh(c), c, (i, f, g, o, c)
    (r, z, n), (hr, hz, hn) = np.split(a, 3, -1), np.split(b, 3, -1)
    r, z = _sigmoid(r + hr), _sigmoid(z + hz)
    n = np.tanh(n + r * hn)
    return n + z * (h - n), c, (r, z, n, hn)


def _back(kind: str, gates: Any, grad: Any, of_c: Any, h: Any, c: Any) -> tuple[Any, Any, Any, Any]:
    """Gradients of both kinds of gates, of c, and of h but for what goes through the gates, from what was before."""
    if kind == "rnn":
        slope = grad * (1 - gates[0] ** 2)
        return slope, slope, of_c, 0 * grad
    if kind == "lstm":
        i, f, g, o, after = gates
        y = np.tanh(after)
        of_c = of_c + grad * o * (1 - y * y)
        slopes = of_c * g * i * (1 - i), of_c * c * f * (1 - f), of_c * i * (1 - g * g), grad * y * o * (1 - o)
        both = np.concatenate(slopes, -1)
        return both, both, of_c * f, 0 * grad
    r, z, n, hn = gates
    fresh = grad * (1 - z) * (1 - n * n)
    first = fresh * hn * r * (1 - r), grad * (h - n) * z * (1 - z)
    return np.concatenate([*first, fresh], -1), np.concatenate([*first, fresh * r], -1), of_c, grad * z


def _run(kind: str, x: Any, w: Any, u: Any, b: Any, d: Any) -> tuple[Any, list[Any]]:
    h = c = np.zeros((x.shape[1], u.shape[1]), x.dtype)
    results, kept = [], []
    for a in x @ w.T + b:
        before = h, c
        h, c, gates = _next(kind, a, h @ u.T + d, h, c)
        results.append(h)
        kept.append((gates, *before))
    return np.stack(results), kept


def _gradient(kind: str, x: Any, w: Any, u: Any, b: Any, d: Any) -> Any:
    """That of the input, where the gradient of the result is the result."""
    y, kept = _run(kind, x, w, u, b, d)
    of_h = of_c = np.zeros_like(y[0])
    found = []
    for grad, (gates, h, c) in zip(y[::-1], kept[::-1], strict=True):
        of_input, of_state, of_c, rest = _back(kind, gates, grad + of_h, of_c, h, c)
        of_h = of_state @ u + rest
        found.append(of_input @ w)
    return np.stack(found[::-1])


def _train(kind: str, x: Any, *weights: Any) -> Any:
    y, _, workspace = getattr(nn, kind)(x, None, weights, return_workspace=True)
    return getattr(nn, f"{kind}_backward")(y, None, x, weights, workspace)[0]


def _torch_layer(kind: str, x: Any, *weights: Any) -> Any:
    import torch

    zeros = x.new_zeros(1, x.shape[1], weights[1].shape[1])
    run = {"rnn": torch.rnn_tanh, "lstm": torch.lstm, "gru": torch.gru}[kind]
    return run(x, (zeros, zeros) if kind == "lstm" else zeros, weights, True, 1, 0.0, x.requires_grad, False, False)[0]


def _torch_train(kind: str, *operands: Any) -> Any:
    import torch

    leaves = [a.detach().requires_grad_() for a in operands]
    with torch.enable_grad():
        y = _torch_layer(kind, *leaves)
        return torch.autograd.grad(y, leaves, y.detach())[0]


def _torch_cell(kind: str, x: Any, h: Any, w: Any, u: Any) -> Any:
    import torch

    if kind == "lstm":
        return torch.lstm_cell(x, (h, h), w, u)[0]
    return (torch.gru_cell if kind == "gru" else torch.rnn_tanh_cell)(x, h, w, u)


def _first(call: Callable[..., Any]) -> Callable[..., Any]:
    def first(*given: Any) -> Any:
        found = call(*given)
        return found[0] if isinstance(found, tuple) else found

    return first


def _pointwise(kind: str, a: Any, b: Any, *state: Any) -> Any:
    return _next(kind, a, b, *(state or (None,)), *state)[0]


def _cell(kind: str, x: Any, h: Any, w: Any, u: Any) -> Any:
    return _next(kind, x @ w.T, h @ u.T, h, h)[0]


def _our_cell(kind: str, x: Any, h: Any, w: Any, u: Any) -> Any:
    return _first(getattr(nn, f"{kind}_cell"))(x, (h, h) if kind == "lstm" else h, w, u)


CASES: dict[str, tuple[Any, ...]] = {
    "gru_pointwise_backward": (
        step(lambda b, h: ((b, h), (b, 5 * h))),
        _first(nn.gru_pointwise_backward),
        lambda g, s: _gru_slopes(g, s),
    ),
    "lstm_pointwise_backward": (
        step(lambda b, h: ((b, h), (b, h), (b, h), (b, 4 * h))),
        _first(nn.lstm_pointwise_backward),
        lambda g, k, c, s: _lstm_slopes(g, k, c, s),
    ),
    "rnn_pointwise_backward": (
        step(lambda b, h: ((b, h), (b, h))),
        nn.rnn_pointwise_backward,
        lambda g, h: g * (1 - h * h),
    ),
}


def _gru_slopes(g: Any, s: Any) -> Any:
    r, z, n, h, hn = np.split(s, 5, -1)
    return _back("gru", (r, z, n, hn), g, 0, h, None)[0]


def _lstm_slopes(g: Any, k: Any, c: Any, s: Any) -> Any:
    i, f, n, o = np.split(s, 4, -1)
    return _back("lstm", (i, f, n, o, f * c + i * n), g, k, None, c)[0]


for _kind in GATES:
    CASES[f"{_kind}_pointwise"] = (
        step(operands(_kind)),
        _first(getattr(nn, f"{_kind}_pointwise")),
        partial(_pointwise, _kind),
    )
    CASES[f"{_kind}_cell"] = (
        step(cells(_kind)),
        partial(_our_cell, _kind),
        partial(_cell, _kind),
        partial(_torch_cell, _kind),
    )
    CASES[_kind] = (
        partial(layer, _kind),
        lambda x, *w, kind=_kind: getattr(nn, kind)(x, None, w)[0],
        lambda *given, kind=_kind: _run(kind, *given)[0],
        partial(_torch_layer, _kind),
    )
    CASES[f"{_kind}_backward"] = (
        partial(layer, _kind),
        partial(_train, _kind),
        partial(_gradient, _kind),
        partial(_torch_train, _kind),
    )
