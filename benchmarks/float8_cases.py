"""The cases of eight-bit floats; NumPy rounds and decodes with ml_dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import stator

from .domains import Interval
from .inputs import Pool

if TYPE_CHECKING:
    from .cases import Plan

Arrays = tuple[np.ndarray, ...]
KIND = ml_dtypes.float8_e4m3fn
SIDE = {1_000: 32, 1_000_000: 256, 1 << 24: 1024}
ONE = Interval(-1, 1)


def _array(plan: Plan, pool: Pool, turn: int) -> Arrays:
    return (pool.array((plan.size,), plan.dtype, ONE, 3 * turn),)


def _quantized(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float32)
    return (wide / (np.abs(wide).max() / np.float32(448))).astype(KIND).view(np.uint8)


def _codes(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = SIDE[plan.size]
    a, b = (_quantized(pool.array((n, n), "float32", ONE, 3 * turn + k)) for k in (0, 1))
    return a, b, np.full((n, 1), 0.5, np.float32)


def _scaled(a: Any, b: Any, scale: Any) -> Any:
    return stator.nn.scaled_matmul(a, b, scale, scale.T)


def _scaled_numpy(a: np.ndarray, b: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (a.view(KIND).astype(np.float32) * scale) @ (b.view(KIND).astype(np.float32) * scale.T)


CASES = {
    "quantize_fp8": (_array, lambda x: stator.nn.quantize_fp8(x).values, _quantized),
    "scaled_matmul": (_codes, _scaled, _scaled_numpy),
}
