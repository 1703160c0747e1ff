"""A captured training step
========================

A small network learns two spirals by a step that is captured into a graph once, and then launched by one call each
time. The same training by single ops gives the same losses; the picture shows what a step costs either way.
"""

import time
from typing import Any

import numpy as np

import stator
from stator import Array, nn

SMALL = {"points": 60, "steps": 8}


def make(points: int = 500, steps: int = 600, width: int = 32) -> tuple[Any, ...]:
    rng = np.random.default_rng(17)
    angle, label = 3 * np.pi * np.sqrt(rng.random(points)), rng.integers(2, size=points)
    x = angle[:, None] * np.stack([np.cos(angle + np.pi * label), np.sin(angle + np.pi * label)], axis=1)
    x = (x + rng.normal(scale=0.3, size=x.shape)) / 10
    shapes = [(width, 2), (width,), (width, width), (width,), (2, width), (2,)]
    weights = [rng.normal(scale=1.5 * s[-1] ** -0.5 if s[1:] else 1, size=s).astype("float32") for s in shapes]
    return x.astype("float32"), label, weights, steps


def forward(p: list[Array], x: Array) -> tuple[Array, Array, Array]:
    h = nn.linear(x, p[0], p[1], activation="tanh")
    k = nn.linear(h, p[2], p[3], activation="tanh")
    return nn.linear(k, p[4], p[5]), h, k


def train(be: stator.Backend, x: Array, label: Array, weights: Any, steps: int, captured: bool) -> tuple[Any, ...]:
    """(losses, milliseconds of a step, weights) of a training of its own."""
    p = [be.asarray(w) for w in weights]
    m, v = ([stator.zeros_like(w) for w in p] for _ in range(2))
    count, one, losses = be.zeros((), dtype="int64"), be.ones((), dtype="float32"), be.zeros(steps, dtype="float32")

    def step() -> None:
        logits, h, k = forward(p, x)
        losses[count] = nn.cross_entropy(logits, label)
        count[...] += 1
        slope, *third = nn.linear_backward(nn.cross_entropy_backward(one, logits, label), k, p[4])
        slope, *second = nn.linear_backward(slope, h, p[2], k, activation="tanh")
        _, *first = nn.linear_backward(slope, x, p[0], h, activation="tanh")
        nn.adam_step(p, [*first, *second, *third], m, v, step=count, lr=5e-3)

    with be.capture() as graph:
        step()  # nothing runs yet, and each launch reads the weights and the count again
    start = time.perf_counter()
    for _ in range(steps):
        graph.launch() if captured else step()
    be.synchronize()
    return losses, 1e3 * (time.perf_counter() - start) / steps, p


def run(be: stator.Backend, points: Any, labels: Any, weights: list[Any], steps: int) -> dict[str, Any]:
    x, label = be.asarray(points), be.asarray(labels)
    (single, slow, _), (losses, fast, p) = (train(be, x, label, weights, steps, captured) for captured in (False, True))
    grid = be.asarray(np.moveaxis(np.mgrid[-1.1:1.1:100j, -1.1:1.1:100j][::-1], 0, -1).astype("float32"))
    found = {"map": nn.softmax(forward(p, grid)[0], axis=-1)[..., 1], "points": x, "labels": label, "losses": losses}
    return {**found, "difference": stator.max(stator.abs(losses - single)), "ms by ops": slow, "ms captured": fast}


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    left.imshow(results["map"], cmap="RdBu", origin="lower", extent=(-1.1, 1.1, -1.1, 1.1))
    left.scatter(*results["points"].T, c=results["labels"], cmap="RdBu", s=8, edgecolors="white", linewidths=0.5)
    middle.semilogy(results["losses"])
    middle.set(xlabel="step", title="Loss of both")
    right.bar(["by ops", "captured"], [results["ms by ops"], results["ms captured"]])
    right.set(ylabel="ms", title="Time of a step")


if __name__ == "__main__":
    from command import on_device

    on_device(__doc__, make, run, draw, SMALL)
