"""The cases of pooling and resampling: windows of 2 x 2 of images, which NumPy has as blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from layer_loops import weights

import stator

from ..cases import Other, Others, Plan
from ..domains import Interval
from ..inputs import ONE, Arrays, Draw, Pool, shaped
from ..torch_peer import functional as F
from ..torch_peer import torch

nn = stator.nn
IMAGES = {1_000: (1, 64, 4, 4), 1_000_000: (5, 64, 56, 56), 1 << 24: (21, 64, 112, 112)}


def images(full: int, halves: int = 0) -> Draw:
    """Images, and images of half their height and width."""

    def shapes(plan: Plan) -> list[tuple[int, ...]]:
        n, c, h, w = IMAGES[plan.size]
        return [(n, c, h, w)] * full + [(n, c, h // 2, w // 2)] * halves

    return shaped(shapes, Interval(0.5, 4))


def indexed(full: int, halves: int) -> Draw:
    """With the indices of the largest element of each block."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        (x,) = images(1)(plan, pool, turn)
        at, (h, w) = np.argmax(_blocks(x), axis=-1), x.shape[2:]
        rows, columns = np.arange(0, h, 2)[:, None], np.arange(0, w, 2)
        return *images(full, halves)(plan, pool, turn), (rows + at // 2) * w + columns + at % 2

    return draw


def _gridded(full: int) -> Draw:
    """Images, and as many positions as they have."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        n, _, h, w = IMAGES[plan.size]
        return *images(full)(plan, pool, turn), pool.array((n, h, w, 2), plan.dtype, ONE, turn + 50)

    return draw


def _blocks(x: Any) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)


def _largest(x: Any) -> Any:
    return np.max(_blocks(x), axis=-1)


def _mean(x: Any) -> Any:
    return np.mean(_blocks(x), axis=-1)


def _mean_slope(x: Any, g: Any) -> Any:
    return _double(g) / x.dtype.type(4)


def _flat(x: Any) -> Any:
    return x.reshape(*x.shape[:2], -1)


def _put(x: Any, at: Any) -> Any:
    n, c, h, w = x.shape
    out = np.zeros((n, c, 4 * h * w), x.dtype)
    np.put_along_axis(out, _flat(at), _flat(x), -1)
    return out.reshape(n, c, 2 * h, 2 * w)


def _double(x: Any) -> Any:
    return np.repeat(np.repeat(x, 2, axis=2), 2, axis=3)


def _line(n: int, dtype: Any) -> Any:
    """The weights of a line of n elements in one of twice as many."""
    place = np.maximum((np.arange(2 * n) + 0.5) / 2 - 0.5, 0)
    first, out = place.astype(int), np.zeros((2 * n, n))
    np.add.at(out, (np.arange(2 * n), first), 1 - place + first)
    np.add.at(out, (np.arange(2 * n), np.minimum(first + 1, n - 1)), place - first)
    return out.astype(dtype)


def _larger(x: Any) -> Any:
    return _line(x.shape[2], x.dtype) @ x @ _line(x.shape[3], x.dtype).T


def _smaller(g: Any) -> Any:
    return _line(g.shape[2] // 2, g.dtype).T @ g @ _line(g.shape[3] // 2, g.dtype)


def _taps(x: Any, grid: Any) -> Any:
    """Of the four elements around each position: the indices in the plane, and the weights."""
    n, _, h, w = x.shape
    at = ((grid.astype(np.float64) + 1) * (w, h) - 1) / 2
    first = np.floor(at).astype(int)
    for i in (0, 1):
        for j in (0, 1):
            k = first + np.array((j, i))
            weight = np.prod(1 - np.abs(at - k), axis=-1) * np.all((k >= 0) & (k < (w, h)), axis=-1)
            flat = np.clip(k[..., 1], 0, h - 1) * w + np.clip(k[..., 0], 0, w - 1)
            yield flat.reshape(n, 1, -1), weight.reshape(n, 1, -1).astype(x.dtype)


def _sampled(x: Any, grid: Any) -> Any:
    return sum(w * np.take_along_axis(_flat(x), at, -1) for at, w in _taps(x, grid)).reshape(x.shape)


def _scattered(grad: Any, x: Any, grid: Any) -> Any:
    out = np.zeros(_flat(x).shape, x.dtype)
    n, c = np.ogrid[: len(x), : x.shape[1]]
    for at, w in _taps(x, grid):
        np.add.at(out, (n[..., None], c[..., None], at), w * _flat(grad))
    return out.reshape(x.shape)


def _halved(x: Any) -> tuple[int, ...]:
    return tuple(n // 2 for n in x.shape[2:])


X = images(1)
DOUBLE: dict[str, Any] = {"scale_factor": 2.0, "mode": "bilinear"}
POOLS: Others = {
    "max_pool": Other(X, lambda x: nn.max_pool2d(x, 2), _largest, lambda x: F.max_pool2d(x, 2)),
    "max_pool_backward": Other(
        indexed(1, 1),
        lambda x, g, at: nn.max_pool2d_backward(g, x, at, 2),
        lambda x, g, at: _put(g, at),
        lambda x, g, at: torch.ops.aten.max_pool2d_with_indices_backward(
            g, x, [2, 2], [2, 2], [0, 0], [1, 1], False, at
        ),
    ),
    "max_unpool": Other(
        indexed(0, 1), lambda y, at: nn.max_unpool2d(y, at, 2), _put, lambda y, at: F.max_unpool2d(y, at, 2)
    ),
    "max_unpool_backward": Other(
        indexed(1, 0), None, lambda g, at: np.take_along_axis(_flat(g), _flat(at), -1).reshape(at.shape)
    ),
    "avg_pool": Other(X, lambda x: nn.avg_pool2d(x, 2), _mean, lambda x: F.avg_pool2d(x, 2)),
    "avg_pool_backward": Other(
        images(1, 1),
        lambda x, g: nn.avg_pool2d_backward(g, x, 2),
        _mean_slope,
        lambda x, g: torch.ops.aten.avg_pool2d_backward(g, x, [2, 2], [2, 2], [0, 0], False, True, None),
    ),
    "lp_pool": Other(
        X,
        lambda x: nn.lp_pool2d(x, 2, 2),
        lambda x: np.sqrt(np.sum(np.square(_blocks(x)), axis=-1)),
        lambda x: F.lp_pool2d(x, 2, 2),
    ),
    "lp_pool_backward": Other(
        images(1, 2),
        lambda x, g, y: nn.lp_pool2d_backward(g, x, y, 2, 2),
        lambda x, g, y: _double(g / y) * x,
    ),
    "adaptive_avg_pool": Other(
        X,
        lambda x: nn.adaptive_avg_pool2d(x, _halved(x)),
        _mean,
        lambda x: F.adaptive_avg_pool2d(x, _halved(x)),
    ),
    "adaptive_avg_pool_backward": Other(
        images(1, 1),
        lambda x, g: nn.adaptive_avg_pool2d_backward(g, x),
        _mean_slope,
        lambda x, g: torch.ops.aten._adaptive_avg_pool2d_backward(g, x),
    ),
    "adaptive_max_pool": Other(
        X,
        lambda x: nn.adaptive_max_pool2d(x, _halved(x)),
        _largest,
        lambda x: F.adaptive_max_pool2d(x, _halved(x)),
    ),
    "adaptive_max_pool_backward": Other(
        indexed(1, 1),
        lambda x, g, at: nn.adaptive_max_pool2d_backward(g, x, at),
        lambda x, g, at: _put(g, at),
        lambda x, g, at: torch.ops.aten.adaptive_max_pool2d_backward(g, x, at),
    ),
    "interpolate": Other(X, lambda x: nn.interpolate(x, **DOUBLE), _larger, lambda x: F.interpolate(x, **DOUBLE)),
    "interpolate_backward": Other(
        images(1, 1),
        lambda g, x: nn.interpolate_backward(g, x, **DOUBLE),
        lambda g, x: _smaller(g),
        lambda g, x: torch.ops.aten.upsample_bilinear2d_backward(g, g.shape[2:], x.shape, False, 2.0, 2.0),
    ),
    "pixel_shuffle": Other(X, *(lambda x, f=f: f.pixel_shuffle(x, 2) for f in (nn, weights, F))),
    "pixel_unshuffle": Other(X, *(lambda x, f=f: f.pixel_unshuffle(x, 2) for f in (nn, weights, F))),
    "grid_sample": Other(_gridded(1), None, _sampled, lambda x, grid: F.grid_sample(x, grid, align_corners=False)),
    "grid_sample_backward": Other(
        _gridded(2),
        lambda *x: nn.grid_sample_backward(*x)[0],
        _scattered,
        lambda *x: torch.ops.aten.grid_sampler_2d_backward(*x, 0, 0, False, [True, True])[0],
    ),
}
