"""A residual network
==================

Learns digits by stator's forward and backward calls; where PyTorch is installed, a twin does from the same weights."""

import numpy as np
from sklearn.datasets import load_digits

import stator
from stator import nn

SMALL = {"width": 4, "images": 100, "epochs": 2, "batch": 25}


def make(width=16, images=1500, epochs=5, batch=50):
    rng, (x, y) = np.random.default_rng(11), load_digits(return_X_y=True)
    p = {"weight": rng.normal(scale=width**-0.5, size=(10, width)), "bias": np.zeros(10)}
    for i in range(5):  # one convolution, then two blocks of two
        p[f"conv{i}"] = rng.normal(scale=0.5 / width**0.5, size=(width, width if i else 1, 3, 3))
        p[f"scale{i}"], p[f"shift{i}"] = np.ones(width), np.zeros(width)
    order = [rows for _ in range(epochs) for rows in rng.permutation(images).reshape(-1, batch)]
    return {name: w.astype("float32") for name, w in p.items()}, x.reshape(-1, 1, 8, 8).astype("float32") / 16, y, order


def layer(p, stats, i, x, training):
    y = nn.conv2d(x, p[f"conv{i}"], padding=1)
    z, mean, var = nn.batch_norm(y, p[f"scale{i}"], p[f"shift{i}"], *(() if training else stats[i]), training=training)
    if training:
        nn.update_running_stats(*stats[i], mean, var, count=y.size // y.shape[1])
    return z, (x, y, mean, var)


def layer_backward(p, grads, i, grad, kept):
    x, *rest = kept
    grad, grads[f"scale{i}"], grads[f"shift{i}"] = nn.batch_norm_backward(grad, *rest, p[f"scale{i}"], training=True)
    grad, grads[f"conv{i}"], _ = nn.conv2d_backward(grad, x, p[f"conv{i}"], padding=1)
    return grad


def forward(p, stats, x, training=True):
    first, kept = layer(p, stats, 0, x, training)
    x, blocks = nn.relu(first), []
    for i in (1, 3):
        inner, one = layer(p, stats, i, x, training)
        outer, two = layer(p, stats, i + 1, nn.relu(inner), training)
        x = nn.avg_pool2d(top := nn.relu(outer := outer + x), 2)
        blocks.append((i, inner, one, outer, two, top))
    means = stator.mean(x, axis=(2, 3))
    return nn.linear(means, p["weight"], p["bias"]), (first, kept, blocks, x.shape, means)


def backward(p, grad, first, kept, blocks, shape, means):
    grads = {"weight": grad.T @ means, "bias": stator.sum(grad, axis=0)}
    grad = nn.mean_backward(grad @ p["weight"], shape, axis=(2, 3))
    for i, inner, one, outer, two, top in reversed(blocks):
        skip = nn.relu_backward(nn.avg_pool2d_backward(grad, top, 2), outer)
        grad = nn.relu_backward(layer_backward(p, grads, i + 1, skip, two), inner)
        grad = layer_backward(p, grads, i, grad, one) + skip
    layer_backward(p, grads, 0, nn.relu_backward(grad, first), kept)
    return grads


def run(weights, images, digits, order):
    p, losses, one = {name: stator.asarray(w) for name, w in weights.items()}, [], stator.ones((), dtype="float32")
    m, v = ([stator.zeros_like(w) for w in p.values()] for _ in range(2))
    stats = [(stator.zeros(w.shape, dtype=w.dtype), stator.ones(w.shape, dtype=w.dtype)) for w in [p["scale0"]] * 5]
    x, y = stator.asarray(images), stator.asarray(digits)
    for step, rows in enumerate(order, 1):
        logits, saved = forward(p, stats, x[rows])
        losses.append(nn.cross_entropy(logits, y[rows]))
        grads = backward(p, nn.cross_entropy_backward(one, logits, y[rows]), *saved)
        nn.adam_step(list(p.values()), [grads[name] for name in p], m, v, step=step, lr=3e-3)
    right = stator.argmax(forward(p, stats, x[1500:], training=False)[0], axis=1) == y[1500:]
    return stator.stack(losses).to_numpy(), float(stator.mean(right))


if __name__ == "__main__":
    from command import beside_torch, residual_network

    beside_torch(__doc__, make, run, residual_network, SMALL)
