"""Steps of optimisers, and the length of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.entry import DENSE, FILLED, Function, Given, entries, largest
from stator._catalogue.given import rounded

# For each step: how many states it has, and its options.
STEPS: dict[str, tuple[int, dict[str, Any]]] = {
    "sgd_step": (1, {"momentum": 0.9, "nesterov": True}),
    "rmsprop_step": (2, {"momentum": 0.9}),
    "adagrad_step": (1, {"step": 3, "lr_decay": 0.1}),
    "adam_step": (2, {"step": 3, "decoupled": True}),
    "lamb_step": (2, {"step": 3}),
    "lion_step": (1, {}),
}


def step(f: Function, given: Given) -> Any:
    """Two parameters, in place; states may be squares."""
    count, options = STEPS[given.cell.op]
    shapes = [given.shape, (5,)]
    domains = ((-4, 4), (-4, 4), *[(0.5, 2)] * count)
    lists = [[given.dense(given.draw(s, domain)) for s in shapes] for domain in domains]
    f(*lists, lr=0.01, weight_decay=0.1, **options)
    changed = [x for group in (lists[0], *lists[2:]) for x in group]
    # Lengths of tensors err in the last place of a sum, and steps cancel parameters.
    return largest(changed) if given.cell.op == "lamb_step" else changed


def gradients(given: Given) -> list[stator.Array]:
    return [given.array((-4, 4)), given.dense(given.draw((5,), (-4, 4)))]


def has_inf_nan(f: Function, given: Given) -> Any:
    good, bad = gradients(given), rounded(np.full((3,), np.inf if given.floating else 1), given.cell.dtype)
    return [f(good), f([*good, given.on(bad)])]


ENTRIES = {
    **entries(DENSE, dict.fromkeys(STEPS, step)),
    **entries(
        FILLED,
        {"has_inf_nan_list": has_inf_nan, "clip_grad_norm": lambda f, g: list(f(gradients(g), 1.0))},
    ),
}
