"""Grids that synchronise, of exactly as many blocks as are resident at once, beside other work."""

from __future__ import annotations

from typing import Any

from . import main

SOURCE = """
#include <cooperative_groups.h>
__global__ void rounds(int* counts, int* wrong, int n) {
  auto grid = cooperative_groups::this_grid();
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) atomicAdd(counts + k, 1);
    grid.sync();
    if (threadIdx.x == 0 && *(volatile int*)(counts + k) != int(gridDim.x)) atomicAdd(wrong, 1);
  }
}
"""


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    launches, syncs = (1, 3) if small else (50, 100)
    kernel = be.compile(SOURCE, "rounds")
    threads, shared = (32, 90_000) if small else (256, 0)  # with so much shared memory few blocks fit
    blocks = kernel.occupancy(threads, shared=shared) * be.devices.properties()["multiprocessors"]
    x, y = be.random.uniform(size=(512, 512), dtype="float32"), None
    wrong = be.zeros(1, dtype="int32")
    for _ in range(launches):
        counts = be.zeros(syncs, dtype="int32")
        with be.stream(1):
            for _ in range(2 if small else 20):
                y = stator.nn.softmax(x @ x)
        number = be.programs.launch_cooperative(kernel, (blocks, threads), counts, wrong, syncs, shared=shared)
        be.programs.finish_cooperative(number)
    be.synchronize()
    assert wrong.item() == 0, f"{wrong.item()} blocks passed a barrier before all had come"
    assert y is not None and stator.all(stator.abs(stator.sum(y, axis=1) - 1) < 1e-3).item()
    try:
        more, counts = (blocks + 1, threads), be.zeros(syncs, dtype="int32")
        be.programs.launch_cooperative(kernel, more, counts, wrong, syncs, shared=shared)
    except stator.errors.InvalidValueError:
        return {"blocks": blocks, "threads": threads, "barriers": launches * syncs}
    raise AssertionError(f"a grid of {blocks + 1} blocks was taken")


if __name__ == "__main__":
    raise SystemExit(main(check))
