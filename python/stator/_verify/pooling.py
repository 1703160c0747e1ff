"""Calls of pooling and resampling. Errors count in the last place of the largest result, since sums cancel."""

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


def shape(given: Given) -> tuple[int, ...]:
    """Images (n, channels, h, w) of about as many elements as the others have."""
    return (given.rows, given.columns // 25, 5, 5)


def images(given: Given) -> stator.Array:
    return given.array((0.5, 4), shape(given))


def slope(given: Given, result: stator.Array) -> stator.Array:
    return given.array((0.5, 2), result.shape)


def largest(*found: Any) -> list[Answer]:
    return [Answer(one, "largest") for one in found]


def max_pool(f: Function, given: Given) -> Any:
    x = images(given)
    return [*f(x, 3, 2, 1, return_indices=True), f(x, 2)]


def max_pool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    y, at = nn.max_pool2d(x, 3, 2, 1, return_indices=True)
    return largest(f(slope(given, y), x, at, 3, 2, 1))


def max_unpool(f: Function, given: Given) -> Any:
    y, at = nn.max_pool2d(images(given), 2, return_indices=True)
    return f(y, at, 2, output_size=(5, 5))


def max_unpool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    return f(x, nn.max_pool2d(x, 2, return_indices=True)[1])


def avg_pool(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(x, 3, 2, 1), f(x, 2, ceil_mode=True, count_include_pad=False))


def avg_pool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(slope(given, nn.avg_pool2d(x, 3, 2, 1)), x, 3, 2, 1))


def lp_pool(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(f(x, 2, 2), f(x, 3, 3, 1))


def lp_pool_backward(f: Function, given: Given) -> Any:
    x = images(given)
    y = given.array((4, 8), nn.lp_pool2d(x, 2, 2).shape)
    return largest(f(slope(given, y), x, y, 2, 2))


def adaptive(name: str, f: Function, given: Given) -> Any:
    x = images(given)
    if name == "max":
        return [*f(x, (2, 7), return_indices=True), f(x, 1)]
    return largest(f(x, (2, 7)), f(x, 1))


def adaptive_backward(name: str, f: Function, given: Given) -> Any:
    x = images(given)
    y, at = nn.adaptive_max_pool2d(x, (2, 7), return_indices=True)
    return largest(f(slope(given, y), x, *[at] * (name == "max")))


# Scales without a rounding, so that no position is between two elements for one dtype and not for another.
MODES: list[dict[str, Any]] = [
    {"mode": "nearest"},
    {"mode": "bilinear"},
    {"mode": "bilinear", "align_corners": True},
    {"mode": "bicubic"},
    {"mode": "area"},
]


def size(options: dict[str, Any]) -> dict[str, Any]:
    return {"size": 9} if options.get("align_corners") else {"scale_factor": 2}


def interpolate(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(*[f(x, **size(o), **o) for o in MODES])


def interpolate_backward(f: Function, given: Given) -> Any:
    x = images(given)
    grads = [given.array((0.5, 2), (*x.shape[:2], *[9 if o.get("align_corners") else 10] * 2)) for o in MODES]
    return largest(*[f(g, x, **size(o), **o) for g, o in zip(grads, MODES, strict=True)])


def shuffle(f: Function, given: Given) -> Any:
    return f(given.array((-4, 4), (given.rows, given.columns // 16 * 4, 2, 2)), 2)


GRIDS: list[dict[str, Any]] = [
    {"padding_mode": padding, "mode": mode}
    for padding in ("zeros", "border", "reflection")
    for mode in ("bilinear", "bicubic")
]


def positions(given: Given) -> stator.Array:
    """Apart from where the padding begins and a gradient jumps."""
    return given.array((-0.7, 0.7), (given.rows, 3, 4, 2))


def grid_sample(f: Function, given: Given) -> Any:
    x, grid = images(given), positions(given)
    return largest(*[f(x, grid, **o) for o in GRIDS])


def grid_sample_backward(f: Function, given: Given) -> Any:
    x, grid = images(given), positions(given)
    grad = given.array((0.5, 2), (*x.shape[:2], 3, 4))
    return largest(*[one for o in GRIDS for one in f(grad, x, grid, **o)])


def add(into: dict[str, Operation]) -> None:
    calls: dict[str, Function] = {
        "max_pool": max_pool,
        "max_pool_backward": max_pool_backward,
        "max_unpool": max_unpool,
        "max_unpool_backward": max_unpool_backward,
        "avg_pool": avg_pool,
        "avg_pool_backward": avg_pool_backward,
        "lp_pool": lp_pool,
        "lp_pool_backward": lp_pool_backward,
        "interpolate": interpolate,
        "interpolate_backward": interpolate_backward,
        "pixel_shuffle": shuffle,
        "pixel_unshuffle": shuffle,
        "grid_sample": grid_sample,
        "grid_sample_backward": grid_sample_backward,
    }
    for name in ("avg", "max"):
        calls[f"adaptive_{name}_pool"] = partial(adaptive, name)
        calls[f"adaptive_{name}_pool_backward"] = partial(adaptive_backward, name)
    register(into, AXIS, calls)
