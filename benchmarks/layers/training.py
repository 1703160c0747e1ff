"""The cases of optimisers, gradients of a step, losses, attention and embeddings. Steps take dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import stator

from ..cases import Other, Others, Plan
from ..domains import Interval
from ..inputs import CORE, UNIT, Arrays, Pool, arrays, shaped, with_columns, with_rows
from ..table import oracles
from ..torch_peer import functional as F
from ..torch_peer import path

SQUARES = Interval(0.1, 1)


def _step(name: str, states: int, formula: Callable[..., Any], **options: Any) -> Other:
    """A step in place, whose result is the parameter."""

    def ours(p: Any, g: Any, *given: Any) -> Any:
        getattr(stator.nn, name)([p], [g], *([x] for x in given), **options)
        return p

    return Other(arrays(CORE, CORE, *[SQUARES] * states), ours, formula)


def _sgd(p: Any, g: Any, buffer: Any) -> Any:
    buffer *= 0.9
    buffer += g
    p -= 1e-3 * buffer
    return p


def _rmsprop(p: Any, g: Any, square: Any) -> Any:
    square *= 0.99
    square += 0.01 * g * g
    p -= 1e-2 * g / (np.sqrt(square) + 1e-8)
    return p


def _adagrad(p: Any, g: Any, total: Any) -> Any:
    total += g * g
    p -= 1e-2 * g / (np.sqrt(total) + 1e-10)
    return p


def _adam(p: Any, g: Any, m: Any, v: Any) -> Any:
    """Step 3 with the default rates."""
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    p -= 1e-3 / (1 - 0.9**3) * m / (np.sqrt(v) / (1 - 0.999**3) ** 0.5 + 1e-8)
    return p


def _lamb(p: Any, g: Any, m: Any, v: Any) -> Any:
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    update = m / (1 - 0.9**3) / (np.sqrt(v) / (1 - 0.999**3) ** 0.5 + 1e-6)
    p -= 1e-3 * (np.sqrt(np.sum(p * p)) / np.sqrt(np.sum(update * update))).astype(p.dtype) * update
    return p


def _lion(p: Any, g: Any, m: Any) -> Any:
    p -= 1e-4 * np.sign(0.9 * m + 0.1 * g)
    m *= 0.99
    m += 0.01 * g
    return p


def _pooled(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """A table, and for each of its rows a bag of one index of two."""
    x, index = with_rows(plan, pool, turn)
    return x, index[: len(index) // 2 * 2].reshape(-1, 2)


def _pooled_gradient(plan: Plan, pool: Pool, turn: int) -> Arrays:
    x, index = _pooled(plan, pool, turn)
    return np.ascontiguousarray(x[: len(index)]), x, index


def _loss(name: str, formula: Callable[..., Any], slope: Callable[..., Any], *ranges: Interval) -> dict[str, Any]:
    """The mean of a loss, and the gradient of its input, beside torch."""

    def backward(be: stator.Backend, p: Plan) -> Other:
        one = be.full((), 1, dtype=p.dtype)
        ours = getattr(stator.nn, f"{name}_backward")
        return Other(arrays(*ranges), lambda *x: ours(one, *x), lambda x, y: slope(x, y) / x.size)

    numpy, theirs = lambda x, y: np.mean(formula(x, y)), lambda *x: getattr(F, name)(*x)
    return {name: Other(arrays(*ranges), None, numpy, theirs), f"{name}_backward": backward}


def _bend(x: Any, y: Any) -> Any:
    d = np.abs(x - y)
    return np.where(d <= 1, d * d / 2, d - d.dtype.type(0.5))


def _logistic(x: Any, y: Any) -> Any:
    return np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))


def _nll_backward(x: Any, target: Any) -> Any:
    out = np.zeros_like(x)
    out[np.arange(len(x)), target] = -1 / len(x)
    return out


LOSSES: Others = {
    **_loss("mse_loss", lambda x, y: np.square(x - y), lambda x, y: 2 * (x - y), CORE, CORE),
    **_loss("l1_loss", lambda x, y: np.abs(x - y), lambda x, y: np.sign(x - y), CORE, CORE),
    **_loss("huber_loss", _bend, lambda x, y: np.clip(x - y, -1, 1), CORE, CORE),
    **_loss("smooth_l1_loss", _bend, lambda x, y: np.clip(x - y, -1, 1), CORE, CORE),
    **_loss("binary_cross_entropy_with_logits", _logistic, lambda x, y: 1 / (1 + np.exp(-x)) - y, CORE, UNIT),
    **_loss("kl_div", lambda x, y: y * (np.log(y) - x), lambda x, y: -y, Interval(-4, 0), Interval(0.1, 1)),
    "nll_loss": Other(
        with_columns, None, lambda x, t: -np.mean(x[np.arange(len(x)), t]), lambda x, t: F.nll_loss(x, t)
    ),
    "nll_loss_backward": lambda be, p: Other(
        with_columns, partial(stator.nn.nll_loss_backward, be.full((), 1, dtype=p.dtype)), _nll_backward
    ),
}

# Queries, keys and values: samples, heads, positions, features.
HEADS = {1_000: (1, 2, 8, 64), 1_000_000: (4, 8, 512, 64), 1 << 24: (16, 16, 1024, 64)}


def _attention(q: Any, k: Any, v: Any) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) / np.asarray(8, q.dtype)
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ v


def _sequences(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """Log-probabilities of 50 classes at 100 steps, with 20 labels for each sample, and the lengths."""
    samples = max(1, plan.size // 5000)
    x = pool.array((100, samples, 50), plan.dtype, CORE, turn)
    x = x - np.log(np.sum(np.exp(x), axis=-1, keepdims=True))
    labels = pool.array((samples, 20), "int64", Interval(1, 49, whole=True), turn + 50).clip(1, 49)
    return x, labels, np.full(samples, 100), np.full(samples, 20)


def _scores(x: Any, labels: Any, turn: int) -> tuple[Any, Any]:
    """The states of alignments, and their scores from the first step on, or with turn -1 from the last one back."""
    states = np.zeros((len(labels), 2 * labels.shape[1] + 1), labels.dtype)
    states[:, 1::2] = labels
    found = np.take_along_axis(x, np.broadcast_to(states, (len(x), *states.shape)), axis=2)[::turn, :, ::turn]
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = labels[:, ::turn][:, 1:] != labels[:, ::turn][:, :-1]
    found[0, :, 2:] = -np.inf
    for before, here in pairwise(found):
        total = before.copy()
        np.logaddexp(before[:, 1:], before[:, :-1], out=total[:, 1:])
        total[:, 2:] = np.where(skips[:, 2:], np.logaddexp(total[:, 2:], before[:, :-2]), total[:, 2:])
        here += total
    return states, found[::turn, :, ::turn]


def _ctc(x: Any, labels: Any, steps: Any, lengths: Any) -> Any:
    last = _scores(x, labels, 1)[1][-1]
    return np.mean(-np.logaddexp(last[:, -1], last[:, -2]) / labels.shape[1])


def _ctc_backward(x: Any, labels: Any, steps: Any, lengths: Any) -> Any:
    (states, ahead), (_, back) = _scores(x, labels, 1), _scores(x, labels, -1)
    total = np.logaddexp(ahead[-1, :, -1], ahead[-1, :, -2])
    at = np.take_along_axis(x, np.broadcast_to(states, ahead.shape), axis=2)
    out = np.exp(x)
    rows = np.arange(len(states))
    for s in range(states.shape[1]):
        out[:, rows, states[:, s]] -= np.exp((ahead + back - at)[:, :, s] - total)
    return out / labels.size


PAIR = arrays(CORE, CORE)
LAYERS: Others = {
    "sgd_step": _step("sgd_step", 1, _sgd, momentum=0.9),
    "rmsprop_step": _step("rmsprop_step", 1, _rmsprop),
    "adagrad_step": _step("adagrad_step", 1, _adagrad, step=1),
    "adam_step": _step("adam_step", 2, _adam, step=3),
    "lamb_step": _step("lamb_step", 2, _lamb, step=3),
    "lion_step": _step("lion_step", 1, _lion),
    **LOSSES,
    "attention": Other(
        shaped(lambda p: [HEADS[p.size]] * 3, Interval(-3, 3, normal=True)),
        None,
        _attention,
        lambda *x: F.scaled_dot_product_attention(*x),
        path=path("attention"),
    ),
    "ctc_loss": Other(_sequences, None, _ctc, lambda *x: F.ctc_loss(*x)),
    "ctc_loss_backward": lambda be, p: Other(
        _sequences, partial(stator.nn.ctc_loss_backward, be.full((), 1, dtype=p.dtype)), _ctc_backward
    ),
    "has_inf_nan_list": Other(PAIR, lambda *x: stator.nn.has_inf_nan(x), lambda *x: oracles.has_inf_nan_list(x)),
    "clip_grad_norm": Other(
        PAIR, lambda *x: stator.nn.clip_grad_norm(x, 1.0)[0], lambda *x: oracles.clip_grad_norm(x, 1.0)[0]
    ),
    "embedding": Other(with_rows, None, *[lambda x, i: x[i]] * 2),
    "embedding_backward": Other(
        with_rows,
        lambda x, i: stator.nn.embedding_backward(x, i, len(x)),
        lambda x, i: oracles.embedding_backward(x, i, len(x)),
    ),
    "embedding_bag": Other(
        _pooled, lambda x, i: stator.nn.embedding_bag(x, i, mode="sum"), lambda x, i: np.sum(x[i], axis=1)
    ),
    "embedding_bag_backward": Other(
        _pooled_gradient,
        lambda g, x, i: stator.nn.embedding_bag_backward(g, x, i, mode="sum"),
        lambda g, x, i: oracles.embedding_backward(np.repeat(g, 2, axis=0), i, len(x)),
    ),
    "one_hot": Other(
        shaped(lambda p: [(p.size // 100,)], Interval(0, 99, whole=True)),
        lambda i: stator.nn.one_hot(i, 100),
        lambda i: (i[:, None] == np.arange(100)).astype(np.int64),
    ),
}
