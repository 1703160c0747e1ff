"""Random inputs, drawn once: every array is a window of them, mapped into the range of its operand."""

from __future__ import annotations

import numpy as np

import stator

from .domains import Interval
from .table import numpy_dtype

SIZES = (1_000, 1_000_000, 1 << 24)
SHAPES = {1_000: (25, 40), 1_000_000: (1_000, 1_000), 1 << 24: (4096, 4096)}
LAYOUTS = ("contiguous", "transposed")


class Pool:
    """Random numbers, and the number of rotating sets that keeps inputs of the next call out of the caches."""

    def __init__(self, cold: int, most: int) -> None:
        self.cold, self.most = cold, most
        self.drawn = {normal: np.empty(0, np.float32) for normal in (False, True)}

    def sets(self, footprint: int) -> int:
        """The number of sets that together exceed the caches; one where a single set does."""
        return int(min(max(-(-self.cold // max(footprint, 1)), 1), self.most))

    def _draw(self, size: int, window: int, normal: bool = False) -> np.ndarray:
        """Numbers in [0, 1) as float32, or in [-1, 1] with a deviation of a third; of another window others."""
        start = window * 7919
        if self.drawn[normal].size < start + size:
            rng, count = np.random.default_rng(2026), max(start + size, 1 << 20) * 5 // 4
            found = rng.standard_normal(count, np.float32) / 3 if normal else rng.random(count, np.float32)
            self.drawn[normal] = np.clip(found, -1, 1, out=found)
        return self.drawn[normal][start : start + size]

    def array(self, shape: tuple[int, ...], dtype: str, within: Interval, window: int, layout: str = "") -> np.ndarray:
        """A new array of the dtype in [low, high]; for integers whole numbers from 1 to 100 within that range."""
        base = shape[::-1] if layout == "transposed" else shape
        u = self._draw(int(np.prod(base)), window, within.normal).reshape(base)
        if within.normal:
            u = (u + 1) / 2
        if dtype == "bool":
            x = u < 0.5
        elif dtype.startswith(("int", "uint")) or within.whole:
            low, high = (within.low, within.high) if within.whole else (max(within.low, 1), min(within.high, 100))
            x = np.floor(low + u * (max(high - low, 0) + 1)).astype(numpy_dtype(dtype))
        else:
            kind = np.float64 if dtype in ("float64", "complex128") else np.float32
            x = u.astype(kind) * kind(within.high - within.low) + kind(within.low)
            if dtype.startswith("complex"):
                x = x + 1j * x.ravel()[::-1].reshape(x.shape)
            x = x.astype(numpy_dtype(dtype))
        return x.T if layout == "transposed" else x


def upload(be: stator.Backend, x: np.ndarray) -> stator.Array:
    """The array on the device, in the same memory order."""
    return be.asarray(x.T).T if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous else be.asarray(x)
