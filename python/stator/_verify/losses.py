"""Calls of losses. Errors count in the last place of the largest result, since differences cancel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import stator
from stator._verify.compare import Answer
from stator._verify.domains import Domain
from stator._verify.given import Given
from stator._verify.operations import AXIS, FILLED, Operation, register

Function = Callable[..., Any]
TARGETS: dict[str, Domain] = {"binary_cross_entropy_with_logits": (0, 1), "kl_div": (0.1, 1)}
REDUCTIONS = ("mean", "sum", "none")


def one(given: Given) -> stator.Array:
    """The gradient of a reduced loss."""
    return given.dense(given.draw((), (0.5, 2)))


def elements(name: str, backward: bool, f: Function, given: Given) -> Any:
    """With each reduction; the sums of terms of both signs are measured by the largest result."""
    # Apart, so that no two operands are nearly equal, where a rounding decides the sign of their difference.
    x = given.array((-4, -1) if name == "kl_div" else (1.5, 4))
    y = given.array(TARGETS.get(name, (-2, 1)))
    if not backward:
        return [Answer(f(x, y, reduction=how), "largest") for how in REDUCTIONS]
    grads = [one(given), one(given), given.array((0.5, 2))]
    return [Answer(f(g, x, y, reduction=how), "largest") for g, how in zip(grads, REDUCTIONS, strict=True)]


def classes(backward: bool, f: Function, given: Given) -> Any:
    """With weights and without; the input is negative, as logarithms of probabilities are."""
    x = given.array((-4, -0.5))
    target = given.on(given.rng.integers(0, given.columns, given.rows), "int64")
    weight = given.dense(given.draw((given.columns,), (0.5, 2)))
    options: list[dict[str, Any]] = [{}, {"weight": weight}, {"reduction": "sum", "ignore_index": 3}]
    grad = [one(given)] if backward else []
    return [Answer(f(*grad, x, target, **o), "largest") for o in options]


def sequences(backward: bool, f: Function, given: Given) -> Any:
    """Three samples of the operand's columns as classes, which are logarithms of probabilities."""
    x = stator.reshape(given.array((-4, -0.5))[: given.rows // 3 * 3], (given.rows // 3, 3, given.columns))
    targets = given.on(given.rng.integers(1, given.columns, (3, 2)), "int64")
    steps, lengths = [given.rows // 3] * 3, [2, 1, 0]
    if not backward:
        return [Answer(f(x, targets, steps, lengths, reduction=how), "largest") for how in REDUCTIONS]
    # A gradient is exp of the difference of scores, whose sums over all steps round at their magnitude.
    bound = 64 + 4.0 * steps[0] ** 1.5
    return [
        Answer(f(one(given), x, targets, steps, lengths, reduction=how), "largest", bound) for how in REDUCTIONS[:2]
    ]


def add(into: dict[str, Operation]) -> None:
    names = ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits", "kl_div")
    for name in names:
        calls: dict[str, Function] = {
            f"{name}{form}": partial(elements, name, bool(form)) for form in ("", "_backward")
        }
        register(into, AXIS, calls)
    found: dict[str, Function] = {"nll_loss": partial(classes, False), "nll_loss_backward": partial(classes, True)}
    found |= {"ctc_loss": partial(sequences, False), "ctc_loss_backward": partial(sequences, True)}
    register(into, FILLED, found)
