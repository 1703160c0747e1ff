"""What memory allows: the least time of a copy of some bytes, and the most bytes that are copied, read or written."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

import stator

from .timing import Burst, Effort, Leg, settle


def least(bursts: Iterable[Burst], effort: Effort) -> float:
    """The least seconds of a call, over a few bursts of each that has been warmed."""
    found = []
    for burst in bursts:
        count, _ = settle(burst, effort.burst[0])
        found += [burst(count) / count for _ in range(max(effort.least, 2))]
    return min(found)


class Floor:
    """Microseconds of a copy that reads and writes a number of bytes, each number measured once in a run."""

    def __init__(self, copies: Callable[[int], Iterable[Burst]], effort: Effort) -> None:
        self.copies = copies  # of the key's bytes into memory that was allocated before
        self.effort = effort
        self.known: dict[int, float] = {}

    def __call__(self, moved: int) -> float:
        half = max(moved // 2, 1)
        if half not in self.known:
            self.known[half] = least(self.copies(half), self.effort) * 1e6
        return self.known[half]


def _into(to: stator.Array, x: stator.Array) -> None:
    to[...] = x


def copies(be: stator.Backend, size: int, cold: int = 0) -> list[Leg]:
    """Copies of `size` bytes between arrays that exist: stator's, and on the host NumPy's.

    Pairs of arrays take turns, as many as have `cold` bytes together, but at most eight.
    """
    turns = min(max(cold // (2 * size), 1), 8)
    there = [(be.empty((size,), dtype="uint8"), be.full((size,), 1, dtype="uint8")) for _ in range(turns)]
    legs = [Leg(_into, there)]
    if be.device.type == "cpu":
        legs.append(Leg(np.copyto, [(np.ones(size, np.uint8), np.ones(size, np.uint8)) for _ in range(turns)]))
    return legs


def ceilings(be: stator.Backend, burst: Callable[[Leg], Burst], size: int, effort: Effort) -> dict[str, float]:
    """The most GB/s that this run has seen of arrays of `size` bytes: copied (read and written), read, written."""
    x = be.full((size // 4,), 1, dtype="float32")
    ways = {"copy": copies(be, size), "read": [Leg(stator.sum, [(x,)]), Leg(stator.max, [(x,)])]}
    ways["write"] = [Leg(lambda x: x.fill(0), [(x,)])]
    if be.device.type == "cpu":
        y = np.ones(size // 4, np.float32)
        ways["read"].append(Leg(np.sum, [(y,)]))
        ways["write"].append(Leg(lambda y: y.fill(0), [(y,)]))
    return {
        name: size * (2 if name == "copy" else 1) / least(map(burst, legs), effort) / 1e9 for name, legs in ways.items()
    }
