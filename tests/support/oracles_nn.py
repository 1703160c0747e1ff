"""References in wide NumPy: documented formulas of optimisers, of one tensor each, of embeddings and attention;
convolutions as a loop over the elements of the kernel."""

import itertools

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
    """The indices of each bag, numbered from 0, without the padding."""
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


def _each(number, axes):
    return (number,) * axes if np.ndim(number) == 0 else tuple(number)


class Geometry:
    """A convolution of `wide` (n, g * c, ...) by weight (g * r, c, ...): `narrow` (n, g * r, ...)."""

    def __init__(self, wide, weight, stride=1, padding=0, dilation=1, groups=1):
        self.axes, self.groups, self.taps = weight.ndim - 2, groups, weight.shape[2:]
        self.stride, self.dilation = _each(stride, self.axes), _each(dilation, self.axes)
        reach = [d * (t - 1) for d, t in zip(self.dilation, self.taps, strict=True)]
        if padding == "same":
            self.padding = [(r // 2, r - r // 2) for r in reach]
        else:
            self.padding = [(p, p) for p in _each(0 if padding == "valid" else padding, self.axes)]
        self.wide = wide
        self.padded = tuple(n + a + b for n, (a, b) in zip(wide, self.padding, strict=True))
        self.narrow = tuple((n - r - 1) // s + 1 for n, r, s in zip(self.padded, reach, self.stride, strict=True))

    def places(self):
        """For each element of the kernel, its index and the slices of the padded operand that it multiplies."""
        for tap in itertools.product(*map(range, self.taps)):
            starts = [t * d for t, d in zip(tap, self.dilation, strict=True)]
            yield (
                tap,
                tuple(
                    slice(a, a + s * (n - 1) + 1, s) for a, s, n in zip(starts, self.stride, self.narrow, strict=True)
                ),
            )

    def pad(self, x):
        return np.pad(x, [(0, 0), (0, 0), *self.padding])

    def inner(self, padded):
        return padded[(..., *(slice(a, a + n) for (a, _), n in zip(self.padding, self.wide, strict=True)))]

    def split(self, x):
        return x.reshape(x.shape[0], self.groups, -1, *x.shape[2:])

    def by_group(self, weight):
        return weight.reshape(self.groups, -1, *weight.shape[1:])


def _down(g, wide, weight):
    """The convolution itself."""
    padded, w = g.split(g.pad(wide)), g.by_group(weight)
    out = sum(np.einsum("ngc...,grc->ngr...", padded[(..., *at)], w[(..., *tap)]) for tap, at in g.places())
    return out.reshape(out.shape[0], -1, *g.narrow)


def _up(g, narrow, weight):
    """The gradient of its operand."""
    rows, w = g.split(narrow), g.by_group(weight)
    padded = np.zeros((narrow.shape[0], g.groups, weight.shape[1], *g.padded), narrow.dtype)
    for tap, at in g.places():
        padded[(..., *at)] += np.einsum("ngr...,grc->ngc...", rows, w[(..., *tap)])
    return g.inner(padded.reshape(narrow.shape[0], -1, *g.padded))


def _of_weight(g, wide, narrow, weight):
    padded, rows, out = g.split(g.pad(wide)), g.split(narrow), np.zeros(weight.shape, wide.dtype)
    for tap, at in g.places():
        part = np.einsum("ngcx,ngrx->grc", *(_flat(a) for a in (padded[(..., *at)], rows)))
        out[(..., *tap)] = part.reshape(weight.shape[:2])
    return out


def _flat(x):
    return x.reshape(*x.shape[:3], -1)


def _channels_first(x, layout):
    return np.moveaxis(x, -1, 1) if layout is not None and layout[-1] == "C" else x


def _back(x, layout):
    return np.moveaxis(x, 1, -1) if layout is not None and layout[-1] == "C" else x


def _biased(y, bias):
    return y if bias is None else y + bias.reshape(-1, *(1,) * (y.ndim - 2))


def convolution(x, weight, bias=None, *, layout=None, **options):
    x = _channels_first(x, layout)
    return _back(_biased(_down(Geometry(x.shape[2:], weight, **options), x, weight), bias), layout)


def convolution_backward(grad, x, weight, *, layout=None, **options):
    grad, x = _channels_first(grad, layout), _channels_first(x, layout)
    g = Geometry(x.shape[2:], weight, **options)
    bias = grad.sum(axis=(0, *range(2, grad.ndim)))
    return _back(_up(g, grad, weight), layout), _of_weight(g, x, grad, weight), bias


def _transposed(x, weight, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    axes = weight.ndim - 2
    wide = tuple(
        (n - 1) * s - 2 * p + d * (t - 1) + o + 1
        for n, s, p, d, t, o in zip(
            x.shape[2:],
            *(_each(a, axes) for a in (stride, padding, dilation)),
            weight.shape[2:],
            _each(output_padding, axes),
            strict=True,
        )
    )
    g = Geometry(wide, weight, stride, padding, dilation, groups)
    assert g.narrow == x.shape[2:]
    return g


def transposed_convolution(x, weight, bias=None, *, layout=None, **options):
    x = _channels_first(x, layout)
    return _back(_biased(_up(_transposed(x, weight, **options), x, weight), bias), layout)


def transposed_convolution_backward(grad, x, weight, *, layout=None, **options):
    grad, x = _channels_first(grad, layout), _channels_first(x, layout)
    g = _transposed(x, weight, **options)
    bias = grad.sum(axis=(0, *range(2, grad.ndim)))
    return _back(_down(g, grad, weight), layout), _of_weight(g, grad, x, weight), bias


conv1d = conv2d = conv3d = convolution
conv1d_backward = conv2d_backward = conv3d_backward = convolution_backward
conv_transpose1d = conv_transpose2d = conv_transpose3d = transposed_convolution
conv_transpose1d_backward = conv_transpose2d_backward = transposed_convolution_backward
conv_transpose3d_backward = transposed_convolution_backward


def _windows(extent, kernel_size, **options):
    return Geometry(extent, np.zeros((1, 1, *_each(kernel_size, 2))), **options)


def unfold(x, kernel_size, **options):
    g = _windows(x.shape[2:], kernel_size, **options)
    padded = g.pad(x)
    columns = [padded[(..., *at)].reshape(*x.shape[:2], 1, -1) for _, at in g.places()]
    return np.concatenate(columns, axis=2).reshape(x.shape[0], -1, columns[0].shape[-1])


def fold(x, output_size, kernel_size, **options):
    g = _windows(_each(output_size, 2), kernel_size, **options)
    columns = x.reshape(x.shape[0], -1, int(np.prod(g.taps)), *g.narrow)
    padded = np.zeros((*columns.shape[:2], *g.padded), x.dtype)
    for k, (_, at) in enumerate(g.places()):
        padded[(..., *at)] += columns[:, :, k]
    return g.inner(padded)


def attention(q, k, v, scale=None, causal=False, mask=None):
    """The result, and the logarithms of the sums of exponentials."""
    if q.ndim > 2:
        k, v = (np.repeat(x, q.shape[-3] // max(x.shape[-3], 1), axis=-3) for x in (k, v))
    scores = q @ np.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    seen = np.ones(scores.shape, bool)
    if causal:
        seen &= np.arange(k.shape[-2]) <= np.arange(q.shape[-2])[:, None]
    if mask is not None and mask.dtype == bool:
        seen &= mask
    elif mask is not None:
        scores = scores + mask
    scores = np.where(seen, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = np.sum(weights, axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = np.squeeze(np.log(total) + largest, -1)
    return weights @ v / np.where(total == 0, 1, total), lse
