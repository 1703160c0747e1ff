"""The game of life
================

Cells live and die on a torus by the number of their neighbours, which rolled copies of the board count. It shows work
on small integers and bools, and how the number of living cells settles.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"size": 20}


def make(np: ModuleType, size: int = 512) -> tuple[Any]:
    alive = numpy.random.default_rng(5).random((size, size)) < 0.3
    return (np.asarray(alive.astype("uint8")),)


def run(np: ModuleType, board: Any, generations: int = 100) -> dict[str, Any]:
    living: list[Any] = []
    for _ in range(generations):
        rows = board + np.roll(board, 1, axis=0) + np.roll(board, -1, axis=0)
        around = rows + np.roll(rows, 1, axis=1) + np.roll(rows, -1, axis=1) - board
        board = ((around == 3) | ((board == 1) & (around == 2))).astype("uint8")
        living.append(board.sum())
    return {"board": board, "living": np.stack(living)}


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.imshow(results["board"], cmap="gray_r", interpolation="nearest")
    left.set(title="The last generation", xticks=[], yticks=[])
    right.plot(results["living"])
    right.set(xlabel="generation", title="Living cells")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
