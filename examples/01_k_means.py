"""k-means
=======

Groups points around centres, by turns of assigning each point to its nearest centre and averaging the points of each
centre. All distances come from one matrix product, so that no array of points x centres x axes is needed.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"points": 300, "axes": 4, "groups": 3}


def make(np: ModuleType, points: int = 20_000, axes: int = 16, groups: int = 8) -> tuple[Any, int]:
    rng = numpy.random.default_rng(1)
    centres = rng.normal(scale=4, size=(groups, axes))
    x = centres[rng.integers(groups, size=points)] + rng.normal(size=(points, axes))
    return np.asarray(x), groups


def run(np: ModuleType, x: Any, groups: int, turns: int = 20) -> dict[str, Any]:
    # The first centre is the first point, and each further one the point that is farthest from those before.
    chosen = x[:1].copy()
    nearest = ((x - chosen) ** 2).sum(axis=1)
    for _ in range(1, groups):
        far = np.argmax(nearest)
        chosen = np.concatenate([chosen, x[far : far + 1]])
        nearest = np.minimum(nearest, ((x - x[far]) ** 2).sum(axis=1))
    centres, squares, label = chosen, x, x
    for _ in range(turns):
        squares = (x**2).sum(axis=1)[:, None] - 2 * x @ centres.T + (centres**2).sum(axis=1)
        label = squares.argmin(axis=1)
        member = (label[:, None] == np.arange(groups)).astype(x.dtype)
        centres = (member.T @ x) / np.maximum(member.sum(axis=0), 1)[:, None]
    return {
        "centres": centres,
        "inertia": squares.min(axis=1).sum(),
        "sizes": np.bincount(label, minlength=groups),
        "points": x,
        "label": label,
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    plt.figure(layout="constrained")
    plt.scatter(*results["points"][:, :2].T, s=2, c=results["label"], cmap="tab10")
    plt.plot(*results["centres"][:, :2].T, "k+", markersize=14, label="centres")
    plt.title("The first two axes of the points, coloured by group")
    plt.legend()


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
