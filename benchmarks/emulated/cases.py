"""The cases whose traffic is counted: one at least of each family of kernels."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import stator
from stator import fft, linalg, nn, random, sparse, special

from .case import MILLION, SIDE, Arrays, Case, Inputs, normal


def definite(count: int, n: int) -> Inputs:
    def draw(rng: np.random.Generator) -> Arrays:
        x = rng.standard_normal((count, n, n))
        return (x @ x.transpose(0, 2, 1) + n * np.eye(n),)

    return draw


def positive(count: int = 1) -> Inputs:
    """Draws vectors of numbers from 0.5 to 8, which the gamma functions take."""
    return lambda rng: tuple(rng.uniform(0.5, 8, MILLION).astype("float32") for _ in range(count))


def nothing(_: np.random.Generator) -> Arrays:
    return ()


def _transposed(x: Any) -> tuple[Any]:
    return (x.T,)


def _positions(rows: int, choices: int, count: int = 0) -> Inputs:
    """An array of `rows` rows, or a vector, and positions of it in no order."""

    def draw(rng: np.random.Generator) -> Arrays:
        shape = (rows, rows) if not count else (rows,)
        return rng.standard_normal(shape).astype("float32"), rng.integers(0, choices, count or rows)

    return draw


def _labels(rng: np.random.Generator) -> Arrays:
    return rng.standard_normal((SIDE, SIDE)).astype("float32"), rng.integers(0, SIDE, SIDE)


def _masked(rng: np.random.Generator) -> Arrays:
    return rng.random(MILLION) < 0.5, *normal(MILLION, count=2)(rng)


def _assigned(rng: np.random.Generator) -> Arrays:
    mask, x, y = _masked(rng)
    return x, mask, y[: mask.sum()]


def _short_rows(rng: np.random.Generator) -> Arrays:
    return rng.standard_normal((MILLION // 8, 9)).astype("float32"), rng.integers(0, MILLION // 8, MILLION // 8)


def _assign(x: Any, mask: Any, values: Any) -> Any:
    x[mask] = values
    return x


def _complex(*shape: int) -> Inputs:
    def draw(rng: np.random.Generator) -> Arrays:
        return ((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("complex64"),)

    return draw


def _image(channels: int, dtype: str, last: bool = False, deep: int = 64) -> Inputs:
    """Images of `deep` channels, and kernels of 3 x 3 elements of some channels."""

    def draw(rng: np.random.Generator) -> Arrays:
        shape = (4, 28, 28, deep) if last else (4, deep, 28, 28)
        return rng.standard_normal(shape).astype(dtype), rng.standard_normal((64, channels, 3, 3)).astype(dtype)

    return draw


def _image_gradients(dtype: str, rows: int = 64) -> Inputs:
    """Gradients of `rows` channels, images of 64, and the kernels between them."""

    def draw(rng: np.random.Generator) -> Arrays:
        shapes = ((4, rows, 28, 28), (4, 64, 28, 28), (rows, 64, 3, 3))
        return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)

    return draw


def _heads(queries: int, keys: int, size: int) -> Inputs:
    shapes = ((8, queries, size), (8, keys, size), (8, keys, size))
    return lambda rng: tuple(rng.standard_normal(shape).astype("float16") for shape in shapes)


def _conv(x: Any, w: Any) -> Any:
    return nn.conv2d(x, w, padding=1)


def _conv_backward(g: Any, x: Any, w: Any) -> Any:
    return nn.conv2d_backward(g, x, w, padding=1)


def _conv_last(x: Any, w: Any) -> Any:
    return nn.conv2d(x, w, padding=1, layout="NHWC")


def _after_one(*operands: Any) -> tuple[Any, ...]:
    """Operands after the gradient of a loss, so that a call launches nothing to make it."""
    return stator.full((), 1, dtype="float32", device=operands[0].backend), *operands


def _sparse(x: Any) -> tuple[Any]:
    return (sparse.csr_from_dense(stator.where(stator.abs(x) > 2.5, x, stator.zeros_like(x))),)


def _elementwise() -> list[Case]:
    made = [Case(f"add {d}", "elementwise", normal(MILLION, dtype=t, count=2), stator.add) for d, t in TYPES]
    made += [Case(f"exp {d}", "elementwise", normal(MILLION, dtype=t), stator.exp) for d, t in TYPES]
    both = partial(normal, SIDE, SIDE)
    return [
        *made,
        Case("sin f32", "elementwise", normal(MILLION), stator.sin),
        Case("add a row", "elementwise", lambda rng: (*both()(rng), *normal(SIDE)(rng)), stator.add),
        Case("add m and m.T", "elementwise", both(), lambda m: m + m.T),
        Case("exp of a transposed view", "elementwise", both(), stator.exp, _transposed),
        Case("where", "elementwise", _masked, stator.where),
        *(Case(f"{f.__name__} i32", "elementwise", normal(MILLION, dtype="int32", count=2), f) for f in INTEGERS),
        *(Case(f"{f.__name__} f32", "elementwise", normal(MILLION, count=2), f) for f in PAIRS),
        *(Case(f"{f.__name__} f32", "elementwise", positive(2), f) for f in GAMMAS),
        Case("frexp f32", "elementwise", normal(MILLION), stator.frexp),
        Case("erfcx f32", "elementwise", normal(MILLION), special.erfcx),
    ]


INTEGERS, PAIRS = (stator.gcd, stator.lcm), (stator.heaviside, stator.logaddexp2)
GAMMAS = (special.beta, special.betaln, special.gammainc, special.gammaincc)
TYPES = (("f32", "float32"), ("f16", "float16"), ("f64", "float64"))


def _norms() -> list[Case]:
    """The least of batch_norm in training is less than its passes: it reads x for the statistics and for the result."""
    rows, images = normal(4096, SIDE), normal(16, 64, 56, 56)
    column = normal(SIDE)
    return [
        Case("layer_norm", "norm", lambda rng: (*rows(rng), *column(rng), *column(rng)), nn.layer_norm),
        Case("layer_norm backward", "norm", normal(4096, SIDE, count=2), nn.layer_norm_backward),
        Case("rms_norm f16", "norm", normal(4096, SIDE, dtype="float16"), nn.rms_norm),
        Case("rms_norm f16, rows of 4096", "norm", normal(264, 4096, dtype="float16"), nn.rms_norm),
        Case("group_norm", "norm", images, lambda x: nn.group_norm(x, 32)),
        Case(
            "group_norm backward",
            "norm",
            normal(16, 64, 56, 56, count=2),
            lambda g, x: nn.group_norm_backward(g, x, 32),
        ),
        Case("batch_norm in training", "norm", images, lambda x: nn.batch_norm(x, training=True), again=(0,)),
        Case(
            "batch_norm in training, residual and relu",
            "norm",
            normal(16, 64, 56, 56, count=2),
            lambda x, r: nn.batch_norm(x, training=True, residual=r, activation="relu"),
            again=(0,),  # the second pass reads the sum with the residual, which is a result
        ),
        Case(
            "batch_norm of adjacent channels",
            "norm",
            normal(4096, SIDE),
            lambda x: nn.batch_norm(x, training=True),
            again=(0,),
        ),
        Case(
            "batch_norm backward",
            "norm",
            normal(16, 64, 56, 56, count=2),
            partial(nn.batch_norm_backward, training=True),
            _with_statistics,
            again=(0, 1),
        ),
        Case("local_response_norm", "norm", images, lambda x: nn.local_response_norm(x, 5)),
    ]


def _chosen(rng: np.random.Generator) -> Arrays:
    return (rng.random((SIDE, SIDE)) < 0.5,)


def _masked_log_softmax(x: Any, mask: Any) -> Any:
    return nn.log_softmax(x, mask=mask)


def _wide_softmax(x: Any) -> Any:
    return nn.softmax(x, dtype="float32")


def _with_statistics(g: Any, x: Any) -> tuple[Any, ...]:
    return g, x, *(stator.full(x.shape[1:2], v, dtype="float32", device=x.backend) for v in (0, 1))


def _folds() -> list[Case]:
    square = normal(SIDE, SIDE)
    made = [Case(f"sum {d}", "reduce", normal(MILLION, dtype=t), stator.sum) for d, t in TYPES[:2]]
    for name in ("sum", "var", "argmax"):
        for axis in (0, 1):
            made.append(Case(f"{name} of axis {axis}", "reduce", square, partial(getattr(stator, name), axis=axis)))
    return [
        *made,
        Case("softmax of axis 1", "nn", square, nn.softmax),
        Case("softmax of rows of 4096", "nn", normal(264, 4096), nn.softmax),
        Case("softmax of axis 0", "nn", square, partial(nn.softmax, axis=0)),
        Case("softmax to float32 of long rows", "nn", normal(132, 50257, dtype="float16"), _wide_softmax),
        Case("softmax of causal scores", "nn", square, partial(nn.softmax, causal=True)),
        Case("log_softmax of causal scores", "nn", square, partial(nn.log_softmax, causal=True)),
        Case("log_softmax with a mask", "nn", lambda rng: square(rng) + _chosen(rng), _masked_log_softmax),
        Case("cross_entropy", "nn", _labels, nn.cross_entropy),
        Case("cross_entropy backward", "nn", _labels, nn.cross_entropy_backward, _after_one),
        *_norms(),
        Case("cumulative_sum", "scan", normal(MILLION), stator.cumulative_sum),
        Case("cumulative_sum of axis 0", "scan", square, partial(stator.cumulative_sum, axis=0)),
    ]


def _layers() -> list[Case]:
    return [
        Case("adam_step", "optim", normal(MILLION, count=4), _adam_step, lambda *x: tuple(map(stator.abs, x))),
        Case(
            "lamb_step",
            "optim",
            normal(MILLION, count=4),
            _lamb_step,
            lambda *x: tuple(map(stator.abs, x)),
            again=(0, 2, 3),  # the norms of the parameters and of their steps come before the new parameters
        ),
        Case("mse_loss", "losses", normal(MILLION, count=2), nn.mse_loss),
        Case("mse_loss backward", "losses", normal(MILLION, count=2), nn.mse_loss_backward, _after_one),
        Case("conv2d f32", "convolution", _image(64, "float32"), _conv),
        Case("conv2d f16", "convolution", _image(64, "float16"), _conv, longer=_image(128, "float16", deep=128)),
        Case(
            "conv2d f16, channels last",
            "convolution",
            _image(64, "float16", last=True),
            _conv_last,
            longer=_image(128, "float16", last=True, deep=128),
        ),
        Case("conv2d f32 of single channels", "convolution", _image(1, "float32"), partial(nn.conv2d, groups=64)),
        Case("conv2d backward f32", "convolution", _image_gradients("float32"), _conv_backward),
        Case(
            "conv2d backward f16",
            "convolution",
            _image_gradients("float16"),
            _conv_backward,
            longer=_image_gradients("float16", 128),
        ),
        Case("nll_loss backward", "losses", _labels, nn.nll_loss_backward, _after_one),
        Case("ctc_loss backward", "losses", normal(100, 8, 50), _ctc_backward, _scored),
        Case("attention", "attention", normal(8, 256, 64, count=3), nn.attention),
        Case("attention f16", "attention", _heads(256, 256, 64), nn.attention, longer=_heads(256, 512, 64)),
        Case(
            "attention f16 of many queries",
            "attention",
            _heads(2176, 64, 64),
            nn.attention,
            longer=_heads(2176, 128, 64),
        ),
        Case(
            "attention f16 of large heads",
            "attention",
            _heads(256, 256, 128),
            nn.attention,
            longer=_heads(256, 512, 128),
        ),
        Case("causal attention f16", "attention", normal(8, 256, 64, dtype="float16", count=3), _causal),
        Case("clip_grad_norm", "optim", normal(MILLION), lambda x: nn.clip_grad_norm([x], 1.0)),
        Case("embedding backward", "embedding", _rows, lambda x, i: nn.embedding_backward(x, i, SIDE)),
        Case("embedding backward of one index", "embedding", _rows, lambda x, i: nn.embedding_backward(x, i * 0, SIDE)),
        Case("embedding_bag", "embedding", _rows, lambda x, i: nn.embedding_bag(x, stator.reshape(i, (-1, 32)))),
        Case("one_hot", "embedding", normal(1000, dtype="int64"), lambda i: nn.one_hot(i, 1000, dtype="float32")),
    ]


def _causal(*x: Any) -> Any:
    return nn.attention(*x, causal=True)


def _scored(x: Any) -> tuple[Any, ...]:
    """The gradient of a loss, log-probabilities (steps, samples, classes), and 20 labels of each sample."""
    samples, classes = x.shape[1:]
    labels = stator.arange(samples * 20, device=x.backend) % (classes - 1) + 1
    return _after_one(nn.log_softmax(x), stator.reshape(labels, (samples, 20)))


def _ctc_backward(g: Any, x: Any, labels: Any) -> Any:
    steps, samples = x.shape[:2]
    return nn.ctc_loss_backward(g, x, labels, [steps] * samples, [20] * samples)


def _pooling() -> list[Case]:
    images, grid = normal(8, 64, 56, 56), normal(8, 56, 56, 2)
    double = {"scale_factor": 2, "mode": "bilinear"}
    return [
        Case("max_pool2d", "pooling", images, lambda x: nn.max_pool2d(x, 3, 2, 1)),
        Case("max_pool2d backward", "pooling", images, _max_pool_backward, _pooled),
        Case("avg_pool2d", "pooling", images, lambda x: nn.avg_pool2d(x, 2)),
        Case("adaptive_avg_pool2d", "pooling", images, lambda x: nn.adaptive_avg_pool2d(x, 7)),
        Case("max_unpool2d", "pooling", images, _max_unpool, _pooled),
        Case("interpolate bilinear", "resampling", images, lambda x: nn.interpolate(x, **double)),
        Case(
            "interpolate bilinear backward",
            "resampling",
            images,
            lambda x: nn.interpolate_backward(x, x[:, :, :28, :28], **double),
        ),
        Case("interpolate bicubic", "resampling", images, lambda x: nn.interpolate(x, scale_factor=2, mode="bicubic")),
        Case("pixel_shuffle", "resampling", images, lambda x: nn.pixel_shuffle(x, 2)),
        Case("grid_sample at random", "resampling", lambda rng: images(rng) + grid(rng), nn.grid_sample),
        Case("grid_sample of a rotation", "resampling", lambda rng: images(rng) + _rotation(8, 56), nn.grid_sample),
        Case(
            "grid_sample backward",
            "resampling",
            lambda rng: images(rng) + images(rng) + grid(rng),
            nn.grid_sample_backward,
        ),
    ]


def _rotation(samples: int, side: int) -> Arrays:
    """The grid that turns square images by 20 degrees."""
    y, x = np.meshgrid(*[np.linspace(-1, 1, side)] * 2, indexing="ij")
    c, s = np.cos(np.radians(20)), np.sin(np.radians(20))
    grid = np.stack([c * x - s * y, s * x + c * y], -1).astype("float32")
    return (np.ascontiguousarray(np.broadcast_to(grid, (samples, side, side, 2))),)


def _max_pool_backward(grad: Any, x: Any, at: Any) -> Any:
    return nn.max_pool2d_backward(grad, x, at, 3, 2, 1)


def _max_unpool(y: Any, x: Any, at: Any) -> Any:
    return nn.max_unpool2d(y, at, 3, 2, 1, output_size=x.shape[2:])


def _pooled(x: Any) -> Any:
    y, at = nn.max_pool2d(x, 3, 2, 1, return_indices=True)
    return y, x, at


def _rows(rng: np.random.Generator) -> Arrays:
    return rng.standard_normal((8192, 128)).astype("float32"), rng.integers(0, SIDE, 8192)


def _adam_step(*x: Any) -> Any:
    nn.adam_step(*([a] for a in x), step=3)
    return x[0], *x[2:]


def _lamb_step(*x: Any) -> Any:
    nn.lamb_step(*([a] for a in x), step=3)
    return x[0], *x[2:]


def _movement() -> list[Case]:
    square = normal(SIDE, SIDE)
    return [
        Case("copy of a transpose", "creation", square, stator.copy, _transposed),
        Case("copy of every other column", "creation", square, stator.copy, lambda x: (x[:, ::2],)),
        Case("astype f32 to f16", "creation", square, lambda x: stator.astype(x, "float16")),
        Case("arange", "creation", nothing, partial(stator.arange, MILLION, dtype="float32")),
        Case("concat", "movement", normal(512, SIDE, count=2), lambda x, y: stator.concat([x, y])),
        Case("roll of axis 1", "movement", square, lambda x: stator.roll(x, 7, axis=1)),
        Case("repeat", "movement", normal(512, SIDE), lambda x: stator.repeat(x, 2, axis=1)),
        Case("take of rows", "indexing", _positions(SIDE, SIDE), lambda x, i: stator.take(x, i, axis=0)),
        Case("take at random", "indexing", _positions(MILLION, MILLION, MILLION), lambda x, i: stator.take(x, i)),
        Case("segment_sum", "indexing", _positions(SIDE, 64), lambda x, i: stator.segment_sum(x, i, 64)),
        Case("boolean mask", "indexing", lambda rng: _masked(rng)[:2], lambda m, x: x[m]),
        Case("nonzero", "indexing", lambda rng: _masked(rng)[:1], stator.nonzero),
        Case("take of short rows", "indexing", _short_rows, lambda x, i: stator.take(x, i, axis=0)),
        Case("assignment through a mask", "indexing", _assigned, _assign),
    ]


def _sorts() -> list[Case]:
    return [
        Case("sort of 1e5", "sort", normal(100_000), stator.sort),
        Case("sort of 1e6", "sort", normal(MILLION), stator.sort),
        Case("argsort of 1e5", "sort", normal(100_000), stator.argsort),
        Case("sort of rows", "sort", normal(SIDE, SIDE), stator.sort),
        Case("topk 10 of 1e6", "sort", normal(MILLION), lambda x: stator.topk(x, 10)),
        Case("median of 1e6", "sort", normal(MILLION), stator.median),
        Case("histogram", "sets", normal(MILLION), lambda x: stator.histogram(x, 50, range=(-3.0, 3.0)).hist),
        Case("histc", "sets", normal(MILLION), lambda x: stator.histc(x, 100, min=-3, max=3)),
        Case("bincount", "sets", normal(MILLION, dtype="int64"), lambda x: stator.bincount(x, minlength=100)),
        Case("unique of 1e5", "sets", normal(100_000, dtype="int32"), stator.unique_values),
        Case("searchsorted", "sets", normal(100_000, count=2), stator.searchsorted, _sorted_first),
    ]


def _sorted_first(x: Any, y: Any) -> tuple[Any, Any]:
    return stator.sort(x), y


def _others() -> list[Case]:
    return [
        Case("normal", "random", nothing, lambda: random.normal(size=MILLION, dtype="float32")),
        Case("uniform", "random", nothing, lambda: random.uniform(size=MILLION, dtype="float32")),
        Case("permutation", "random", nothing, lambda: random.permutation(MILLION)),
        Case("dropout", "random", normal(MILLION), lambda x: nn.dropout(x, 0.5)),
        Case("int64 product 256^3", "matmul", normal(256, 256, dtype="int64", count=2), stator.matmul, None, 256**3),
        Case("distances 512 x 512 x 64", "matmul", normal(512, 64, count=2), stator.cdist, None, 512 * 512 * 64),
        Case("cholesky 1000 x 16 x 16", "linalg", definite(1000, 16), linalg.cholesky),
        Case("eigvalsh 1000 x 16 x 16", "linalg", definite(1000, 16), linalg.eigvalsh),
        Case("fftshift", "fft", normal(SIDE, SIDE), fft.fftshift),
        Case("CSR to dense", "sparse", normal(SIDE, SIDE), lambda a: a.to_dense(), _sparse),
    ]


def _recurrent() -> list[Case]:
    state, gates, workspace = normal(512, 512), normal(512, 2048, count=2), normal(512, 2560)
    narrow = normal(512, 1536, dtype="float16", count=2), normal(512, 512, dtype="float16")
    return [
        Case("lstm_pointwise", "recurrent", lambda rng: gates(rng) + state(rng), nn.lstm_pointwise),
        Case("gru_pointwise f16", "recurrent", lambda rng: narrow[0](rng) + narrow[1](rng), nn.gru_pointwise),
        Case("gru_pointwise backward", "recurrent", lambda rng: state(rng) + workspace(rng), nn.gru_pointwise_backward),
    ]


def _quantization() -> list[Case]:
    rows, scale = normal(SIDE, SIDE), 0.0625
    weights, few = normal(4096, 4096, dtype="float16"), normal(4, 4096, dtype="float16")
    return [
        Case("quantize", "quantization", rows, lambda x: nn.quantize(x, scale, 3)),
        Case(
            "quantize of channels",
            "quantization",
            lambda rng: (*rows(rng), rng.uniform(0.5, 1, SIDE).astype("float32")),
            lambda x, s: nn.quantize(x, s, axis=0),
        ),
        Case("dequantize", "quantization", normal(SIDE, SIDE, dtype="int8"), lambda q: nn.dequantize(q, scale, 3)),
        Case("fake_quantize", "quantization", rows, lambda x: nn.fake_quantize(x, scale, 3, -20, 20)),
        Case(
            "fake_quantize backward",
            "quantization",
            normal(SIDE, SIDE, count=2),
            lambda g, x: nn.fake_quantize_backward(g, x, scale, 3, -20, 20),
        ),
        Case("observe_range", "quantization", rows, nn.observe_range, _with_ends),
        Case(
            "observe_histogram",
            "quantization",
            rows,
            lambda x, low, high, bins: nn.observe_histogram(x, bins, low, high),
            lambda x: (*_with_ends(x), stator.zeros(2048, dtype="float32", device=x.backend)),
            again=(0,),  # the ends of the range come before the bins
        ),
        Case("quantize_int4", "quantization", weights, nn.quantize_int4),
        Case(
            "int4_linear of 4 rows",
            "quantization",
            lambda rng: few(rng) + weights(rng),
            nn.int4_linear,
            lambda x, w: (x, *nn.quantize_int4(w)),
            4 * 4096 * 4096,
        ),
    ]


def _with_ends(x: Any) -> tuple[Any, ...]:
    """An array, and a least and a largest element before anything was observed."""
    return x, *(stator.full((), end, dtype="float32", device=x.backend) for end in (np.inf, -np.inf))


def all_cases() -> list[Case]:
    layers = [*_layers(), *_pooling(), *_recurrent(), *_quantization()]
    return [*_elementwise(), *_folds(), *layers, *_movement(), *_sorts(), *_others()]
