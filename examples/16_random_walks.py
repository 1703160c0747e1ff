"""Random walks on streams
=======================

Many walks in the plane, drawn by generators that are independent of each other, each on a stream of its own. Work of
different streams may overlap, yet what a generator draws depends only on its seed: the same walks come out when one
stream draws them one after another. The distance grows with the square root of the number of steps.
"""

import math
from typing import Any

import stator

SMALL = {"walks": 40, "steps": 50}


def make(walks: int = 4000, steps: int = 1000, groups: int = 4, seed: int = 16) -> tuple[int, int, int, int]:
    return walks // groups, steps, groups, seed


def walk(generator: stator.random.Generator, walks: int, steps: int) -> stator.Array:
    """Positions (walks, steps + 1, 2) of walks that begin at 0."""
    moves = generator.normal(size=(walks, steps, 2), dtype="float32")
    return stator.pad(stator.cumulative_sum(moves, axis=1), ((0, 0), (1, 0), (0, 0)))


def run(be: stator.Backend, walks: int, steps: int, groups: int, seed: int) -> dict[str, stator.Array]:
    be.random.seed(seed)
    pool, last, parts = be.streams.pool(groups), be.current_stream, list[tuple[stator.Array, ...]]()
    for generator in be.random.spawn(groups):
        stream = pool.next()
        with stream:
            walked = walk(generator, walks, steps)
            away = stator.sum(walked**2, axis=2)
            parts.append((walked, stator.mean(away, axis=0), stator.sqrt(away[:, -1])))
        last.wait(stream.record())  # what follows on the current stream may read these arrays
    positions, squares, ends = zip(*parts, strict=True)

    be.random.seed(seed)
    again = [walk(generator, walks, steps) for generator in be.random.spawn(groups)]
    same = stator.stack([stator.all(a == b) for a, b in zip(again, positions, strict=True)])
    return {
        "walks": stator.concat([p[:2] for p in positions]),
        "distance": stator.sqrt(stator.mean(stator.stack(squares), axis=0)),
        "ends": stator.concat(ends),
        "same on one stream": stator.mean(same.astype("float32")),
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    steps = results["distance"].size
    _, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for positions in results["walks"]:
        left.plot(*positions.T, linewidth=0.6)
    left.set(title="Two walks of each stream", aspect="equal", adjustable="datalim")
    middle.plot(results["distance"], label="of the walks")
    middle.plot([math.sqrt(2 * n) for n in range(steps)], "k--", label="square root of 2 x steps")
    middle.set(xlabel="steps", title="Root of the mean squared distance")
    middle.legend()
    right.hist(results["ends"], bins=40)
    right.set(xlabel="distance", title="Distances of the ends")


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
