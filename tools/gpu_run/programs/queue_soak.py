"""Work queues in page-locked memory, which the host fills while kernels empty them: no item is lost or taken twice."""

from __future__ import annotations

import threading
from typing import Any

from . import main

SOURCE = """
#include <stator/work_queue.hpp>
__global__ void count(stator::WorkQueue<int> queue, int* times) {
  int item;
  while (queue.take(item)) if (threadIdx.x == 0) atomicAdd(times + item, 1);
}
"""


def check(be: Any, small: bool) -> dict[str, Any]:
    items = 300 if small else 20_000
    kernel, counts = be.compile(SOURCE, "count"), [be.zeros(items, dtype="int32") for _ in range(3)]
    be.synchronize()
    reports: list[Any] = []

    def soak(number: int) -> None:
        with (
            be.use(),
            be.stream(number + 1),
            be.programs.work_queue(kernel, (1, 64, 1000)[number], counts[number], item="int32") as queue,
        ):
            for item in range(items):
                queue.put(item)
            reports.append(queue.finish())

    threads = [threading.Thread(target=soak, args=(k,)) for k in range(len(counts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == len(counts), "a queue ended with an error"
    wrong = [int((times.to_numpy() != 1).sum()) for times in counts]
    assert not any(wrong), f"items that were not taken exactly once: {wrong}"
    return {"items": sum(r.items for r in reports), "launches": sum(r.launches for r in reports)}


if __name__ == "__main__":
    raise SystemExit(main(check))
