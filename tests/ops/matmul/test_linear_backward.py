"""Gradients of linear layers against torch's autograd."""

import pytest
from torch_rows import assert_close, draw, gradients, tensor, torch

import stator
from stator.errors import DTypeError, InvalidValueError, ShapeError

nn, F = stator.nn, torch.nn.functional
ACTIVATIONS = {
    None: lambda z: z,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda z: F.gelu(z, approximate="tanh"),
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}
OF_RESULT = ("relu", "sigmoid", "tanh")


def check(be, shape, dtype, activation, units=64):
    x, weight, bias = draw((*shape, 6), dtype), draw((5, 6), dtype, 1), draw((5,), dtype, 2)
    grad, act = draw((*shape, 5), dtype, 3), ACTIVATIONS[activation]
    before = F.linear(tensor(x), tensor(weight), tensor(bias))
    saved = (act(before) if activation in OF_RESULT else before).numpy().astype(x.dtype)
    given = [be.asarray(a) for a in (grad, x, weight, saved)][: 3 if activation is None else 4]

    def theirs(x, w, z):
        """The derivative of the activation is taken where the rounded `saved` says."""
        return F.linear(x, w) + z

    slope = gradients(act, tensor(grad), before)[0]
    if activation in ("sigmoid", "tanh"):
        y = tensor(saved)
        slope = tensor(grad) * ((1 - y) * y if activation == "sigmoid" else 1 - y * y)
    elif activation is not None and activation not in OF_RESULT:
        slope = gradients(act, tensor(grad), tensor(saved))[0]
    want = gradients(theirs, slope, tensor(x), tensor(weight), tensor(bias))
    eps = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(dtype, 0)  # of the slopes, which are rounded once
    for got, expected in zip(nn.linear_backward(*given, activation=activation), want, strict=True):
        assert_close(got, expected, units, 64 * (1 + eps * 2.0**22 / units))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations(be, activation):
    check(be, (7,), "float32", activation)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(be, dtype):
    check(be, (2, 3), dtype, "gelu")


@pytest.mark.parametrize("shape", [(), (0,), (2, 1, 3)])
def test_shapes(be, shape):
    check(be, shape, "float64", "silu")


def test_without_bias(be):
    x = be.ones((2, 3), dtype="float32")
    dx, dw, db = nn.linear_backward(x, x, be.ones((3, 3), dtype="float32"), bias=False)
    assert (dx.shape, dw.shape, db) == ((2, 3), (3, 3), None)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: nn.linear_backward(x, x, x, activation="relu"), InvalidValueError, "without saved"),
        (lambda x: nn.linear_backward(x, x, x, x, activation="mish"), InvalidValueError, "mish"),
        (lambda x: nn.linear_backward(x, x, x, x[:2], activation="relu"), ShapeError, "saved"),
        (lambda x: nn.linear_backward(x[:2], x, x), ShapeError, "grad"),
        (lambda x: nn.linear_backward(x, x, x[:, :2]), ShapeError, "weight"),
        (lambda x: nn.linear_backward(x, x, stator.astype(x, "float64")), DTypeError, "float64"),
    ],
)
def test_errors(be, call, error, message):
    with pytest.raises(error, match=f"(?i){message}"):
        call(be.ones((4, 4), dtype="float32"))
