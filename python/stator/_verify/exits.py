"""Ways in which a process that uses the device can end: `python -m stator._verify.exits WAY DEVICE`.

Each must end with its status and write nothing, whatever is alive.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

import stator

KEPT: list[Any] = []  # what is alive when the process ends


def work(be: stator.Backend) -> stator.Array:
    x = be.ones((64, 64), dtype="float32")
    for _ in range(3):
        x = stator.add(stator.matmul(x, x) * 0.01, 1.0)
    return x


def never_closed(device: str) -> None:
    be = stator.Backend(device)
    KEPT.extend([be, work(be), be.stream(1), be.stream(2).record()])


def arrays_outlive_the_backend(device: str) -> None:
    be = stator.Backend(device)
    KEPT.append(work(be))
    be.close()


def pending_work_in_threads(device: str) -> None:
    be = stator.Backend(device)

    def run(k: int) -> None:
        with be.stream(k % len(be.streams)):
            KEPT.append(stator.exp(be.zeros((1 << 18,))))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def daemon_threads(device: str) -> None:
    be = stator.Backend(device)
    started = threading.Barrier(3)

    def run() -> None:
        x = be.zeros((1 << 12,))
        started.wait()
        while True:
            x = stator.add(x, 1.0)

    for _ in range(2):
        threading.Thread(target=run, daemon=True).start()
    started.wait()


def exported_memory(device: str) -> None:
    be = stator.Backend(device)
    x = be.ones((1000,))
    KEPT.append(x.__dlpack__())
    KEPT.append(stator.from_dlpack(np.ones(1000), device=stator.Backend("cpu")))
    be.close()


def late_use(device: str) -> None:
    import atexit

    be = stator.Backend(device)
    x = work(be)
    atexit.register(lambda: x.to_numpy())


def exit_in_the_middle(device: str) -> None:
    KEPT.append(work(stator.Backend(device)))
    sys.exit(5)


# way: (function, exit status)
WAYS = {
    "never_closed": (never_closed, 0),
    "arrays_outlive_the_backend": (arrays_outlive_the_backend, 0),
    "pending_work_in_threads": (pending_work_in_threads, 0),
    "daemon_threads": (daemon_threads, 0),
    "exported_memory": (exported_memory, 0),
    "late_use": (late_use, 0),
    "exit_in_the_middle": (exit_in_the_middle, 5),
}

if __name__ == "__main__":
    WAYS[sys.argv[1]][0](sys.argv[2])
