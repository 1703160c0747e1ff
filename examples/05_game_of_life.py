"""The game of life on a torus, and how many cells live in each generation."""

import numpy


def make(np, size=512):
    alive = numpy.random.default_rng(5).random((size, size)) < 0.3
    return (np.asarray(alive.astype("uint8")),)


def run(np, board, generations=100):
    living = []
    for _ in range(generations):
        rows = board + np.roll(board, 1, axis=0) + np.roll(board, -1, axis=0)
        around = rows + np.roll(rows, 1, axis=1) + np.roll(rows, -1, axis=1) - board
        board = ((around == 3) | ((board == 1) & (around == 2))).astype("uint8")
        living.append(board.sum())
    return {"board": board, "living": np.stack(living)}


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run)
