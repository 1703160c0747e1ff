"""Host memory for fast copies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stator._asarray import PinnedMemory
from stator._dtype import dtype as to_dtype
from stator.errors import ShapeError

if TYPE_CHECKING:
    from stator._typing import DTypeLike
    from stator.backend import Backend, Device


def pinned_empty(
    shape: int | Sequence[int], dtype: DTypeLike = "float64", *, device: Backend | Device | str | None = None
) -> np.ndarray[Any, Any]:
    """A NumPy array over page-locked memory of the backend: copies to the device overlap with work."""
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in extents):
        raise ShapeError(f"shape {extents}", op="memory.pinned_empty", remedy="Give lengths of at least 0.")
    kind = to_dtype(dtype).numpy()
    count = math.prod(extents)
    held = PinnedMemory(max(1, count * kind.itemsize), device)
    made: np.ndarray[Any, Any] = np.frombuffer(memoryview(held), np.uint8, count * kind.itemsize)
    return made.view(kind).reshape(extents)


__all__ = ["pinned_empty"]
