"""Image filters
=============

Cleans a noisy picture, sharpens it and finds its edges. One convolution applies all linear filters, a channel each. The
median, which is not linear, removes single wrong pixels better than the Gaussian, as the errors say, so the picture is
sharpened and its edges are found after the median.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import stator
from stator import nn
from stator.typing import ArrayLike

SMALL = {"size": 32}


def make(size: int = 256) -> tuple[NDArray[Any], NDArray[Any]]:
    """A picture of discs on a slope of grey, and the same with noise and wrong pixels."""
    rng = np.random.default_rng(13)
    y, x = np.mgrid[0 : 1 : complex(size), 0 : 1 : complex(size)]
    clean: NDArray[Any] = 0.3 + 0.3 * x
    for _ in range(12):
        (row, column), radius = rng.random(2), rng.uniform(0.04, 0.15)
        clean[(y - row) ** 2 + (x - column) ** 2 < radius**2] = rng.random()
    noisy = clean + rng.normal(scale=0.03, size=clean.shape)
    wrong = rng.random(clean.shape) < 0.04
    noisy[wrong] = rng.integers(2, size=wrong.sum())
    return clean.astype("float32"), noisy.astype("float32")


def filters() -> NDArray[Any]:
    """The weights of a Gaussian, a sharpening filter, and Sobel's two, all of 5 x 5."""
    row = np.exp(-(np.arange(-2, 3) ** 2) / 2)
    gauss = np.outer(row, row) / row.sum() ** 2
    sharp = 2 * np.eye(25)[12].reshape(5, 5) - gauss
    sobel = np.pad(np.outer([1, 2, 1], [-1, 0, 1]) / 8, 1)
    return np.stack([gauss, sharp, sobel, sobel.T])[:, None].astype("float32")


def run(be: stator.Backend, clean: ArrayLike, noisy: ArrayLike) -> dict[str, stator.Array]:
    wanted, x = be.asarray(clean), be.asarray(noisy)
    edge = ((0, 0), (0, 0), (2, 2), (2, 2))
    padded = stator.pad(x[None, None], edge, mode="edge")
    windows = nn.unfold(padded[..., 1:-1, 1:-1], 3)[0]  # a column of nine neighbours for each pixel
    median = stator.median(windows, axis=0).reshape(x.shape)
    both = stator.concat([padded, stator.pad(median[None, None], edge, mode="edge")])
    of_noisy, of_median = nn.conv2d(both, be.asarray(filters()))
    blurred, (_, sharpened, across, down) = of_noisy[0], stator.unstack(of_median)

    def error(picture: stator.Array) -> stator.Array:
        return stator.sqrt(stator.mean((picture - wanted) ** 2))

    return {
        "noisy": x,
        "blurred": blurred,
        "median": median,
        "sharpened": sharpened,
        "edges": stator.hypot(across, down),
        "error of noisy": error(x),
        "error of blurred": error(blurred),
        "error of median": error(median),
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, axes = plt.subplots(1, 5, figsize=(13, 3.2), layout="constrained")
    for ax, (name, picture) in zip(axes, results.items(), strict=False):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=0.25 if name == "edges" else 1)
        error = results.get(f"error of {name}")
        ax.set(title=name if error is None else f"{name}, error {float(error):.3f}", xticks=[], yticks=[])


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
