"""Paired timing: the libraries take turns within each round, so that drift of the machine cancels in the ratio."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import stator

from .cases import Leg


@dataclass
class Timing:
    """Microseconds per call; per peer the median of the rounds' ratios (peer / ours) and half their IQR."""

    ours: float
    peers: dict[str, float]
    ratio: dict[str, float]
    spread: dict[str, float]
    rounds: int


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    burst: seconds of calls between two readings of the clock. rounds: the least and largest number of rounds. slow: two
    rounds are enough where one takes more seconds than this.
    """

    burst: float
    rounds: tuple[int, int]
    slow: float


FULL, QUICK = Effort(0.015, (4, 8), 0.5), Effort(0.003, (3, 7), 0.1)


def _burst(leg: Leg, finish: Callable[[], None], count: int) -> float:
    call = leg.call
    start = time.perf_counter()
    for arguments in itertools.islice(itertools.cycle(leg.sets), count):
        call(*arguments)
    finish()
    return (time.perf_counter() - start) / count


def _rest(seconds: float = 0.3) -> None:
    """Waits until no thread of the process works, but at most `seconds`.

    OpenBLAS's threads spin for a tenth of a second after a product, on the CPUs on which the next library is timed.
    """
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        wall, cpu = time.perf_counter(), time.process_time()
        time.sleep(0.0005)
        if time.process_time() - cpu < 0.3 * (time.perf_counter() - wall):
            return


def paired(legs: dict[str, Leg], finish: dict[str, Callable[[], None]], effort: Effort, seconds: float) -> Timing:
    """Times all legs in turn, in reversed order every other round, until `seconds` or the most rounds are used up.

    Before each leg the threads of the previous one come to rest. `finish` waits for a library's device. Before each
    burst a quarter of a burst is run untimed. Where the first calls are so slow that warming up matters little, they
    count as a round.
    """
    once = {}
    for name, leg in legs.items():
        first = _burst(leg, finish[name], 1)
        once[name] = first if first > effort.burst else min(first, _burst(leg, finish[name], len(leg.sets)))
    counts = {name: int(min(max(effort.burst / max(t, 1e-7), 1), 4000)) for name, t in once.items()}
    cost = sum(once[name] * (n + n // 4) for name, n in counts.items())
    fewest = effort.rounds[0] if cost < effort.slow else 2
    rounds = int(min(max(seconds / cost, fewest), effort.rounds[1]))
    counted = cost >= effort.slow and max(counts.values()) == 1
    seen = {name: [once[name]] if counted else [] for name in legs}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for r in range(counted, rounds):
            for name in list(legs)[:: -1 if r % 2 else 1]:
                start, cpu = time.perf_counter(), time.process_time()
                if counts[name] >= 4:
                    _burst(legs[name], finish[name], counts[name] // 4)
                seen[name].append(_burst(legs[name], finish[name], counts[name]))
                if time.process_time() - cpu > 1.2 * (time.perf_counter() - start):
                    _rest()
    finally:
        if collecting:
            gc.enable()
    mine = np.array(seen.pop("ours"))
    ratio, spread = {}, {}
    for name, times in seen.items():
        low, middle, high = np.percentile(np.array(times) / mine, [25, 50, 75])
        ratio[name], spread[name] = float(middle), float((high - low) / 2)
    medians = {name: float(np.median(times) * 1e6) for name, times in seen.items()}
    return Timing(float(np.median(mine) * 1e6), medians, ratio, spread, rounds)


class Floor:
    """Microseconds that a copy of as many bytes takes in this run: np.copyto on the CPU, a device copy on a GPU."""

    def __init__(self, be: stator.Backend, cold: int) -> None:
        self.be, self.cold = be, cold
        self.known: dict[int, float] = {}

    def __call__(self, moved: int) -> float:
        """The time of a copy that reads and writes `moved` bytes together."""
        half = max(moved // 2, 1)
        if half not in self.known:
            self.known[half] = self._measure(half)
        return self.known[half]

    def _measure(self, size: int) -> float:
        turns = int(min(max(self.cold // (2 * size), 1), 8))
        if self.be.device.type == "cpu":
            pairs = [(np.empty(size, np.uint8), np.ones(size, np.uint8)) for _ in range(turns)]
            leg = Leg(np.copyto, pairs)
        else:
            leg = Leg(stator.copy, [(self.be.full((size,), 1, dtype="uint8"),) for _ in range(turns)])
        once = _burst(leg, self.be.synchronize, turns)
        count = int(min(max(0.003 / max(once, 1e-7), 1), 4000))
        return float(np.median([_burst(leg, self.be.synchronize, count) for _ in range(3)]) * 1e6)
