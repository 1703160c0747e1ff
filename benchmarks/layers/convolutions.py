"""The cases of convolutions, with layers of networks, and of their windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import numpy as np

import stator

from ..cases import Other, Others, Plan
from ..inputs import CORE, shaped
from ..torch_peer import functional as F
from ..torch_peer import path, torch

nn = stator.nn


@dataclass(frozen=True)
class Layer:
    """A convolution that keeps the sides of images, but for its stride."""

    channels: int
    results: int
    window: int
    side: int  # of the images of its network
    stride: int = 1
    groups: int = 1

    @property
    def padding(self) -> int:
        return self.window // 2

    def images(self, axes: int, size: int, channels: int) -> tuple[int, ...]:
        """The shape of a batch of about `size` elements, of smaller images if one image has more."""
        side = next(n for n in range(self.side, 0, -1) if n <= 2 or channels * n**axes <= size)
        return max(size // (channels * side**axes), 1), channels, *(side,) * axes

    def weight(self, axes: int) -> tuple[int, ...]:
        return self.results, self.channels // self.groups, *(self.window,) * axes

    def options(self) -> dict[str, int]:
        return {"stride": self.stride, "padding": self.padding, "groups": self.groups}


# Of speech encoders; of ResNet-50, MobileNet and a first layer; of video networks.
LAYERS: dict[tuple[int, str], Layer] = {
    (1, ""): Layer(256, 256, 3, 1000),
    (2, ""): Layer(64, 64, 3, 56),
    (2, "deep"): Layer(256, 256, 3, 14),
    (2, "pointwise"): Layer(256, 64, 1, 56),
    (2, "depthwise"): Layer(128, 128, 3, 56, groups=128),
    (2, "first"): Layer(3, 64, 7, 224, stride=2),
    (3, ""): Layer(64, 64, 3, 28),
}


def _taps(window: tuple[int, ...], stride: int, extents: tuple[int, ...]) -> Any:
    """Each position in a window, and the elements of padded images that are there, for results of these extents."""
    for tap in np.ndindex(*window):
        yield tap, (..., *(slice(t, t + stride * n, stride) for t, n in zip(tap, extents, strict=True)))


def _unfolded(x: Any, w: Any, stride: int, padding: int, groups: int) -> tuple[Any, tuple[int, ...]]:
    """Windows as columns (n, groups, channels of a group times taps, results), and the extents of results."""
    padded = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * (x.ndim - 2)])
    extents = tuple((n - k) // stride + 1 for n, k in zip(padded.shape[2:], w.shape[2:], strict=True))
    parts = np.stack([padded[window] for _, window in _taps(w.shape[2:], stride, extents)], axis=2)
    return parts.reshape(len(x), groups, -1, int(np.prod(extents))), extents


def _convolved(x: Any, w: Any, stride: int, padding: int, groups: int) -> Any:
    columns, extents = _unfolded(x, w, stride, padding, groups)
    return (w.reshape(groups, len(w) // groups, -1) @ columns).reshape(len(x), len(w), *extents)


def _spread(g: Any, w: Any, stride: int, padding: int, groups: int, extents: tuple[int, ...]) -> Any:
    """The gradient of the images of a convolution, which a transposed convolution is."""
    rows = g.reshape(len(g), groups, len(w) // groups, -1)
    columns = w.reshape(groups, len(w) // groups, -1).swapaxes(1, 2) @ rows
    parts = columns.reshape(len(g), w.shape[1] * groups, *w.shape[2:], *g.shape[2:])
    out = np.zeros((*parts.shape[:2], *(n + 2 * padding for n in extents)), g.dtype)
    for tap, window in _taps(w.shape[2:], stride, g.shape[2:]):
        out[window] += parts[(slice(None), slice(None), *tap)]
    return out[(..., *(slice(padding, padding + n) for n in extents))]


def _of_weight(g: Any, x: Any, w: Any, stride: int, padding: int, groups: int) -> Any:
    """The gradient of the weight of a convolution."""
    columns, _ = _unfolded(x, w, stride, padding, groups)
    rows = g.reshape(len(g), groups, len(w) // groups, -1)
    return np.sum(rows @ columns.swapaxes(2, 3), axis=0).reshape(w.shape)


def _case(axes: int, transposed: bool, backward: bool, be: stator.Backend, plan: Plan) -> Other:
    """A convolution or the gradient of its images. Transposed ones have the same layers without strides."""
    layer = LAYERS[axes, plan.variant]
    name, given = f"conv{'_transpose' * transposed}{axes}d", layer.options()
    images = layer.images(axes, plan.size, layer.channels)
    results = (images[0], layer.results, *((n - 1) // layer.stride + 1 for n in images[2:]))
    forward, slope = getattr(nn, name), getattr(nn, f"{name}_backward")
    stride, padding = [layer.stride] * axes, [layer.padding] * axes

    draw = shaped(lambda _: [*[results] * backward, images, layer.weight(axes)], CORE)

    def convolved(x: Any, w: Any) -> Any:
        return _convolved(x, w, **given)

    def spread(g: Any, w: Any) -> Any:
        return _spread(g, w, **given, extents=images[2:])

    def theirs(x: Any, w: Any) -> Any:
        return getattr(F, name)(x, w, **given)

    def their_slope(g: Any, x: Any, w: Any) -> Any:
        one, none = [1] * axes, [0] * axes
        call = torch.ops.aten.convolution_backward
        sizes = [layer.results]
        return call(g, x, w, sizes, stride, padding, one, transposed, none, layer.groups, [True] * 3)[0]

    def in_numpy(g: Any, x: Any, w: Any) -> Any:
        """The gradient of the images; those of the weight and a bias are computed and dropped, as by the others."""
        np.sum(g, axis=(0, *range(2, g.ndim)))
        _of_weight(*((x, g) if transposed else (g, x)), w, **given)
        return formulas[1](g, w)

    def chosen(torch: Any, *operands: Any) -> str:
        return path("convolution")(torch, *operands[-2:], given, transposed)

    terms = int(np.prod(layer.weight(axes)[1:]))
    formulas = (spread, convolved) if transposed else (convolved, spread)
    if backward:
        return Other(draw, lambda g, x, w: slope(g, x, w, **given)[0], in_numpy, their_slope, path=chosen, terms=terms)
    return Other(draw, partial(forward, **given), formulas[0], theirs, path=chosen, terms=terms)


WINDOWS = LAYERS[2, ""]


def _columns(plan: Plan) -> list[tuple[int, ...]]:
    n, rows, *image = WINDOWS.images(2, plan.size, 9 * WINDOWS.channels)
    return [(n, rows, int(np.prod(image)))]


def _side(columns: Any) -> tuple[int, int]:
    return (isqrt(columns.shape[2]),) * 2


def _windows(x: Any) -> Any:
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    parts = [padded[window] for _, window in _taps((3, 3), 1, x.shape[2:])]
    return np.stack(parts, axis=2).reshape(len(x), 9 * x.shape[1], -1)


def _folded(columns: Any) -> Any:
    parts = columns.reshape(len(columns), -1, 3, 3, *_side(columns))
    out = np.zeros((len(columns), parts.shape[1], *(n + 2 for n in _side(columns))), columns.dtype)
    for (i, j), window in _taps((3, 3), 1, _side(columns)):
        out[window] += parts[:, :, i, j]
    return out[:, :, 1:-1, 1:-1]


CONVOLUTIONS: Others = {
    f"conv{'_transpose' * transposed}{axes}d{'_backward' * backward}": partial(_case, axes, transposed, backward)
    for axes in (1, 2, 3)
    for transposed in (False, True)
    for backward in (False, True)
} | {
    "unfold": Other(
        shaped(lambda p: [WINDOWS.images(2, p.size, WINDOWS.channels)], CORE),
        lambda x: nn.unfold(x, 3, padding=1),
        _windows,
        lambda x: F.unfold(x, 3, padding=1),
    ),
    "fold": Other(
        shaped(_columns, CORE),
        lambda x: nn.fold(x, _side(x), 3, padding=1),
        _folded,
        lambda x: F.fold(x, _side(x), 3, padding=1),
    ),
}
