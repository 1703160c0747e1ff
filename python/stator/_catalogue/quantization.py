"""Quantisation, observers and products of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Values
from stator._catalogue.entry import AXIS, DENSE, FILLED, Function, Given, entries, largest
from stator._catalogue.given import rounded


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
    plain, *others = each(given)
    first = f(grad, x, *plain[:2], -20, 20)
    return largest(first, *[f(grad, x, scale, zero, -20, 20, learned=True, **where) for scale, zero, where in others])


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
    return [*whole, largest(channels)]


def observe_histogram(f: Function, given: Given) -> Any:
    """Of whole numbers, which lie in the middle of bins."""
    counts, (low, high) = given.dense(np.zeros(18, np.float32), "float32"), started(given)
    f(given.array(range(-4, 4)), counts, low, high)
    f(given.array(range(-8, 8)), counts, low, high)
    return [largest(counts), low, high]


def histogram_range(f: Function, given: Given) -> Any:
    counts: Values = np.bincount(given.rng.binomial(63, 0.5, 4000), minlength=64).astype(np.float32)
    kind = given.dtype
    low, high = (given.dense(rounded(np.array(v), kind), kind) for v in (-1.0 if given.floating else 0.0, 2.0))
    return list(f(given.dense(counts, "float32"), low, high, levels=16))


def scale_out(given: Given) -> dict[str, Any]:
    return {"scale_out": 16.0} if given.dtype in ("int8", "uint8") else {}


def product(f: Function, given: Given) -> Any:
    m, k, n = (64, 96, 48) if given.large else (9, 33, 12)
    right = (n, k) if given.cell.op == "quantized_linear" else (k, n)
    a, c, b = (bytes_of(given, s, t) for s, t in (((m, k), "int8"), (right, "int8"), (right, "uint8")))
    scale, zero = numbers(given, n)
    out = {"dtype": given.dtype, **scale_out(given)}
    return [f(a, c, 0.5, 0.5, **out), f(a, b, 0.5, scale, -3, zero + 20, **out)]


def convolution(f: Function, given: Given) -> Any:
    axes = int(given.cell.op[-2])
    image, taps, stride = (3, 6, 7)[-axes:], (2, 3, 2)[-axes:], (1, 2, 1)[-axes:]
    x, weight = bytes_of(given, (2, 4, *image), "uint8"), bytes_of(given, (6, 2, *taps))
    same = bytes_of(given, x.shape), bytes_of(given, (6, 4, *taps))
    out = {"dtype": given.dtype, **scale_out(given)}
    options = {"padding": 1, "groups": 2, "stride": stride, **out}
    return [f(*same, 0.5, 0.5, **out), f(x, weight, 0.5, numbers(given, 6)[0], 7, 0, **options)]


def quantize_int4(f: Function, given: Given) -> Any:
    return list(f(given.array(shape=(given.rows, 64)), group_size=32))


def int4_linear(f: Function, given: Given) -> Any:
    packed, _, _ = stator.nn.quantize_int4(given.dense(given.draw((12, 128), (-1, 1), "float32"), "float32"))
    scale = given.dense(given.draw((12, 1), (0.5, 2)))
    zero = given.dense(np.full((12, 1), 7, np.uint8), "uint8")
    return largest(*[f(given.array(shape=(rows, 128)), packed, scale, zero) for rows in (3, 20)])


ENTRIES = {
    **entries(
        AXIS,
        {
            "quantize": quantize,
            "dequantize": dequantize,
            "fake_quantize": fake,
            "fake_quantize_backward": fake_backward,
            "quantization_parameters": parameters,
        },
        wide=False,
        copies=True,
    ),
    **entries(DENSE, {"observe_range": observe_range, "observe_histogram": observe_histogram}, wide=False),
    **entries(
        FILLED,
        {
            "quantized_conv1d quantized_conv2d quantized_conv3d": convolution,
            "quantize_int4": quantize_int4,
            "int4_linear": int4_linear,
        },
        wide=False,
        copies=True,
    ),
    **entries(FILLED, {"histogram_range": histogram_range, "quantized_matmul quantized_linear": product}, wide=False),
}
