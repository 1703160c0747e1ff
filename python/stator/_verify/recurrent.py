"""Calls of recurrent layers and their steps. Errors count in the last place of the largest result: sums cancel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import stator
from stator._verify.compare import Answer
from stator._verify.given import Given
from stator._verify.operations import AXIS, Operation, register

Function = Callable[..., Any]
nn = stator.nn
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
HIDDEN, STEPS = 5, 4
NEAR, FAR = (-0.5, 0.5), (-2.0, 2.0)


def largest(found: Any, bound: float | None = None) -> list[Answer]:
    if isinstance(found, (tuple, list)):
        return [one for part in found for one in largest(part, bound)]
    return [Answer(found, "largest", bound)]


def rounded_steps(given: Given) -> float | None:
    """A unit for each step of halves, whose states are rounded after each; else the bound of the table."""
    return STEPS if given.dtype in ("float16", "bfloat16") else None


def step(kind: str, given: Given) -> list[Any]:
    """Gates, the state where there is one, and biases."""
    width = GATES[kind] * HIDDEN
    states = [given.array(FAR, (given.rows, HIDDEN))] * (kind != "rnn")
    gates = [given.array(FAR, (given.rows, width)) for _ in range(2)]
    return [*gates, *states, *[given.array(FAR, (width,)) for _ in range(2)]]


def pointwise(kind: str, f: Function, given: Given) -> Any:
    operands = step(kind, given)
    return largest((f(*operands), f(*operands[:-2])))


def pointwise_backward(kind: str, f: Function, given: Given) -> Any:
    """Of a workspace that is drawn, so that it is the same numbers in every dtype."""
    state = (given.rows, HIDDEN)
    unit = (0.1, 0.9)
    grad, width = given.array(FAR, state), {"rnn": 1, "lstm": 4, "gru": 5}[kind] * HIDDEN
    saved = given.array(unit, (given.rows, width))
    if kind == "lstm":
        return largest(f(grad, given.array(FAR, state), given.array(FAR, state), saved))
    return largest(f(grad, saved))


def layer(kind: str, given: Given, inputs: int = 3) -> tuple[Any, ...]:
    width = GATES[kind] * HIDDEN
    weights = []
    for _ in range(2):
        weights += [given.array(NEAR, s) for s in ((width, inputs), (width, HIDDEN), (width,), (width,))]
    states = [given.array(FAR, (2, given.rows, HIDDEN)) for _ in range(2)]
    return given.array(FAR, (STEPS, given.rows, inputs)), tuple(states) if kind == "lstm" else states[0], weights


def cell(kind: str, f: Function, given: Given) -> Any:
    x, states, weights = layer(kind, given)
    one = tuple(s[0] for s in states) if kind == "lstm" else states[0]
    return largest(f(x[0], one, *weights[:4]))


def layers(kind: str, f: Function, given: Given) -> Any:
    lengths = [1 + k % STEPS for k in range(given.rows)]
    return largest(f(*layer(kind, given), bidirectional=True, lengths=lengths), rounded_steps(given))


def layers_backward(kind: str, f: Function, given: Given) -> Any:
    x, states, weights = layer(kind, given)
    y, _, workspace = getattr(nn, kind)(x, states, weights, bidirectional=True, return_workspace=True)
    found = f(given.array(FAR, y.shape), states, x, weights, workspace, bidirectional=True)
    return largest(found, rounded_steps(given))


def add(into: dict[str, Operation]) -> None:
    calls: dict[str, Function] = {}
    for kind in GATES:
        calls |= {
            f"{kind}_pointwise": partial(pointwise, kind),
            f"{kind}_pointwise_backward": partial(pointwise_backward, kind),
            f"{kind}_cell": partial(cell, kind),
            kind: partial(layers, kind),
            f"{kind}_backward": partial(layers_backward, kind),
        }
    register(into, AXIS, calls)
