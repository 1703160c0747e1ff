"""The cases of recurrent layers: whole layers of one direction, a training step of them, and single steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from layer_loops.recurrence import step

import stator

from ..cases import Other, Others, Plan
from ..domains import Interval
from ..inputs import Arrays, Draw, Pool, Shape, shaped
from ..table import first
from ..torch_peer import torch

nn = stator.nn
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
# Steps, batch, inputs and hidden units.
LAYERS = {1_000: (32, 8, 64, 64), 1_000_000: (64, 32, 128, 256), 1 << 24: (64, 64, 512, 512)}
STEPS = {1_000: (8, 64), 1_000_000: (512, 512), 1 << 24: (4096, 1024)}  # batch and hidden units


def layer(kind: str, plan: Plan, pool: Pool, turn: int) -> Arrays:
    """The sequences, and the weights and biases, which keep gates apart from where they saturate."""
    steps, batch, inputs, hidden = LAYERS[plan.size]
    g, near = GATES[kind] * hidden, Interval(-1 / hidden**0.5, 1 / hidden**0.5)
    shapes = (steps, batch, inputs), (g, inputs), (g, hidden), (g,), (g,)
    return shaped(lambda _: shapes, Interval(-2, 2), *[near] * 4)(plan, pool, turn)


def of_step(shapes: Callable[[int, int], list[Shape]]) -> Draw:
    """shapes: for a batch and a number of hidden units."""
    return shaped(lambda plan: shapes(*STEPS[plan.size]), Interval(0.1, 0.9))


def _next(kind: str, a: Any, b: Any, h: Any = None, c: Any = None) -> tuple[Any, Any, Any]:
    return step("tanh" if kind == "rnn" else kind, a, b, h, c)


def _back(kind: str, kept: Any, grad: Any, of_c: Any, h: Any, c: Any) -> tuple[Any, Any, Any, Any]:
    """Gradients of both kinds of gates, of c, and of h but for what goes through the gates, from what was before."""
    if kind == "rnn":
        slope = grad * (1 - kept * kept)
        return slope, slope, of_c, 0 * grad
    if kind == "lstm":
        i, f, g, o = np.split(kept, 4, -1)
        y = np.tanh(f * c + i * g)
        of_c = of_c + grad * o * (1 - y * y)
        slopes = of_c * g * i * (1 - i), of_c * c * f * (1 - f), of_c * i * (1 - g * g), grad * y * o * (1 - o)
        both = np.concatenate(slopes, -1)
        return both, both, of_c * f, 0 * grad
    r, z, n, h, hn = np.split(kept, 5, -1)
    fresh = grad * (1 - z) * (1 - n * n)
    gates = fresh * hn * r * (1 - r), grad * (h - n) * z * (1 - z)
    return np.concatenate([*gates, fresh], -1), np.concatenate([*gates, fresh * r], -1), of_c, grad * z


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
    zeros = x.new_zeros(1, x.shape[1], weights[1].shape[1])
    run = {"rnn": torch.rnn_tanh, "lstm": torch.lstm, "gru": torch.gru}[kind]
    return run(x, (zeros, zeros) if kind == "lstm" else zeros, weights, True, 1, 0.0, x.requires_grad, False, False)[0]


def _torch_train(kind: str, *operands: Any) -> Any:
    leaves = [a.detach().requires_grad_() for a in operands]
    with torch.enable_grad():
        y = _torch_layer(kind, *leaves)
        return torch.autograd.grad(y, leaves, y.detach())[0]


def _torch_cell(kind: str, x: Any, h: Any, w: Any, u: Any) -> Any:
    if kind == "lstm":
        return torch.lstm_cell(x, (h, h), w, u)[0]
    return (torch.gru_cell if kind == "gru" else torch.rnn_tanh_cell)(x, h, w, u)


def _our_cell(kind: str, x: Any, h: Any, w: Any, u: Any) -> Any:
    return first(getattr(nn, f"{kind}_cell")(x, (h, h) if kind == "lstm" else h, w, u))


def _cases(kind: str) -> Others:
    n, states = GATES[kind], kind != "rnn"
    weights = partial(layer, kind)
    return {
        f"{kind}_pointwise": Other(
            of_step(lambda b, h: [(b, n * h)] * 2 + [(b, h)] * states),
            lambda *x: first(getattr(nn, f"{kind}_pointwise")(*x)),
            lambda a, b, *state: _next(kind, a, b, *state * 2)[0],
        ),
        f"{kind}_cell": Other(
            of_step(lambda b, h: [(b, h)] * 2 + [(n * h, h)] * 2),
            partial(_our_cell, kind),
            lambda x, h, w, u: _next(kind, x @ w.T, h @ u.T, h, h)[0],
            partial(_torch_cell, kind),
        ),
        kind: Other(
            weights,
            lambda x, *w: getattr(nn, kind)(x, None, w)[0],
            lambda *x: _run(kind, *x)[0],
            partial(_torch_layer, kind),
        ),
        f"{kind}_backward": Other(
            weights, partial(_train, kind), partial(_gradient, kind), partial(_torch_train, kind)
        ),
    }


RECURRENT: Others = {
    "gru_pointwise_backward": Other(
        of_step(lambda b, h: [(b, h), (b, 5 * h)]),
        lambda *x: nn.gru_pointwise_backward(*x)[0],
        lambda g, kept: _back("gru", kept, g, 0, None, None)[0],
    ),
    "lstm_pointwise_backward": Other(
        of_step(lambda b, h: [(b, h)] * 3 + [(b, 4 * h)]),
        lambda *x: nn.lstm_pointwise_backward(*x)[0],
        lambda g, of_c, c, kept: _back("lstm", kept, g, of_c, None, c)[0],
    ),
    "rnn_pointwise_backward": Other(of_step(lambda b, h: [(b, h)] * 2), None, lambda g, h: g * (1 - h * h)),
    **_cases("rnn"),
    **_cases("lstm"),
    **_cases("gru"),
}
