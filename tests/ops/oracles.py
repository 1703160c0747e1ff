"""References for rows of the op table whose oracle is not a dotted name: documented formulas in wide NumPy."""

from __future__ import annotations

import importlib

import numpy as np


def relu(x):
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def relu_backward(grad, x):
    return np.where(x <= 0, np.zeros_like(grad), grad)  # NaN passes the gradient, as in PyTorch


def softmax_backward(grad, y, axis=-1):
    return y * (grad - np.sum(grad * y, axis=axis, keepdims=True))


def log_softmax_backward(grad, y, axis=-1):
    return grad - np.exp(y) * np.sum(grad, axis=axis, keepdims=True)


def _log_softmax(x):
    shifted = x - np.max(x, axis=1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))


def _loss_weights(logits, target, weight, ignore_index, label_smoothing):
    """(n, classes) weights W with loss_i = sum_c W[i, c] * -log p[i, c], and w[t_i] with ignored rows 0."""
    classes = logits.shape[1]
    w = np.ones(classes, logits.dtype) if weight is None else weight
    counts = target != ignore_index
    onehot = (np.arange(classes) == np.where(counts, target, 0)[:, None]) * counts[:, None]
    row = np.where(counts, w[np.where(counts, target, 0)], 0)
    spread = label_smoothing / classes * w[None, :] * counts[:, None]
    return (1 - label_smoothing) * onehot * row[:, None] + spread, row


def cross_entropy(logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    weights, row = _loss_weights(logits, target, weight, ignore_index, label_smoothing)
    loss = np.sum(-_log_softmax(logits) * weights, axis=1)
    if reduction == "none":
        return loss
    return np.sum(loss) / np.sum(row) if reduction == "mean" else np.sum(loss)


def cross_entropy_backward(grad, logits, target, weight=None, ignore_index=-100, label_smoothing=0.0, reduction="mean"):
    weights, row = _loss_weights(logits, target, weight, ignore_index, label_smoothing)
    p = np.exp(_log_softmax(logits))
    d = p * np.sum(weights, axis=1, keepdims=True) - weights
    if reduction == "none":
        return d * grad[:, None]
    return d * grad / (np.sum(row) if reduction == "mean" else 1)


def adam_step(p, g, m, v, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize):
    """(param, exp_avg, exp_avg_sq) after one step of Adam, or AdamW when decoupled."""
    g = -g if maximize else g
    if decoupled:
        p = p - lr * weight_decay * p
    else:
        g = g + weight_decay * p
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    p = p - lr / (1 - beta1**step) * m / (np.sqrt(v) / np.sqrt(1 - beta2**step) + eps)
    return p, m, v


def philox4x32_10(key: int, counter: np.ndarray) -> np.ndarray:
    """Philox4x32-10 (Salmon et al., SC 2011) of 64-bit counters: (n, 4) words."""
    mask = np.uint64(0xFFFFFFFF)
    c = [counter & mask, counter >> np.uint64(32), np.zeros_like(counter), np.zeros_like(counter)]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            p1 & mask,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            p0 & mask,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1)


def resolve(name: str):
    """The function of a dotted name or of a key of this module."""
    if "." in name:
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)
    return globals()[name]
