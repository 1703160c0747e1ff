"""Images at other resolutions and positions. Errors count in the last place of the largest result: sums cancel."""

from __future__ import annotations

from typing import Any

import stator
from stator._catalogue.entry import AXIS, Function, Given, entries, largest
from stator._catalogue.pooling import images, slope

# Scales without a rounding, so that no position is between two elements for one dtype and not for another.
MODES: list[dict[str, Any]] = [
    {"mode": "nearest", "scale_factor": 2},
    {"mode": "bilinear", "scale_factor": 2},
    {"mode": "bilinear", "align_corners": True, "size": 9},
    {"mode": "bicubic", "scale_factor": 2},
    {"mode": "area", "scale_factor": 2},
]
GRIDS: list[dict[str, Any]] = [
    {"padding_mode": padding, "mode": mode}
    for padding in ("zeros", "border", "reflection")
    for mode in ("bilinear", "bicubic")
]


def interpolate(f: Function, given: Given) -> Any:
    x = images(given)
    return largest(*[f(x, **options) for options in MODES])


def interpolate_backward(f: Function, given: Given) -> Any:
    x = images(given)
    grads = [slope(given, *[options.get("size", 10)] * 2) for options in MODES]
    return largest(*[f(g, x, **options) for g, options in zip(grads, MODES, strict=True)])


def shuffle(f: Function, given: Given) -> Any:
    return f(given.array((-4, 4), (given.rows, given.columns // 16 * 4, 2, 2)), 2)


def positions(given: Given) -> stator.Array:
    """Apart from where the padding begins and a gradient jumps."""
    return given.array((-0.7, 0.7), (given.rows, 3, 4, 2))


def grid_sample(f: Function, given: Given) -> Any:
    x, grid = images(given), positions(given)
    return largest(*[f(x, grid, **options) for options in GRIDS])


def grid_sample_backward(f: Function, given: Given) -> Any:
    x, grid, grad = images(given), positions(given), slope(given, 3, 4)
    return largest(*[f(grad, x, grid, **options) for options in GRIDS])


ENTRIES = {
    **entries(
        AXIS,
        {
            "interpolate": interpolate,
            "interpolate_backward": interpolate_backward,
            "grid_sample": grid_sample,
            "grid_sample_backward": grid_sample_backward,
        },
        copies=True,
    ),
    **entries(AXIS, {"pixel_shuffle pixel_unshuffle": shuffle}),
}
