"""The softmax family, and the cross entropy of logits."""

from __future__ import annotations

from typing import Any

import numpy as np

from stator._catalogue.domains import larger
from stator._catalogue.entry import AXIS, FILLED, Answer, Function, Given, entries, largest
from stator._catalogue.given import rounded


def softmax(f: Function, given: Given) -> Any:
    """Along both axes; near 0 the logarithm has the error of the sum's, a last place of 1."""
    x = given.array((-2, 2))
    scale = np.ones(x.shape) if given.cell.op == "log_softmax" else None
    return [Answer(f(x, axis=axis), scale) for axis in given.axes]


def softmax_backward(f: Function, given: Given) -> Any:
    """Errors count in the last place of the terms that the gradient subtracts."""
    logarithm = given.cell.op == "log_softmax_backward"
    found = []
    for axis in given.axes:
        grad, x = given.draw(given.shape), given.draw(given.shape, (-2, 2)).real.astype(np.float64)
        shifted = x - np.max(x, axis=axis, keepdims=True, initial=-4)
        p = np.exp(shifted) / np.maximum(np.sum(np.exp(shifted), axis=axis, keepdims=True), 1e-30)
        y = rounded(np.log(p) if logarithm else p, given.cell.dtype)
        g = np.abs(grad.astype(np.float64)) if not given.complex else np.abs(grad)
        if logarithm:
            scale = larger(g, p * np.sum(g, axis=axis, keepdims=True))
        else:
            scale = p * larger(g, np.sum(g * p, axis=axis, keepdims=True))
        found.append(Answer(f(given.on(grad), given.on(y), axis=axis), scale))
    return found


def cross_entropy(f: Function, given: Given) -> Any:
    """The loss or its gradient, with and without weights."""
    backward = given.cell.op.endswith("_backward")
    logits = given.array((-2, 2))
    target = given.on(given.rng.integers(0, given.columns, given.rows), "int64")
    weight = given.dense(given.draw((given.columns,), (0.5, 2)))
    grad = [given.dense(rounded(np.ones(()), given.cell.dtype))] * backward
    last = "sum" if backward else "none"
    options: list[dict[str, Any]] = [{}, {"weight": weight, "label_smoothing": 0.1}, {"reduction": last}]
    return largest(*[f(*grad, logits, target, **o) for o in options])


ENTRIES = {
    **entries(
        AXIS,
        {
            "softmax log_softmax softmin": softmax,
            "softmax_backward log_softmax_backward softmin_backward gumbel_softmax_backward": softmax_backward,
        },
    ),
    **entries(AXIS, {"gumbel_softmax": lambda f, g: f(g.array((-2, 2)), rng=7)[0]}, wide=False),
    **entries(FILLED, {"cross_entropy cross_entropy_backward": cross_entropy}),
}
