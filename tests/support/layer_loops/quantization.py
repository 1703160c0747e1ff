"""References for quantisation: exact integers in NumPy, and the search of a range as a loop."""

import numpy as np


def numbers(x, scale, zero, axis=None, block=None):
    """Scales and zero points of each element, in float64."""
    found = []
    for value in (scale, zero):
        value = np.asarray(value, np.float64)
        if axis is None or value.ndim == 0:
            found.append(value)
        elif block is None:
            found.append(value.reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)]))
        else:
            found.append(np.take(np.repeat(value, block, axis), np.arange(x.shape[axis]), axis))
    return found


def steps(x, scale, zero, low, high, axis=None, block=None):
    """The quantised values as float64. x / scale is exact where scales are powers of two."""
    scale, zero = numbers(x, scale, zero, axis, block)
    near = np.rint(np.nan_to_num(x.astype(np.float64) / scale, nan=0.0, posinf=np.inf, neginf=-np.inf)) + zero
    return np.clip(near, low, high)


def product(a, b, zero_a=0, zero_b=0):
    """The exact product of bytes; zero points of rows and of columns."""
    a, b = a.astype(np.int64) - np.asarray(zero_a).reshape(-1, 1), b.astype(np.int64) - np.asarray(zero_b)
    return a @ b


def windows(x, weight, zero_x, stride, padding, dilation, groups):
    """The exact convolution of integers less their zero points, over as many axes as there are."""
    x, weight = x.astype(np.int64) - zero_x, weight.astype(np.int64)
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    kernel, each = weight.shape[2:], weight.shape[0] // groups
    size = [(x.shape[2 + d] - dilation[d] * (k - 1) - 1) // stride[d] + 1 for d, k in enumerate(kernel)]
    out = np.zeros((x.shape[0], weight.shape[0], *size), np.int64)
    for o in range(weight.shape[0]):
        first = o // each * weight.shape[1]
        for tap in np.ndindex(*kernel):
            places = (np.arange(n) * s + t * d for n, s, t, d in zip(size, stride, tap, dilation, strict=True))
            part = x[:, first : first + weight.shape[1]][(slice(None), slice(None), *np.ix_(*places))]
            out[:, o] += np.einsum("nc...,c->n...", part, weight[(o, slice(None), *tap)])
    return out


def decode(packed, scale, zero):
    """The weights of four bits, in float64."""
    parts = packed.reshape(*scale.shape, -1, 16)
    q = np.concatenate([parts & 15, parts >> 4], axis=-1).reshape(*scale.shape, -1)
    return ((q - zero[..., None].astype(np.float64)) * scale[..., None]).reshape(len(packed), -1)


def error(counts, width, start, end, levels):
    """The squared error of a histogram whose bins from start to end become `levels` levels."""
    step = width * (end - start + 1) / levels
    begin = (np.arange(len(counts)) - start) * width
    first, last = (np.clip(np.floor(x / step), 0, levels - 1) for x in (begin, begin + width))
    half = (step / 2) ** 3
    inner = half - (begin - (first + 0.5) * step) ** 3 + (last - first - 1) * 2 * half
    return np.sum(counts / width * (inner + (begin + width - (last + 0.5) * step) ** 3 + half)) / 3


def search(counts, low, high, levels):
    """The range that the search by quantiles ends at, a step of 1e-5 at a time."""
    width, sums = (high - low) / len(counts), np.cumsum(counts, dtype=np.float64).tolist()
    alpha, beta, start, end, least = 0.0, 1.0, 0, len(counts) - 1, np.inf
    while alpha < beta:
        left, right = start, end
        while left < end and sums[left] < (alpha + 1e-5) * sums[-1]:
            left += 1
        while right > start and sums[right] > (beta - 1e-5) * sums[-1]:
            right -= 1
        by_start = left - start > end - right
        alpha, beta = (alpha + 1e-5, beta) if by_start else (alpha, beta - 1e-5)
        moved = (left, end) if by_start else (start, right)
        if moved == (start, end):
            continue
        found = error(counts, width, *moved, levels)
        if found > least:
            break
        least, (start, end) = found, moved
    return low + width * start, low + width * (end + 1)
