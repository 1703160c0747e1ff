"""Calls of quantisation, observers and products of bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import stator
from stator._verify.compare import Answer
from stator._verify.domains import Values
from stator._verify.given import Given
from stator._verify.operations import AXIS, DENSE, FILLED, Operation, register

Function = Callable[..., Any]


def numbers(given: Given, *shape: int) -> tuple[stator.Array, stator.Array]:
    """Scales that are powers of two, so that nothing is about a tie, and zero points."""
    scale = 2.0 ** given.rng.integers(-5, -2, shape)
    zero = given.rng.integers(-9, 10, shape)
    return given.dense(scale.astype(np.float32), "float32"), given.dense(zero.astype(np.int32), "int32")


def each(given: Given) -> list[tuple[Any, Any, dict[str, int]]]:
    """Scales and zero points of a tensor, of channels that are the last axis or not, and of blocks."""
    rows, columns = given.rows, given.columns
    return [
        (0.125, 3, {}),
        (*numbers(given, columns), {"axis": 1}),
        (*numbers(given, rows), {"axis": 0}),
        (*numbers(given, rows, -(-columns // 32)), {"axis": 1, "block_size": 32}),
    ]


def quantize(f: Function, given: Given) -> Any:
    x = given.array()
    return [f(x, scale, zero, **where) for scale, zero, where in each(given)]


def bytes_of(given: Given, shape: tuple[int, ...], dtype: str = "int8") -> stator.Array:
    info = np.iinfo(dtype)
    return given.on(given.rng.integers(info.min, info.max, shape, endpoint=True).astype(dtype), dtype)


def dequantize(f: Function, given: Given) -> Any:
    q = bytes_of(given, given.shape)
    return [f(q, scale, zero, dtype=given.dtype, **where) for scale, zero, where in each(given)]


def fake(f: Function, given: Given) -> Any:
    x = given.array()
    return [f(x, scale, zero, -20, 20, **where) for scale, zero, where in each(given)]


def fake_backward(f: Function, given: Given) -> Any:
    grad, x = given.array(), given.array()
    found = [f(grad, x, scale, zero, -20, 20, learned=True, **where) for scale, zero, where in each(given)[1:]]
    return [Answer(part, "largest") for three in found for part in three]


def parameters(f: Function, given: Given) -> Any:
    low, high = given.array((-4, 1)), given.array((1, 4))
    return [*f(low, high), *f(low, high, dtype="uint8", symmetric=True)]


def started(given: Given, *shape: int) -> list[stator.Array]:
    return [given.dense(np.full(shape, v, np.float32), "float32") for v in (np.inf, -np.inf)]


def observe_range(f: Function, given: Given) -> Any:
    """In place, twice; then by averages."""
    whole, channels = started(given), started(given, given.columns)
    for _ in range(2):
        f(given.array(), *whole)
        f(given.array(), *channels, axis=1, averaging_constant=0.5)
    return [*whole, *(Answer(one, "largest") for one in channels)]


def observe_histogram(f: Function, given: Given) -> Any:
    """Of whole numbers, which lie in the middle of bins."""
    counts, (low, high) = given.dense(np.zeros(18, np.float32), "float32"), started(given)
    f(given.array(range(-4, 4)), counts, low, high)
    f(given.array(range(-8, 8)), counts, low, high)
    return [Answer(counts, "largest"), low, high]


def histogram_range(f: Function, given: Given) -> Any:
    counts: Values = np.bincount(given.rng.binomial(63, 0.5, 4000), minlength=64).astype(np.float32)
    kind = given.dtype
    low, high = (given.dense(np.array(v, kind), kind) for v in (-1.0, 2.0))
    return list(f(given.dense(counts, "float32"), low, high, levels=16))


def product(linear: bool, f: Function, given: Given) -> Any:
    m, k, n = (64, 96, 48) if given.large else (9, 33, 12)
    a, b = bytes_of(given, (m, k)), bytes_of(given, (n, k) if linear else (k, n), "uint8")
    scale, zero = numbers(given, n)
    out = {"scale_out": 16.0} if given.dtype in ("int8", "uint8") else {}
    return f(a, b, 0.5, scale, -3, zero + 20, dtype=given.dtype, **out)


def convolution(axes: int, f: Function, given: Given) -> Any:
    image, taps, stride = (3, 6, 7)[-axes:], (2, 3, 2)[-axes:], (1, 2, 1)[-axes:]
    x, weight = bytes_of(given, (2, 4, *image), "uint8"), bytes_of(given, (6, 2, *taps))
    out = {"scale_out": 16.0} if given.dtype in ("int8", "uint8") else {}
    scale, _ = numbers(given, 6)
    return f(x, weight, 0.5, scale, 7, 0, padding=1, groups=2, stride=stride, dtype=given.dtype, **out)


def quantize_int4(f: Function, given: Given) -> Any:
    return list(f(given.array(shape=(given.rows, 64)), group_size=32))


def int4_linear(f: Function, given: Given) -> Any:
    packed, _, _ = stator.nn.quantize_int4(given.dense(given.draw((12, 128), (-1, 1), "float32"), "float32"))
    scale = given.dense(given.draw((12, 1), (0.5, 2)))
    zero = given.dense(np.full((12, 1), 7, np.uint8), "uint8")
    return [Answer(f(given.array(shape=(rows, 128)), packed, scale, zero), "largest") for rows in (3, 20)]


def add(into: dict[str, Operation]) -> None:
    calls: dict[str, Callable[[Function, Given], Any]] = {
        "quantize": quantize,
        "dequantize": dequantize,
        "fake_quantize": fake,
        "fake_quantize_backward": fake_backward,
        "quantization_parameters": parameters,
    }
    register(into, AXIS, calls, wide=False)
    register(into, DENSE, {"observe_range": observe_range, "observe_histogram": observe_histogram}, wide=False)
    products: dict[str, Callable[[Function, Given], Any]] = {
        "histogram_range": histogram_range,
        "quantized_matmul": partial(product, False),
        "quantized_linear": partial(product, True),
        "quantized_conv1d": partial(convolution, 1),
        "quantized_conv2d": partial(convolution, 2),
        "quantized_conv3d": partial(convolution, 3),
        "quantize_int4": quantize_int4,
        "int4_linear": int4_linear,
    }
    register(into, FILLED, products, wide=False)
