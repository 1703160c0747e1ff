"""The cases of quantisation: arrays by one scale, products of bytes, weights of four bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from layer_loops.quantization import search

import stator

from ..cases import Other, Others, Plan
from ..domains import Interval
from ..inputs import CORE, ONE, SHAPES, Arrays, Pool, shaped
from ..table import numpy_dtype
from ..torch_peer import torch

nn = stator.nn
MATRIX = {1_000: 32, 1_000_000: 512, 1 << 24: 2048}
WEIGHTS = {1_000: (32, 32), 1_000_000: (1024, 1024), 1 << 24: (4096, 4096)}
SCALE, ZERO, LOW, HIGH = 0.0625, 3, -20, 20
BYTES = Interval(1, 100, whole=True)
X, PAIR = (shaped(lambda p, n=n: [SHAPES[p.size]] * n, CORE) for n in (1, 2))
RANGES = shaped(lambda p: [(p.size,)] * 2, Interval(-4, 0), Interval(1, 4))


def _like(plan: Plan) -> np.ndarray:
    """Says the dtype of the result."""
    return np.zeros((), numpy_dtype(plan.dtype))


def _codes(plan: Plan, pool: Pool, turn: int) -> Arrays:
    return pool.array(SHAPES[plan.size], "int8", BYTES, turn), _like(plan)


def _matrices(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = MATRIX[plan.size]
    return *(pool.array((n, n), "int8", BYTES, 2 * turn + k) - np.int8(50) for k in (0, 1)), _like(plan)


def _images(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n, c, side = {1_000: (1, 4, 8), 1_000_000: (4, 32, 28), 1 << 24: (16, 64, 56)}[plan.size]
    axes = int(plan.op[-2])
    image = {1: (side * side,), 2: (side, side), 3: (2, side // 2, side // 2)}[axes]
    drawn = ((n, c, *image), (c, c, *(3,) * axes))
    return *(pool.array(s, "int8", BYTES, 2 * turn + k) - np.int8(50) for k, s in enumerate(drawn)), _like(plan)


def _started(plan: Plan, pool: Pool, turn: int) -> Arrays:
    kind = np.float64 if plan.dtype == "float64" else np.float32
    return *X(plan, pool, turn), np.array(np.inf, kind), np.array(-np.inf, kind)


def _counted(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """Sixteenths, which are at no bin's edge but by their value."""
    x, low, high = _started(plan, pool, turn)
    return (np.rint(x.astype(np.float32) * 16) / 16).astype(x.dtype), np.zeros(256, np.float32), low, high


def _counts(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """The bins of a bell."""
    at = np.arange(2048) - 1023.5
    kind = np.float64 if plan.dtype == "float64" else np.float32
    return np.floor(1000 * np.exp(-((at / 300) ** 2))).astype(np.float32), np.array(-1, kind), np.array(1, kind)


def _packed(plan: Plan, pool: Pool, turn: int) -> Arrays:
    out, width = WEIGHTS[plan.size]
    packed = pool.array((out, width // 2), "uint8", BYTES, 3 * turn)
    scale = pool.array((out, width // 32), plan.dtype, Interval(0.5, 1), 3 * turn + 1)
    x = pool.array((1, width), plan.dtype, Interval(-1, 1), 3 * turn + 2)
    return x, packed, scale, np.full_like(scale, 7, "u1")


def _wide(x: Any) -> Any:
    return x.astype(np.float64 if x.dtype == np.float64 else np.float32)


def _steps(x: Any, low: int, high: int) -> Any:
    return np.clip(np.rint(_wide(x) / SCALE) + ZERO, low, high) - ZERO


def _inside(x: Any) -> Any:
    near = np.rint(_wide(x) / SCALE) + ZERO
    return (near >= LOW) & (near <= HIGH)


def _observed(x: Any, low: Any, high: Any) -> Any:
    nn.observe_range(x, low, high)
    return low


def _histogram(x: Any, counts: Any, low: Any, high: Any) -> Any:
    nn.observe_histogram(x, counts, low, high)
    return counts


def _bins(x: Any, counts: Any, low: Any, high: Any) -> Any:
    x = _wide(x)
    return np.histogram(x, len(counts), (x.min(), x.max()))[0]


def _numbers(low: Any, high: Any) -> Any:
    low, high = np.minimum(low.astype(np.float32), 0), np.maximum(high.astype(np.float32), 0)
    scale = np.maximum((high - low) / np.float32(255), np.float32(2**-23))
    return scale, np.clip(-128 - np.rint(low / scale), -128, 127).astype(np.int32)


def _rounded(sums: Any, like: Any) -> Any:
    """Sums as the result: floating, or bytes in steps of 1/8."""
    found = sums * np.float32(SCALE * SCALE)
    if like.dtype.kind in "iu":
        info = np.iinfo(like.dtype)
        found = np.clip(np.rint(found * np.float32(8)), info.min, info.max)
    return found.astype(like.dtype)


def _options(like: Any) -> dict[str, Any]:
    return {"dtype": like.dtype} | ({"scale_out": 0.125} if like.dtype.itemsize == 1 else {})


def _product(a: Any, b: Any, like: Any) -> Any:
    return _rounded(a.astype(np.float32) @ b.astype(np.float32), like)


def _convolution(name: str) -> Callable[..., Any]:
    return lambda x, w, like: getattr(nn, name)(x, w, SCALE, SCALE, padding=1, **_options(like))


def _windows(x: Any, weight: Any, like: Any) -> Any:
    axes = x.ndim - 2
    x = np.pad(x.astype(np.float32), ((0, 0), (0, 0), *((1, 1),) * axes))
    taps = np.lib.stride_tricks.sliding_window_view(x, (3,) * axes, axis=tuple(range(2, 2 + axes)))
    sums = np.tensordot(taps, weight.astype(np.float32), ((1, *range(2 + axes, 2 + 2 * axes)), range(1, 2 + axes)))
    return _rounded(np.moveaxis(sums, -1, 1), like)


def _int4(dtype: str, w: Any) -> Any:
    groups = _wide(w).reshape(w.shape[0], -1, 32)
    low, high = np.minimum(groups.min(-1), 0), np.maximum(groups.max(-1), 0)
    scale = _wide(((high - low) / np.float32(15)).astype(numpy_dtype(dtype)))
    zero = np.clip(np.rint(-low * (1 / scale)), 0, 15)
    q = np.clip(np.rint(groups * (1 / scale)[..., None]) + zero[..., None], 0, 15).astype(np.uint8)
    return (q[..., :16] | q[..., 16:] << 4).reshape(w.shape[0], -1)


def _int4_linear(x: Any, packed: Any, scale: Any, zero: Any) -> Any:
    parts = packed.reshape(*scale.shape, 16)
    q = np.concatenate([parts & 15, parts >> 4], axis=-1).astype(np.float32) - zero[..., None].astype(np.float32)
    return _wide(x) @ (q * _wide(scale)[..., None]).reshape(len(packed), -1).T


def _torch_product(a: Any, b: Any, like: Any) -> Any:
    found = torch._int_mm(a, b) * (SCALE * SCALE)
    return (found * 8).round().clamp(-128, 127).to(like.dtype) if like.dtype.itemsize == 1 else found.to(like.dtype)


QUANTIZED: Others = {
    "quantize": Other(
        X,
        lambda x: nn.quantize(x, SCALE, ZERO),
        lambda x: (_steps(x, -128, 127) + ZERO).astype(np.int8),
        lambda x: torch.quantize_per_tensor(x.float(), SCALE, ZERO, torch.qint8),
    ),
    "dequantize": Other(
        _codes,
        lambda q, like: nn.dequantize(q, SCALE, ZERO, dtype=like.dtype),
        lambda q, like: ((q.astype(np.float32) - np.float32(ZERO)) * np.float32(SCALE)).astype(like.dtype),
    ),
    "fake_quantize": Other(
        X,
        lambda x: nn.fake_quantize(x, SCALE, ZERO, LOW, HIGH),
        lambda x: (_steps(x, LOW, HIGH) * x.dtype.type(SCALE)).astype(x.dtype),
        lambda x: torch.fake_quantize_per_tensor_affine(x, SCALE, ZERO, LOW, HIGH),
    ),
    "fake_quantize_backward": Other(
        PAIR,
        lambda g, x: nn.fake_quantize_backward(g, x, SCALE, ZERO, LOW, HIGH),
        lambda g, x: np.where(_inside(x), g, g.dtype.type(0)),
    ),
    "quantization_parameters": Other(RANGES, None, _numbers),
    "observe_range": Other(
        _started,
        _observed,
        lambda x, low, high: np.minimum(low, x.min()),
        lambda x, low, high: torch.minimum(low, torch.aminmax(x)[0]),
    ),
    "observe_histogram": Other(_counted, _histogram, _bins),
    "histogram_range": Other(
        _counts,
        lambda *x: nn.histogram_range(*x)[0],
        lambda counts, low, high: np.float32(search(counts, float(low), float(high), 256)[0]),
    ),
    "quantized_matmul": Other(
        _matrices,
        lambda a, b, like: nn.quantized_matmul(a, b, SCALE, SCALE, **_options(like)),
        _product,
        _torch_product,
    ),
    "quantized_linear": Other(
        _matrices,
        lambda x, w, like: nn.quantized_linear(x, w, SCALE, SCALE, **_options(like)),
        lambda x, w, like: _product(x, w.T, like),
        lambda x, w, like: _torch_product(x, w.t(), like),
    ),
    **{f"quantized_conv{n}d": Other(_images, _convolution(f"quantized_conv{n}d"), _windows) for n in (1, 2, 3)},
    "quantize_int4": lambda be, p: Other(
        shaped(lambda p: [WEIGHTS[p.size]], ONE),
        lambda w: nn.quantize_int4(w, group_size=32)[0],
        partial(_int4, p.dtype),  # the gate widens halves, and scales are of their dtype
    ),
    "int4_linear": Other(_packed, None, _int4_linear),
}
