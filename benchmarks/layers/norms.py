"""The cases of the normalisations: inputs, stator's call, NumPy's formula and torch's call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator

from ..cases import Plan
from ..domains import Interval
from ..inputs import SHAPES, Pool
from ..torch_peer import path

Arrays = tuple[np.ndarray, ...]
Draw = Callable[[Plan, Pool, int], Arrays]
nn = stator.nn
EPS = 1e-5
GROUPS, SIZE = 32, 5
# Channels and pixels of ResNet-50, where images are largest and smallest.
IMAGES = {"": (64, 56 * 56), "deep": (512, 7 * 7)}


def rows(count: int) -> Draw:
    """Matrices, and a weight and a bias of their columns."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        shape = SHAPES[plan.size][:: -1 if plan.layout == "transposed" else 1]
        drawn = [pool.array(shape, plan.dtype, Interval(-4, 4), count * turn + k, plan.layout) for k in range(count)]
        columns = [pool.array(shape[1:], plan.dtype, Interval(0.5, 2), count * turn + k) for k in range(2)]
        return *drawn, *columns

    return draw


def images(count: int) -> Draw:
    """Images (n, channels, pixels), with two numbers of each channel."""

    def draw(plan: Plan, pool: Pool, turn: int) -> Arrays:
        channels, pixels = IMAGES[plan.variant]
        pixels = min(pixels, max(plan.size // channels, 4))
        shape = (max(plan.size // (channels * pixels), 1), channels, pixels)
        drawn = [pool.array(shape, plan.dtype, Interval(-4, 4), count * turn + k) for k in range(count)]
        factors = [pool.array(shape[1:2], plan.dtype, Interval(0.5, 2), count * turn + k) for k in range(2)]
        return *drawn, *factors

    return draw


def _scaled(x: Any, axes: int | tuple[int, ...], centre: bool = True) -> Any:
    d = x - x.mean(axis=axes, keepdims=True) if centre else x
    return d / np.sqrt(np.mean(d * d, axis=axes, keepdims=True) + EPS)


def _slopes(grad: Any, x: Any, axes: int | tuple[int, ...], weight: Any, centre: bool = True) -> Any:
    d = x - x.mean(axis=axes, keepdims=True) if centre else x
    deviation = np.sqrt(np.mean(d * d, axis=axes, keepdims=True) + EPS)
    v, g = d / deviation, grad * weight
    plain = g.mean(axis=axes, keepdims=True) if centre else 0
    return (g - plain - v * np.mean(g * v, axis=axes, keepdims=True)) / deviation


def _column(w: Any) -> Any:
    return w[:, None]


def _groups(x: Any) -> Any:
    return x.reshape(len(x), GROUPS, -1)


def _layer(x: Any, w: Any, b: Any) -> Any:
    return _scaled(x, -1) * w + b


def _response(x: Any) -> Any:
    padded = np.pad(x * x, [(0, 0), (SIZE // 2, SIZE // 2), (0, 0)])
    sums = sum(padded[:, k : k + x.shape[1]] for k in range(SIZE))
    return x * (1 + 1e-4 / SIZE * sums) ** -0.75


def _torch(name: str) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        import torch

        return getattr(_Torch, name)(torch, *operands)

    return call


class _Torch:
    """Calls of torch, which is imported where it is installed."""

    @staticmethod
    def layer(torch: Any, x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, EPS)

    @staticmethod
    def layer_back(torch: Any, g: Any, x: Any, w: Any, b: Any) -> Any:
        _, mean, inverse = torch.native_layer_norm(x, x.shape[-1:], w, b, EPS)
        return torch.ops.aten.native_layer_norm_backward(g, x, x.shape[-1:], mean, inverse, w, b, [True] * 3)[0]

    @staticmethod
    def root(torch: Any, x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.rms_norm(x, x.shape[-1:], w, EPS)

    @staticmethod
    def group(torch: Any, x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.group_norm(x, GROUPS, w, b, EPS)

    @staticmethod
    def group_back(torch: Any, g: Any, x: Any, w: Any, b: Any) -> Any:
        _, mean, inverse = torch.native_group_norm(x, w, b, len(x), x.shape[1], x.shape[2], GROUPS, EPS)
        args = (len(x), x.shape[1], x.shape[2], GROUPS, [True] * 3)
        return torch.ops.aten.native_group_norm_backward(g, x, mean, inverse, w, *args)[0]

    @staticmethod
    def instance(torch: Any, x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.instance_norm(x, None, None, w, b, eps=EPS)

    @staticmethod
    def batch(torch: Any, x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.batch_norm(x, None, None, w, b, training=True, eps=EPS)

    @staticmethod
    def batch_back(torch: Any, g: Any, x: Any, w: Any, v: Any) -> Any:
        return torch.ops.aten.native_batch_norm_backward(g, x, w, w, v, None, None, False, EPS, [True] * 3)[0]

    @staticmethod
    def response(torch: Any, x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.local_response_norm(x, SIZE)


def _moved(running: Any, batch: Any) -> Any:
    mean = stator.copy(running)
    nn.update_running_stats(mean, stator.copy(running), batch, batch, count=8)
    return mean


def _batch_backward(g: Any, x: Any, mean: Any, var: Any) -> Any:
    kind = "float64" if x.dtype == stator.float64 else "float32"
    return nn.batch_norm_backward(g, x, stator.astype(mean, kind), stator.astype(var, kind), mean)[0]


def with_denom(plan: Plan, pool: Pool, turn: int) -> Arrays:
    g, x, *_ = images(2)(plan, pool, turn)
    return g, x, (1 + g * g).astype(g.dtype)


def _response_backward(g: Any, x: Any, d: Any) -> Any:
    padded = np.pad(g * x * d**-1.75, [(0, 0), (SIZE // 2, SIZE // 2), (0, 0)])
    return g * d**-0.75 - 1.5e-4 / SIZE * x * sum(padded[:, k : k + x.shape[1]] for k in range(SIZE))


CASES: dict[str, tuple[Any, ...]] = {
    "layer_norm": (rows(1), nn.layer_norm, _layer, _torch("layer")),
    "layer_norm_backward": (
        rows(2),
        lambda g, x, w, b: nn.layer_norm_backward(g, x, w)[0],
        lambda g, x, w, b: _slopes(g, x, -1, w),
        _torch("layer_back"),
    ),
    "rms_norm": (
        rows(1),
        lambda x, w, b: nn.rms_norm(x, w),
        lambda x, w, b: _scaled(x, -1, False) * w,
        _torch("root"),
    ),
    "rms_norm_backward": (
        rows(2),
        lambda g, x, w, b: nn.rms_norm_backward(g, x, w)[0],
        lambda g, x, w, b: _slopes(g, x, -1, w, False),
        None,
    ),
    "group_norm": (
        images(1),
        lambda x, w, b: nn.group_norm(x, GROUPS, w, b),
        lambda x, w, b: _scaled(_groups(x), -1).reshape(x.shape) * _column(w) + _column(b),
        _torch("group"),
    ),
    "group_norm_backward": (
        images(2),
        lambda g, x, w, b: nn.group_norm_backward(g, x, GROUPS, w)[0],
        lambda g, x, w, b: _slopes(_groups(g * _column(w)), _groups(x), -1, 1).reshape(x.shape),
        _torch("group_back"),
    ),
    "instance_norm": (
        images(1),
        nn.instance_norm,
        lambda x, w, b: _scaled(x, -1) * _column(w) + _column(b),
        _torch("instance"),
    ),
    "instance_norm_backward": (
        images(2),
        lambda g, x, w, b: nn.instance_norm_backward(g, x, w)[0],
        lambda g, x, w, b: _slopes(g, x, -1, _column(w)),
        None,
    ),
    "batch_norm": (
        images(1),
        lambda x, w, b: nn.batch_norm(x, w, b, training=True)[0],
        lambda x, w, b: _scaled(x, (0, 2)) * _column(w) + _column(b),
        _torch("batch"),
        False,
        lambda torch, x, w, b: path("batch_norm")(torch, x, w),
    ),
    "local_response_norm": (
        images(1),
        lambda x, w, b: nn.local_response_norm(x, SIZE)[0],
        lambda x, w, b: _response(x),
        _torch("response"),
    ),
    "batch_norm_backward": (
        images(2),
        _batch_backward,
        lambda g, x, w, v: g * _column(w) / np.sqrt(_column(v) + EPS),
        _torch("batch_back"),
    ),
    "update_running_stats": (
        rows(1),
        lambda x, w, b: _moved(w, b),
        lambda x, w, b: w + 0.1 * (b - w),
        None,
    ),
    "local_response_norm_backward": (
        with_denom,
        lambda g, x, d: nn.local_response_norm_backward(g, x, d, SIZE),
        _response_backward,
        None,
    ),
}
