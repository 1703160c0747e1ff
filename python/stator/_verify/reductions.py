"""Calls of reductions, scans and the softmax family."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import stator
from stator._verify.compare import Answer
from stator._verify.domains import Domain, Values, larger
from stator._verify.given import Given
from stator._verify.operations import AXIS, EVERY, FILLED, Operation, function, register, table

# Reductions of no element that have a value.
IDENTITY = (
    "sum",
    "nansum",
    "count_nonzero",
    "any",
    "all",
    "has_inf_nan",
    "vector_norm",
    "mean",
    "nanmean",
    "var",
    "std",
    "prod",
    "logsumexp",
)
# Where terms of both signs would cancel, and the error would be without bound.
POSITIVE: dict[str, Domain] = dict.fromkeys(
    ("sum", "nansum", "mean", "nanmean", "logsumexp", "cumulative_sum"), (0.5, 2)
)
# Whose float64 results have errors that grow with the root of the number of factors or terms.
GROWING = ("prod", "var", "std", "vector_norm", "cumulative_prod")


def factors(given: Given, shape: tuple[int, ...]) -> stator.Array:
    """Numbers whose product stays in range: near the unit circle; odd integers."""
    if not given.floating:
        x = given.draw(shape)
        return given.on(x | 1 if given.whole else x)
    size = np.exp(given.rng.uniform(-0.05, 0.05, shape))
    turn = np.exp(1j * given.rng.uniform(0, 6, shape)) if given.complex else 1
    return given.on(_rounded(size * turn, given))


def _rounded(x: Values, given: Given) -> Values:
    from stator._verify.given import rounded

    return rounded(np.asarray(x), given.cell.dtype)


def reduction(entry: dict[str, Any], given: Given) -> Any:
    """An op over all axes and over each axis, as far as it has a value there."""
    name = entry["name"]
    if name == "prod":
        x = factors(given, given.shape)
    else:
        exact = not given.floating and name in ("sum", "nansum")
        x = given.array((-4, 4) if exact else POSITIVE.get(name, (-4, 4)), special=False)
    axes = (None, *given.axes)
    if given.empty and name not in IDENTITY:
        axes = (1,)  # of rows that are not there
    results = {}
    for axis in axes:
        result = function(entry)(x, axis=axis)
        count = x.size // max(result.size, 1)
        growth = max(entry["tolerance"]["float64"], 2 * count**0.5) if name in GROWING else None
        results[axis] = Answer(result, bound=growth) if given.cell.dtype in ("float64", "complex128") else result
    return results


def scan(f: Callable[..., Any], given: Given) -> Any:
    """Along each axis, forwards and backwards."""
    name = given.cell.op
    x = (
        factors(given, given.shape)
        if name == "cumulative_prod"
        else given.array((0.5, 2) if name in ("cumulative_sum", "logcumsumexp") and given.floating else (-4, 4))
    )
    double = given.cell.dtype in ("float64", "complex128")
    growth = 2 * max(x.shape) ** 0.5 if name in GROWING and double else None
    found = {}
    for axis in given.axes:
        for reverse in (False, True):
            result = f(x, axis=axis, reverse=reverse)
            found[axis, reverse] = Answer(result, bound=max(growth, 8)) if growth else result
    return found


def prod_backward(f: Callable[..., Any], given: Given) -> Any:
    x = factors(given, given.shape)
    return f(given.array((0.5, 2), given.shape[:1]), x, 1)


def softmax(f: Callable[..., Any], given: Given) -> Any:
    """Along both axes; near 0 the logarithm has the error of the sum's, a last place of 1."""
    x = given.array((-2, 2))
    scale = np.ones(x.shape) if given.cell.op == "log_softmax" else None
    return [Answer(f(x, axis=axis), scale) for axis in given.axes]


def softmax_backward(f: Callable[..., Any], given: Given) -> Any:
    """Errors count in the last place of the terms that the gradient subtracts."""
    logarithm = given.cell.op == "log_softmax_backward"
    found = []
    for axis in given.axes:
        grad, x = given.draw(given.shape), given.draw(given.shape, (-2, 2)).astype(np.float64)
        shifted = x - np.max(x, axis=axis, keepdims=True, initial=-4)
        p = np.exp(shifted) / np.maximum(np.sum(np.exp(shifted), axis=axis, keepdims=True), 1e-30)
        y = _rounded(np.log(p) if logarithm else p, given)
        g = np.abs(grad.astype(np.float64))
        if logarithm:
            scale = larger(g, p * np.sum(g, axis=axis, keepdims=True))
        else:
            scale = p * larger(g, np.sum(g * p, axis=axis, keepdims=True))
        found.append(Answer(f(given.on(grad), given.on(y), axis=axis), scale))
    return found


def cross_entropy(f: Callable[..., Any], given: Given) -> Any:
    """With and without weights; the loss and its gradient have errors in the last place of the largest."""
    logits, target, weight = _classes(given)
    options: list[dict[str, Any]] = [{}, {"weight": weight, "label_smoothing": 0.1}, {"reduction": "none"}]
    return [Answer(f(logits, target, **o), "largest") for o in options]


def cross_entropy_backward(f: Callable[..., Any], given: Given) -> Any:
    logits, target, weight = _classes(given)
    one = given.on(np.ones((), np.float32) if given.cell.dtype != "float64" else np.ones(()))
    one = stator.astype(one, given.dtype)
    options: list[dict[str, Any]] = [{}, {"weight": weight, "label_smoothing": 0.1}, {"reduction": "sum"}]
    return [Answer(f(one, logits, target, **o), "largest") for o in options]


def _classes(given: Given) -> tuple[stator.Array, stator.Array, stator.Array]:
    logits = given.array((-2, 2))
    target = given.on(given.rng.integers(0, given.columns, given.rows), "int64")
    return logits, target, given.dense(given.draw((given.columns,), (0.5, 2)))


def add(into: dict[str, Operation]) -> None:
    for name, entry in table().items():
        if entry["shape_class"] == "reduce":
            into[name] = Operation(partial(reduction, entry), EVERY if name not in GROWING else AXIS)
    register(
        into,
        AXIS,
        {
            "cumulative_sum cumulative_prod cumulative_max cumulative_min logcumsumexp": scan,
            "diff": lambda f, g: [f(g.array(), axis=1), f(g.array(), axis=1, n=2)],
            "sum_backward mean_backward": lambda f, g: f(g.array(shape=g.shape[:1]), g.shape, 1),
            "prod_backward": prod_backward,
            "softmax log_softmax softmin": softmax,
            "softmax_backward log_softmax_backward softmin_backward gumbel_softmax_backward": softmax_backward,
        },
    )
    register(into, FILLED, {"cross_entropy": cross_entropy, "cross_entropy_backward": cross_entropy_backward})
