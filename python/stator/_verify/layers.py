"""Calls of optimisers, embeddings and attention."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import stator
from stator._verify.compare import Answer
from stator._verify.given import Given
from stator._verify.operations import AXIS, FILLED, Operation, register

# For each step: how many states it has, and its options.
STEPS: dict[str, tuple[int, dict[str, Any]]] = {
    "sgd_step": (1, {"momentum": 0.9, "nesterov": True}),
    "rmsprop_step": (2, {"momentum": 0.9}),
    "adagrad_step": (1, {"step": 3, "lr_decay": 0.1}),
    "adam_step": (2, {"step": 3, "decoupled": True}),
    "lamb_step": (2, {"step": 3}),
    "lion_step": (1, {}),
}


def step(name: str, f: Callable[..., Any], given: Given) -> Any:
    """Two parameters, in place; states may be squares."""
    count, options = STEPS[name]
    shapes = [given.shape, (5,)]
    domains = ((-4, 4), (-4, 4), *[(0.5, 2)] * count)
    lists = [[given.dense(given.draw(s, domain)) for s in shapes] for domain in domains]
    f(*lists, lr=0.01, weight_decay=0.1, **options)
    changed = [x for group in (lists[0], *lists[2:]) for x in group]
    # Lengths of tensors err in the last place of a sum, and steps cancel parameters.
    return [Answer(x, "largest") for x in changed] if name == "lamb_step" else changed


def has_inf_nan(f: Callable[..., Any], given: Given) -> Any:
    good = [given.array((-4, 4)), given.dense(given.draw((5,), (-4, 4)))]
    return [f(good), f([*good, stator.astype(given.on(np.full((3,), np.inf, np.float32)), given.dtype)])]


def clip_grad_norm(f: Callable[..., Any], given: Given) -> Any:
    return list(f([given.array((-4, 4)), given.dense(given.draw((5,), (-4, 4)))], 1.0))


def indices(given: Given, size: int | tuple[int, ...], rows: int) -> Any:
    return given.on(given.rng.integers(0, rows, size), "int64")


def embedding(f: Callable[..., Any], given: Given) -> Any:
    return f(given.array((-4, 4)), indices(given, 9, given.rows))


def embedding_backward(f: Callable[..., Any], given: Given) -> Any:
    """Positive terms, so that no sum cancels."""
    at = indices(given, given.rows, 5)
    return [f(given.array((0.5, 2)), at, 6), f(given.array((0.5, 2)), at, 6, scale_grad_by_freq=True)]


def embedding_bag(f: Callable[..., Any], given: Given) -> Any:
    x, at = given.array((0.5, 2)), indices(given, (3, 4), given.rows)
    return [f(x, at, mode=mode) for mode in ("sum", "mean", "max")]


def embedding_bag_backward(f: Callable[..., Any], given: Given) -> Any:
    x, at = given.array((0.5, 2)), indices(given, (3, 4), given.rows)
    grad = given.dense(given.draw((3, given.columns), (0.5, 2)))
    return [Answer(f(grad, x, at, mode=mode), "largest") for mode in ("sum", "mean", "max")]


def one_hot(f: Callable[..., Any], given: Given) -> Any:
    kind = given.cell.dtype
    return f(given.on((np.arange(12).reshape(3, 4) % 5).astype(kind), kind), 5)


def attention(f: Callable[..., Any], given: Given) -> Any:
    """Of one head, whose values are some of its features; results may cancel."""
    x = given.array((-1, 1))[:200]
    q, v = x[:, :60], x[:, 7:60]
    mask = given.on(given.rng.random((x.shape[0], x.shape[0])) < 0.7, "bool")
    return [Answer(f(q, q, v, **o), "largest") for o in ({}, {"causal": True}, {"mask": mask})]


def gated(f: Callable[..., Any], given: Given) -> Any:
    """Of the halves of one array, and of two; gradients have roots."""
    x, name = given.array(), given.cell.op.removesuffix("_backward")
    even = x[:, : given.columns // 2 * 2]
    backward = name != given.cell.op
    grad = (given.array(),) if backward else ()
    found = [f(*[g[:, : given.columns // 2] for g in grad], even)]
    if name != "glu":
        of_two = f(*grad, x, given.array())
        found += of_two if backward else [of_two]
    return [Answer(one, "largest") for one in found]


def add(into: dict[str, Operation]) -> None:
    register(into, AXIS, {f"{name}{form}": gated for name in ("glu", "swiglu", "geglu") for form in ("", "_backward")})
    register(into, ("contiguous", "empty", "large"), {name: partial(step, name) for name in STEPS})
    register(
        into,
        FILLED,
        {
            "attention": attention,
            "has_inf_nan_list": has_inf_nan,
            "clip_grad_norm": clip_grad_norm,
            "embedding": embedding,
            "embedding_backward": embedding_backward,
            "embedding_bag": embedding_bag,
            "embedding_bag_backward": embedding_bag_backward,
            "one_hot": one_hot,
        },
    )
