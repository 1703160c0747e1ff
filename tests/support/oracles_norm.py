"""References of the normalisations: the formulas, and their derivatives, in wide NumPy."""

from __future__ import annotations

import numpy as np


def _per_channel(values, ndim):
    """(channels,) beside x (n, channels, ...)."""
    return values.reshape((1, -1) + (1,) * (ndim - 2))


def _affine(y, weight, bias=None):
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _unit(x, axes, eps, centered=True):
    """x with the mean 0, unless it is not centered, and the mean square 1; and the deviation."""
    d = x - x.mean(axis=axes, keepdims=True) if centered else x
    deviation = np.sqrt(np.mean(d * d, axis=axes, keepdims=True) + eps)
    return d / deviation, deviation


def _slopes(g, v, deviation, axes, centered=True):
    """The gradient of x: g is the gradient of the normalised v = (x - mean) / deviation."""
    plain = np.mean(g, axis=axes, keepdims=True) if centered else 0
    return (g - plain - v * np.mean(g * v, axis=axes, keepdims=True)) / deviation


def _last_axes(x, weight, shape):
    over = len(shape) if shape is not None else 1 if weight is None else weight.ndim
    return tuple(range(x.ndim - over, x.ndim)), tuple(range(x.ndim - over))


def layer_norm(x, weight=None, bias=None, *, normalized_shape=None, eps=1e-5, centered=True):
    axes, _ = _last_axes(x, weight, normalized_shape)
    return _affine(_unit(x, axes, eps, centered)[0], weight, bias)


def rms_norm(x, weight=None, **options):
    return layer_norm(x, weight, centered=False, **options)


def layer_norm_backward(grad, x, weight=None, *, normalized_shape=None, eps=1e-5, centered=True):
    axes, others = _last_axes(x, weight, normalized_shape)
    v, deviation = _unit(x, axes, eps, centered)
    dx = _slopes(_affine(grad, weight), v, deviation, axes, centered)
    return dx, np.sum(grad * v, axis=others), np.sum(grad, axis=others)


def rms_norm_backward(grad, x, weight=None, **options):
    return layer_norm_backward(grad, x, weight, centered=False, **options)[:2]


def group_norm(x, num_groups, weight=None, bias=None, *, eps=1e-5):
    y, _ = _unit(x.reshape(len(x), num_groups, -1), 2, eps)
    return _affine(y.reshape(x.shape), *(None if a is None else _per_channel(a, x.ndim) for a in (weight, bias)))


def group_norm_backward(grad, x, num_groups, weight=None, *, eps=1e-5):
    rows = len(x), num_groups, -1
    v, deviation = _unit(x.reshape(rows), 2, eps)
    g = grad if weight is None else grad * _per_channel(weight, x.ndim)
    others = (0, *range(2, x.ndim))
    dx = _slopes(g.reshape(rows), v, deviation, 2).reshape(x.shape)
    return dx, np.sum(grad * v.reshape(x.shape), axis=others), np.sum(grad, axis=others)


def instance_norm(x, weight=None, bias=None, *, eps=1e-5):
    return group_norm(x, x.shape[1], weight, bias, eps=eps)


def instance_norm_backward(grad, x, weight=None, *, eps=1e-5):
    return group_norm_backward(grad, x, x.shape[1], weight, eps=eps)


def batch_norm(x, weight=None, bias=None, mean=None, var=None, *, training=False, eps=1e-5):
    others = (0, *range(2, x.ndim))
    if training:
        mean = x.mean(axis=others)
    mean, weight, bias = (None if a is None else _per_channel(a, x.ndim) for a in (mean, weight, bias))
    d = x - mean
    var = np.mean(d * d, axis=others) if training else var
    return _affine(d / np.sqrt(_per_channel(var, x.ndim) + eps), weight, bias), mean.ravel(), var


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
