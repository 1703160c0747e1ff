"""How much memory a pool has at once, for what is live: python -m benchmarks.pool [--policy P] [--count N].

Arrays of random sizes, log-uniform from 1 byte to 64 MiB, are made and freed so that about 300 MiB stay live. Prints
the most that was live, the most that the pool had (live and cached), their ratio, and the time of a step.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import stator

MIB = 2**20


def soak(
    be: stator.Backend, count: int, live: int = 300 * MIB, largest: int = 64 * MIB, seed: int = 0
) -> tuple[int, int]:
    """The peaks of the bytes that were asked for and not freed yet, and of what the pool had for them."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(0, np.log(largest), count)).astype(np.int64) + 1
    victims = rng.random(count)
    held: list[tuple[stator.Array, int]] = []
    now = asked = had = 0
    for size, victim in zip(sizes.tolist(), victims.tolist(), strict=True):
        while held and now + size > live:
            at = int(victim * len(held))
            held[at], held[-1] = held[-1], held[at]
            now -= held.pop()[1]
        held.append((be.empty(size, dtype="uint8"), size))
        now += size
        stats = be.memory.stats()
        asked, had = max(asked, now), max(had, stats["live_bytes"] + stats["cached_bytes"])
    return asked, had


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pool", description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--policy", default="caching", choices=("caching", "driver", "none"))
    parser.add_argument("--count", type=int, default=200_000, help="how many arrays are made")
    options = parser.parse_args()
    with stator.Backend(options.device, pool_policy=options.policy) as be:
        begin = time.perf_counter()
        asked, had = soak(be, options.count)
        step = (time.perf_counter() - begin) / options.count
    print(f"live {asked / MIB:.0f} MiB, held {had / MIB:.0f} MiB, ratio {had / asked:.2f}, {step * 1e6:.1f} us a step")


if __name__ == "__main__":
    main()
