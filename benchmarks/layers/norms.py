"""The cases of the normalisations."""

from __future__ import annotations

from typing import Any

import stator

from ..cases import Other, Others, Plan
from ..inputs import CORE, POSITIVE, Arrays, Draw, Pool, shape_of, shaped
from ..table import oracles
from ..torch_peer import functional as F
from ..torch_peer import path, torch

nn = stator.nn
EPS = 1e-5
GROUPS, SIZE = 32, 5
# Channels and pixels of ResNet-50, where images are largest and smallest.
IMAGES = {"": (64, 56 * 56), "deep": (512, 7 * 7)}


def rows(count: int) -> Draw:
    """Matrices, and a weight and a bias of their columns."""
    ranges = [CORE] * count + [POSITIVE] * 2
    return shaped(lambda p: [shape_of(p)] * count + [shape_of(p)[1:]] * 2, *ranges, turned=True)


def images(count: int) -> Draw:
    """Images (n, channels, pixels), with two numbers of each channel."""

    def shapes(plan: Plan) -> list[tuple[int, ...]]:
        channels, pixels = IMAGES[plan.variant]
        pixels = min(pixels, max(plan.size // channels, 4))
        return [(max(plan.size // (channels * pixels), 1), channels, pixels)] * count + [(channels,)] * 2

    return shaped(shapes, *[CORE] * count, *[POSITIVE] * 2)


def with_denom(plan: Plan, pool: Pool, turn: int) -> Arrays:
    g, x, *_ = images(2)(plan, pool, turn)
    return g, x, (1 + g * g).astype(g.dtype)


def _layer_backward(g: Any, x: Any, w: Any, b: Any) -> Any:
    _, mean, inverse = torch.native_layer_norm(x, x.shape[-1:], w, b, EPS)
    return torch.ops.aten.native_layer_norm_backward(g, x, x.shape[-1:], mean, inverse, w, b, [True] * 3)[0]


def _group_backward(g: Any, x: Any, w: Any, b: Any) -> Any:
    _, mean, inverse = torch.native_group_norm(x, w, b, *x.shape, GROUPS, EPS)
    return torch.ops.aten.native_group_norm_backward(g, x, mean, inverse, w, *x.shape, GROUPS, [True] * 3)[0]


def _batch_backward(g: Any, x: Any, w: Any, v: Any) -> Any:
    return torch.ops.aten.native_batch_norm_backward(g, x, w, w, v, None, None, False, EPS, [True] * 3)[0]


def _our_batch_backward(g: Any, x: Any, mean: Any, var: Any) -> Any:
    kind = "float64" if x.dtype == stator.float64 else "float32"
    return nn.batch_norm_backward(g, x, stator.astype(mean, kind), stator.astype(var, kind), mean)[0]


def _moved(x: Any, running: Any, batch: Any) -> Any:
    mean = stator.copy(running)
    nn.update_running_stats(mean, stator.copy(running), batch, batch, count=8)
    return mean


NORMS: Others = {
    "layer_norm": Other(rows(1), torch=lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, EPS)),
    "layer_norm_backward": Other(
        rows(2),
        lambda g, x, w, b: nn.layer_norm_backward(g, x, w)[0],
        lambda g, x, w, b: oracles.layer_norm_backward(g, x, w),
        _layer_backward,
    ),
    "rms_norm": Other(
        rows(1),
        lambda x, w, b: nn.rms_norm(x, w),
        lambda x, w, b: oracles.rms_norm(x, w),
        lambda x, w, b: F.rms_norm(x, x.shape[-1:], w, EPS),
    ),
    "rms_norm_backward": Other(
        rows(2),
        lambda g, x, w, b: nn.rms_norm_backward(g, x, w)[0],
        lambda g, x, w, b: oracles.rms_norm_backward(g, x, w),
    ),
    "group_norm": Other(
        images(1),
        lambda x, w, b: nn.group_norm(x, GROUPS, w, b),
        lambda x, w, b: oracles.group_norm(x, GROUPS, w, b),
        lambda x, w, b: F.group_norm(x, GROUPS, w, b, EPS),
    ),
    "group_norm_backward": Other(
        images(2),
        lambda g, x, w, b: nn.group_norm_backward(g, x, GROUPS, w)[0],
        lambda g, x, w, b: oracles.group_norm_backward(g, x, GROUPS, w),
        _group_backward,
    ),
    "instance_norm": Other(images(1), torch=lambda x, w, b: F.instance_norm(x, None, None, w, b, eps=EPS)),
    "instance_norm_backward": Other(
        images(2),
        lambda g, x, w, b: nn.instance_norm_backward(g, x, w)[0],
        lambda g, x, w, b: oracles.instance_norm_backward(g, x, w),
    ),
    "batch_norm": Other(
        images(1),
        lambda x, w, b: nn.batch_norm(x, w, b, training=True)[0],
        lambda x, w, b: oracles.batch_norm(x, w, b, training=True),
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True, eps=EPS),
        path=lambda torch, x, w, b: path("batch_norm")(torch, x, w),
    ),
    "batch_norm_backward": Other(
        images(2),
        _our_batch_backward,
        lambda g, x, w, v: g * w[:, None] / (v[:, None] + EPS) ** 0.5,
        _batch_backward,
    ),
    "local_response_norm": Other(
        images(1),
        lambda x, w, b: nn.local_response_norm(x, SIZE)[0],
        lambda x, w, b: oracles.local_response_norm(x, SIZE),
        lambda x, w, b: F.local_response_norm(x, SIZE),
    ),
    "local_response_norm_backward": Other(
        with_denom,
        lambda *x: nn.local_response_norm_backward(*x, SIZE),
        lambda *x: oracles.local_response_norm_backward(*x, SIZE),
    ),
    "update_running_stats": Other(rows(1), _moved, lambda x, w, b: w + 0.1 * (b - w)),
}
