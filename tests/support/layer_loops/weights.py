"""References for resampling in wide NumPy: matrices of weights along each axis, and loops over positions."""

import itertools

import numpy as np


def cubic(t):
    """The weights of the four neighbours of a position t after the second."""
    a = -0.75

    def weight(d):
        d = abs(d)
        if d <= 1:
            return ((a + 2) * d - (a + 3)) * d * d + 1
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [weight(t + 1 - k) for k in range(4)]


def axis_matrix(extent, out, mode, align_corners=False, factor=None):
    """The weights of elements (columns) in results (rows)."""
    found = np.zeros((out, extent))
    if mode == "area":
        for o in range(out):
            first, end = o * extent // out, -(-(o + 1) * extent // out)
            found[o, first:end] = 1 / (end - first)
        return found
    scale = 1 / factor if factor else extent / out
    if align_corners:
        scale = (extent - 1) / (out - 1) if out > 1 else 0.0
    for o in range(out):
        if mode.startswith("nearest"):
            place = np.float32(o + 0.5 * (mode == "nearest-exact")) * np.float32(scale)
            found[o, min(int(place), extent - 1)] = 1
            continue
        place = scale * o if align_corners else scale * (o + 0.5) - 0.5
        if mode != "bicubic":
            place = max(place, 0.0)
        first = int(np.floor(place))
        t = place - first
        taps = (
            zip(range(first - 1, first + 3), cubic(t), strict=True)
            if mode == "bicubic"
            else ((first, 1 - t), (first + 1, t))
        )
        for i, w in taps:
            found[o, min(max(i, 0), extent - 1)] += w
    return found


def matrices(x, size=None, scale_factor=None, mode="nearest", align_corners=False):
    extents = x.shape[2:]
    factors = [None] * len(extents)
    if size is None:
        factors = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * len(extents)
        size = [int(np.floor(n * f)) for n, f in zip(extents, factors, strict=True)]
    elif not isinstance(size, (tuple, list)):
        size = [size] * len(extents)
    return [
        axis_matrix(n, m, mode, align_corners, f).astype(x.dtype)
        for n, m, f in zip(extents, size, factors, strict=True)
    ]


def interpolate(x, **options):
    for axis, weights in enumerate(matrices(x, **options)):
        x = np.moveaxis(np.tensordot(x, weights, (2 + axis, 1)), -1, 2 + axis)
    return x


def interpolate_backward(grad, x, **options):
    for axis, weights in enumerate(matrices(x, **options)):
        grad = np.moveaxis(np.tensordot(grad, weights, (2 + axis, 0)), -1, 2 + axis)
    return grad


def pixel_shuffle(x, r):
    *lead, c, h, w = x.shape
    y = x.reshape(-1, c // (r * r), r, r, h, w).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(*lead, c // (r * r), h * r, w * r)


def pixel_unshuffle(x, r):
    *lead, c, h, w = x.shape
    y = x.reshape(-1, c, h // r, r, w // r, r).transpose(0, 1, 3, 5, 2, 4)
    return y.reshape(*lead, c * r * r, h // r, w // r)


def within(place, extent, padding, align_corners):
    """The index on an axis that the padding reads instead of one."""
    if padding == "zeros":
        return place
    if padding == "reflection":
        low, span = (0.0, extent - 1.0) if align_corners else (-0.5, float(extent))
        if span == 0:
            return 0.0
        place = abs(place - low)
        flips, rest = divmod(place, span)
        place = low + (span - rest if flips % 2 else rest)
    return min(max(place, 0.0), extent - 1.0)


def axis_taps(number, extent, mode, padding, align_corners):
    """Pairs of an element and its weight, for one number of a grid."""
    place = (number + 1) / 2 * (extent - 1) if align_corners else ((number + 1) * extent - 1) / 2
    if mode == "bicubic":
        first = int(np.floor(place))
        at = [int(within(float(i), extent, padding, align_corners)) for i in range(first - 1, first + 3)]
        taps = list(zip(at, cubic(place - first), strict=True))
    else:
        place = within(place, extent, padding, align_corners)
        first = int(np.floor(place))
        taps = [(round(place), 1.0)] if mode == "nearest" else [(first, first + 1 - place), (first + 1, place - first)]
    return [(i, w) for i, w in taps if 0 <= i < extent]


def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    for at in itertools.product(*(range(n) for n in (grid.shape[0], *grid.shape[1:-1]))):
        numbers = [float(v) for v in grid[at]][::-1]
        axes = [axis_taps(v, n, mode, padding_mode, align_corners) for v, n in zip(numbers, x.shape[2:], strict=True)]
        for taps in itertools.product(*axes):
            where = tuple(i for i, _ in taps)
            weight = x.dtype.type(np.prod([w for _, w in taps]))
            out[(at[0], slice(None), *at[1:])] += weight * x[(at[0], slice(None), *where)]
    return out


def grid_sample_backward(grad, x, grid, **options):
    """By the linearity in x, and by central differences of the grid."""
    dx = np.zeros_like(x)
    for n, c in itertools.product(*(range(k) for k in x.shape[:2])):
        for where in itertools.product(*(range(k) for k in x.shape[2:])):
            unit = np.zeros((1, 1, *x.shape[2:]), x.dtype)
            unit[(0, 0, *where)] = 1
            dx[(n, c, *where)] = np.sum(grad[n, c] * grid_sample(unit, grid[n : n + 1], **options)[0, 0])
    dgrid = np.zeros_like(grid)
    for at in itertools.product(*(range(k) for k in grid.shape)):
        sides = []
        for step in (1e-6, -1e-6):
            moved = grid.copy()
            moved[at] += step
            sides.append(np.sum(grad * grid_sample(x, moved, **options)))
        dgrid[at] = (sides[0] - sides[1]) / 2e-6
    return dx, dgrid
