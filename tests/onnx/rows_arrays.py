"""Operators that make, move, index and multiply arrays."""

import numpy as np

import stator
from tests.onnx.table import DTYPES, NO_TYPE, Without, onnx, row

nn = stator.nn


def ints(values):
    return [int(v) for v in np.asarray(values).ravel()]


@row("MatMul", units=8)
def matmul(a, b):
    return stator.matmul(a, b)


@row("Gemm", units=8)
def gemm(a, b, c, *, alpha, beta, transA, transB):
    a, b = (a.T if transA else a), (b.T if transB else b)
    if c is None:
        return alpha * stator.matmul(a, b)
    return stator.addmm(stator.broadcast_to(c, (a.shape[0], b.shape[1])), a, b, alpha=alpha, beta=beta)


@row("Einsum", units=8)
def einsum(*operands, equation):
    return stator.einsum(equation, *operands)


@row("Det", units=8)
def determinant(x):
    return stator.linalg.det(x)


@row("Gather")
def gather(x, indices, *, axis):
    return stator.take(x, indices, axis=axis)


@row("GatherElements")
def gather_elements(x, indices, *, axis):
    return stator.take_along_axis(x, indices, axis=axis)


@row("GatherND")
def gather_nd(x, indices, *, batch_dims):
    lead = tuple(
        stator.reshape(stator.arange(n), (n, *[1] * (indices.ndim - 2 - i))) for i, n in enumerate(x.shape[:batch_dims])
    )
    return x[(*lead, *(indices[..., i] for i in range(indices.shape[-1])))]


@row("ScatterElements", "Scatter", units=2)
def scatter_elements(x, indices, updates, *, axis, reduction):
    return stator.scatter(x, axis, indices, updates, reduce={None: "set", "none": "set"}.get(reduction, reduction))


@row("ScatterND", units=2)
def scatter_nd(x, indices, updates, *, reduction):
    depth = indices.shape[-1]
    kept, at = x.shape[:depth], 0
    for i, n in enumerate(kept):
        at = at * n + stator.remainder(indices[..., i], n)
    rows = stator.reshape(x, (int(np.prod(kept)), *x.shape[depth:]))
    at = stator.reshape(at, (-1, *[1] * (x.ndim - depth)))
    source = stator.reshape(updates, (-1, *x.shape[depth:]))
    index = stator.broadcast_to(at, source.shape)
    done = stator.scatter(rows, 0, index, source, reduce="set" if reduction == "none" else reduction)
    return stator.reshape(done, x.shape)


@row("OneHot", host=[1, 2])
def one_hot(indices, depth, values, *, axis):
    depth = int(np.asarray(depth).ravel()[0])
    indices = stator.astype(indices, "int64")
    inside = stator.logical_and(indices >= -depth, indices < depth)
    hot = nn.one_hot(stator.where(inside, indices, 0), depth, dtype="bool")
    hot = stator.logical_and(hot, stator.expand_dims(inside, -1))
    values = stator.asarray(values)
    return stator.moveaxis(stator.where(hot, values[1:], values[:1]), -1, axis)


@row("TopK", host=[1])
def top_k(x, k, *, axis, largest, sorted):
    return stator.topk(x, int(k[0]), axis=axis, largest=bool(largest), sorted=bool(sorted))


@row("Unique")
def unique(x, *, axis, sorted):
    if axis is not None:
        raise Without("unique of whole slices along an axis")
    if not sorted:
        raise Without("unique elements in the order of their occurrence")
    values, first, inverse, counts = stator.unique_all(x)
    return values, first, stator.ravel(inverse), counts


@row("NonZero")
def nonzero(x):
    return stator.stack(stator.nonzero(x))


@row("Compress")
def compress(x, condition, *, axis):
    x = stator.ravel(x) if axis is None else x
    return stator.compress(condition, x, axis=0 if axis is None else axis)


@row("Trilu", host=[1])
def triangle(x, k, *, upper):
    return (stator.triu if upper else stator.tril)(x, k=0 if k is None else int(k))


@row("EyeLike")
def eye_like(x, *, dtype, k):
    kind = x.dtype if dtype is None else str(onnx.helper.tensor_dtype_to_np_dtype(dtype))
    return stator.eye(*x.shape, k=k, dtype=kind)


@row("Tile", host=[1])
def tile(x, repetitions):
    return stator.tile(x, ints(repetitions))


@row("Expand", host=[1])
def expand(x, shape):
    return stator.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(ints(shape))))


@row("Pad", host=[1, 2, 3])
def pad(x, pads, value, axes, *, mode):
    axes = range(x.ndim) if axes is None else ints(axes)
    width, pads = [(0, 0)] * x.ndim, ints(pads)
    for i, axis in enumerate(axes):
        width[axis] = (pads[i], pads[i + len(pads) // 2])
    return stator.pad(x, width, mode, constant_values=0 if value is None else value.item())


@row("Concat")
def concat(*inputs, axis):
    return stator.concat(inputs, axis=axis)


@row("Split", host=[1])
def split(x, parts, *, axis, num_outputs, outputs):
    if parts is None:
        each = -(-x.shape[axis] // len(outputs))
        return stator.split(x, [each * i for i in range(1, len(outputs))], axis)
    return stator.split(x, np.cumsum(ints(parts))[:-1].tolist(), axis)


@row("Slice", host=[1, 2, 3, 4])
def cut(x, starts, ends, axes, steps):
    kept = [slice(None)] * x.ndim
    axes, steps = (
        range(len(starts)) if axes is None else ints(axes),
        [1] * len(starts) if steps is None else ints(steps),
    )
    for axis, start, end, step in zip(axes, ints(starts), ints(ends), steps, strict=True):
        kept[axis] = slice(start, None if step < 0 and end < -x.shape[axis] else end, step)
    return x[tuple(kept)]


@row("Transpose")
def transpose(x, *, perm):
    return stator.permute_dims(x, perm or range(x.ndim)[::-1])


@row("Reshape", host=[1])
def reshape(x, shape, *, allowzero):
    shape = ints(shape)
    return stator.reshape(x, shape if allowzero else [n or x.shape[i] for i, n in enumerate(shape)])


@row("Flatten")
def flatten(x, *, axis):
    return stator.reshape(x, (int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))))


@row("Squeeze", host=[1])
def squeeze(x, axes):
    return stator.squeeze(x, None if axes is None else tuple(ints(axes)))


@row("Unsqueeze", host=[1])
def unsqueeze(x, axes):
    return stator.expand_dims(x, tuple(ints(axes)))


@row("ReverseSequence", host=[1])
def reverse_sequence(x, lengths, *, batch_axis, time_axis):
    count = x.shape[time_axis]
    at = np.array([[n - 1 - t if t < n else t for t in range(count)] for n in ints(lengths)])
    at = stator.asarray(at if batch_axis == 0 else at.T)
    return stator.take_along_axis(x, at, axis=time_axis)


@row("CenterCropPad", host=[1])
def center(x, shape, *, axes):
    for axis, wanted in zip(axes or range(x.ndim), ints(shape), strict=True):
        short = wanted - x.shape[axis]
        width, kept = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
        if short >= 0:
            width[axis] = (short // 2, short - short // 2)
            x = stator.pad(x, width)
        else:
            kept[axis] = slice(-short // 2, -short // 2 + wanted)
            x = x[tuple(kept)]
    return x


@row("Cast", silent={"saturate": "only of eight-bit floats", "round_mode": "only of eight-bit floats"})
def cast(x, *, to):
    kind = str(onnx.helper.tensor_dtype_to_np_dtype(to))
    if kind not in DTYPES:
        raise Without(NO_TYPE)
    return stator.astype(x, kind)


@row("Hardmax")
def hardmax(x, *, axis):
    return stator.moveaxis(nn.one_hot(stator.argmax(x, axis=axis), x.shape[axis], dtype=x.dtype), -1, axis)


@row("AffineGrid", host=[1], units=8)
def affine_grid(theta, size, *, align_corners):
    extents = ints(size)[2:]
    ends = [1 if align_corners else 1 - 1 / n for n in extents]
    lines = [stator.linspace(-e, e, n, dtype=theta.dtype) for e, n in zip(ends, extents, strict=True)]
    axes = stator.meshgrid(*lines, indexing="ij")
    points = stator.stack([*axes[::-1], stator.ones(extents, dtype=theta.dtype)], axis=-1)
    flat = stator.reshape(points, (1, -1, len(extents) + 1))
    return stator.reshape(stator.matmul(flat, stator.matrix_transpose(theta)), (theta.shape[0], *extents, len(extents)))
