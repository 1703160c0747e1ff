"""Host memory for fast copies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from stator._creation import PinnedMemory
from stator._dtype import dtype as to_dtype
from stator.errors import DTypeError, ShapeError, renamed

if TYPE_CHECKING:
    from stator._typing import DTypeLike
    from stator.backend import Backend, Device


def pinned_empty(
    shape: int | Sequence[int], dtype: DTypeLike = "float64", *, device: Backend | Device | str | None = None
) -> np.ndarray[Any, Any]:
    """An uninitialised NumPy array in page-locked memory, from which copies to the device overlap with work."""
    try:
        if isinstance(shape, (str, bytes, dict)):
            raise TypeError
        extents = tuple(map(index, shape)) if isinstance(shape, Iterable) else (index(shape),)
    except TypeError:
        raise DTypeError(
            f"A shape of type {type(shape).__name__} is not of integers",
            op="memory.pinned_empty",
            remedy="Give integers.",
        ) from None
    try:
        kind = to_dtype(dtype).numpy()
    except DTypeError as error:
        raise renamed(error, "memory.pinned_empty") from None
    size = math.prod(extents) * kind.itemsize
    if any(n < 0 for n in extents) or len(extents) > 32 or size >= 2**63:
        raise ShapeError(
            f"shape {extents}",
            op="memory.pinned_empty",
            remedy="Give at most 32 lengths of at least 0, and less than 2**63 bytes.",
        )
    held = PinnedMemory(max(1, size), device)
    made: np.ndarray[Any, Any] = np.frombuffer(memoryview(held), np.uint8, size)
    return made.view(kind).reshape(extents)


__all__ = ["pinned_empty"]


def __dir__() -> list[str]:
    return [*__all__]
