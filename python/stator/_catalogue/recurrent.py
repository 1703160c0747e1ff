"""Recurrent layers and their steps. Errors count in the last place of the largest result: sums cancel."""

from __future__ import annotations

from typing import Any

from stator._catalogue.entry import AXIS, Function, Given, entries, largest

GATES = {"rnn": 1, "lstm": 4, "gru": 3}
HIDDEN, STEPS = 5, 4
NEAR, FAR = (-0.5, 0.5), (-2.0, 2.0)


def rounded_steps(given: Given) -> float | None:
    """A unit for each step of halves, whose states are rounded after each; else the bound of the table."""
    return STEPS if given.dtype in ("float16", "bfloat16") else None


def kind_of(given: Given) -> str:
    return given.cell.op.partition("_")[0]


def pointwise(f: Function, given: Given) -> Any:
    """Of gates, the state where there is one, and biases."""
    kind = kind_of(given)
    width = GATES[kind] * HIDDEN
    states = [given.array(FAR, (given.rows, HIDDEN))] * (kind != "rnn")
    gates = [given.array(FAR, (given.rows, width)) for _ in range(2)]
    biases = [given.array(FAR, (width,)) for _ in range(2)]
    return largest(f(*gates, *states, *biases), f(*gates, *states))


def pointwise_backward(f: Function, given: Given) -> Any:
    """Of a workspace that is drawn, so that it is the same numbers in every dtype."""
    kind, state = kind_of(given), (given.rows, HIDDEN)
    grad, width = given.array(FAR, state), {"rnn": 1, "lstm": 4, "gru": 5}[kind] * HIDDEN
    saved = given.array((0.1, 0.9), (given.rows, width))
    states = [given.array(FAR, state), given.array(FAR, state)] if kind == "lstm" else []
    return largest(f(grad, *states, saved))


def layer(given: Given, inputs: int = 3) -> tuple[Any, ...]:
    """Inputs, states and weights of two directions."""
    kind = kind_of(given)
    width = GATES[kind] * HIDDEN
    weights = []
    for _ in range(2):
        weights += [given.array(NEAR, s) for s in ((width, inputs), (width, HIDDEN), (width,), (width,))]
    states = [given.array(FAR, (2, given.rows, HIDDEN)) for _ in range(2)]
    return given.array(FAR, (STEPS, given.rows, inputs)), tuple(states) if kind == "lstm" else states[0], weights


def cell(f: Function, given: Given) -> Any:
    x, states, weights = layer(given)
    one = tuple(s[0] for s in states) if isinstance(states, tuple) else states[0]
    return largest(f(x[0], one, *weights[:4]))


def layers(f: Function, given: Given) -> Any:
    """Three steps from zero in one direction, and sequences of several lengths in both."""
    x, states, weights = layer(given)
    lengths = [1 + k % STEPS for k in range(given.rows)]
    plain = f(x[:3], None, weights[:4])
    return largest(plain, f(x, states, weights, bidirectional=True, lengths=lengths), bound=rounded_steps(given))


def layers_backward(f: Function, given: Given) -> Any:
    kind, (x, states, weights) = kind_of(given), layer(given)
    found = []
    calls: list[tuple[Any, ...]] = [(x[:3], None, weights[:4], False), (x, states, weights, True)]
    for inputs, state, some, both in calls:
        y, _, workspace = given.made(kind, inputs, state, some, bidirectional=both, return_workspace=True)
        grad = given.array(FAR, y.shape)
        found.append(f(grad, state, inputs, some, workspace, bidirectional=both))
    return largest(found, bound=rounded_steps(given))


CALLS = {"_pointwise": pointwise, "_pointwise_backward": pointwise_backward, "_cell": cell, "": layers}
ENTRIES = entries(
    AXIS,
    {f"{kind}{form}": call for kind in GATES for form, call in (CALLS | {"_backward": layers_backward}).items()},
    copies=True,
)
