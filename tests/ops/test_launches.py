"""The op table's launches equal the counters, for contiguous and transposed input; no byte goes to the host."""

from functools import partial

import numpy as np
import pytest
import sparse_launches
from cases import ELEMENTWISE, TABLE, function, invoke, names, operands

import stator

# For each step of an optimiser: the lists that it has, and what it must be given by name.
STEPS = [
    ("sgd_step", 2, {}),
    ("rmsprop_step", 3, {}),
    ("adagrad_step", 3, {"step": 1}),
    ("adam_step", 4, {"step": 1}),
    ("lamb_step", 4, {"step": 1}),
    ("lion_step", 3, {}),
]


def norms(x, y):
    """Normalisations, which copy what is not contiguous."""
    nn, size, column = stator.nn, x.shape[1], stator.copy(x[:, 0])
    made = {
        f"{n}_norm{form}": (getattr(nn, f"{n}_norm{form}"), form)
        for n in ("layer", "rms")
        for form in ("", "_backward")
    }
    found = {n: (partial(f, *((x, y) if form else (x,))), None) for n, (f, form) in made.items()}
    stats = [stator.full((size,), value, dtype="float32", device=x.backend) for value in (0.5, 1.5, 0.25, 1.0)]
    return found | {
        "group_norm": (lambda: nn.group_norm(x, 4), None),
        "group_norm_backward": (lambda: nn.group_norm_backward(y, x, 4), None),
        "instance_norm": (lambda: nn.instance_norm(x[None]), None),
        "instance_norm_backward": (lambda: nn.instance_norm_backward(y[None], x[None]), None),
        "batch_norm": (lambda: nn.batch_norm(x, training=True), None),
        "batch_norm_backward": (lambda: nn.batch_norm_backward(y, x, *stats[:2], training=True), None),
        "update_running_stats": (lambda: nn.update_running_stats(*stats, count=64), None),
        "weight_norm": (lambda: nn.weight_norm(x, column), None),
        "weight_norm_backward": (lambda: nn.weight_norm_backward(y, x, column), None),
        "spectral_norm": (lambda: nn.spectral_norm(x, column), None),
        "spectral_norm_backward": (lambda: nn.spectral_norm_backward(y, x, column, x[0], x[0, 0]), None),
        "local_response_norm": (lambda: nn.local_response_norm(x, 5), None),
        "local_response_norm_backward": (lambda: nn.local_response_norm_backward(y, x, y, 5), None),
    }


def gated_units(x, y):
    nn = stator.nn
    half, made = y[:, ::2], {"glu": (lambda: nn.glu(x), lambda: nn.glu(x.T, 0))}
    made["glu_backward"] = (lambda: nn.glu_backward(half, x), lambda: nn.glu_backward(half.T, x.T, 0))
    for name in ("swiglu", "geglu"):
        forward, backward = getattr(nn, name), getattr(nn, f"{name}_backward")
        made[name] = (partial(forward, x, y), partial(forward, x.T))
        made[f"{name}_backward"] = (partial(backward, x, y, x), partial(backward, x[:32].T, y.T))
    return made


def quantization(be, x, y):
    """Quantisation, which copies what is not contiguous first, of x and of bytes."""
    nn, codes = stator.nn, be.ones((64, 64), dtype="int8")
    low, high = be.zeros((), dtype="float32"), be.ones((), dtype="float32")
    packed = nn.quantize_int4(x, group_size=32)
    counts, taps = be.ones((16,), dtype="float32"), be.ones((1, 1, 4, 4), dtype="int8")
    found = {
        "quantize": partial(nn.quantize, x, 0.5),
        "dequantize": partial(nn.dequantize, codes, 0.5),
        "fake_quantize": partial(nn.fake_quantize, x, 0.5, 0, 0, 9),
        "fake_quantize_backward": partial(nn.fake_quantize_backward, y, x, 0.5, 0, 0, 9),
        "quantization_parameters": partial(nn.quantization_parameters, low, high),
        "observe_range": partial(nn.observe_range, x, low, high),
        "observe_histogram": partial(nn.observe_histogram, x, counts, low, high),
        "histogram_range": partial(nn.histogram_range, counts, low, high),
        "quantized_linear": partial(nn.quantized_linear, codes, codes, 0.5, 0.5),
        "quantized_conv1d": partial(nn.quantized_conv1d, codes[:1, None], taps[0, :, :1], 0.5, 0.5),
        "quantized_conv2d": partial(nn.quantized_conv2d, codes[None, None], taps, 0.5, 0.5),
        "quantized_conv3d": partial(nn.quantized_conv3d, codes[None, None, None], taps[None], 0.5, 0.5),
        "quantize_int4": partial(nn.quantize_int4, x, group_size=32),
        "int4_linear": partial(nn.int4_linear, x[:4], *packed),
    }
    product = partial(nn.quantized_matmul, codes, codes, 0.5, 0.5)
    turned = partial(nn.quantized_matmul, codes.T, codes.T, 0.5, 0.5)
    return {name: (call, None) for name, call in found.items()} | {"quantized_matmul": (product, turned)}


def losses(x, y, target, square, index, one):
    """Losses, with the gradient of a mean."""
    nn, found = stator.nn, {}
    for name in ("mse", "l1", "huber", "smooth_l1"):
        forward, backward = getattr(nn, f"{name}_loss"), getattr(nn, f"{name}_loss_backward")
        found[f"{name}_loss"] = (partial(forward, x, y), partial(forward, x.T, y.T))
        found[f"{name}_loss_backward"] = (partial(backward, one, x, y), partial(backward, one, x.T, y.T))
    for name in ("binary_cross_entropy_with_logits", "kl_div"):
        forward, backward = getattr(nn, name), getattr(nn, f"{name}_backward")
        found[name] = (partial(forward, x, y), partial(forward, x.T, y.T))
        found[f"{name}_backward"] = (partial(backward, one, x, y), partial(backward, one, x.T, y.T))
    steps, few = index[:2] % 2 + 20, index[:2] % 2 + 1
    sequences, labels = stator.reshape(square, (32, 2, 64)), stator.reshape(index, (2, 32))[:, :3] + 1
    turned = stator.permute_dims(stator.reshape(square, (2, 64, 32)), (2, 0, 1))
    return found | {
        "ctc_loss": (
            lambda: nn.ctc_loss(sequences, labels, steps, few),
            lambda: nn.ctc_loss(turned, labels, steps, few),
        ),
        "ctc_loss_backward": (
            lambda: nn.ctc_loss_backward(one, sequences, labels, steps, few),
            lambda: nn.ctc_loss_backward(one, turned, labels, steps, few),
        ),
        "nll_loss": (lambda: nn.nll_loss(x, target), lambda: nn.nll_loss(square.T, index)),
        "nll_loss_backward": (
            lambda: nn.nll_loss_backward(one, x, target),
            lambda: nn.nll_loss_backward(one, square.T, index),
        ),
    }


def convolutions(x):
    """Of x as 2 samples of 8 channels, along one axis to three; turned, channels are last."""
    nn, found = stator.nn, {}
    for axes, shape in ((1, (384,)), (2, (16, 24)), (3, (4, 8, 12))):
        images = stator.reshape(x, (2, 8, *shape))
        weight = stator.copy(stator.reshape(x[: 3**axes, :72], (9, 8, *(3,) * axes)))
        grad = stator.reshape(x, (-1,))[: 2 * 9].reshape((2, 9, *(1,) * axes))
        grad = stator.broadcast_to(grad, (2, 9, *(n - 2 for n in shape)))
        for form in ("", "_transpose"):
            forward, backward = (getattr(nn, f"conv{form}{axes}d{end}") for end in ("", "_backward"))
            operands = (stator.copy(grad), weight) if form else (images, weight)
            slope = images if form else stator.copy(grad)
            turned = [stator.flip(operand) for operand in (slope, *operands)]
            found[f"conv{form}{axes}d"] = (partial(forward, *operands), partial(forward, *turned[1:]))
            found[f"conv{form}{axes}d_backward"] = (partial(backward, slope, *operands), partial(backward, *turned))
    columns = stator.reshape(x, (2, 24, 128))
    return found | {
        "unfold": (lambda: nn.unfold(stator.reshape(x, (2, 8, 16, 24)), 3), None),
        "fold": (lambda: nn.fold(columns, (9, 17), 2), None),
    }


def pooling(be):
    """Pooling and resampling, which copy what is not contiguous first."""
    nn, x = stator.nn, be.asarray(np.random.default_rng(0).uniform(0.5, 2, (2, 4, 8, 8)).astype(np.float32))
    y, at = nn.max_pool2d(x, 2, return_indices=True)
    grid = be.zeros((2, 4, 4, 2), dtype="float32")
    found = {
        "max_pool": partial(nn.max_pool2d, x, 2, return_indices=True),
        "max_pool_backward": partial(nn.max_pool2d_backward, y, x, at, 2),
        "max_unpool": partial(nn.max_unpool2d, y, at, 2),
        "max_unpool_backward": partial(nn.max_unpool2d_backward, x, at),
        "avg_pool": partial(nn.avg_pool2d, x, 2),
        "avg_pool_backward": partial(nn.avg_pool2d_backward, y, x, 2),
        "lp_pool": partial(nn.lp_pool2d, x, 2, 2),
        "lp_pool_backward": partial(nn.lp_pool2d_backward, y, x, y, 2, 2),
        "adaptive_avg_pool": partial(nn.adaptive_avg_pool2d, x, 4),
        "adaptive_avg_pool_backward": partial(nn.adaptive_avg_pool2d_backward, y, x),
        "adaptive_max_pool": partial(nn.adaptive_max_pool2d, x, 4),
        "adaptive_max_pool_backward": partial(nn.adaptive_max_pool2d_backward, y, x, at),
        "interpolate": partial(nn.interpolate, x, 4, mode="bilinear"),
        "interpolate_backward": partial(nn.interpolate_backward, y, x, 4, mode="bilinear"),
        "grid_sample": partial(nn.grid_sample, x, grid),
        "grid_sample_backward": partial(nn.grid_sample_backward, y, x, grid),
    }
    turned = stator.permute_dims(x, (0, 1, 3, 2))
    return {name: (call, None) for name, call in found.items()} | {
        "pixel_shuffle": (lambda: nn.pixel_shuffle(x, 2), lambda: nn.pixel_shuffle(turned, 2)),
        "pixel_unshuffle": (lambda: nn.pixel_unshuffle(x, 2), lambda: nn.pixel_unshuffle(turned, 2)),
    }


def recurrent(be):
    """Steps, and layers of three steps whose first state is zero."""
    nn, made = stator.nn, {}
    one = {n: be.asarray(np.random.default_rng(n).normal(size=(4, n)).astype(np.float32)) for n in (8, 24, 32, 40)}
    x = be.ones((3, 4, 8), dtype="float32")
    for name, width in (("rnn", 8), ("gru", 24), ("lstm", 32)):
        gates, state = one[width], one[8]
        states = [state] * (name != "rnn")
        saved = {"rnn": [state], "gru": [one[40]], "lstm": [None, state, one[32]]}[name]
        weights = [be.ones((width, n), dtype="float32") for n in (8, 8)] + [be.ones((width,), dtype="float32")] * 2
        y, _, workspace = getattr(nn, name)(x, None, weights, return_workspace=True)
        found = {
            f"{name}_pointwise": partial(getattr(nn, f"{name}_pointwise"), gates, gates, *states),
            f"{name}_pointwise_backward": partial(getattr(nn, f"{name}_pointwise_backward"), state, *saved),
            f"{name}_cell": partial(
                getattr(nn, f"{name}_cell"), state, (state, state) if name == "lstm" else state, *weights
            ),
            name: partial(getattr(nn, name), x, None, weights),
            f"{name}_backward": partial(getattr(nn, f"{name}_backward"), y, None, x, weights, workspace),
        }
        made |= {key: (call, None) for key, call in found.items()}
    return made


def calls(be):
    """For each op: (callable on contiguous input, callable on transposed input or None)."""
    x = be.asarray(np.random.default_rng(0).uniform(0.5, 2, (64, 96)).astype(np.float32))
    y = be.asarray(np.ones((64, 96), np.float32))
    square = be.asarray(np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32))
    target, index = be.asarray(np.arange(64) % 96), be.asarray(np.arange(64) % 60)
    one = be.asarray(np.array(1, np.float32))
    moments = [be.zeros((8,), dtype="float32") for _ in range(4)]
    rng = np.random.default_rng(0)
    made = {}
    for n in ELEMENTWISE:
        dtype = "float32" if "float32" in TABLE[n]["dtypes"] else "int32"
        drawn = [be.asarray(o) if isinstance(o, np.ndarray) else o for o in operands(rng, n, (64, 96), dtype)]
        turned = [o.T if isinstance(o, stator.Array) else o for o in drawn]
        made[n] = (partial(invoke, n, *drawn), partial(invoke, n, *turned))
    made |= {n: (partial(function(n), x, axis=0), partial(function(n), x.T, axis=0)) for n in names("reduce")}
    scans = ("cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min", "logcumsumexp", "diff")
    made |= {n: (partial(function(n), x, axis=0), partial(function(n), x.T, axis=0)) for n in scans}
    nn = stator.nn
    grad = be.asarray(np.ones((64,), np.float32))
    made |= {
        "sum_backward": (lambda: nn.sum_backward(grad, (64, 96), 1), lambda: nn.sum_backward(grad, (96, 64), 0)),
        "mean_backward": (lambda: nn.mean_backward(grad, (64, 96), 1), lambda: nn.mean_backward(grad, (96, 64), 0)),
        "prod_backward": (lambda: nn.prod_backward(grad, x, 1), lambda: nn.prod_backward(grad, x.T, 0)),
        "zeros": (lambda: be.zeros((50,)), None),
        "full": (lambda: be.full((50,), 2.0), None),
        "arange": (lambda: be.arange(50), None),
        "empty": (lambda: be.empty((50,)), None),
        "asarray": (lambda: be.asarray(np.ones(5)), None),
        "frexp": (lambda: stator.frexp(x), lambda: stator.frexp(x.T)),
        "copy": (lambda: stator.copy(x), lambda: stator.copy(x.T)),
        "astype": (lambda: stator.astype(x, "float64"), lambda: stator.astype(x.T, "int32")),
        "softmax": (lambda: nn.softmax(x), lambda: nn.softmax(x.T)),
        "log_softmax": (lambda: nn.log_softmax(x), lambda: nn.log_softmax(x.T)),
        "softmin": (lambda: nn.softmin(x), lambda: nn.softmin(x.T)),
        "softmin_backward": (lambda: nn.softmin_backward(x, y), lambda: nn.softmin_backward(x.T, y.T)),
        "gumbel_softmax": (lambda: nn.gumbel_softmax(x), lambda: nn.gumbel_softmax(x.T)),
        "gumbel_softmax_backward": (
            lambda: nn.gumbel_softmax_backward(x, y),
            lambda: nn.gumbel_softmax_backward(x.T, y.T),
        ),
        "attention": (lambda: nn.attention(x, x, x), lambda: nn.attention(x.T, x.T, x.T)),
        "softmax_backward": (lambda: nn.softmax_backward(x, y), lambda: nn.softmax_backward(x.T, y.T)),
        "log_softmax_backward": (lambda: nn.log_softmax_backward(x, y), lambda: nn.log_softmax_backward(x.T, y.T)),
        "cross_entropy": (lambda: nn.cross_entropy(x, target), lambda: nn.cross_entropy(square.T, index)),
        "cross_entropy_backward": (
            lambda: nn.cross_entropy_backward(one, x, target),
            lambda: nn.cross_entropy_backward(one, square.T, index),
        ),
        **gated_units(x, y),
        **norms(x, y),
        **losses(x, y, target, square, index, one),
        **convolutions(x),
        **pooling(be),
        **recurrent(be),
        **quantization(be, x, y),
        **{n: (partial(getattr(nn, n), *[[m] for m in moments[:k]], **more), None) for n, k, more in STEPS},
        "has_inf_nan_list": (lambda: nn.has_inf_nan(moments), lambda: nn.has_inf_nan([moments[0], one])),
        "clip_grad_norm": (lambda: nn.clip_grad_norm(moments, 1.0), None),
        "embedding": (lambda: nn.embedding(x, index), lambda: nn.embedding(x.T, index)),
        "embedding_backward": (lambda: nn.embedding_backward(x, index, 70), None),
        "embedding_bag": (lambda: nn.embedding_bag(x, index[None]), None),
        "embedding_bag_backward": (lambda: nn.embedding_bag_backward(x[:1], x, index[None]), None),
        "one_hot": (lambda: nn.one_hot(index, 70), None),
        "take": (lambda: stator.take(x, index, axis=0), lambda: stator.take(x.T, index, axis=0)),
        "permute_dims": (lambda: stator.permute_dims(x, (1, 0)), None),
        "reshape": (lambda: stator.reshape(x, (96, 64)), None),
        "broadcast_to": (lambda: stator.broadcast_to(one, (3, 4)), None),
        "broadcast_arrays": (lambda: stator.broadcast_arrays(x, one), None),
        "meshgrid": (lambda: stator.meshgrid(index, index), None),
        "squeeze": (lambda: stator.squeeze(x[:1]), None),
        "expand_dims": (lambda: stator.expand_dims(x, axis=1), None),
        "moveaxis": (lambda: stator.moveaxis(x, 0, 1), None),
        "flip": (lambda: stator.flip(x), None),
        "matrix_transpose": (lambda: stator.matrix_transpose(x), None),
        "diagonal": (lambda: stator.linalg.diagonal(x), None),
        "unstack": (lambda: stator.unstack(x), None),
        "as_strided": (lambda: stator.as_strided(x, (4, 4), (5, 1), 0), None),
        "getitem": (lambda: x[1:, ::2], None),
        "view": (lambda: x.view("int32"), None),
        "matmul": (lambda: stator.matmul(square, square), lambda: stator.matmul(square.T, square.T)),
        "sort": (lambda: stator.sort(x), lambda: stator.sort(x.T)),
        "argsort": (lambda: stator.argsort(x), lambda: stator.argsort(x.T)),
        "topk": (lambda: stator.topk(x, 5), lambda: stator.topk(x.T, 5)),
        "partition": (lambda: stator.partition(x, 5), lambda: stator.partition(x.T, 5)),
        "kthvalue": (lambda: stator.kthvalue(x, 5), lambda: stator.kthvalue(x.T, 5)),
        "median": (lambda: stator.median(x, axis=1), lambda: stator.median(x.T, axis=1)),
        "quantile": (lambda: stator.quantile(x, [0.1, 0.5], axis=1), lambda: stator.quantile(x.T, 0.5, axis=1)),
        "mode": (lambda: stator.mode(x), lambda: stator.mode(x.T)),
        "searchsorted": (lambda: stator.searchsorted(x[0], x), lambda: stator.searchsorted(x[:, 0], x.T)),
        "isin": (lambda: stator.isin(x, x[0]), lambda: stator.isin(x.T, x[0])),
        "unique_all": (lambda: stator.unique_all(x[0]), lambda: stator.unique_all(x[:, 0])),
        "unique_counts": (lambda: stator.unique_counts(x[0]), lambda: stator.unique_counts(x[:, 0])),
        "unique_inverse": (lambda: stator.unique_inverse(x[0]), lambda: stator.unique_inverse(x[:, 0])),
        "unique_values": (lambda: stator.unique_values(x[0]), lambda: stator.unique_values(x[:, 0])),
        "unique_consecutive": (lambda: stator.unique_consecutive(x), lambda: stator.unique_consecutive(x.T)),
        "histc": (lambda: stator.histc(x, 9, max=3), lambda: stator.histc(x.T, 9, max=3)),
        "histogram": (
            lambda: stator.histogram(x, 9, range=(0, 3)),
            lambda: stator.histogram(x.T, 9, range=(0, 3)),
        ),
        "bincount": (lambda: stator.bincount(target), lambda: stator.bincount(target[::-1])),
        "uniform": (lambda: be.random.uniform(size=(9,)), None),
        "normal": (lambda: be.random.normal(size=(9,)), None),
    }
    draw, two = be.random, stator.asarray([2] * 64, device=be)
    made |= {
        "setitem": (lambda: x.__setitem__(1, y[0]), lambda: x.T.__setitem__(1, y[:, 0])),
        "ravel": (lambda: stator.ravel(x), None),
        "split": (lambda: stator.split(x, 4), None),
        "rot90": (lambda: stator.rot90(x), None),
        "concat": (lambda: stator.concat([x, y, x]), lambda: stator.concat([x.T, y.T], axis=1)),
        "stack": (lambda: stator.stack([x, y]), lambda: stator.stack([x.T, y.T], axis=1)),
        "roll": (lambda: stator.roll(x, 5), lambda: stator.roll(x.T, 5, axis=(0, 1))),
        "tile": (lambda: stator.tile(x, (2, 3)), lambda: stator.tile(x.T, (2, 3))),
        "repeat": (lambda: stator.repeat(x, 3, axis=1), lambda: stator.repeat(x.T, 3, axis=0)),
        "pad": (lambda: stator.pad(x, 2), lambda: stator.pad(x.T, 2, "reflect")),
        "triu": (lambda: stator.triu(x), lambda: stator.triu(x.T)),
        "tril": (lambda: stator.tril(x), lambda: stator.tril(x.T)),
        "diag": (lambda: stator.diag(x), lambda: stator.diag(x.T[0])),
        "tri": (lambda: stator.tri(9), None),
        "eye": (lambda: stator.eye(9), None),
        "linspace": (lambda: stator.linspace(0, 1, 9), None),
        "integers": (lambda: draw.integers(7, size=9), None),
        "bernoulli": (lambda: draw.bernoulli(size=9), None),
        "exponential": (lambda: draw.exponential(size=9), None),
        "gamma": (lambda: draw.gamma(2.0, size=9), None),
        "poisson": (lambda: draw.poisson(2.0, size=9), None),
        "permutation": (lambda: draw.permutation(two), lambda: draw.permutation(x.T)),
        "choice": (lambda: draw.choice(two, 3), lambda: draw.choice(x.T, 3, replace=False)),
        "multinomial": (lambda: draw.multinomial(9, [0.5, 0.5]), None),
        "dropout": (lambda: nn.dropout(x, 0.5), lambda: nn.dropout(x.T, 0.5)),
        "dropout_add": (lambda: nn.dropout_add(x, y, 0.5), lambda: nn.dropout_add(x.T, y.T, 0.5)),
        "dropout_backward": (
            lambda: nn.dropout_backward(x, 0.5, draw.get_state()),
            lambda: nn.dropout_backward(x.T, 0.5, draw.get_state()),
        ),
    }
    made |= indexing_calls(be, x, index) | sparse_launches.calls(be)
    return made | products(be, square) | linear_algebra(be) | fourier(be)


def indexing_calls(be, x, index):
    """As calls, for indexing with arrays and masks."""
    nn = stator.nn
    # No element is written twice: which of the values stays is not defined, and a checker of races would say so.
    mask, along, places = x > 1, be.asarray(np.tile(np.arange(96), (64, 1))), be.asarray(np.arange(64))
    down = be.asarray(np.tile(np.arange(64)[:, None], (1, 96)))
    flat, one = stator.reshape(x, (-1,)), be.zeros((96,), dtype="float32")

    def put(target, key, value):
        target[key] = value

    return {
        "index_get": (lambda: x[index], lambda: x.T[:, index]),
        "index_put": (lambda: put(x, places, one), lambda: put(x.T, places, 2.0)),
        "take_along_axis": (lambda: stator.take_along_axis(x, along), lambda: stator.take_along_axis(x.T, down.T)),
        "put_along_axis": (
            lambda: stator.put_along_axis(x, along, one),
            lambda: stator.put_along_axis(x.T, down.T, 1.0),
        ),
        "scatter": (lambda: stator.scatter(x, 1, along, x), lambda: stator.scatter(x.T, 0, along.T, x.T)),
        "scatter_add": (lambda: stator.scatter_add(x, 1, along, x), lambda: stator.scatter_add(x.T, 0, along.T, x.T)),
        "index_add": (lambda: stator.index_add(x, 0, index, x), lambda: stator.index_add(x.T, 1, index, x.T)),
        "segment_sum": (lambda: stator.segment_sum(x, index, 70), lambda: stator.segment_sum(x.T[:64], index, 70)),
        "segment_mean": (lambda: stator.segment_mean(x, index, 70), lambda: stator.segment_mean(x.T[:64], index, 70)),
        "segment_min": (lambda: stator.segment_min(x, index, 70), lambda: stator.segment_min(x.T[:64], index, 70)),
        "segment_max": (lambda: stator.segment_max(x, index, 70), lambda: stator.segment_max(x.T[:64], index, 70)),
        "masked_fill": (lambda: stator.masked_fill(x, mask, 2.0), lambda: stator.masked_fill(x.T, mask.T, 2.0)),
        "masked_fill_backward": (
            lambda: nn.masked_fill_backward(x, mask),
            lambda: nn.masked_fill_backward(x.T, mask.T),
        ),
        "masked_select": (lambda: stator.masked_select(x, mask), lambda: stator.masked_select(x.T, mask.T)),
        "masked_select_backward": (
            lambda: nn.masked_select_backward(flat, mask),
            lambda: nn.masked_select_backward(flat, mask.T),
        ),
        "masked_scatter": (lambda: stator.masked_scatter(x, mask, x), lambda: stator.masked_scatter(x.T, mask.T, flat)),
        "masked_scatter_backward": (
            lambda: nn.masked_scatter_backward(x, mask, (64, 96)),
            lambda: nn.masked_scatter_backward(x.T, mask.T, (64, 96)),
        ),
        "nonzero": (lambda: stator.nonzero(mask), lambda: stator.nonzero(mask.T)),
        "compress": (lambda: stator.compress(mask[0], x, axis=1), lambda: stator.compress(mask[0], x.T, axis=0)),
        "cdist": (lambda: stator.cdist(x, x), lambda: stator.cdist(x.T, x.T)),
    }


def products(be, a):
    codes, one = stator.astype(a, "uint8"), be.asarray(np.float32(1))
    turned = lambda: stator.nn.scaled_matmul(codes.T, codes.T, one, one)  # noqa: E731
    made = {
        "dot": (lambda: stator.dot(a[0], a[1]), None),
        "vecdot": (lambda: stator.vecdot(a, a), None),
        "outer": (lambda: stator.outer(a[0], a[1]), lambda: stator.outer(a.T[0], a.T[1])),
        "tensordot": (lambda: stator.tensordot(a, a, axes=1), lambda: stator.tensordot(a.T, a.T, axes=1)),
        "einsum": (lambda: stator.einsum("ij,jk->ik", a, a), lambda: stator.einsum("ji,kj->ik", a, a)),
        "kron": (lambda: stator.kron(a, a), None),
        "addmm": (lambda: stator.addmm(a, a, a), lambda: stator.addmm(a, a.T, a.T)),
        "baddbmm": (lambda: stator.baddbmm(a[None], a[None], a[None]), None),
        "linear_backward": (lambda: stator.nn.linear_backward(a, a, a, a, activation="relu"), None),
        "linear": (lambda: stator.nn.linear(a, a, a[0]), lambda: stator.nn.linear(a.T, a.T, a[0])),
        "quantize_fp8": (lambda: stator.nn.quantize_fp8(a), None),
        "scaled_matmul": (lambda: stator.nn.scaled_matmul(codes, codes, one, one), turned),
    }
    if be.device.type == "cuda":  # cuBLASLt needs one call where the host needs two or three
        made |= {n: (None, None) for n in ("addmm", "baddbmm", "linear")}
        made["scaled_matmul"] = (made["scaled_matmul"][0], None)
    return made


def linear_algebra(be):
    """As calls, on small matrices, whose kernels take any layout; without the check, which waits."""
    linalg = stator.linalg
    a = be.asarray(np.random.default_rng(2).normal(size=(16, 16)) + 16 * np.eye(16))
    a = stator.add(a, a.T)
    b, zero = be.zeros((16, 2)), be.zeros((16, 16))
    factors, factor = linalg.lu_factor(a), (linalg.cholesky(a), True)
    names = ("cholesky", "inv", "lu_factor", "svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals")
    checked = {n: partial(getattr(linalg, n), check=False) for n in names}
    plain = {
        n: getattr(linalg, n) for n in ("det", "slogdet", "lu", "qr", "pinv", "matrix_rank", "matrix_norm", "cond")
    }
    found = {n: (partial(f, a), partial(f, a.T)) for n, f in (checked | plain).items()}
    return found | {
        "cho_solve": (lambda: linalg.cho_solve(factor, b), None),
        "solve": (lambda: linalg.solve(a, b, check=False), lambda: linalg.solve(a.T, b, check=False)),
        "solve_triangular": (lambda: linalg.solve_triangular(a, b, check=False), None),
        "lu_solve": (lambda: linalg.lu_solve(factors, b), None),
        "lstsq": (lambda: linalg.lstsq(a, b), None),
        "matrix_power": (lambda: linalg.matrix_power(a, 2), lambda: linalg.matrix_power(a.T, 2)),
        "linalg_trace": (lambda: linalg.trace(a), lambda: linalg.trace(a.T)),
        "linalg_cross": (lambda: linalg.cross(a[:, :3], a[:, 3:6]), lambda: linalg.cross(a.T[:, :3], a.T[:, 3:6])),
        "expm": (lambda: linalg.expm(zero), lambda: linalg.expm(zero.T)),  # each squaring takes one more launch
    }


def fourier(be):
    """As calls, for transforms along one axis; cuFFT needs further passes for conjugates, kept inputs and scales."""
    f = stator.fft
    x = be.asarray(np.ones((64, 96), np.float32))
    z = be.asarray(np.ones((64, 96), np.complex64))
    forward = {"norm": "forward"}
    made = {n: (partial(getattr(f, n), z), partial(getattr(f, n), z.T)) for n in ("fft", "fftshift", "ifftshift")}
    made["ifft"] = (partial(f.ifft, z, **forward), partial(f.ifft, z.T, **forward))
    made["rfft"] = (partial(f.rfft, x), partial(f.rfft, x.T))
    made |= {
        n: (partial(getattr(f, n), z, axes=(1,)), partial(getattr(f, n), z.T, axes=(1,))) for n in ("fft2", "fftn")
    }
    for n in ("ifft2", "ifftn"):
        made[n] = (partial(getattr(f, n), z, axes=(1,), **forward), partial(getattr(f, n), z.T, axes=(1,), **forward))
    for n in ("rfft2", "rfftn"):
        made[n] = (partial(getattr(f, n), x, axes=(1,)), partial(getattr(f, n), x.T, axes=(1,)))
    made |= {n: (partial(getattr(f, n), 8), None) for n in ("fftfreq", "rfftfreq")}
    made["stft"] = (partial(f.stft, x, 16), partial(f.stft, x.T, 16))
    if be.device.type == "cpu":
        made |= {n: (partial(getattr(f, n), z), partial(getattr(f, n), z.T)) for n in ("irfft", "hfft")}
        made["ihfft"] = (partial(f.ihfft, x), partial(f.ihfft, x.T))
        for n in ("irfft2", "irfftn"):
            made[n] = (partial(getattr(f, n), z, axes=(1,)), partial(getattr(f, n), z.T, axes=(1,)))
        made["istft"] = (partial(f.istft, z[:33], 64), partial(f.istft, z.T[:33], 64))
        made["fftconvolve"] = (partial(f.fftconvolve, x, x, axes=1), partial(f.fftconvolve, x.T, x.T, axes=1))
    else:
        made |= {n: (None, None) for n in ("irfft", "irfft2", "irfftn", "hfft", "ihfft", "fftconvolve", "istft")}
    return made


def work(be):
    s = be.statistics()
    return s["kernel_launches"] + s["library_calls"]


# cuSPARSE may lack resources for it, as its double does now and then, and kernels of stator then multiply.
DECLINED = ("spgemm",)


@pytest.mark.parametrize("name", [n for n, row in TABLE.items() if row["shape_class"] != "method"])
def test_launches_are_as_stated_and_nothing_reaches_the_host(be, name):
    contiguous, transposed = calls(be)[name]
    for call in (contiguous, transposed):
        if call is None:
            continue
        for _ in range(8 if name in DECLINED else 1):
            before, moved = work(be), be.statistics()["d2h_bytes"]
            call()
            done = work(be) - before
            if done == TABLE[name]["launches"]["host" if be.device.type == "cpu" else "cuda"]:
                break
        assert done == TABLE[name]["launches"]["host" if be.device.type == "cpu" else "cuda"]
        # Ops that synchronise read one number, the size of their result.
        assert be.statistics()["d2h_bytes"] - moved <= (8 if TABLE[name]["sync"] == "sync" else 0)
