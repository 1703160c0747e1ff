"""Weight and spectral normalisation against torch and its autograd."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, gradients, tensor, torch

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError

nn = stator.nn
DTYPES = ["float16", "bfloat16", "float32", "float64"]


def scaled(v, g, axis):
    others = [d for d in range(v.ndim) if d != axis]
    return v * (g / torch.linalg.vector_norm(v, dim=others, keepdim=True))


def check_weight_norm(be, shape, axis, dtype):
    kept = [n if d == axis else 1 for d, n in enumerate(shape)]
    v, g, grad = draw(shape, dtype), draw(kept, dtype, 1, 0.5, 2), draw(shape, dtype, 2)
    on = be.asarray(v), be.asarray(g)
    w, norm = nn.weight_norm(*on, axis)
    others = tuple(d for d in range(len(shape)) if d != axis)
    length = np.sqrt(np.sum(np.square(v.astype(np.float64)), axis=others, keepdims=True))
    assert_close(norm, torch.from_numpy(length), 16)
    theirs = lambda v, g: scaled(v, g, axis)  # noqa: E731
    assert_close(w, theirs(tensor(v), tensor(g)), 16)
    size = 4 * np.sqrt(v.size)
    for got, want in zip(
        nn.weight_norm_backward(be.asarray(grad), *on, axis),
        gradients(theirs, tensor(grad), tensor(v), tensor(g)),
        strict=True,
    ):
        assert_close(got, want, 32, size)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weight_norm(be, dtype):
    check_weight_norm(be, (5, 4, 3), 0, dtype)
    check_weight_norm(be, (3, 40), 1, dtype)
    check_weight_norm(be, (2, 3, 5), None, dtype)


def test_weight_norm_of_long_rows(be):
    check_weight_norm(be, (2, 9001), 0, "float32")
    check_weight_norm(be, (70, 8), 0, "float32")


def test_weight_norm_of_zeros_is_nan(be):
    w, norm = nn.weight_norm(be.zeros((2, 3)), be.ones(2))
    assert np.isnan(w.to_numpy()).all()
    assert norm.to_numpy().tolist() == [0, 0]


def test_weight_norm_of_nothing(be):
    assert nn.weight_norm(be.zeros((0, 3)), be.zeros(0))[0].shape == (0, 3)
    assert nn.weight_norm(be.zeros((2, 0)), be.ones(2))[1].to_numpy().tolist() == [0, 0]
    dv, dg = nn.weight_norm_backward(be.zeros((2, 0)), be.zeros((2, 0)), be.ones(2))
    assert dv.shape == (2, 0)
    assert dg.to_numpy().tolist() == [0, 0]


def parametrized(weight, u, v, axis, steps):
    """torch's module with given vectors after some steps: what it makes of the weight."""
    norm = torch.nn.utils.parametrizations._SpectralNorm(weight, n_power_iterations=1, dim=axis)
    norm._u.copy_(u)
    norm._v.copy_(v)
    norm.train(steps > 0)
    norm.n_power_iterations = max(steps, 1)
    return norm(weight), norm._u, norm._v


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_spectral_norm(be, steps, axis):
    weight, shape = draw((4, 6, 3), "float64"), (4, 6, 3)
    u = draw((shape[axis],), "float64", 1)
    v = draw((weight.size // shape[axis],), "float64", 2)
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    w, left, right, sigma = nn.spectral_norm(*map(be.asarray, (weight, u, v)), n_iterations=steps, axis=axis)
    want, their_u, their_v = parametrized(*map(tensor, (weight, u, v)), axis, steps)
    for got, expected in ((w, want), (left, their_u), (right, their_v)):
        assert_close(got, expected, 64, 4 * float(want.abs().max()))
    grad = draw(shape, "float64", 3)
    got = nn.spectral_norm_backward(be.asarray(grad), w, left, right, sigma, axis)
    theirs = gradients(lambda t: parametrized(t, tensor(u), tensor(v), axis, steps)[0], tensor(grad), tensor(weight))[0]
    assert_close(got, theirs, 64, 64 * float(theirs.abs().max()))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_spectral_norm_finds_the_largest_singular_value(be, dtype):
    weight, u = draw((20, 30), dtype), draw((20,), dtype, 1)
    *_, sigma = nn.spectral_norm(be.asarray(weight), be.asarray(u), n_iterations=60)
    want = np.linalg.svd(weight.astype(np.float64), compute_uv=False)[0]
    np.testing.assert_allclose(float(sigma), want, rtol={"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5}[dtype])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: nn.weight_norm(x, x[0, :3]), ShapeError, "g "),
        (lambda x: nn.weight_norm(x, stator.astype(x[0], "float64")), DTypeError, "g is float64"),
        (lambda x: nn.weight_norm_backward(x[:2], x, x[0]), ShapeError, "grad"),
        (lambda x: nn.weight_norm(stator.astype(x, "int32"), x[0]), DTypeError, "int32"),
        (lambda x: nn.weight_norm(x[0, 0], x[0, 0]), ShapeError, "no axes"),
        (lambda x: nn.spectral_norm(x, x[0, :3]), ShapeError, "u "),
        (lambda x: nn.spectral_norm(x, x[0], x[0, :2]), ShapeError, "v "),
        (lambda x: nn.spectral_norm(x[0], x[0]), ShapeError, "two axes"),
        (lambda x: nn.spectral_norm(x, x[0], n_iterations=-1), InvalidValueError, "n_iterations"),
        (lambda x: nn.spectral_norm(x, x[0], eps=-1), InvalidValueError, "eps"),
    ],
)
def test_errors(be, call, error, message):
    with pytest.raises(error, match=f"(?i){message}"):
        call(be.ones((4, 4), dtype="float32"))
