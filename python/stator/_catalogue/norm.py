"""Normalisations. Errors count in the last place of the largest result, since sums cancel."""

from __future__ import annotations

from typing import Any

import stator
from stator._catalogue.domains import Domain
from stator._catalogue.entry import AXIS, DENSE, FILLED, Function, Given, entries, largest

# Large enough that a channel of equal elements, as broadcast operands have, does not magnify the error of its mean.
EPS = 0.1


def backward(given: Given) -> bool:
    return given.cell.op.endswith("_backward")


def vector(given: Given, length: int, domain: Domain = (0.5, 2)) -> stator.Array:
    return given.dense(given.draw((length,), domain))


def rows(f: Function, given: Given) -> Any:
    """Over the last axis; forward also with a residual."""
    x, other = given.array(), given.array()
    if backward(given):
        weight = vector(given, given.columns)
        return largest(f(other, x, eps=EPS), f(other, x, weight, eps=EPS))
    weights = [vector(given, given.columns) for _ in range(2 if given.cell.op == "layer_norm" else 1)]
    return largest(f(x, *weights, eps=EPS), f(x, residual=other, activation="silu", eps=EPS))


def images(given: Given) -> tuple[int, ...]:
    """A shape (n, channels, inner) of as many elements as the others have."""
    return (given.rows, given.columns // 5, 5)


def groups(f: Function, given: Given) -> Any:
    shape = images(given)
    x, grad = given.array(shape=shape), given.array(shape=shape)
    weight, bias = (vector(given, shape[1]) for _ in range(2))
    number = () if given.cell.op.startswith("instance") else (shape[1],)
    if backward(given):
        return largest(f(grad, x, *number, eps=EPS), f(grad, x, *number, weight, eps=EPS))
    # x + x is exact: the rounding of another sum would be large beside the deviation of few elements.
    fused = f(x, *number, residual=x, activation="silu", eps=EPS)
    return largest(f(x, *number, weight, bias, eps=EPS), fused)


def statistics(given: Given, channels: int) -> list[stator.Array]:
    """A mean and a variance of each channel, in the dtype of the sums."""
    kind = "float64" if given.dtype == "float64" else "float32"
    drawn = [given.draw((channels,), domain).real for domain in ((-1, 1), (0.5, 2))]
    return [given.dense(values.astype(kind), kind) for values in drawn]


def batch(f: Function, given: Given) -> Any:
    """Channels last and first; in training, and by given statistics."""
    found = []
    for shape in (given.shape, images(given)):
        x = given.array(shape=shape)
        weight, bias = (vector(given, shape[1]) for _ in range(2))
        bound = 32 + (x.size // max(shape[1], 1)) ** 0.5  # the sums of a channel round once per element
        found += [
            largest(f(x, weight, bias, training=True, eps=EPS), bound=bound),
            largest(f(x, weight, bias, *statistics(given, shape[1]))[0]),
        ]
    return found


def batch_backward(f: Function, given: Given) -> Any:
    found = []
    for shape in (given.shape, images(given)):
        grad, x, stats = given.array(shape=shape), given.array(shape=shape), statistics(given, shape[1])
        found += [f(grad, x, *stats, training=training) for training in (False, True)]
    return largest(found)


def running(f: Function, given: Given) -> Any:
    """In place; dense, as they must be."""
    domains: list[Domain] = [(-1, 1), (0.5, 2), (-1, 1), (0.5, 2)]
    arrays = [vector(given, given.columns, domain) for domain in domains]
    f(*arrays, count=8)
    return largest(arrays[:2])


def response(f: Function, given: Given) -> Any:
    x = given.array()
    return largest(f(x, 5, alpha=0.5), f(x, 9, alpha=0.5, beta=0.6))


def response_backward(f: Function, given: Given) -> Any:
    denom = given.array((1, 4))
    return largest(f(given.array(), given.array(), denom, 5, alpha=0.5))


def lengths(f: Function, given: Given) -> Any:
    """Of rows and of columns."""
    v = given.array((0.5, 4))
    factors = [vector(given, n) for n in v.shape]
    grad = (given.array(),) if backward(given) else ()
    return largest(*[f(*grad, v, g, axis) for axis, g in enumerate(factors)])


def vectors(given: Given) -> list[stator.Array]:
    return [vector(given, n) for n in (given.rows, given.columns)]


def spectral(f: Function, given: Given) -> Any:
    """After a step of the power iteration, and by given vectors."""
    w, (u, v) = given.array((0.5, 4)), vectors(given)
    return largest(f(w, u), f(w, u, v, n_iterations=0))


def spectral_backward(f: Function, given: Given) -> Any:
    sigma = given.dense(given.draw((), (0.5, 2)))
    return largest(f(given.array(), given.array((0.5, 4)), *vectors(given), sigma))


# Of a column of equal elements, which broadcast operands have, the variance and the gradient of the length are what
# rounding leaves of 0.
FILLED_APART, AXIS_APART = ([layout for layout in layouts if layout != "broadcast"] for layouts in (FILLED, AXIS))
ENTRIES = {
    **entries(
        AXIS,
        {
            "layer_norm layer_norm_backward rms_norm rms_norm_backward": rows,
            "group_norm group_norm_backward instance_norm instance_norm_backward": groups,
            "local_response_norm": response,
            "local_response_norm_backward": response_backward,
            "weight_norm": lengths,
        },
        copies=True,
    ),
    **entries(AXIS_APART, {"weight_norm_backward": lengths}, copies=True),
    **entries(FILLED_APART, {"batch_norm": batch}, copies=True),
    **entries(FILLED, {"batch_norm_backward": batch_backward}, copies=True),
    **entries(FILLED, {"spectral_norm": spectral}, wide=False),
    **entries(FILLED, {"spectral_norm_backward": spectral_backward}, wide=False, copies=True),
    **entries(DENSE, {"update_running_stats": running}),
}
