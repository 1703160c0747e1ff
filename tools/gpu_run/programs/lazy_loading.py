"""Whether the first use of a kernel waits for the device, as CUDA may do to load it; prepare() must avoid that."""

from __future__ import annotations

import time
from typing import Any

from . import emulated, main

SECONDS = 0.5
SOURCE = """
__global__ void spin(long long ns) {
  long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - start < ns);
}
"""


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    emulated(be, "all kernels are loaded from the beginning")
    spin, x = be.compile(SOURCE, "spin"), be.ones(1000)
    be.graphs.prepare(["sort"])
    spin.launch(1, 1, 1000)
    be.synchronize()
    found = {}
    for name, call in {"first use": lambda: stator.cumulative_sum(x), "prepared": lambda: stator.sort(x)}.items():
        with be.stream(1):
            spin.launch(1, 1, int(SECONDS * 1e9))
        with be.stream(2):
            start = time.perf_counter()
            call()
            found[f"{name}, seconds"] = time.perf_counter() - start
        be.synchronize()
    found["the first use waits"] = found["first use, seconds"] > 0.8 * SECONDS
    assert found["prepared, seconds"] < 0.8 * SECONDS, f"a prepared op waited for another stream: {found}"
    return found


if __name__ == "__main__":
    raise SystemExit(main(check))
