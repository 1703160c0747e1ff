"""What a case of the counters is, and arrays that many of them take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]
Call = Callable[..., Any]
Inputs = Callable[[np.random.Generator], Arrays]
MILLION, SIDE = 1_000_000, 1024


@dataclass(frozen=True)
class Case:
    """A call whose launches are counted.

    inputs: draws the operands on the host. prepare: makes of them on the device what `call` gets, uncounted; the least
    traffic is that of these once and of the result once. again: the numbers of the operands that are needed once more,
    by a second pass: where statistics of all of x come before any result. elements: what instructions are divided by;
    None for the largest of operands and results. longer: operands with which loops over tiles of matrix units have more
    turns in as many blocks.
    """

    name: str
    family: str
    inputs: Inputs
    call: Call
    prepare: Call | None = None
    elements: int | None = None
    longer: Inputs | None = None
    again: tuple[int, ...] = ()


def normal(*shape: int, dtype: str = "float32", count: int = 1) -> Inputs:
    """Draws arrays of a shape: normal numbers, or whole ones below 100."""

    def draw(rng: np.random.Generator) -> Arrays:
        if np.dtype(dtype).kind in "iu":
            return tuple(rng.integers(0, 100, shape).astype(dtype) for _ in range(count))
        return tuple(rng.standard_normal(shape).astype(dtype) for _ in range(count))

    return draw
