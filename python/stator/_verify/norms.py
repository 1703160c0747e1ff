"""Calls of normalisations. Errors count in the last place of the largest result, since sums cancel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import stator
from stator._verify.compare import Answer
from stator._verify.given import Given
from stator._verify.operations import AXIS, DENSE, FILLED, Operation, register

Function = Callable[..., Any]
# Large enough that a channel of equal elements, as broadcast operands have, does not magnify the error of its mean.
EPS = 0.1


def largest(found: Any) -> list[Answer]:
    """Several results, one after the other."""
    return [Answer(one, "largest") for one in (found if isinstance(found, tuple) else (found,))]


def rows(backward: bool, bias: bool, f: Function, given: Given) -> Any:
    """Over the last axis; forward also with a residual."""
    x, other = given.array(), given.array()
    weights = [given.dense(given.draw((given.columns,), (0.5, 2))) for _ in range(1 + (bias and not backward))]
    if backward:
        return largest(f(other, x, *weights, eps=EPS))
    return largest(f(x, *weights, eps=EPS)) + largest(f(x, residual=other, activation="silu", eps=EPS))


def images(given: Given) -> tuple[int, ...]:
    """A shape (n, channels, inner) of as many elements as the others have."""
    return (given.rows, given.columns // 5, 5)


def groups(backward: bool, instances: bool, f: Function, given: Given) -> Any:
    shape = images(given)
    x, grad = given.array(shape=shape), given.array(shape=shape)
    weight, bias = (given.dense(given.draw((shape[1],), (0.5, 2))) for _ in range(2))
    number = () if instances else (shape[1],)
    if backward:
        return largest(f(grad, x, *number, weight, eps=EPS))
    plain = largest(f(x, *number, weight, bias, eps=EPS))
    # x + x is exact: the rounding of another sum would be large beside the deviation of few elements.
    return plain + largest(f(x, *number, residual=x, activation="silu", eps=EPS))


def statistics(given: Given, channels: int) -> list[stator.Array]:
    """A mean and a variance of each channel, in the dtype of the sums."""
    kind = "float64" if given.dtype == "float64" else "float32"
    drawn = [given.draw((channels,), domain) for domain in ((-1, 1), (0.5, 2))]
    return [given.dense(values.astype(kind), kind) for values in drawn]


def batch(f: Function, given: Given) -> Any:
    """Channels that are adjacent, and channels that are not; in training, and by given statistics."""
    found = []
    for shape in (given.shape, images(given)):
        x = given.array(shape=shape)
        weight, bias = (given.dense(given.draw((shape[1],), (0.5, 2))) for _ in range(2))
        bound = 32 + (x.size // max(shape[1], 1)) ** 0.5  # the sums of a channel round once per element
        found += [Answer(one, "largest", bound) for one in f(x, weight, bias, training=True, eps=EPS)]
        found += largest(f(x, weight, bias, *statistics(given, shape[1])))[:1]
    return found


def batch_backward(f: Function, given: Given) -> Any:
    found = []
    for shape in (given.shape, images(given)):
        grad, x, stats = given.array(shape=shape), given.array(shape=shape), statistics(given, shape[1])
        for training in (False, True):
            found += largest(f(grad, x, *stats, training=training))
    return found


def running(f: Function, given: Given) -> Any:
    """In place; dense, as they must be."""
    n = given.columns
    arrays = [given.dense(given.draw((n,), domain)) for domain in ((-1, 1), (0.5, 2), (-1, 1), (0.5, 2))]
    f(*arrays, count=8)
    return [Answer(array, "largest") for array in arrays[:2]]


def response(f: Function, given: Given) -> Any:
    x = given.array()
    return largest(f(x, 5, alpha=0.5)) + largest(f(x, 9, alpha=0.5, beta=0.6))


def response_backward(f: Function, given: Given) -> Any:
    denom = given.array((1, 4))
    return largest(f(given.array(), given.array(), denom, 5, alpha=0.5))


def lengths(backward: bool, f: Function, given: Given) -> Any:
    """Of rows and of columns."""
    v = given.array((0.5, 4))
    factors = [given.dense(given.draw((n,), (0.5, 2))) for n in v.shape]
    grad = (given.array(),) if backward else ()
    return [answer for axis, g in enumerate(factors) for answer in largest(f(*grad, v, g, axis))]


def vectors(given: Given) -> list[stator.Array]:
    return [given.dense(given.draw((n,), (0.5, 2))) for n in (given.rows, given.columns)]


def spectral(f: Function, given: Given) -> Any:
    return largest(f(given.array((0.5, 4)), *vectors(given), n_iterations=0))


def spectral_backward(f: Function, given: Given) -> Any:
    u, v = vectors(given)
    return largest(f(given.array(), given.array((0.5, 4)), u, v, u[0]))


def add(into: dict[str, Operation]) -> None:
    register(
        into,
        AXIS,
        {
            "layer_norm": partial(rows, False, True),
            "layer_norm_backward": partial(rows, True, True),
            "rms_norm": partial(rows, False, False),
            "rms_norm_backward": partial(rows, True, False),
            "group_norm": partial(groups, False, False),
            "group_norm_backward": partial(groups, True, False),
            "instance_norm": partial(groups, False, True),
            "instance_norm_backward": partial(groups, True, True),
            "local_response_norm": response,
            "local_response_norm_backward": response_backward,
        },
    )
    # Of a column of equal elements, which broadcast operands have, the variance and the gradient of the length are what
    # rounding leaves of 0.
    filled, layouts = ([layout for layout in of if layout != "broadcast"] for of in (FILLED, AXIS))
    register(into, filled, {"batch_norm": batch})
    register(into, FILLED, {"batch_norm_backward": batch_backward})
    register(into, AXIS, {"weight_norm": partial(lengths, False)})
    register(into, layouts, {"weight_norm_backward": partial(lengths, True)})
    register(into, FILLED, {"spectral_norm": spectral, "spectral_norm_backward": spectral_backward}, wide=False)
    register(into, DENSE, {"update_running_stats": running})
