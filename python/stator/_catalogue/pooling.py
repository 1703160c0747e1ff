"""Pooling and its gradients. Errors count in the last place of the largest result, since sums cancel."""

from __future__ import annotations

from typing import Any

import stator
from stator._catalogue.entry import AXIS, Function, Given, entries, largest


def shape(given: Given) -> tuple[int, ...]:
    """Images (n, channels, h, w) of about as many elements as the others have."""
    return (given.rows, given.columns // 25, 5, 5)


def images(given: Given) -> stator.Array:
    return given.array((0.5, 4), shape(given))


def slope(given: Given, *extents: int) -> stator.Array:
    """A gradient of results of some height and width."""
    return given.array((0.5, 2), (*shape(given)[:2], *extents))


def max_pool(f: Function, given: Given) -> Any:
    x = images(given)
    return [*f(x, 3, 2, 1, return_indices=True), f(x, 2)]


def max_pool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    _, at = given.made("max_pool", x, 3, 2, 1, return_indices=True)
    return largest(f(slope(given, 3, 3), x, at, 3, 2, 1))


def max_unpool(f: Function, given: Given) -> Any:
    _, at = given.made("max_pool", images(given), 2, return_indices=True)
    return f(slope(given, 2, 2), at, 2, output_size=(5, 5))


def max_unpool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    return f(x, given.made("max_pool", x, 2, return_indices=True)[1])


def avg_pool(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(x, 3, 2, 1), f(x, 2, ceil_mode=True, count_include_pad=False))


def avg_pool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(slope(given, 3, 3), x, 3, 2, 1))


def lp_pool(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(x, 2, 2), f(x, 3, 3, 1))


def lp_pool_backward(f: Function, given: Given) -> Any:
    x, y = images(given), given.array((4, 8), (*shape(given)[:2], 2, 2))
    return largest(f(slope(given, 2, 2), x, y, 2, 2))


def adaptive_avg(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(x, (2, 7)), f(x, 1))


def adaptive_max(f: Function, given: Given) -> Any:
    x = images(given)
    return [*f(x, (2, 7), return_indices=True), f(x, 1)]


def adaptive_avg_backward(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(slope(given, 2, 7), x))


def adaptive_max_backward(f: Function, given: Given) -> Any:
    x = images(given)
    _, at = given.made("adaptive_max_pool", x, (2, 7), return_indices=True)
    return largest(f(slope(given, 2, 7), x, at))


ENTRIES = entries(
    AXIS,
    {
        "max_pool": max_pool,
        "max_pool_backward": max_pool_backward,
        "max_unpool": max_unpool,
        "max_unpool_backward": max_unpool_backward,
        "avg_pool": avg_pool,
        "avg_pool_backward": avg_pool_backward,
        "lp_pool": lp_pool,
        "lp_pool_backward": lp_pool_backward,
        "adaptive_avg_pool": adaptive_avg,
        "adaptive_avg_pool_backward": adaptive_avg_backward,
        "adaptive_max_pool": adaptive_max,
        "adaptive_max_pool_backward": adaptive_max_backward,
    },
    copies=True,
)
