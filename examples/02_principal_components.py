"""Principal components
====================

Finds the directions in which measurements vary most, by a singular value decomposition. Five directions describe a
table of a hundred columns here, because the rest of it is noise; the error of what they rebuild says so.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"rows": 60, "columns": 12}


def make(np: ModuleType, rows: int = 5_000, columns: int = 100) -> tuple[Any]:
    rng = numpy.random.default_rng(2)
    hidden = rng.normal(size=(rows, 5)) @ rng.normal(scale=3, size=(5, columns))
    return (np.asarray(hidden + rng.normal(size=(rows, columns))),)


def run(np: ModuleType, x: Any, count: int = 5) -> dict[str, Any]:
    mean = x.mean(axis=0)
    centred = x - mean
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    # A direction may point either way: its largest entry is made positive.
    at = np.argmax(np.abs(directions), axis=1)
    signs = np.sign(directions[np.arange(directions.shape[0]), at])
    directions = (directions * signs[:, None])[:count]
    explained = values**2 / (len(x) - 1)
    scores = centred @ directions.T
    rebuilt = scores @ directions + mean
    return {
        "directions": directions,
        "explained": explained[:count] / explained.sum(),
        "scores": scores,
        "error": np.sqrt(((x - rebuilt) ** 2).mean()),
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.scatter(*results["scores"][:, :2].T, s=3)
    left.set(xlabel="first component", ylabel="second component", title="Rows by their scores")
    right.bar(range(1, 1 + len(results["explained"])), 100 * results["explained"])
    right.set(xlabel="component", ylabel="percent", title="Share of the variance")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
