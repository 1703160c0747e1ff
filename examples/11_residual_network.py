"""A residual network
==================

Learns digits by stator's forward and backward calls; where PyTorch is installed, a twin does from the same weights."""

import numpy as np
from sklearn.datasets import load_digits

import stator
from stator import Array, nn
from stator.typing import ArrayLike

SMALL = {"width": 4, "images": 100, "epochs": 2, "batch": 25}


def make(width: int = 16, images: int = 1500, epochs: int = 5, batch: int = 50) -> tuple[object, ...]:
    rng, (x, y) = np.random.default_rng(11), load_digits(return_X_y=True)
    p = {"weight": rng.normal(scale=width**-0.5, size=(10, width)), "bias": np.zeros(10)}
    for i in range(5):  # one convolution, then two blocks of two
        p[f"conv{i}"] = rng.normal(scale=0.5 / width**0.5, size=(width, width if i else 1, 3, 3))
        p[f"scale{i}"], p[f"shift{i}"] = np.ones(width), np.zeros(width)
    order = [rows for _ in range(epochs) for rows in rng.permutation(images).reshape(-1, batch)]
    return {name: w.astype("float32") for name, w in p.items()}, x.reshape(-1, 1, 8, 8).astype("float32") / 16, y, order


class Network:
    def __init__(self, weights: dict[str, ArrayLike]) -> None:
        self.p, self.g = {name: stator.asarray(w) for name, w in weights.items()}, dict[str, Array]()
        self.stats = [(stator.zeros_like(self.p["scale0"]), stator.ones_like(self.p["scale0"])) for _ in range(5)]
        self.tape = list[tuple[Array, Array, Array, Array]]()  # what the backward passes of the layers need

    def layer(self, i: int, x: Array, training: bool) -> Array:
        p, stats, y = self.p, self.stats[i], nn.conv2d(x, self.p[f"conv{i}"], padding=1)
        z, mean, var = nn.batch_norm(y, p[f"scale{i}"], p[f"shift{i}"], *(() if training else stats), training=training)
        if training:
            nn.update_running_stats(*stats, mean, var, count=y.size // y.shape[1])
            self.tape.append((x, y, mean, var))
        return z

    def back(self, i: int, grad: Array) -> Array:
        p, g, (x, y, mean, var) = self.p, self.g, self.tape.pop()
        grad, g[f"scale{i}"], g[f"shift{i}"] = nn.batch_norm_backward(grad, y, mean, var, p[f"scale{i}"], training=True)
        grad, g[f"conv{i}"], _ = nn.conv2d_backward(grad, x, p[f"conv{i}"], padding=1)
        return grad

    def forward(self, x: Array, training: bool = True) -> Array:
        self.first, self.blocks = self.layer(0, x, training), list[tuple[int, Array, Array, Array]]()
        x = nn.relu(self.first)
        for i in (1, 3):
            inner = self.layer(i, x, training)
            x = nn.avg_pool2d(top := nn.relu(outer := self.layer(i + 1, nn.relu(inner), training) + x), 2)
            self.blocks.append((i, inner, outer, top))
        self.shape, self.means = x.shape, stator.mean(x, axis=(2, 3))
        return nn.linear(self.means, self.p["weight"], self.p["bias"])

    def backward(self, grad: Array) -> list[Array]:
        self.g |= {"weight": grad.T @ self.means, "bias": stator.sum(grad, axis=0)}
        grad = nn.mean_backward(grad @ self.p["weight"], self.shape, axis=(2, 3))
        for i, inner, outer, top in reversed(self.blocks):
            skip = nn.relu_backward(nn.avg_pool2d_backward(grad, top, 2), outer)
            grad = self.back(i, nn.relu_backward(self.back(i + 1, skip), inner)) + skip
        self.back(0, nn.relu_backward(grad, self.first))
        return [self.g[name] for name in self.p]


def run(weights: dict[str, ArrayLike], x: ArrayLike, y: ArrayLike, order: list[ArrayLike]) -> tuple[object, float]:
    network, losses, one = Network(weights), list[Array](), stator.ones((), dtype="float32")
    x, y, p = stator.asarray(x), stator.asarray(y), list(network.p.values())
    m, v = ([stator.zeros_like(w) for w in p] for _ in range(2))
    for step, rows in enumerate(order, 1):
        losses.append(nn.cross_entropy(logits := network.forward(x[rows]), y[rows]))
        nn.adam_step(p, network.backward(nn.cross_entropy_backward(one, logits, y[rows])), m, v, step=step, lr=3e-3)
    right = stator.argmax(network.forward(x[1500:], training=False), axis=1) == y[1500:]
    return stator.stack(losses).to_numpy(), float(stator.mean(right))


if __name__ == "__main__":
    from command import beside_torch, residual_network

    beside_torch(__doc__, make, run, residual_network, SMALL)
