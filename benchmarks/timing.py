"""Paired timing: the libraries take turns within each round, so that drift of the machine cancels in the ratio."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Timing:
    """Microseconds a call, and against each peer the median of the rounds' ratios (peer / ours) with half its IQR."""

    ours: float
    peers: dict[str, float]
    ratio: dict[str, float]
    spread: dict[str, float]


def _burst(call: Callable[[], object], finish: Callable[[], None], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    finish()
    return (time.perf_counter() - start) / count


def _count(call: Callable[[], object], finish: Callable[[], None], seconds: float) -> int:
    once = max(_burst(call, finish, 1), 1e-7)
    return int(min(max(seconds / once, 1), 2000))


def paired(
    ours: Callable[[], object],
    peers: dict[str, Callable[[], object]],
    finish: dict[str, Callable[[], None]],
    *,
    rounds: int,
    burst_seconds: float,
) -> Timing:
    """Times all legs in turn, the order reversed every other round; `finish` waits for a library's device."""
    legs = {"ours": ours, **peers}
    for name, call in legs.items():
        _burst(call, finish[name], 1)
    counts = {name: _count(call, finish[name], burst_seconds) for name, call in legs.items()}
    seen: dict[str, list[float]] = {name: [] for name in legs}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for r in range(rounds):
            for name in list(legs) if r % 2 == 0 else list(legs)[::-1]:
                seen[name].append(_burst(legs[name], finish[name], counts[name]))
    finally:
        if collecting:
            gc.enable()
    mine = np.array(seen["ours"])
    ratio, spread = {}, {}
    for name in peers:
        r = np.array(seen[name]) / mine
        low, middle, high = np.percentile(r, [25, 50, 75])
        ratio[name], spread[name] = float(middle), float((high - low) / 2)
    medians = {name: float(np.median(t) * 1e6) for name, t in seen.items()}
    return Timing(medians.pop("ours"), medians, ratio, spread)
