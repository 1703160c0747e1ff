"""A transformer block
===================

The forward pass of a block of a GPT: normalisation, attention that sees only what came before, and two layers, on
random weights. Each is a few lines of NumPy; the picture shows what the positions attend to.
"""

from types import ModuleType
from typing import Any

import numpy

SMALL = {"batch": 2, "length": 12, "width": 32}


def make(np: ModuleType, batch: int = 4, length: int = 256, width: int = 256) -> tuple[Any, ...]:
    rng = numpy.random.default_rng(9)

    def weights(rows: int, columns: int) -> Any:
        return np.asarray(rng.normal(scale=rows**-0.5, size=(rows, columns)).astype("float32"))

    x = np.asarray(rng.normal(size=(batch, length, width)).astype("float32"))
    return x, weights(width, 3 * width), weights(width, width), weights(width, 4 * width), weights(4 * width, width)


def normalised(np: ModuleType, x: Any) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def softmax(np: ModuleType, x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(np: ModuleType, x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def attention(np: ModuleType, x: Any, project: Any, out: Any, heads: int) -> tuple[Any, Any]:
    batch, length, width = x.shape
    q, k, v = np.split(x @ project, 3, axis=-1)
    q, k, v = (m.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3) for m in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / (width // heads) ** 0.5
    before = np.tril(np.ones((length, length), dtype=bool))
    shares = softmax(np, np.where(before, scores, np.float32(-1e9)))
    return (shares @ v).transpose(0, 2, 1, 3).reshape(batch, length, width) @ out, shares


def run(np: ModuleType, x: Any, project: Any, out: Any, up: Any, down: Any, heads: int = 8) -> dict[str, Any]:
    update, shares = attention(np, normalised(np, x), project, out, heads)
    x = x + update
    x = x + gelu(np, normalised(np, x) @ up) @ down
    return {"x": x, "norm": np.linalg.norm(x, axis=-1), "shares": shares[0]}


def draw(plt: Any, results: dict[str, Any]) -> None:
    _, axes = plt.subplots(2, 4, figsize=(9, 5), layout="constrained")
    for head, (ax, shares) in enumerate(zip(axes.flat, results["shares"], strict=True)):
        ax.imshow(shares[:32, :32], cmap="viridis", norm="log", vmin=1e-3, vmax=1)
        ax.set(title=f"head {head}", xticks=[], yticks=[])
    plt.suptitle("What the first 32 positions (rows) attend to (columns)")


if __name__ == "__main__":
    from command import main

    main(__doc__, make, run, draw, SMALL)
