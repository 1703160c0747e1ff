"""References for pooling: loops over the windows of wide NumPy arrays. `spatial` axes are the last ones."""

import itertools

import numpy as np


def each(value, spatial):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * spatial


def axis_windows(extent, kernel, stride, padding=0, dilation=1, ceil_mode=False):
    """Of each result along an axis: its elements, and their number with those of the padding."""
    span = (kernel - 1) * dilation + 1
    rest = extent + 2 * padding - span
    count = rest // stride + 1
    if ceil_mode:
        count = -(-rest // stride) + 1
        count -= (count - 1) * stride >= extent + padding
    found = []
    for o in range(count):
        begin = o * stride - padding
        places = [begin + k * dilation for k in range(kernel)]
        found.append(([i for i in places if 0 <= i < extent], min(begin + kernel, extent + padding) - begin))
    return found


def adaptive_axis(extent, out):
    cut = [(o * extent // out, -(-(o + 1) * extent // out)) for o in range(out)]
    return [(list(range(*pair)), pair[1] - pair[0]) for pair in cut]


def windows(x, spatial, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
    kernel = each(kernel, spatial)
    more = [each(v, spatial) for v in (kernel if stride is None else stride, padding, dilation)]
    return [axis_windows(*a, ceil_mode) for a in zip(x.shape[-spatial:], kernel, *more, strict=True)]


def adaptive(x, output):
    return [adaptive_axis(*a) for a in zip(x.shape[-len(output) :], output, strict=True)]


def pooled(x, axes, function):
    """function(values, positions in the plane, numbers with padding) of each window; results are stacked."""
    spatial = len(axes)
    lead, extents = x.shape[:-spatial], x.shape[-spatial:]
    planes = x.reshape(-1, int(np.prod(extents)))
    out = []
    for plane in planes:
        for window in itertools.product(*axes):
            where = np.array(np.meshgrid(*(w[0] for w in window), indexing="ij"), np.int64).reshape(spatial, -1)
            flat = np.ravel_multi_index(where, extents) if where.size else np.zeros(0, np.int64)
            out.append(function(plane[flat], flat, int(np.prod([w[1] for w in window]))))
    return np.array(out).reshape(*lead, *(len(a) for a in axes), *np.shape(out[0])) if out else None


def largest(x, axes):
    """The values and their indices; the first of equal ones, the last NaN."""

    def index(values, at, _):
        if len(values) == 0:
            return -1
        nan = np.flatnonzero(np.isnan(values.astype(float)))
        return at[nan[-1] if len(nan) else int(np.argmax(values))]

    indices = pooled(x, axes, index)
    planes = x.reshape(*x.shape[: -len(axes)], -1)
    flat = indices.reshape(*planes.shape[:-1], -1)
    values = np.where(flat < 0, -np.inf, np.take_along_axis(planes, np.maximum(flat, 0), -1))
    return values.reshape(indices.shape), indices


def added(shape, indices, values, spatial):
    """Zeros of the shape with the values added at the indices of their planes."""
    out = np.zeros((int(np.prod(shape[:-spatial])), int(np.prod(shape[-spatial:]))), values.dtype)
    for plane, at, v in zip(out, indices.reshape(len(out), -1), values.reshape(len(out), -1), strict=True):
        np.add.at(plane, at[at >= 0], v[at >= 0])
    return out.reshape(shape)


def mean(x, axes, divisor=None, count_include_pad=True):
    def one(values, _, count):
        return np.sum(values) / (divisor or (count if count_include_pad else len(values)))

    return pooled(x, axes, one)


def mean_slopes(grad, x, axes, divisor=None, count_include_pad=True):
    """The gradient of mean's x."""
    spatial = len(axes)
    out = np.zeros((int(np.prod(x.shape[:-spatial])), int(np.prod(x.shape[-spatial:]))), grad.dtype)
    flat = iter(grad.reshape(-1))
    position = iter(range(grad.size))
    per_plane = grad.size // max(len(out), 1)

    def one(values, at, count):
        slope, plane = next(flat), next(position) // per_plane
        out[plane, at] += slope / (divisor or (count if count_include_pad else len(values)))
        return 0.0

    pooled(x, axes, one)
    return out.reshape(x.shape)


def power(x, p, axes, whole):
    """whole: how many elements a window has."""
    return pooled(x, axes, lambda values, _, count: np.sum(values**p) / count * whole) ** (1 / x.dtype.type(p))
