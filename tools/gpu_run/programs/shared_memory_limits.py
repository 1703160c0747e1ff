"""Rows of two lengths, in shared memory of two sizes: launches, graphs and threads must not lower others' limits."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import main


def check(be: Any, small: bool) -> dict[str, Any]:
    import stator

    rows, lengths, rounds = 132, (36_000, 30_000), 1 if small else 300
    arrays = [be.zeros((rows, n), dtype="float16") for n in lengths]
    softmax = be.graph(lambda x: stator.nn.softmax(x))
    for _ in range(3):
        softmax(arrays[0])
    stator.nn.softmax(arrays[1])
    np.testing.assert_allclose(softmax(arrays[0])[0, 0].item(), 1 / lengths[0], rtol=2e-3)
    errors: list[str] = []

    def work(number: int) -> None:
        try:
            with be.use(), be.stream(number + 1):
                for _ in range(rounds):
                    y = stator.nn.softmax(arrays[number])
                np.testing.assert_allclose(y[0, 0].item(), 1 / lengths[number], rtol=2e-3)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    return {"launches": 2 * rounds}


if __name__ == "__main__":
    raise SystemExit(main(check))
