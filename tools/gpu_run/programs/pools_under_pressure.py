"""Arrays made and freed on eight streams while 95 % of the memory is in use: no array gets memory that is read."""

from __future__ import annotations

import random
from typing import Any

from . import main


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    free = 32 << 20 if small else be.devices.info().memory_free
    limit, rounds = int(0.95 * free), 40 if small else 3000
    draw = random.Random(0)
    with stator.Backend("cuda", memory_limit=limit) as pool, pool.use():
        streams = [pool.stream(k) for k in range(8)]
        wrong = []
        for stream in streams:
            with stream:
                wrong.append(pool.zeros((), dtype="int64"))
        held: list[tuple[int, int, Any]] = []
        peak = 0
        for k in range(rounds):
            size = int(limit * 10 ** draw.uniform(-4, -1))
            while held and pool.memory.stats()["live_bytes"] + 1.25 * size + (2 << 20) > limit:  # blocks are rounded up
                number, value, x = held.pop(draw.randrange(len(held)))
                with streams[number]:
                    wrong[number] += (stator.min(x) != value) | (stator.max(x) != value)
                del x
            number = draw.randrange(len(streams))
            with streams[number]:
                held.append((number, k % 251, pool.full(size, k % 251, dtype="uint8")))
            peak = max(peak, pool.memory.stats()["live_bytes"])
            if k % 500 == 499:
                pool.memory.empty_cache()
        pool.synchronize()
        found = [int(n.item()) for n in wrong]
        assert not any(found), f"arrays that another stream changed: {found}"
        return {"arrays": rounds, "peak share of the memory": round(peak / free, 3)}


if __name__ == "__main__":
    raise SystemExit(main(check))
