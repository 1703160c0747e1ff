"""Every op takes the dtypes that its entry of the op table states, and refuses the others with a DTypeError."""

from functools import partial

import inputs
import pytest
from cases import ELEMENTWISE, TABLE, case, domains, function, invoke, names

import stator
from stator import linalg, nn, sparse


class Given:
    """Operands of one dtype, small enough for every op."""

    def __init__(self, be, dtype):
        self.be, self.dtype, self.random = be, dtype, be.random
        self.x, self.v = self.ones(4, 4), self.ones(4)
        self.i, self.ii = be.zeros((4,), dtype="int64"), be.zeros((4, 4), dtype="int64")
        self.mask, self.codes = be.ones((4, 4), dtype="bool"), be.ones((4, 4), dtype="uint8")
        self.one, self.eye = be.ones((), dtype="float32"), stator.astype(stator.eye(4, device=be), dtype)

    def ones(self, *shape):
        return self.be.ones(shape, dtype=self.dtype)

    def statistics(self):
        """A mean and a variance of each of four channels, as batch_norm takes them."""
        return [self.be.ones((4,), dtype="float64" if self.dtype == "float64" else "float32") for _ in range(2)]

    @property
    def image(self):
        return self.ones(1, 4, 4, 4)

    @property
    def pooled(self):
        """Half the image, and where its elements are."""
        return self.ones(1, 4, 2, 2), self.be.zeros((1, 4, 2, 2), dtype="int64")

    def sequence(self, name, backward=False):
        """A recurrent layer, or its gradient, whose workspace is that of a layer of this dtype, or of float32."""
        gates = {"rnn": 4, "gru": 12, "lstm": 16}[name]
        x, weights = self.ones(3, 4, 4), [self.ones(gates, 4), self.ones(gates, 4)]
        if not backward:
            return getattr(nn, name)(x, None, weights, bias=False)
        whole = "float" not in str(self.dtype)  # a dtype that is refused before its workspace is read
        like = [self.be.ones(a.shape, dtype="float32") if whole else a for a in (x, *weights)]
        saved = getattr(nn, name)(like[0], None, like[1:], bias=False, return_workspace=True)[2]
        return getattr(nn, f"{name}_backward")(x, None, x, weights, saved, bias=False)

    @property
    def range(self):
        """A smallest and a largest element so far."""
        return [self.be.ones((), dtype="float32") for _ in range(2)]

    @property
    def group(self):
        """The scales and zero points of three rows of 32 weights."""
        return self.be.ones((3, 1), dtype="float32"), self.be.ones((3, 1), dtype="uint8")

    @property
    def result_scale(self):
        return {"scale_out": 1.0} if self.dtype in ("int8", "uint8") else {}

    @property
    def csr(self):
        return sparse.CSR(self.v, self.be.arange(4), self.be.arange(5), (4, 4))

    @property
    def coo(self):
        return sparse.COO(self.v, self.be.arange(4), self.be.arange(4), (4, 4))


def elementwise(name, a):
    numbers = len(case(name).keywords)
    made = [1 if isinstance(d, (int, float)) else a.v for d in domains(name)]
    made[len(made) - numbers :] = [1] * numbers
    if TABLE[name]["shape_class"] == "select":
        made[0] = a.mask[0]
    return invoke(name, *made)


def convolution(name, axes, a):
    """Of one element and window, so that a gradient has the shape of x."""
    x = a.ones(*(1,) * (axes + 2))
    return getattr(nn, name)(*[x] * (3 if name.endswith("_backward") else 2))


# Calls that many ops share, of the op's function and a Given.
SHARED = {
    "cumulative_sum cumulative_prod cumulative_max cumulative_min logcumsumexp diff sort argsort median mode histc "
    "unique_all unique_counts unique_inverse unique_values unique_consecutive bincount copy diag nonzero ravel flip "
    "unstack squeeze meshgrid frexp fft ifft rfft ihfft fftshift ifftshift": lambda f, a: f(a.v),
    "triu tril rot90 matrix_transpose fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn irfft hfft permutation softmax "
    "log_softmax softmin gumbel_softmax prune_2to4 csr_from_dense quantize_fp8 diagonal": lambda f, a: f(a.x),
    "cholesky inv pinv det slogdet lu_factor lu qr svd svdvals eigh eigvalsh eig eigvals matrix_rank matrix_norm cond "
    "linalg_trace expm": lambda f, a: f(a.eye),
    "searchsorted isin dot vecdot outer kron broadcast_arrays fftconvolve": lambda f, a: f(a.v, a.v),
    "matmul cdist softmax_backward log_softmax_backward linear softmin_backward gumbel_softmax_backward swiglu geglu "
    "dropout_add": lambda f, a: f(a.x, a.x),
    "attention linear_backward swiglu_backward geglu_backward": lambda f, a: f(a.x, a.x, a.x),
    "glu": lambda f, a: f(a.x),
    "glu_backward": lambda f, a: f(a.x[:, :2], a.x),
    "weight_norm": lambda f, a: f(a.x, a.v),
    "weight_norm_backward": lambda f, a: f(a.x, a.x, a.v),
    "spectral_norm": lambda f, a: f(a.x, a.v),
    "spectral_norm_backward": lambda f, a: f(a.x, a.x, a.v, a.v, a.v[0]),
    "mse_loss l1_loss huber_loss smooth_l1_loss binary_cross_entropy_with_logits kl_div": lambda f, a: f(a.x, a.x),
    "mse_loss_backward l1_loss_backward huber_loss_backward smooth_l1_loss_backward kl_div_backward "
    "binary_cross_entropy_with_logits_backward": lambda f, a: f(a.v[0], a.x, a.x),
    "solve solve_triangular lstsq": lambda f, a: f(a.eye, a.x),
    "partition kthvalue topk roll tile repeat pad": lambda f, a: f(a.v, 1),
    "split histogram stft": lambda f, a: f(a.v, 2),
    "dropout quantile": lambda f, a: f(a.v, 0.5),
    "sum_backward mean_backward": lambda f, a: f(a.v, (4, 4), 1),
    "segment_sum segment_mean segment_min segment_max": lambda f, a: f(a.x, a.i, 2),
    "scatter scatter_add": lambda f, a: f(a.x, 0, a.ii, a.x),
    "concat stack": lambda f, a: f([a.x, a.x]),
    "masked_select masked_fill_backward": lambda f, a: f(a.x, a.mask),
    "zeros empty": lambda f, a: f((2,), dtype=a.dtype, device=a.be),
    "eye tri arange fftfreq rfftfreq": lambda f, a: f(3, dtype=a.dtype, device=a.be),
    "full linspace": lambda f, a: f(1, 1, dtype=a.dtype, device=a.be),
    "uniform normal exponential poisson bernoulli": lambda f, a: f(size=3, dtype=a.dtype, device=a.be),
    "gamma integers": lambda f, a: f(1, size=3, dtype=a.dtype, device=a.be),
}
CALLS = {n: partial(call, function(n)) for group, call in SHARED.items() for n in group.split()}
CALLS |= {
    f"conv{form}{axes}d{end}": partial(convolution, f"conv{form}{axes}d{end}", axes)
    for form in ("", "_transpose")
    for axes in (1, 2, 3)
    for end in ("", "_backward")
}
CALLS |= {n: partial(elementwise, n) for n in ELEMENTWISE}
CALLS |= {n: partial(lambda f, a: f(a.x, axis=0), function(n)) for n in names("reduce")}
CALLS |= {
    "data_ptr": lambda a: a.x.data_ptr,
    "itemsize": lambda a: a.x.itemsize,
    "to_numpy": lambda a: a.x.to_numpy(),
    "asarray": lambda a: stator.asarray([1], dtype=a.dtype, device=a.be),
    "astype": lambda a: stator.astype(a.one, a.dtype),
    "prod_backward": lambda a: nn.prod_backward(a.v, a.x, 1),
    # movement and indexing
    "view": lambda a: a.x.view(a.dtype),
    "permute_dims": lambda a: stator.permute_dims(a.x, (1, 0)),
    "reshape": lambda a: stator.reshape(a.x, (2, 8)),
    "broadcast_to": lambda a: stator.broadcast_to(a.v, (4, 4)),
    "expand_dims": lambda a: stator.expand_dims(a.v, axis=0),
    "moveaxis": lambda a: stator.moveaxis(a.x, 0, 1),
    "as_strided": lambda a: stator.as_strided(a.x, (2,), (1,), 0),
    "take": lambda a: stator.take(a.x, a.i, axis=0),
    "getitem": lambda a: a.x[1:],
    "setitem": lambda a: a.x.__setitem__(0, a.v),
    "index_get": lambda a: a.x[a.i],
    "index_put": lambda a: a.x.__setitem__(a.i, a.v),
    "take_along_axis": lambda a: stator.take_along_axis(a.x, a.ii),
    "put_along_axis": lambda a: stator.put_along_axis(a.x, a.ii, a.x),
    "index_add": lambda a: stator.index_add(a.x, 0, a.i, a.x),
    "masked_fill": lambda a: stator.masked_fill(a.x, a.mask, a.x[0, 0]),
    "masked_scatter": lambda a: stator.masked_scatter(a.x, a.mask, a.x),
    "masked_select_backward": lambda a: nn.masked_select_backward(stator.ravel(a.x), a.mask),
    "masked_scatter_backward": lambda a: nn.masked_scatter_backward(a.x, a.mask, (4, 4)),
    "compress": lambda a: stator.compress(a.mask[0], a.x, axis=0),
    # linear algebra, products, transforms
    "cho_solve": lambda a: linalg.cho_solve((a.eye, True), a.x),
    "lu_solve": lambda a: linalg.lu_solve((a.eye, stator.astype(a.i, "int32")), a.x),
    "matrix_power": lambda a: linalg.matrix_power(a.eye, 2),
    "linalg_cross": lambda a: linalg.cross(a.v[:3], a.v[:3]),
    "tensordot": lambda a: stator.tensordot(a.x, a.x, axes=1),
    "einsum": lambda a: stator.einsum("ij,jk->ik", a.x, a.x),
    "addmm": lambda a: stator.addmm(a.x, a.x, a.x),
    "baddbmm": lambda a: stator.baddbmm(a.x[None], a.x[None], a.x[None]),
    "scaled_matmul": lambda a: nn.scaled_matmul(a.codes, a.codes, a.one, a.one, dtype=a.dtype),
    "istft": lambda a: stator.fft.istft(a.x[:3], 4),
    # random, sparse, nn
    "dropout_backward": lambda a: nn.dropout_backward(a.x, 0.5, a.random.get_state()),
    "multinomial": lambda a: a.random.multinomial(3, a.eye[0]),
    "choice": lambda a: a.random.choice(a.v, 2),
    "csr_matmul": lambda a: a.csr @ a.x,
    "csr_to_dense": lambda a: a.csr.to_dense(),
    "csc_to_dense": lambda a: a.csr.T.to_dense(),
    "csr_to_csc": lambda a: a.csr.to_csc(),
    "csr_to_coo": lambda a: a.csr.to_coo(),
    "coo_to_csr": lambda a: a.coo.to_csr(),
    "sparse_add": lambda a: a.csr + a.csr,
    "sddmm": lambda a: sparse.sddmm(a.csr, a.x, a.x),
    "spgemm": lambda a: a.csr @ a.csr,
    "spsolve_triangular": lambda a: sparse.spsolve_triangular(a.csr, a.x),
    "matmul_2to4": lambda a: sparse.matmul_2to4(a.x, a.x),
    "unfold": lambda a: nn.unfold(a.x[None], 2),
    "fold": lambda a: nn.fold(a.x, 3, 2),
    "cross_entropy": lambda a: nn.cross_entropy(a.x, a.i),
    "cross_entropy_backward": lambda a: nn.cross_entropy_backward(a.v[0], a.x, a.i),
    "nll_loss": lambda a: nn.nll_loss(a.x, a.i),
    "nll_loss_backward": lambda a: nn.nll_loss_backward(a.v[0], a.x, a.i),
    "ctc_loss": lambda a: nn.ctc_loss(a.x[None], a.ii, a.i, a.i),
    "ctc_loss_backward": lambda a: nn.ctc_loss_backward(a.v[0], a.x[None], a.ii, a.i, a.i),
    "max_pool": lambda a: nn.max_pool2d(a.image, 2),
    "max_pool_backward": lambda a: nn.max_pool2d_backward(a.pooled[0], a.image, a.pooled[1], 2),
    "max_unpool": lambda a: nn.max_unpool2d(*a.pooled, 2),
    "max_unpool_backward": lambda a: nn.max_unpool2d_backward(a.image, a.pooled[1]),
    "avg_pool": lambda a: nn.avg_pool2d(a.image, 2),
    "avg_pool_backward": lambda a: nn.avg_pool2d_backward(a.pooled[0], a.image, 2),
    "lp_pool": lambda a: nn.lp_pool2d(a.image, 2, 2),
    "lp_pool_backward": lambda a: nn.lp_pool2d_backward(a.pooled[0], a.image, a.pooled[0], 2, 2),
    "adaptive_avg_pool": lambda a: nn.adaptive_avg_pool2d(a.image, 2),
    "adaptive_avg_pool_backward": lambda a: nn.adaptive_avg_pool2d_backward(a.pooled[0], a.image),
    "adaptive_max_pool": lambda a: nn.adaptive_max_pool2d(a.image, 2),
    "adaptive_max_pool_backward": lambda a: nn.adaptive_max_pool2d_backward(a.pooled[0], a.image, a.pooled[1]),
    "interpolate": lambda a: nn.interpolate(a.image, 2),
    "interpolate_backward": lambda a: nn.interpolate_backward(a.pooled[0], a.image, 2),
    "pixel_shuffle": lambda a: nn.pixel_shuffle(a.image, 2),
    "pixel_unshuffle": lambda a: nn.pixel_unshuffle(a.image, 2),
    "grid_sample": lambda a: nn.grid_sample(a.image, a.ones(1, 2, 2, 2)),
    "grid_sample_backward": lambda a: nn.grid_sample_backward(a.pooled[0], a.image, a.ones(1, 2, 2, 2)),
    "gru_pointwise": lambda a: nn.gru_pointwise(a.ones(4, 12), a.ones(4, 12), a.x),
    "gru_pointwise_backward": lambda a: nn.gru_pointwise_backward(a.x, a.ones(4, 20)),
    "lstm_pointwise": lambda a: nn.lstm_pointwise(a.ones(4, 16), a.ones(4, 16), a.x),
    "lstm_pointwise_backward": lambda a: nn.lstm_pointwise_backward(a.x, a.x, a.x, a.ones(4, 16)),
    "rnn_pointwise": lambda a: nn.rnn_pointwise(a.x, a.x),
    "rnn_pointwise_backward": lambda a: nn.rnn_pointwise_backward(a.x, a.x),
    "gru_cell": lambda a: nn.gru_cell(a.x, a.x, a.ones(12, 4), a.ones(12, 4)),
    "lstm_cell": lambda a: nn.lstm_cell(a.x, (a.x, a.x), a.ones(16, 4), a.ones(16, 4)),
    "rnn_cell": lambda a: nn.rnn_cell(a.x, a.x, a.x, a.x),
    **{n: lambda a, n=n: a.sequence(n) for n in ("rnn", "lstm", "gru")},
    **{f"{n}_backward": lambda a, n=n: a.sequence(n, True) for n in ("rnn", "lstm", "gru")},
    "layer_norm": lambda a: nn.layer_norm(a.x),
    "layer_norm_backward": lambda a: nn.layer_norm_backward(a.x, a.x),
    "rms_norm": lambda a: nn.rms_norm(a.x),
    "rms_norm_backward": lambda a: nn.rms_norm_backward(a.x, a.x),
    "group_norm": lambda a: nn.group_norm(a.x, 2),
    "group_norm_backward": lambda a: nn.group_norm_backward(a.x, a.x, 2),
    "instance_norm": lambda a: nn.instance_norm(a.x[None]),
    "instance_norm_backward": lambda a: nn.instance_norm_backward(a.x[None], a.x[None]),
    "batch_norm": lambda a: nn.batch_norm(a.x, training=True),
    "batch_norm_backward": lambda a: nn.batch_norm_backward(a.x, a.x, *a.statistics()),
    "update_running_stats": lambda a: nn.update_running_stats(*[a.ones(4)] * 4, count=2),
    "local_response_norm": lambda a: nn.local_response_norm(a.x, 3),
    "local_response_norm_backward": lambda a: nn.local_response_norm_backward(a.x, a.x, a.x, 3),
    "adam_step": lambda a: nn.adam_step(*[[a.ones(4)] for _ in range(4)], step=1),
    "lamb_step": lambda a: nn.lamb_step(*[[a.ones(4)] for _ in range(4)], step=1),
    "adagrad_step": lambda a: nn.adagrad_step([a.v], [a.ones(4)], [a.ones(4)], step=1),
    "rmsprop_step": lambda a: nn.rmsprop_step([a.v], [a.ones(4)], [a.ones(4)]),
    "lion_step": lambda a: nn.lion_step([a.v], [a.ones(4)], [a.ones(4)]),
    "sgd_step": lambda a: nn.sgd_step([a.v], [a.ones(4)]),
    "has_inf_nan_list": lambda a: nn.has_inf_nan([a.v]),
    "clip_grad_norm": lambda a: nn.clip_grad_norm([a.v], 1.0),
    "embedding": lambda a: nn.embedding(a.x, a.i),
    "embedding_backward": lambda a: nn.embedding_backward(a.x, a.i, 4),
    "embedding_bag": lambda a: nn.embedding_bag(a.x, a.ii),
    "embedding_bag_backward": lambda a: nn.embedding_bag_backward(a.x, a.x, a.ii),
    "one_hot": lambda a: nn.one_hot(a.v, 4),
    "quantize": lambda a: nn.quantize(a.x, 0.5),
    "dequantize": lambda a: nn.dequantize(a.codes, 0.5, dtype=a.dtype),
    "fake_quantize": lambda a: nn.fake_quantize(a.x, 0.5, 0, 0, 9),
    "fake_quantize_backward": lambda a: nn.fake_quantize_backward(a.x, a.x, 0.5, 0, 0, 9),
    "quantization_parameters": lambda a: nn.quantization_parameters(a.v, a.v),
    "observe_range": lambda a: nn.observe_range(a.x, *a.range),
    "observe_histogram": lambda a: nn.observe_histogram(a.x, a.be.zeros((4,), dtype="float32"), *a.range),
    "histogram_range": lambda a: nn.histogram_range(a.be.ones((4,), dtype="float32"), a.ones(), a.ones()),
    "quantized_matmul": lambda a: nn.quantized_matmul(a.codes, a.codes, 1.0, 1.0, dtype=a.dtype, **a.result_scale),
    "quantized_linear": lambda a: nn.quantized_linear(a.codes, a.codes, 1.0, 1.0, dtype=a.dtype, **a.result_scale),
    **{
        f"quantized_conv{n}d": lambda a, n=n: getattr(nn, f"quantized_conv{n}d")(
            *[stator.reshape(a.codes, (1,) * n + a.codes.shape)] * 2, 1.0, 1.0, dtype=a.dtype, **a.result_scale
        )
        for n in (1, 2, 3)
    },
    "quantize_int4": lambda a: nn.quantize_int4(a.ones(2, 32), group_size=32),
    "int4_linear": lambda a: nn.int4_linear(a.ones(2, 32), a.be.ones((3, 16), dtype="uint8"), *a.group),
}
# Members of Backend and of generators, which have no operand.
WITHOUT_DTYPE = ["synchronize", "stream_count", "native", "seed", "get_state", "set_state"]


@pytest.mark.parametrize("name", [n for n in TABLE if n not in WITHOUT_DTYPE])
def test_an_op_takes_the_dtypes_that_its_entry_states(be, name):
    accepted = []
    for dtype in inputs.DTYPES:
        given = Given(be, dtype)
        try:
            CALLS[name](given)
            accepted.append(dtype)
        except stator.errors.DTypeError as error:
            assert error.op and error.remedy, dtype
    be.synchronize()
    assert accepted == TABLE[name]["dtypes"]
