"""An LSTM that reads images
=========================

Reads images of digits row by row, as sequences of eight rows, and learns which digit it has read. Where PyTorch is
installed its LSTM learns beside it, from the same weights and in the same order; the losses lie on each other.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import stator
from stator import nn
from stator.typing import ArrayLike

SMALL = {"images": 80, "hidden": 8, "size": 16, "epochs": 1}


def make(images: int | None = None, hidden: int = 32, size: int = 32, epochs: int = 8) -> tuple[Any, ...]:
    """Images as sequences of 8 rows of 8 numbers, their digits, the first weights, and the images of each step."""
    digits, rng = load_digits(), np.random.default_rng(12)
    order = rng.permutation(len(digits.target))[:images]
    x, target = (digits.images[order] / 16).astype("float32"), digits.target[order].astype("int64")
    shapes = [(4 * hidden, 8), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,), (10, hidden), (10,)]
    weights = [rng.uniform(-(hidden**-0.5), hidden**-0.5, s).astype("float32") for s in shapes]
    split = len(x) * 4 // 5  # the rest is not trained on
    orders = [rng.permutation(split)[: split // size * size].reshape(-1, size) for _ in range(epochs)]
    return x, target, weights, np.concatenate(orders), split


def run(
    x: NDArray[Any], target: NDArray[Any], weights: list[ArrayLike], steps: NDArray[Any], split: int, rate: float = 5e-3
) -> tuple[NDArray[Any], float]:
    """The losses of the steps, and the share of the unseen images that is named right."""
    params, one, losses = [stator.asarray(w) for w in weights], stator.ones((), dtype="float32"), list[stator.Array]()
    moments = [[stator.zeros(p.shape, dtype="float32") for p in params] for _ in range(2)]
    for step, at in enumerate(steps, 1):
        rows, wanted = stator.asarray(x[at]), stator.asarray(target[at])
        _, (h, _), workspace = nn.lstm(rows, None, params[:4], batch_first=True, return_workspace=True)
        logits = nn.linear(h[0], *params[4:])
        losses.append(nn.cross_entropy(logits, wanted))
        slope = nn.cross_entropy_backward(one, logits, wanted)
        back = nn.lstm_backward(None, ((slope @ params[4])[None], None), rows, params[:4], workspace, batch_first=True)
        nn.adam_step(params, [*back[2], slope.T @ h[0], stator.sum(slope, axis=0)], *moments, step=step, lr=rate)
    _, (h, _) = nn.lstm(stator.asarray(x[split:]), None, params[:4], batch_first=True)
    named = stator.argmax(nn.linear(h[0], *params[4:]), axis=1).to_numpy()
    right: NDArray[Any] = named == target[split:]
    return stator.stack(losses).to_numpy(), float(right.mean())


if __name__ == "__main__":
    from command import beside_torch, lstm

    beside_torch(__doc__, make, run, lstm, SMALL)
