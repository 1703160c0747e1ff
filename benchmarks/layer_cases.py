"""The cases of optimisers, gradients of a step and embeddings. Steps take dense arrays of one size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from .cases import Plan
from .domains import Interval
from .inputs import Pool
from .others import CORE, Other, arrays, with_rows

SQUARES = Interval(0.1, 1)


def _step(name: str, states: int, formula: Callable[..., Any], **options: Any) -> Callable[..., Other]:
    """A step in place, whose result is the parameter."""

    def ours(p: Any, g: Any, *given: Any) -> Any:
        getattr(stator.nn, name)([p], [g], *([x] for x in given), **options)
        return p

    return lambda be, p: Other(arrays(CORE, CORE, *[SQUARES] * states), ours, formula)


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


def _pooled(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    """A table, and for each of its rows a bag of one index of two."""
    x, index = with_rows(plan, pool, turn)
    return x, index[: len(index) // 2 * 2].reshape(-1, 2)


def _pooled_gradient(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    x, index = _pooled(plan, pool, turn)
    return np.ascontiguousarray(x[: len(index)]), x, index


def _added(grad: Any, index: Any, rows: int) -> Any:
    out = np.zeros((rows, grad.shape[1]), grad.dtype)
    np.add.at(out, index, grad)
    return out


def _length(*grads: Any) -> Any:
    return np.sqrt(sum(np.sum(np.square(g)) for g in grads))


LAYERS: dict[str, Callable[[stator.Backend, Plan], Other]] = {
    "sgd_step": _step("sgd_step", 1, _sgd, momentum=0.9),
    "rmsprop_step": _step("rmsprop_step", 1, _rmsprop),
    "adagrad_step": _step("adagrad_step", 1, _adagrad, step=1),
    "adam_step": _step("adam_step", 2, _adam, step=3),
    "lamb_step": _step("lamb_step", 2, _lamb, step=3),
    "lion_step": _step("lion_step", 1, _lion),
    "has_inf_nan_list": lambda be, p: Other(
        arrays(CORE, CORE),
        lambda *x: stator.nn.has_inf_nan(x),
        lambda *x: np.array(any(not np.all(np.isfinite(y)) for y in x)),
    ),
    "clip_grad_norm": lambda be, p: Other(arrays(CORE, CORE), lambda *x: stator.nn.clip_grad_norm(x, 1.0)[0], _length),
    "embedding": lambda be, p: Other(with_rows, stator.nn.embedding, lambda x, i: x[i], lambda x, i: x[i]),
    "embedding_backward": lambda be, p: Other(
        with_rows, lambda x, i: stator.nn.embedding_backward(x, i, len(x)), lambda x, i: _added(x, i, len(x))
    ),
    "embedding_bag": lambda be, p: Other(
        _pooled, lambda x, i: stator.nn.embedding_bag(x, i, mode="sum"), lambda x, i: np.sum(x[i], axis=1)
    ),
    "embedding_bag_backward": lambda be, p: Other(
        _pooled_gradient,
        lambda g, x, i: stator.nn.embedding_bag_backward(g, x, i, mode="sum"),
        lambda g, x, i: _added(np.repeat(g, 2, axis=0), i.ravel(), len(x)),
    ),
    "one_hot": lambda be, p: Other(
        _classes, lambda i: stator.nn.one_hot(i, 100), lambda i: (i[:, None] == np.arange(100)).astype(np.int64)
    ),
}


def _classes(plan: Plan, pool: Pool, turn: int) -> tuple[np.ndarray, ...]:
    return (pool.array((plan.size // 100,), plan.dtype, Interval(0, 99, whole=True), turn).clip(0, 99),)
