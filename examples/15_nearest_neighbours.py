"""Nearest neighbours
==================

Names handwritten digits by the known images that are most like them. All distances come from one matrix product,
``topk`` finds the nearest images of each row, and they vote. The picture shows some images
beside their neighbours: those first, in red, that three neighbours name wrong.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import stator
from stator.typing import ArrayLike

SMALL = {"known": 200, "asked": 40}


def make(known: int = 1400, asked: int = 397) -> tuple[NDArray[Any], ...]:
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(15).permutation(len(y))
    x, y = (x[order] / 16).astype("float32"), y[order]
    return x[:known], y[:known], x[known : known + asked], y[known : known + asked]


def run(
    be: stator.Backend, images: ArrayLike, digits: ArrayLike, queries: ArrayLike, answers: ArrayLike, most: int = 15
) -> dict[str, stator.Array]:
    x, y, q, wanted = (be.asarray(v) for v in (images, digits, queries, answers))
    squares = stator.sum(q * q, axis=1)[:, None] - 2 * (q @ x.T) + stator.sum(x * x, axis=1)
    distances, nearest = stator.topk(squares, most, axis=1, largest=False)
    votes = stator.cumulative_sum(stator.nn.one_hot(y[nearest], 10), axis=1)  # of the first, the first two, ...
    named = stator.argmax(votes, axis=2)
    right = stator.mean((named == wanted[:, None]).astype("float64"), axis=0)
    order = stator.argsort(named[:, 2] == wanted, stable=True)  # those that three neighbours name wrong come first
    shown = order[:8]
    return {
        "right by number of neighbours": right,
        "right by three": right[2],
        "distance of the nearest": stator.sqrt(stator.maximum(distances[:, 0], 0)),
        "queries": q[shown].reshape(-1, 8, 8),
        "neighbours": x[nearest[shown, :5]].reshape(-1, 5, 8, 8),
        "named": named[shown, 2],
        "digits": wanted[shown],
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, ax) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    images = np.concatenate([results["queries"][:, None], results["neighbours"]], axis=1)
    images = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=0.3)
    left.imshow(np.block([list(row) for row in images]), cmap="gray_r")
    left.set(title="Images with their names, and their neighbours", xticks=[])
    left.set_yticks(np.arange(len(images)) * 10 + 4.5, results["named"])
    for label, named, digit in zip(left.get_yticklabels(), results["named"], results["digits"], strict=True):
        label.set_color("black" if named == digit else "red")
    shares = 100 * results["right by number of neighbours"]
    ax.plot(range(1, 1 + len(shares)), shares, "o-")
    ax.set(xlabel="neighbours that vote", ylabel="percent", title="Named right")


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
