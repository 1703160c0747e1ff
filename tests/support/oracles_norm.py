"""References of the normalisations: the formulas, and their derivatives, in wide NumPy."""

from __future__ import annotations

import numpy as np


def _per_channel(values, ndim):
    """(channels,) beside x (n, channels, ...)."""
    return values.reshape((1, -1) + (1,) * (ndim - 2))


def _scaled(x, mean, var, eps):
    return (x - mean) / np.sqrt(var + eps)


def _affine(y, weight, bias):
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _slopes(g, v, deviation, axes, centered=True):
    """The gradient of x: g is the gradient of the normalised v = (x - mean) / deviation."""
    plain = np.mean(g, axis=axes, keepdims=True) if centered else 0
    return (g - plain - v * np.mean(g * v, axis=axes, keepdims=True)) / deviation


def _last_axes(x, weight, shape):
    over = len(shape) if shape is not None else 1 if weight is None else weight.ndim
    return tuple(range(x.ndim - over, x.ndim)), tuple(range(x.ndim - over))


def layer_norm(x, weight=None, bias=None, *, normalized_shape=None, eps=1e-5):
    axes, _ = _last_axes(x, weight, normalized_shape)
    mean, var = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return _affine(_scaled(x, mean, var, eps), weight, bias)


def rms_norm(x, weight=None, *, normalized_shape=None, eps=1e-5):
    axes, _ = _last_axes(x, weight, normalized_shape)
    return _affine(x / np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + eps), weight, None)


def layer_norm_backward(grad, x, weight=None, *, normalized_shape=None, eps=1e-5):
    axes, others = _last_axes(x, weight, normalized_shape)
    deviation = np.sqrt(x.var(axis=axes, keepdims=True) + eps)
    v = (x - x.mean(axis=axes, keepdims=True)) / deviation
    g = grad if weight is None else grad * weight
    return _slopes(g, v, deviation, axes), np.sum(grad * v, axis=others), np.sum(grad, axis=others)


def rms_norm_backward(grad, x, weight=None, *, normalized_shape=None, eps=1e-5):
    axes, others = _last_axes(x, weight, normalized_shape)
    deviation = np.sqrt(np.mean(x * x, axis=axes, keepdims=True) + eps)
    v = x / deviation
    g = grad if weight is None else grad * weight
    return _slopes(g, v, deviation, axes, False), np.sum(grad * v, axis=others)


def _grouped(x, groups):
    return x.reshape(len(x), groups, -1)


def group_norm(x, num_groups, weight=None, bias=None, *, eps=1e-5):
    rows = _grouped(x, num_groups)
    y = _scaled(rows, rows.mean(axis=2, keepdims=True), rows.var(axis=2, keepdims=True), eps).reshape(x.shape)
    return _affine(y, *(None if a is None else _per_channel(a, x.ndim) for a in (weight, bias)))


def group_norm_backward(grad, x, num_groups, weight=None, *, eps=1e-5):
    rows = _grouped(x, num_groups)
    deviation = np.sqrt(rows.var(axis=2, keepdims=True) + eps)
    v = (rows - rows.mean(axis=2, keepdims=True)) / deviation
    g = grad if weight is None else grad * _per_channel(weight, x.ndim)
    others = (0, *range(2, x.ndim))
    dx = _slopes(_grouped(g, num_groups), v, deviation, 2).reshape(x.shape)
    return dx, np.sum(grad * v.reshape(x.shape), axis=others), np.sum(grad, axis=others)


def instance_norm(x, weight=None, bias=None, *, eps=1e-5):
    return group_norm(x, x.shape[1], weight, bias, eps=eps)


def instance_norm_backward(grad, x, weight=None, *, eps=1e-5):
    return group_norm_backward(grad, x, x.shape[1], weight, eps=eps)


def batch_norm(x, weight=None, bias=None, mean=None, var=None, *, training=False, eps=1e-5):
    others = (0, *range(2, x.ndim))
    if training:
        mean, var = x.mean(axis=others), x.var(axis=others)
    shaped = [None if a is None else _per_channel(a, x.ndim) for a in (mean, var, weight, bias)]
    return _affine(_scaled(x, shaped[0], shaped[1], eps), *shaped[2:]), mean, var


def batch_norm_backward(grad, x, mean, var, weight=None, *, training=False, eps=1e-5):
    others = (0, *range(2, x.ndim))
    deviation = np.sqrt(_per_channel(var, x.ndim) + eps)
    v = (x - _per_channel(mean, x.ndim)) / deviation
    g = grad if weight is None else grad * _per_channel(weight, x.ndim)
    dx = _slopes(g, v, deviation, others) if training else g / deviation
    return dx, np.sum(grad * v, axis=others), np.sum(grad, axis=others)


def update_running_stats(running_mean, running_var, mean, var, *, count, momentum=0.1):
    """The new running statistics."""
    unbiased = var * count / (count - 1)
    return running_mean + momentum * (mean - running_mean), running_var + momentum * (unbiased - running_var)


def _window_sum(terms, before, after):
    """Sums over the channels from `before` ones before each to `after` ones after it."""
    zeros = [(0, 0)] * terms.ndim
    zeros[1] = (before, after)
    padded, channels = np.pad(terms, zeros), terms.shape[1]
    return sum(padded[:, k : k + channels] for k in range(before + after + 1))


def local_response_norm(x, size, *, alpha=1e-4, beta=0.75, k=1.0):
    denom = k + alpha / size * _window_sum(x * x, size // 2, size - 1 - size // 2)
    return x * denom**-beta, denom


def local_response_norm_backward(grad, x, denom, size, *, alpha=1e-4, beta=0.75):
    terms = _window_sum(grad * x * denom ** (-beta - 1), size - 1 - size // 2, size // 2)
    return grad * denom**-beta - 2 * alpha * beta / size * x * terms
