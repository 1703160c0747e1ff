"""Logistic regression
===================

Learns by gradient descent with momentum which of two classes a row belongs to, and tests it on rows that it has not
seen. The losses of all steps stay on the device until they are drawn, so that no step waits for the host.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"rows": 200, "columns": 5}


def make(np: ModuleType, rows: int = 20_000, columns: int = 50) -> tuple[Any, Any]:
    rng = numpy.random.default_rng(3)
    x = rng.normal(size=(rows, columns)).astype("float32")
    weights = rng.normal(size=columns).astype("float32")
    y = (x @ weights + rng.logistic(size=rows) > 0).astype("float32")
    return np.asarray(x), np.asarray(y)


def run(np: ModuleType, x: Any, y: Any, steps: int = 100, rate: float = 0.5, decay: float = 1e-4) -> dict[str, Any]:
    split = len(x) * 4 // 5
    scale = x[:split].std(axis=0)
    x = (x - x[:split].mean(axis=0)) / scale
    train, seen = x[:split], y[:split]
    weights = np.zeros(x.shape[1], dtype=x.dtype)
    speed = np.zeros_like(weights)
    losses: list[Any] = []
    for _ in range(steps):
        z = train @ weights
        p = 1 / (1 + np.exp(-z))
        losses.append((np.logaddexp(0, z) - seen * z).mean())
        gradient = train.T @ (p - seen) / split + decay * weights
        speed = 0.9 * speed - rate * gradient
        weights += speed
    right = (x[split:] @ weights > 0) == (y[split:] > 0.5)
    return {"weights": weights, "losses": np.stack(losses), "accuracy": right.mean()}


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.plot(results["losses"])
    left.set(xlabel="step", ylabel="loss", title=f"Right on unseen rows: {float(results['accuracy']):.1%}")
    right.stem(results["weights"])
    right.set(xlabel="column", title="Weights")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
