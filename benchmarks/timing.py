"""Paired timing: the libraries take turns within each round, so that drift of the machine cancels in the ratio.

Every leg is warmed until two bursts agree, and only then is the number of calls in a burst derived from them: what a
first call loads is in no figure. What changes between rounds is refused.
"""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

AGREE = 0.05  # of a time: two bursts that differ by less agree, and a larger spread is refused
ROUNDS = 5
MOST_CALLS = 4000  # in a burst

Burst = Callable[[int], float]  # runs that many calls, and returns the seconds that they took


@dataclass
class Leg:
    """One library's function, and the sets of arguments that its calls rotate through.

    enter: what is to be set before calls, such as the precision of products.
    """

    call: Callable[..., Any]
    sets: list[tuple[Any, ...]]
    enter: Callable[[], None] = lambda: None

    def calls(self, count: int) -> None:
        call = self.call
        for arguments in itertools.islice(itertools.cycle(self.sets), count):
            call(*arguments)


@dataclass(frozen=True)
class Clock:
    """What tells the time: seconds, seconds of all threads of the process, and waiting."""

    now: Callable[[], float] = time.perf_counter
    busy: Callable[[], float] = time.process_time
    sleep: Callable[[float], None] = time.sleep


CLOCK = Clock()


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    burst: the least and largest seconds of calls between two readings of the clock. least: the fewest rounds, where
    calls are slow. attempts: how often a case is measured whose spread is too large.
    """

    burst: tuple[float, float]
    least: int
    attempts: int


FULL, QUICK = Effort((0.002, 0.015), ROUNDS, 3), Effort((0.0005, 0.003), 1, 1)


@dataclass
class Timing:
    """Microseconds per call; per peer the median of the rounds' ratios (peer / ours).

    spread: half the range between the quartiles of a peer's ratios over their median; of `ours` where there is no peer.
    refused: by the same names, why a figure is none.
    """

    ours: float
    peers: dict[str, float]
    ratio: dict[str, float]
    spread: dict[str, float]
    rounds: int
    refused: dict[str, str]


def by_clock(leg: Leg, finish: Callable[[], None], clock: Clock = CLOCK) -> Burst:
    """Bursts by the clock of the host. `finish` waits for the library's device."""

    def burst(count: int) -> float:
        leg.enter()
        start = clock.now()
        leg.calls(count)
        finish()
        return clock.now() - start

    return burst


def settle(burst: Burst, target: float, limit: float = float("inf")) -> tuple[int, float]:
    """Runs bursts until two agree, at most nine, or two and what ends within `limit` seconds.

    The number of calls in a burst of `target` seconds, and the seconds of one call.
    """
    spent = before = 0.0
    count = 1
    for k in range(9):
        each = max(burst(count) / count, 1e-9)
        spent += count * each
        wanted = int(min(max(target / each, 1), MOST_CALLS))
        if (abs(each - before) <= AGREE * each and 2 * count >= wanted) or (k and spent > limit):
            break
        before, count = each, wanted
    return wanted, each


def _rest(clock: Clock, seconds: float = 0.3) -> None:
    """Waits until no thread of the process works, but at most `seconds`.

    OpenBLAS's threads spin for a tenth of a second after a product, on the CPUs on which the next library is timed.
    """
    end = clock.now() + seconds
    while clock.now() < end:
        wall, cpu = clock.now(), clock.busy()
        clock.sleep(0.0005)
        if clock.busy() - cpu < 0.3 * (clock.now() - wall):
            return


def _turn(burst: Burst, count: int, clock: Clock) -> float:
    """The seconds of a call in a burst, before which a quarter of one runs untimed."""
    start, cpu = clock.now(), clock.busy()
    if count >= 4:
        burst(count // 4)
    seconds = burst(count) / count
    if clock.busy() - cpu > 1.2 * (clock.now() - start):
        _rest(clock)
    return seconds


def _spread(times: np.ndarray) -> float:
    low, middle, high = np.percentile(times, [25, 50, 75])
    return float((high - low) / 2 / middle)


def _attempt(bursts: dict[str, Burst], base: dict[str, str], effort: Effort, seconds: float, clock: Clock) -> Timing:
    share = seconds / len(bursts)
    target = min(max(0.75 * share / ROUNDS, effort.burst[0]), effort.burst[1])  # the rest runs untimed
    limit = float("inf") if effort.least == ROUNDS else share
    settled = {name: settle(burst, target, limit) for name, burst in bursts.items()}
    cost = sum((n + (n // 4 if n >= 4 else 0)) * each for n, each in settled.values())
    rounds = int(min(max(seconds / cost, effort.least), ROUNDS))
    seen: dict[str, list[float]] = {name: [] for name in bursts}
    for r in range(rounds):
        for name in list(bursts)[:: -1 if r % 2 else 1]:
            seen[name].append(_turn(bursts[name], settled[name][0], clock))
    times = {name: np.array(found) for name, found in seen.items()}
    peers = [name for name in bursts if name not in ("ours", *base.values())]
    ratios = {name: times[name] / times[base.get(name, "ours")] for name in peers}
    spread = {name: _spread(found) for name, found in (ratios or {"ours": times["ours"]}).items()}
    refused = {name: f"spread {s:.0%}" for name, s in spread.items() if s > AGREE}
    if rounds < ROUNDS:
        refused |= dict.fromkeys(spread, f"{rounds} rounds")
    medians = {name: float(np.median(found) * 1e6) for name, found in times.items()}
    middles = {name: float(np.median(found)) for name, found in ratios.items()}
    return Timing(medians["ours"], {p: medians[p] for p in ratios}, middles, spread, rounds, refused)


def paired(
    bursts: dict[str, Burst],
    effort: Effort,
    seconds: float,
    clock: Clock = CLOCK,
    base: dict[str, str] | None = None,
) -> Timing:
    """Times all legs in turn, in reversed order every other round. An attempt takes about `seconds`.

    Before each leg the threads of the previous one come to rest. A case that is refused is measured again while tries
    are left; a peer keeps its first figure that is not refused. base: the leg that a peer is compared with, where it is
    not "ours".
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        found = _attempt(bursts, base or {}, effort, seconds, clock)
        for _ in range(effort.attempts - 1):
            if not found.refused:
                break
            anew = _attempt(bursts, base or {}, effort, seconds, clock)
            for name in found.refused:
                for of in ("peers", "ratio", "spread"):
                    getattr(found, of).update({k: v for k, v in getattr(anew, of).items() if k == name})
            found.ours, found.rounds = anew.ours, anew.rounds
            found.refused = {name: why for name, why in anew.refused.items() if name in found.refused}
    finally:
        if collecting:
            gc.enable()
    return found
