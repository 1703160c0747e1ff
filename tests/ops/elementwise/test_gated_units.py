"""Gated units against torch and its autograd."""

import numpy as np
import pytest
from torch_rows import assert_close, draw, gradients, tensor, torch

import stator
from stator.errors import AxisError, DTypeError, ShapeError

nn, F = stator.nn, torch.nn.functional
DTYPES = ["float16", "bfloat16", "float32", "float64"]
UNITS = {
    "swiglu": ({}, lambda gate, up: F.silu(gate) * up),
    "geglu": ({}, lambda gate, up: F.gelu(gate) * up),
    "geglu tanh": ({"approximate": "tanh"}, lambda gate, up: F.gelu(gate, approximate="tanh") * up),
}


def functions(unit):
    name, (options, theirs) = unit.partition(" ")[0], UNITS[unit]
    return getattr(nn, name), getattr(nn, f"{name}_backward"), options, theirs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("unit", UNITS)
def test_two_arrays(be, unit, dtype):
    forward, backward, options, theirs = functions(unit)
    gate, up, grad = (draw((7, 133), dtype, seed) for seed in range(3))
    on = [be.asarray(a) for a in (gate, up)]
    assert_close(forward(*on, **options), theirs(tensor(gate), tensor(up)), 8, 1, unit)
    want = gradients(theirs, tensor(grad), tensor(gate), tensor(up))
    for got, expected in zip(backward(be.asarray(grad), *on, **options), want, strict=True):
        assert_close(got, expected, 16, 16, unit)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("unit", [*UNITS, "glu"])
def test_halves_of_one_array(be, unit, axis):
    x = draw((4, 6, 10), "float32")
    if unit == "glu":
        forward, backward, options, theirs = nn.glu, nn.glu_backward, {}, lambda x: F.glu(x, axis)
    else:
        forward, backward, options, of_two = functions(unit)
        theirs = lambda x: of_two(*x.chunk(2, axis))  # noqa: E731
    want = theirs(tensor(x))
    assert_close(forward(be.asarray(x), axis=axis, **options), want, 8, 1)
    grad = draw(tuple(want.shape), "float32", 5)
    got = backward(be.asarray(grad), be.asarray(x), axis=axis, **options)
    assert_close(got, gradients(theirs, tensor(grad), tensor(x))[0], 16, 16)


def test_operands_of_different_layouts(be):
    """Transposed, reversed, of stride 0 and beginning at odd addresses."""
    gate, up, grad = (draw((9, 12), "float32", seed) for seed in range(3))
    given = be.asarray(grad.T.copy()).T, stator.flip(be.asarray(gate[::-1, ::-1].copy())), be.asarray(up)
    row = stator.broadcast_to(be.asarray(up[0]), (9, 12))
    theirs = UNITS["swiglu"][1]
    assert_close(nn.swiglu(given[1], row), theirs(tensor(gate), tensor(up[0])), 8, 1)
    want = gradients(theirs, tensor(grad), tensor(gate), tensor(up))
    for got, expected in zip(nn.swiglu_backward(*given), want, strict=True):
        assert_close(got, expected, 16, 16)
    odd = be.asarray(draw((25,), "float16"))[1:]
    assert_close(nn.glu(odd), F.glu(tensor(odd.to_numpy()), 0), 8, 1)


def test_ends(be):
    """Where the sigmoid is 0 or 1 and 1 - sigmoid(x) would be 0: the derivative keeps its digits."""
    x = np.array([1.0, 2.0, 40.0, -40.0])
    got = nn.glu_backward(be.asarray([1.0, 1.0]), be.asarray(x)).to_numpy()
    np.testing.assert_allclose(got[2:], [1 * np.exp(-40.0), 2 * np.exp(-40.0)], rtol=1e-14)
    huge = be.asarray([-np.inf, np.inf, -1e4])
    assert np.isnan(nn.swiglu(huge, be.ones(3)).to_numpy()[0])
    assert nn.swiglu(huge, be.ones(3)).to_numpy()[2] == 0


@pytest.mark.parametrize("unit", UNITS)
def test_derivatives_by_finite_differences(be, unit):
    forward, backward, options, _ = functions(unit)
    gate, up = draw((40,)), draw((40,), seed=1)
    step, call = 1e-6, lambda g, u: forward(be.asarray(g), be.asarray(u), **options).to_numpy()
    of_gate, of_up = backward(be.ones(40), be.asarray(gate), be.asarray(up), **options)
    slope = (call(gate + step, up) - call(gate - step, up)) / (2 * step)
    np.testing.assert_allclose(of_gate.to_numpy(), slope, atol=1e-7)
    slope = (call(gate, up + step) - call(gate, up - step)) / (2 * step)
    np.testing.assert_allclose(of_up.to_numpy(), slope, atol=1e-7)


def test_nothing(be):
    assert nn.swiglu(be.zeros((0, 3)), be.zeros((0, 3))).shape == (0, 3)
    assert nn.glu(be.zeros((3, 0))).shape == (3, 0)
    assert [g.shape for g in nn.geglu_backward(*[be.zeros((2, 0))] * 3)] == [(2, 0)] * 2
    assert nn.swiglu_backward(be.zeros((0, 2)), be.zeros((0, 4))).shape == (0, 4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: nn.glu(x[:, :3]), ShapeError, "odd extent"),
        (lambda x: nn.glu(x, axis=2), AxisError, "axis"),
        (lambda x: nn.glu(x[0, 0]), AxisError, "0-dimensional"),
        (lambda x: nn.swiglu(x, x[:2]), ShapeError, "up"),
        (lambda x: nn.swiglu_backward(x[:2], x, x), ShapeError, "grad"),
        (lambda x: nn.geglu(x, stator.astype(x, "float64")), DTypeError, "float64"),
        (lambda x: nn.geglu(stator.astype(x, "int32")), DTypeError, "int32"),
        (lambda x: nn.geglu(x, approximate="sigmoid"), stator.errors.InvalidValueError, "approximate"),
    ],
)
def test_errors(be, call, error, message):
    with pytest.raises(error, match=f"(?i){message}"):
        call(be.ones((4, 4), dtype="float32"))
