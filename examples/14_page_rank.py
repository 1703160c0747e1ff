"""PageRank
========

Ranks the pages of a web by the links between them: how often someone is on a page who follows links at random and
sometimes starts again. The links are a sparse matrix, and each turn is one product of it with the ranks. Where pages
are linked from important pages, they rank above others with as many links.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import stator

SMALL = {"pages": 60, "links": 3}


def make(pages: int = 20_000, links: int = 8) -> tuple[NDArray[Any], int]:
    """The links (from, to) of a web in which each new page links to older ones, and rather to those that are old."""
    rng = np.random.default_rng(14)
    start = np.repeat(np.arange(1, pages), links)
    end = (start * rng.random(start.size) ** 3).astype("int64")
    back = rng.random(start.size) < 0.2  # some links are answered
    both = np.concatenate([np.stack([start, end]), np.stack([end, start])[:, back]], axis=1)
    return np.unique(both, axis=1), pages


def run(
    be: stator.Backend, links: NDArray[Any], pages: int, damping: float = 0.85, turns: int = 50
) -> dict[str, stator.Array]:
    start, end = be.asarray(links[0]), be.asarray(links[1])
    outgoing = stator.bincount(start, minlength=pages).astype("float64")
    follow = stator.sparse.COO(1 / outgoing[start], end, start, (pages, pages)).to_csr()
    lost = outgoing == 0  # a visitor of a page without links starts again
    ranks, changes = be.full((pages,), 1 / pages, dtype="float64"), list[stator.Array]()
    for _ in range(turns):
        anew = (1 - damping) / pages + damping * stator.sum(stator.where(lost, ranks, 0.0)) / pages
        turned = damping * (follow @ ranks) + anew
        changes.append(stator.sum(stator.abs(turned - ranks)))
        ranks = turned
    best, pages_of_best = stator.topk(ranks, 5)
    return {
        "ranks": ranks,
        "links": stator.bincount(end, minlength=pages),
        "changes": stator.stack(changes),
        "sum of ranks": stator.sum(ranks),
        "best": best,
        "best page": pages_of_best[0],
    }


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.loglog(results["links"] + 1, results["ranks"], ".", markersize=2)
    left.set(xlabel="links to a page, and 1", ylabel="rank", title="Pages")
    right.semilogy(results["changes"])
    right.set(xlabel="turn", ylabel="sum of the changes", title="Convergence")


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
