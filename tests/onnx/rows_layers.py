"""Operators of layers: normalisation, convolution, pooling, resampling, attention, losses, steps of optimisers."""

import math

import numpy as np

import stator
from tests.onnx.table import Without, row

nn = stator.nn
WINDOW = {"kernel_shape": "the weight's shape says it"}


@row("Softmax", units=4)
def softmax(x, *, axis):
    return nn.softmax(x, axis)


@row("LogSoftmax", units=4)
def log_softmax(x, *, axis):
    return nn.log_softmax(x, axis)


# Normalisation


@row("BatchNormalization", units=32)
def batch_norm(x, weight, bias, mean, var, *, epsilon, momentum, training_mode):
    y, m, v = nn.batch_norm(x, weight, bias, mean, var, training=bool(training_mode), eps=epsilon)
    return y, m + momentum * (mean - m), v + momentum * (var - v)  # the variance stays biased, unlike nn's


@row("InstanceNormalization", units=32)
def instance_norm(x, weight, bias, *, epsilon):
    return nn.instance_norm(x, weight, bias, eps=epsilon)


@row("GroupNormalization", units=32, silent={"stash_type": "sums are of float32 at least"})
def group_norm(x, weight, bias, *, epsilon, num_groups):
    return nn.group_norm(x, num_groups, weight, bias, eps=epsilon)


@row("LayerNormalization", units=32, silent={"stash_type": "sums are of float32 at least"})
def layer_norm(x, weight, bias, *, axis, epsilon, outputs):
    axes = tuple(range(axis % x.ndim, x.ndim))
    y = nn.layer_norm(x, weight, bias, normalized_shape=[x.shape[a] for a in axes], eps=epsilon)
    variance = stator.var(x, axis=axes, keepdims=True)
    return y, stator.mean(x, axis=axes, keepdims=True), stator.rsqrt(variance + epsilon)


@row("RMSNormalization", units=32, silent={"stash_type": "sums are of float32 at least"})
def rms_norm(x, weight, *, axis, epsilon):
    return nn.rms_norm(x, weight, normalized_shape=x.shape[axis:], eps=epsilon)


@row("LRN", units=16)
def local_response_norm(x, *, alpha, beta, bias, size):
    return nn.local_response_norm(x, size, alpha=alpha, beta=beta, k=bias)[0]


@row("LpNormalization", units=8)
def lp_norm(x, *, axis, p):
    norm = stator.linalg.vector_norm(x, axis=axis, keepdims=True, ord=p)
    return stator.where(norm == 0, 0, x / norm)


@row("MeanVarianceNormalization", units=64)
def mean_variance_norm(x, *, axes):
    order = [a for a in range(x.ndim) if a not in axes] + list(axes)
    turned = stator.permute_dims(x, order)
    y = nn.layer_norm(turned, normalized_shape=turned.shape[x.ndim - len(axes) :], eps=1e-9)
    return stator.permute_dims(y, np.argsort(order).tolist())


# Convolution


def padded(x, pads, auto_pad, extents, strides, dilations):
    """(before, after) of each spatial axis."""
    rank = len(extents)
    if auto_pad in (None, "NOTSET"):
        pads = pads or [0] * (2 * rank)
        return list(zip(pads[:rank], pads[rank:], strict=True))
    if auto_pad == "VALID":
        return [(0, 0)] * rank
    found = []
    for n, k, s, d in zip(x.shape[2:], extents, strides, dilations, strict=True):
        total = max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n)
        found.append((total // 2, total - total // 2)[:: 1 if auto_pad == "SAME_UPPER" else -1])
    return found


def symmetric(pads):
    return all(before == after for before, after in pads)


@row("Conv", units=8, silent=WINDOW)
def conv(x, weight, bias, *, auto_pad, dilations, group, pads, strides):
    rank = x.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    pads = padded(x, pads, auto_pad, weight.shape[2:], strides, dilations)
    if not symmetric(pads):
        x, pads = stator.pad(x, [(0, 0), (0, 0), *pads]), [(0, 0)] * rank
    call = getattr(nn, f"conv{rank}d")
    return call(x, weight, bias, stride=strides, padding=[p[0] for p in pads], dilation=dilations, groups=group)


@row("ConvTranspose", units=8, silent=WINDOW)
def conv_transpose(x, weight, bias, *, auto_pad, dilations, group, output_padding, output_shape, pads, strides):
    rank = x.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    extra, pads = output_padding or [0] * rank, pads or [0] * 2 * rank
    full = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(x.shape[2:], strides, dilations, weight.shape[2:], strict=False)
    ]
    if auto_pad.startswith("SAME") and output_shape is None:
        output_shape = [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
    if output_shape:
        total = [f - o for f, o in zip(full, output_shape, strict=True)]
        extra, total = [max(0, -t) for t in total], [max(0, t) for t in total]
        before = [t // 2 if auto_pad == "SAME_UPPER" else t - t // 2 for t in total]
        pads = before + [t - b for t, b in zip(total, before, strict=True)]
    call, options = getattr(nn, f"conv_transpose{rank}d"), {"stride": strides, "dilation": dilations, "groups": group}
    if pads[:rank] == pads[rank:]:
        return call(x, weight, bias, padding=pads[:rank], output_padding=extra, **options)
    y = call(x, weight, bias, output_padding=extra, **options)
    cut = [slice(b, n - a) for n, b, a in zip(y.shape[2:], pads[:rank], pads[rank:], strict=True)]
    return y[(slice(None), slice(None), *cut)]


@row("Col2Im", host=[1, 2], units=4)
def col2im(x, image, block, *, dilations, pads, strides):
    rank = len(image)
    if rank != 2:
        raise Without("fold of images of one or three axes")
    pads = pads or [0] * 4
    options = {"stride": strides or 1, "padding": pads[:2], "dilation": dilations or 1}
    return nn.fold(x, image.tolist(), block.tolist(), **options)


# Pooling


def pooling_padding(x, pads, kernel, value, ceil_mode):
    """x and the padding that the call gets: what it does not take is added to x first."""
    fits = symmetric(pads) and all(p[0] <= k // 2 for p, k in zip(pads, kernel, strict=True))
    if fits:
        return x, [p[0] for p in pads]
    if ceil_mode:
        raise Without("windows beyond a padding that differs at the two ends of an axis")
    return stator.pad(x, [(0, 0), (0, 0), *pads], constant_values=value), [0] * len(kernel)


@row("MaxPool")
def max_pool(x, *, auto_pad, ceil_mode, dilations, kernel_shape, pads, storage_order, strides, outputs):
    if x.dtype == "uint8":
        raise Without("pooling of integers")
    rank = x.ndim - 2
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    pads = padded(x, pads, auto_pad, kernel_shape, strides, dilations)
    shape = x.shape
    x, padding = pooling_padding(x, pads, kernel_shape, -np.inf, ceil_mode)
    options = {"ceil_mode": bool(ceil_mode), "return_indices": True}
    y, at = getattr(nn, f"max_pool{rank}d")(x, kernel_shape, strides, padding, dilations, **options)
    if storage_order:
        at = stator.remainder(at, shape[-1]) * shape[-2] + stator.floor_divide(at, shape[-1])
    planes = stator.reshape(stator.arange(shape[0] * shape[1]), (*shape[:2], *[1] * rank))
    return y, at + planes * math.prod(shape[2:])


@row("AveragePool", units=8)
def avg_pool(x, *, auto_pad, ceil_mode, count_include_pad, dilations, kernel_shape, pads, strides):
    rank = x.ndim - 2
    if dilations and any(d != 1 for d in dilations):
        raise Without("means of windows with gaps")
    strides = strides or [1] * rank
    pads = padded(x, pads, auto_pad, kernel_shape, strides, [1] * rank)
    call, shape = getattr(nn, f"avg_pool{rank}d"), x.shape
    x, padding = pooling_padding(x, pads, kernel_shape, 0, ceil_mode)
    y = call(x, kernel_shape, strides, padding, ceil_mode=bool(ceil_mode), count_include_pad=bool(count_include_pad))
    if x.shape == shape or count_include_pad:
        return y
    there = stator.pad(stator.ones(shape, dtype=x.dtype), [(0, 0), (0, 0), *pads])
    return y / call(there, kernel_shape, strides)


@row("LpPool", units=16)
def lp_pool(x, *, auto_pad, ceil_mode, dilations, kernel_shape, p, pads, strides):
    rank = x.ndim - 2
    if dilations and any(d != 1 for d in dilations):
        raise Without("powers of windows with gaps")
    strides = strides or [1] * rank
    pads = padded(x, pads, auto_pad, kernel_shape, strides, [1] * rank)
    x = stator.pad(stator.abs(x), [(0, 0), (0, 0), *pads])
    return getattr(nn, f"lp_pool{rank}d")(x, p, kernel_shape, strides, ceil_mode=bool(ceil_mode))


@row("GlobalAveragePool", units=8)
def global_avg_pool(x):
    return getattr(nn, f"adaptive_avg_pool{x.ndim - 2}d")(x, 1)


@row("GlobalMaxPool")
def global_max_pool(x):
    return getattr(nn, f"adaptive_max_pool{x.ndim - 2}d")(x, 1)


@row("MaxUnpool", host=[2])
def max_unpool(x, at, shape, *, kernel_shape, pads, strides):
    rank = x.ndim - 2
    strides = strides or [1] * rank
    extents = [(n - 1) * s + k for n, s, k in zip(x.shape[2:], strides, kernel_shape, strict=True)]
    y = getattr(nn, f"max_unpool{rank}d")(x, stator.remainder(at, math.prod(extents)), kernel_shape, strides)
    wanted = y.shape if shape is None else shape.tolist()
    return stator.pad(y, [(0, int(w) - n) for n, w in zip(y.shape, wanted, strict=True)])


# Resampling


@row("DepthToSpace")
def depth_to_space(x, *, blocksize, mode):
    n, c, h, w = x.shape
    if mode == "CRD":
        return nn.pixel_shuffle(x, blocksize)
    parts = stator.reshape(x, (n, blocksize**2, c // blocksize**2, h, w))
    return nn.pixel_shuffle(stator.reshape(stator.moveaxis(parts, 1, 2), x.shape), blocksize)


@row("SpaceToDepth")
def space_to_depth(x, *, blocksize, mode):
    y = nn.pixel_unshuffle(x, blocksize)
    if mode == "CRD":
        return y
    n, c, h, w = y.shape
    parts = stator.reshape(y, (n, c // blocksize**2, blocksize**2, h, w))
    return stator.reshape(stator.moveaxis(parts, 2, 1), y.shape)


RESIZE = {
    "antialias": "interpolation of smoothed images",
    "cubic_coeff_a": "another cubic than that of a = -0.75",
    "exclude_outside": "cubic weights without the elements outside",
    "keep_aspect_ratio_policy": "extents that a policy chooses",
}


@row("Resize", "Upsample", units=16, host=[1, 2, 3], without=RESIZE, silent={"extrapolation_value": "only of cropping"})
def resize(x, roi, scales, sizes, *, axes, coordinate_transformation_mode, mode, nearest_mode):
    if coordinate_transformation_mode is None:  # Upsample
        roi, scales, coordinate_transformation_mode, nearest_mode = None, roi, "asymmetric", "floor"
    how, rank = coordinate_transformation_mode, x.ndim - 2
    order = [a % x.ndim - 2 for a in axes] if axes else [i - 2 for i in range(x.ndim)]
    given = {a: v for a, v in zip(order, sizes if sizes is not None else scales, strict=True) if a >= 0}
    size = [int(given[a]) if sizes is not None else math.floor(given[a] * x.shape[a + 2]) for a in range(rank)]
    if mode == "nearest":
        kinds = {("asymmetric", "floor"): "nearest", ("half_pixel", "round_prefer_ceil"): "nearest-exact"}
        kind = kinds.get((how, nearest_mode))
        if (how, nearest_mode) == ("half_pixel", "round_prefer_floor"):
            ties = [((np.arange(s) + 0.5) * n / s) % 1 == 0 for s, n in zip(size, x.shape[2:], strict=True)]
            kind = None if np.concatenate(ties).any() else "nearest-exact"
        if kind is None:
            raise Without("nearest elements but by floor of asymmetric or by rounding up of half-pixel coordinates")
        return nn.interpolate(x, size, mode=kind)
    if how not in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        raise Without("coordinates that are asymmetric, half-pixel symmetric or cropped")
    if how == "pytorch_half_pixel" and 1 in size:
        raise Without("the first element, and not the middle, as the only one of an axis")
    fractional = sizes is None and any(given[a] * x.shape[a + 2] != size[a] for a in range(rank))
    if fractional and how == "align_corners":
        raise Without("corners that are aligned by a fractional scale instead of the extents")
    kind = {"linear": ["linear", "bilinear", "trilinear"][rank - 1], "cubic": "bicubic"}[mode]
    extent = {"scale_factor": [float(given[a]) for a in range(rank)]} if fractional else {"size": size}
    return nn.interpolate(x, **extent, mode=kind, align_corners=how == "align_corners")


@row("GridSample", units=32)
def grid_sample(x, grid, *, align_corners, mode, padding_mode):
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    return nn.grid_sample(x, grid, mode, padding_mode, align_corners=bool(align_corners))


# Attention

SILENT = {
    "softmax_precision": "float32 at least",
    "qk_matmul_output_mode": "of the scores, which are not a result here",
}


def heads(x, count):
    return x if x.ndim == 4 else stator.moveaxis(stator.reshape(x, (*x.shape[:2], count, -1)), 2, 1)


def extended(mask, length):
    """A mask of fewer keys excludes the others."""
    missing = length - mask.shape[-1]
    if not missing:
        return mask
    value = False if mask.dtype == "bool" else -np.inf
    return stator.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=value)


@row("Attention", units=64, without={"softcap": "a bound of the scores"}, silent=SILENT)
def attention(
    q, k, v, mask, past_k, past_v, lengths, /, *,
    is_causal, kv_num_heads, q_num_heads, scale, left_window_size, right_window_size,
):  # fmt: skip
    flat = q.ndim == 3
    q, k, v = heads(q, q_num_heads), heads(k, kv_num_heads), heads(v, kv_num_heads)
    before = 0 if past_k is None else past_k.shape[2]
    if past_k is not None:
        k, v = stator.concat([past_k, k], axis=2), stator.concat([past_v, v], axis=2)
    rows, columns = q.shape[2], k.shape[2]
    left, right = (-1 if w is None else w for w in (left_window_size, right_window_size))
    keep, causal = None, bool(is_causal)
    if lengths is not None or before or left >= 0 or right >= 0:  # what is kept, by the distance from the query
        i, j = stator.reshape(stator.arange(rows), (rows, 1)), stator.arange(columns)
        at = i + before
        if lengths is not None:
            ends = stator.reshape(lengths, (-1, 1, 1, 1))
            at, keep = i + (ends - rows if causal else 0), j < ends
        conditions = [j <= at] * causal + [at - j <= left] * (left >= 0) + [j - at <= right] * (right >= 0)
        for condition in conditions:
            keep = condition if keep is None else stator.logical_and(keep, condition)
        causal = False
    mask = None if mask is None else extended(mask, columns)
    if keep is not None and mask is not None:
        both = stator.logical_and(keep, mask) if mask.dtype == "bool" else stator.where(keep, mask, -np.inf)
        keep = both
    y = nn.attention(q, k, v, scale=scale, causal=causal, mask=mask if keep is None else keep)
    if flat:
        y = stator.reshape(stator.moveaxis(y, 1, 2), (y.shape[0], rows, -1))
    return y, k, v, Without("the scores as a result: they are not stored")


# Losses


def loss_options(ignore_index, reduction, weight):
    return {"weight": weight, "reduction": reduction} | ({} if ignore_index is None else {"ignore_index": ignore_index})


@row("NegativeLogLikelihoodLoss", units=8)
def nll_loss(log_probs, target, weight, *, ignore_index, reduction):
    return nn.nll_loss(log_probs, target, **loss_options(ignore_index, reduction, weight))


@row("SoftmaxCrossEntropyLoss", units=8)
def cross_entropy(logits, target, weight, *, ignore_index, reduction):
    options = loss_options(ignore_index, reduction, weight)
    return nn.cross_entropy(logits, target, **options), nn.log_softmax(logits, 1)


# Optimisers: the rate, the step counted from 0, parameters, gradients and states of each kind


def groups(arrays, kinds):
    n = len(arrays) // kinds
    return [list(arrays[i : i + n]) for i in range(0, len(arrays), n)]


@row("Adagrad", host=[0, 1], units=8)
def adagrad(rate, step, *arrays, decay_factor, epsilon, norm_coefficient):
    x, g, h = groups(arrays, 3)
    options = {"lr_decay": decay_factor, "eps": epsilon, "weight_decay": norm_coefficient}
    nn.adagrad_step(x, g, h, step=int(step) + 1, lr=float(rate), **options)
    return x + h


@row("Momentum", host=[0, 1], units=8)
def momentum(rate, step, *arrays, alpha, beta, mode, norm_coefficient):
    x, g, v = groups(arrays, 3)
    options = {"momentum": alpha, "weight_decay": norm_coefficient, "nesterov": mode == "nesterov"}
    nn.sgd_step(x, g, v, lr=float(rate), dampening=0 if int(step) == 0 else 1 - beta, **options)
    return x + v


@row("Adam", host=[0, 1], units=8)
def adam(rate, step, *arrays, alpha, beta, epsilon, norm_coefficient, norm_coefficient_post):
    if int(step) == 0:
        raise Without("a step of Adam without correction of the means: steps count from 1")
    x, g, v, h = groups(arrays, 4)
    options = {"betas": (alpha, beta), "eps": epsilon, "weight_decay": norm_coefficient}
    nn.adam_step(x, g, v, h, step=int(step), lr=float(rate), **options)
    return x + v + h
