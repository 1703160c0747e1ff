"""References for losses: documented formulas in wide NumPy."""

import numpy as np


def _reduced(values, reduction):
    if reduction == "none":
        return values
    total = np.sum(values)
    if reduction == "sum":
        return total
    with np.errstate(all="ignore"):
        return total / np.asarray(values.size if reduction == "mean" else values.shape[0], total.dtype)


def _spread(grad, values, reduction):
    """The gradient of each element's loss."""
    if reduction in ("none", "sum"):
        return grad * values
    return grad * values / max(values.size if reduction == "mean" else values.shape[0], 1)


def mse_loss(x, y, reduction="mean"):
    return _reduced((x - y) ** 2, reduction)


def mse_loss_backward(grad, x, y, reduction="mean"):
    return _spread(grad, 2 * (x - y), reduction)


def l1_loss(x, y, reduction="mean"):
    return _reduced(np.abs(x - y), reduction)


def l1_loss_backward(grad, x, y, reduction="mean"):
    return _spread(grad, np.sign(x - y), reduction)


def huber_loss(x, y, delta=1.0, reduction="mean"):
    d = np.abs(x - y)
    return _reduced(np.where(d <= delta, d * d / 2, delta * (d - x.dtype.type(delta) / 2)), reduction)


def huber_loss_backward(grad, x, y, delta=1.0, reduction="mean"):
    return _spread(grad, np.clip(x - y, -delta, delta), reduction)


def smooth_l1_loss(x, y, beta=1.0, reduction="mean"):
    return l1_loss(x, y, reduction) if beta == 0 else huber_loss(x, y, beta, reduction) / x.dtype.type(beta)


def smooth_l1_loss_backward(grad, x, y, beta=1.0, reduction="mean"):
    if beta == 0:
        return l1_loss_backward(grad, x, y, reduction)
    return huber_loss_backward(grad, x, y, beta, reduction) / x.dtype.type(beta)


def binary_cross_entropy_with_logits(x, y, weight=None, pos_weight=None, reduction="mean"):
    w, p = 1 if weight is None else weight, 1 if pos_weight is None else pos_weight
    tail = np.log1p(np.exp(-np.abs(x)))
    return _reduced(w * (p * y * (np.maximum(-x, 0) + tail) + (1 - y) * (np.maximum(x, 0) + tail)), reduction)


def binary_cross_entropy_with_logits_backward(grad, x, y, weight=None, pos_weight=None, reduction="mean"):
    w, p = 1 if weight is None else weight, 1 if pos_weight is None else pos_weight
    return _spread(grad, w * ((1 - y) / (1 + np.exp(-x)) - p * y / (1 + np.exp(x))), reduction)


def kl_div(x, y, log_target=False, reduction="mean"):
    if log_target:
        return _reduced(np.exp(y) * (y - x), reduction)
    return _reduced(y * (np.log(np.where(y == 0, 1, y)) - x), reduction)


def kl_div_backward(grad, x, y, log_target=False, reduction="mean"):
    return _spread(grad, -np.exp(y) if log_target else -y, reduction) + 0 * x


def _nll_weights(x, target, weight, ignore_index):
    """Weights of x's shape whose products with -x are the losses, and their sums over classes; ignored rows are 0."""
    axis = 0 if x.ndim == 1 else 1
    w = np.ones(x.shape[axis], x.dtype) if weight is None else weight
    classes = np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    at = np.expand_dims(target, axis)
    weights = ((classes == at) & (at != ignore_index)) * w.reshape(classes.shape)
    return weights, np.sum(weights, axis=axis)


def nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean"):
    weights, row = _nll_weights(x, target, weight, ignore_index)
    loss = -np.sum(np.where(weights == 0, 0, x) * weights, axis=0 if x.ndim == 1 else 1)
    if reduction == "none":
        return loss
    with np.errstate(all="ignore"):
        return np.sum(loss) / np.sum(row) if reduction == "mean" else np.sum(loss)


def nll_loss_backward(grad, x, target, weight=None, ignore_index=-100, reduction="mean"):
    weights, row = _nll_weights(x, target, weight, ignore_index)
    if reduction == "none":
        return -weights * np.expand_dims(grad, 0 if x.ndim == 1 else 1)
    with np.errstate(all="ignore"):
        return np.where(weights == 0, 0, -weights * grad / (np.sum(row) if reduction == "mean" else 1))


def soft_cross_entropy(x, target, weight=None, label_smoothing=0.0, reduction="mean"):
    """cross_entropy of probabilities along axis 1, or of one row."""
    axis = 0 if x.ndim == 1 else 1
    shifted = x - np.max(x, axis=axis, keepdims=True)
    log_probs = shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
    loss = -np.sum(log_probs * soft_weights(x, target, weight, label_smoothing), axis=axis)
    return loss if reduction == "none" else np.sum(loss) / (loss.size if reduction == "mean" else 1)


def soft_cross_entropy_backward(grad, x, target, weight=None, label_smoothing=0.0, reduction="mean"):
    axis = 0 if x.ndim == 1 else 1
    shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
    probabilities = shifted / np.sum(shifted, axis=axis, keepdims=True)
    weights = soft_weights(x, target, weight, label_smoothing)
    slopes = probabilities * np.sum(weights, axis=axis, keepdims=True) - weights
    if reduction == "none":
        return slopes * np.expand_dims(grad, axis)
    return slopes * grad / (x.size // x.shape[axis] if reduction == "mean" else 1)


def soft_weights(x, target, weight, label_smoothing):
    axis = 0 if x.ndim == 1 else 1
    classes = x.shape[axis]
    w = np.ones(classes, x.dtype) if weight is None else weight
    shares = (1 - label_smoothing) * target + x.dtype.type(label_smoothing) / classes
    return shares * w.reshape((-1,) + (1,) * (x.ndim - 1 - axis))


def ctc_sample(x, labels, blank):
    """-log of the probability of the labels of a sample x (steps, classes), and the share of each class in a step."""
    steps = len(x)
    states = np.full(2 * len(labels) + 1, blank)
    states[1::2] = labels
    none = np.array(-np.inf, x.dtype)

    def scores(x, states):
        found = np.full((steps, len(states)), none)
        for t in range(steps):
            for s, c in enumerate(states):
                if t == 0:
                    found[t, s] = x[t, c] if s < 2 else none
                    continue
                terms = [found[t - 1, s]] + [found[t - 1, s - 1]] * (s > 0)
                if s > 1 and c != blank and c != states[s - 2]:
                    terms.append(found[t - 1, s - 2])
                found[t, s] = np.logaddexp.reduce(terms) + x[t, c]
        return found

    if steps == 0:
        return x.dtype.type(0 if len(labels) == 0 else np.inf), np.zeros_like(x)
    ahead, back = scores(x, states), scores(x[::-1], states[::-1])[::-1, ::-1]
    loss = -np.logaddexp.reduce(ahead[-1, -2:])
    shares = np.zeros_like(x)
    if np.isfinite(loss):
        for s, c in enumerate(states):
            shares[:, c] += np.exp(ahead[:, s] + back[:, s] - x[:, c] + loss)
    return loss, shares


def _ctc_samples(x, targets, input_lengths, target_lengths, blank):
    starts = np.cumsum(target_lengths) - target_lengths
    for n, (steps, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        labels = targets[n, :length] if targets.ndim == 2 else targets[starts[n] : starts[n] + length]
        yield ctc_sample(x[:steps, n], labels, blank)


def ctc_loss(x, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    samples = _ctc_samples(x, targets, input_lengths, target_lengths, blank)
    loss = np.array([loss for loss, _ in samples], x.dtype)
    if zero_infinity:
        loss = np.where(np.isinf(loss), 0, loss)
    if reduction == "none":
        return loss
    return np.mean(loss / np.maximum(target_lengths, 1)) if reduction == "mean" else np.sum(loss)


def ctc_loss_backward(grad, x, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    out = np.zeros_like(x)
    for n, (loss, shares) in enumerate(_ctc_samples(x, targets, input_lengths, target_lengths, blank)):
        steps, share = input_lengths[n], grad[n] if reduction == "none" else grad
        if reduction == "mean":
            share = share / (len(target_lengths) * max(target_lengths[n], 1))
        if np.isinf(loss):
            out[:steps, n] = 0 if zero_infinity else np.nan
        else:
            out[:steps, n] = (np.exp(x[:steps, n]) - shares[:steps]) * share
    return out
