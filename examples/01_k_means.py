"""k-means: groups points around centres by turns of assigning and averaging."""

import numpy


def make(np, points=20_000, axes=16, groups=8):
    rng = numpy.random.default_rng(1)
    centres = rng.normal(scale=4, size=(groups, axes))
    x = centres[rng.integers(groups, size=points)] + rng.normal(size=(points, axes))
    return np.asarray(x), groups


def run(np, x, groups, turns=20):
    # The first centre is the first point, and each further one the point that is farthest from those before.
    chosen = x[:1].copy()
    nearest = ((x - chosen) ** 2).sum(axis=1)
    for _ in range(1, groups):
        far = np.argmax(nearest)
        chosen = np.concatenate([chosen, x[far : far + 1]])
        nearest = np.minimum(nearest, ((x - x[far]) ** 2).sum(axis=1))
    centres = chosen
    for _ in range(turns):
        squares = (x**2).sum(axis=1)[:, None] - 2 * x @ centres.T + (centres**2).sum(axis=1)
        label = squares.argmin(axis=1)
        member = (label[:, None] == np.arange(groups)).astype(x.dtype)
        centres = (member.T @ x) / np.maximum(member.sum(axis=0), 1)[:, None]
    return {"centres": centres, "inertia": squares.min(axis=1).sum(), "sizes": np.bincount(label, minlength=groups)}


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run)
