"""References for optimisers and embeddings: documented formulas in wide NumPy, of one tensor each."""

import numpy as np


def sgd_step(p, g, buffer, step, lr, momentum=0.0, dampening=0.0, nesterov=False, weight_decay=0.0, maximize=False):
    """(param, momentum buffer) after one step; without momentum the buffer stays."""
    g = (-g if maximize else g) + weight_decay * p
    if momentum:
        buffer = g if step == 1 else momentum * buffer + (1 - dampening) * g
        g = g + momentum * buffer if nesterov else buffer
    return p - lr * g, buffer


def rmsprop_step(p, g, square, buffer, mean, lr, alpha=0.99, eps=1e-8, momentum=0.0, weight_decay=0.0, maximize=False):
    """(param, square_avg, momentum buffer, grad_avg) after one step; states that are None stay so."""
    g = (-g if maximize else g) + weight_decay * p
    square = alpha * square + (1 - alpha) * g * g
    variance = square
    if mean is not None:
        mean = alpha * mean + (1 - alpha) * g
        variance = np.maximum(square - mean * mean, 0)
    g = g / (np.sqrt(variance) + eps)
    if momentum:
        buffer = g = momentum * buffer + g
    return p - lr * g, square, buffer, mean


def adagrad_step(p, g, total, step, lr, lr_decay=0.0, eps=1e-10, weight_decay=0.0, maximize=False):
    """(param, sum of squares) after one step."""
    g = (-g if maximize else g) + weight_decay * p
    total = total + g * g
    return p - lr / (1 + (step - 1) * lr_decay) * g / (np.sqrt(total) + eps), total


def adam_step(p, g, m, v, step, lr, beta1, beta2, eps, weight_decay=0.0, decoupled=False, maximize=False):
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


def lamb_step(p, g, m, v, step, lr, beta1, beta2, eps, weight_decay=0.0, maximize=False):
    """(param, exp_avg, exp_avg_sq) after one step of LAMB."""
    g = -g if maximize else g
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    update = m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + eps) + weight_decay * p
    length, of_update = np.sqrt(np.sum(p * p)), np.sqrt(np.sum(update * update))
    ratio = length / of_update if length > 0 and of_update > 0 else 1
    return p - lr * ratio * update, m, v


def lion_step(p, g, m, lr, beta1, beta2, weight_decay=0.0, maximize=False):
    """(param, exp_avg) after one step of Lion."""
    g = -g if maximize else g
    p = p - lr * weight_decay * p - lr * np.sign(beta1 * m + (1 - beta1) * g)
    return p, beta2 * m + (1 - beta2) * g


def has_inf_nan_list(arrays):
    return np.array(any(not np.all(np.isfinite(x)) for x in arrays))


def clip_grad_norm(grads, max_norm, grad_scale=1.0):
    norm = np.sqrt(sum(np.sum(np.square(g)) for g in grads)) / grad_scale
    return norm, min(1.0, max_norm / (norm + 1e-6))


def embedding(weight, indices, padding_idx=None):
    return weight[indices]


def embedding_backward(grad, indices, num_embeddings, padding_idx=None, scale_grad_by_freq=False):
    flat = np.where(indices < 0, indices + num_embeddings, indices).ravel()
    rows = grad.reshape(flat.size, grad.shape[-1])
    out = np.zeros((num_embeddings, grad.shape[-1]), grad.dtype)
    np.add.at(out, flat, rows)
    if scale_grad_by_freq:
        out /= np.maximum(np.bincount(flat, minlength=num_embeddings), 1)[:, None]
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


def bags_of(weight, indices, offsets=None, padding_idx=None):
    """The indices of each bag, from 0 on and without the padding."""
    rows = np.split(indices, offsets[1:]) if offsets is not None else list(indices)
    rows = [np.where(r < 0, r + len(weight), r) for r in rows]
    return rows if padding_idx is None else [r[r != padding_idx % len(weight)] for r in rows]


def embedding_bag(weight, indices, offsets=None, mode="mean", padding_idx=None):
    reduce = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    out = np.zeros((len(indices) if offsets is None else len(offsets), weight.shape[1]), weight.dtype)
    for b, rows in enumerate(bags_of(weight, indices, offsets, padding_idx)):
        if len(rows):
            out[b] = reduce(weight[rows], axis=0)
    return out


def embedding_bag_backward(grad, weight, indices, offsets=None, mode="mean", padding_idx=None):
    out = np.zeros(weight.shape, grad.dtype)
    columns = np.arange(weight.shape[1])
    for b, rows in enumerate(bags_of(weight, indices, offsets, padding_idx)):
        if mode == "max" and len(rows):
            np.add.at(out, (rows[np.argmax(weight[rows], axis=0)], columns), grad[b])
        elif len(rows):
            np.add.at(out, rows, grad[b] / (len(rows) if mode == "mean" else 1))
    return out


def one_hot(indices, num_classes):
    return np.eye(num_classes)[indices]
