"""Losses and their gradients. Errors count in the last place of the largest result, since differences cancel."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Domain
from stator._catalogue.entry import AXIS, FILLED, Function, Given, entries, largest

TARGETS: dict[str, Domain] = {"binary_cross_entropy_with_logits": (0, 1), "kl_div": (0.1, 1)}
REDUCTIONS = ("mean", "sum", "none")


def one(given: Given) -> stator.Array:
    """The gradient of a reduced loss."""
    return given.dense(given.draw((), (0.5, 2)))


def elements(f: Function, given: Given) -> Any:
    """With each reduction."""
    name = given.cell.op.removesuffix("_backward")
    # Apart, so that no two operands are nearly equal, where a rounding decides the sign of their difference.
    x = given.array((-4, -1) if name == "kl_div" else (1.5, 4))
    y = given.array(TARGETS.get(name, (-2, 1)))
    if name == given.cell.op:
        return largest(*[f(x, y, reduction=how) for how in REDUCTIONS])
    grads = [one(given), one(given), given.array((0.5, 2))]
    return largest(*[f(g, x, y, reduction=how) for g, how in zip(grads, REDUCTIONS, strict=True)])


def classes(f: Function, given: Given) -> Any:
    """With weights and without; the input is negative, as logarithms of probabilities are."""
    x = given.array((-4, -0.5))
    target = given.on(given.rng.integers(0, given.columns, given.rows), "int64")
    weight = given.dense(given.draw((given.columns,), (0.5, 2)))
    options: list[dict[str, Any]] = [{}, {"weight": weight}, {"reduction": "sum", "ignore_index": 3}]
    grad = [one(given)] if given.cell.op.endswith("_backward") else []
    return largest(*[f(*grad, x, target, **o) for o in options])


def sequences(f: Function, given: Given) -> Any:
    """Three samples of the operand's columns as classes, which are logarithms of probabilities."""
    x = stator.reshape(given.array((-4, -0.5))[: given.rows // 3 * 3], (given.rows // 3, 3, given.columns))
    targets = given.on(given.rng.integers(1, given.columns, (3, 2)), "int64")
    steps, lengths = [given.rows // 3] * 3, [2, 1, 0]
    arrays = [given.dense(np.array(numbers), "int64") for numbers in (steps, lengths)]
    operands = {"mean": arrays, "sum": (steps, lengths), "none": (steps, lengths)}
    if given.cell.op == "ctc_loss":
        return largest(*[f(x, targets, *operands[how], reduction=how) for how in REDUCTIONS])
    # A gradient is exp of the difference of scores, whose sums over all steps round at their magnitude.
    bound = 64 + 4.0 * steps[0] ** 1.5
    found = [f(one(given), x, targets, *operands[how], reduction=how) for how in REDUCTIONS[:2]]
    return largest(found, bound=bound)


NAMES = ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits", "kl_div")
ENTRIES = {
    **entries(AXIS, {f"{name} {name}_backward": elements for name in NAMES}),
    **entries(FILLED, {"nll_loss nll_loss_backward": classes, "ctc_loss ctc_loss_backward": sequences}),
}
