"""Optimal transport by a loop on the device
=========================================

How does one heap of sand become two others at the least cost? Sinkhorn's algorithm scales the rows and columns of a
plan in turns until both sums are right. The turns are a ``while_loop``: the device decides after each whether there is
another one, and the host reads nothing until the plan is found.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import stator
from stator.typing import ArrayLike

SMALL = {"sites": 30}
Carry = tuple[stator.Array, stator.Array, stator.Array, stator.Array]


def make(sites: int = 300) -> tuple[NDArray[Any], ...]:
    """The sites, and how much lies at each before and after."""
    x = np.linspace(0, 1, sites)

    def heap(*parts: tuple[float, float, float]) -> NDArray[Any]:
        heights = np.full(sites, 1e-3)
        for share, middle, width in parts:
            heights += share * np.exp(-(((x - middle) / width) ** 2))
        found: NDArray[Any] = heights / heights.sum()
        return found

    return x, heap((1, 0.35, 0.12)), heap((1, 0.3, 0.04), (0.6, 0.8, 0.08))


def run(be: stator.Backend, sites: ArrayLike, first: ArrayLike, last: ArrayLike) -> dict[str, stator.Array]:
    blur, tolerance = 2e-3, 1e-9
    x, before, after = (be.asarray(v) for v in (sites, first, last))
    cost = (x[:, None] - x) ** 2
    wanted = stator.log(before)[:, None], stator.log(after)[None]

    def turn(carry: Carry) -> Carry:
        """Scales the rows of the plan, then its columns, as logarithms; and how wrong the rows are then."""
        rows, columns, _, turns = carry
        rows = wanted[0] - stator.logsumexp(columns - cost / blur, axis=1, keepdims=True)
        columns = wanted[1] - stator.logsumexp(rows - cost / blur, axis=0, keepdims=True)
        sums = stator.sum(stator.exp(rows + columns - cost / blur), axis=1)
        return rows, columns, stator.sum(stator.abs(sums - before)), turns + 1

    start = stator.zeros_like(wanted[0]), stator.zeros_like(wanted[1]), be.asarray(np.inf), be.asarray(0)
    rows, columns, error, turns = be.graphs.while_loop(lambda carry: carry[2] > tolerance, turn, start, limit=10_000)
    plan = stator.exp(rows + columns - cost / blur)
    return {
        "plan": plan,
        "before": before,
        "after": after,
        "mean goal": plan @ x / before,
        "cost": stator.sum(plan * cost),
        "error": error,
        "turns": turns,
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    left.imshow(results["plan"] ** 0.5, cmap="Blues", origin="lower", extent=(0, 1, 0, 1))
    x = np.linspace(0, 1, len(results["before"]))
    left.plot(results["mean goal"], x, color="C1", label="mean goal")
    left.legend()
    left.set(xlabel="to", ylabel="from", title=f"The plan after {int(results['turns'])} turns")
    right.fill_between(x, results["before"], alpha=0.5, label="before")
    right.fill_between(x, results["after"], alpha=0.5, label="after")
    right.set(xlabel="position", title="The heaps")
    right.legend()


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
