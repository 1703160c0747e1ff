"""Activations beyond their oracles: gradients as derivatives, boundaries of piecewise formulas, defaults, arguments."""

import numpy as np
import oracles
import pytest
from cases import ELEMENTWISE, TABLE, invoke

import stator

nn = stator.nn
nan, inf = np.nan, np.inf
# Forward ops, and values for their number parameters; the gradient of an op is <op>_backward.
FORWARD = {
    "relu": (),
    "leaky_relu": (0.25,),
    "elu": (1.5,),
    "selu": (),
    "celu": (1.5,),
    "gelu": (),
    "gelu_tanh": (),
    "gelu_sigmoid": (),
    "silu": (),
    "mish": (),
    "sigmoid": (),
    "tanh": (),
    "hardsigmoid": (),
    "hardswish": (),
    "softplus": (1.5, 20),
    "softsign": (),
    "abs": (),
    "clip": (-1.5, 2),
}
OF_OUTPUT = ("sigmoid", "tanh")


@pytest.mark.parametrize("name", FORWARD)
def test_gradients_are_derivatives_of_the_forward_oracle(be, name):
    """Compares with a central difference in extended precision, away from the corners (multiples of 0.5)."""
    x = np.arange(-6, 6, 0.5) + 0.2
    numbers, h = FORWARD[name], np.longdouble(1e-6)
    forward = oracles.resolve(TABLE[name]["oracle"])
    high, low = (forward(x.astype(np.longdouble) + s, *numbers) for s in (h, -h))
    slope = ((high - low) / (2 * h)).astype(np.float64)
    saved = invoke(name, be.asarray(x), *numbers) if name in OF_OUTPUT else be.asarray(x)
    grad = np.linspace(-2, 2, x.size)
    got = invoke(f"{name}_backward", be.asarray(grad), saved, *numbers).to_numpy()
    np.testing.assert_allclose(got, grad * slope, rtol=1e-8, atol=1e-10)


def test_every_gradient_is_of_a_forward():
    assert {n.removesuffix("_backward") for n in ELEMENTWISE if n.endswith("_backward")} == set(FORWARD)


EDGES = {
    "relu": ([nan, -0.0, inf, -inf, -1], [nan, 0, inf, 0, 0]),
    "leaky_relu": ([nan, inf, -inf, -4], [nan, inf, -inf, -1]),
    "elu": ([nan, inf, -inf, 0], [nan, inf, -1.5, 0]),
    "celu": ([nan, inf, -inf, 0], [nan, inf, -1.5, 0]),
    "gelu": ([nan, inf, 0, 100, -100], [nan, inf, 0, 100, 0]),
    "gelu_tanh": ([nan, inf, 0, 100, -100], [nan, inf, 0, 100, 0]),
    "gelu_sigmoid": ([nan, inf, 0, 1000, -1000], [nan, inf, 0, 1000, 0]),
    "silu": ([nan, inf, 0, 1000, -1000], [nan, inf, 0, 1000, 0]),
    "mish": ([nan, inf, 0, 1000, -1000], [nan, inf, 0, 1000, 0]),
    "sigmoid": ([nan, inf, -inf, 0], [nan, 1, 0, 0.5]),
    "hardsigmoid": ([nan, inf, -inf, 0, 3, -3], [nan, 1, 0, 0.5, 1, 0]),
    "hardswish": ([nan, inf, 0, 3, -3, -10], [nan, inf, 0, 3, 0, 0]),
    "softplus": ([nan, inf, -inf, 100], [nan, inf, 0, 100]),
    "softsign": ([nan, 0, 1, -3], [nan, 0, 0.5, -0.75]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(be, name):
    x, want = EDGES[name]
    for dtype in ("float32", "float64", "float16"):
        got = invoke(name, be.asarray(np.array(x, dtype)), *FORWARD[name]).to_numpy()
        np.testing.assert_array_equal(got, np.array(want, dtype), f"{name} {dtype}")


BACKWARD_EDGES = {
    "relu": ([nan, 0, -1, 1], [1, 0, 0, 1]),
    "leaky_relu": ([0, -1, 1], [0.25, 0.25, 1]),
    "elu": ([nan, 0, inf, -inf], [nan, 1.5, 1, 0]),
    "abs": ([0, -0.0, -2, 3, nan], [0, 0, -1, 1, nan]),
    "clip": ([-1.5, 2, -1.6, 2.1, nan, inf], [1, 1, 0, 0, 0, 0]),
    "hardsigmoid": ([-3, 3, nan], [0, 0, 0]),
    "hardswish": ([-3, 3, 10, -10], [0, 1, 1, 0]),
    "softplus": ([nan, 100, -inf], [nan, 1, 0]),
    "gelu": ([nan, 100, -100, 0], [nan, 1, 0, 0.5]),
    "silu": ([nan, 1000, -1000, 0], [nan, 1, 0, 0.5]),
}


@pytest.mark.parametrize("name", BACKWARD_EDGES)
def test_edges_of_gradients(be, name):
    x, want = BACKWARD_EDGES[name]
    for dtype in ("float32", "float64"):
        on = be.asarray(np.array(x, dtype))
        got = invoke(f"{name}_backward", be.asarray(np.ones(len(x), dtype)), on, *FORWARD[name]).to_numpy()
        np.testing.assert_array_equal(got, np.array(want, dtype), f"{name} {dtype}")


def test_defaults_are_pytorchs(be):
    x, g = be.asarray(np.linspace(-30, 30, 41)), be.asarray(np.linspace(1, 2, 41))
    defaults = {"leaky_relu": (0.01,), "elu": (1.0,), "celu": (1.0,), "softplus": (1.0, 20.0)}
    for name, numbers in defaults.items():
        forward, backward = getattr(nn, name), getattr(nn, f"{name}_backward")
        np.testing.assert_array_equal(forward(x).to_numpy(), forward(x, *numbers).to_numpy())
        np.testing.assert_array_equal(backward(g, x).to_numpy(), backward(g, x, *numbers).to_numpy())
    np.testing.assert_array_equal(nn.gelu(x).to_numpy(), nn.gelu(x, approximate="none").to_numpy())
    np.testing.assert_array_equal(
        nn.gelu_backward(g, x).to_numpy(), nn.gelu_backward(g, x, approximate="none").to_numpy()
    )


def test_numbers_come_by_position_or_by_name(be):
    x = be.asarray(np.array([-2.0, 1.0]))
    np.testing.assert_array_equal(nn.leaky_relu(x, negative_slope=0.5).to_numpy(), [-1, 1])
    np.testing.assert_array_equal(nn.softplus(x, threshold=0.5).to_numpy(), nn.softplus(x, 1.0, 0.5).to_numpy())
    np.testing.assert_array_equal(nn.elu(x, alpha=2, dtype="float64").to_numpy(), nn.elu(x, 2.0).to_numpy())
    bad = [
        lambda: nn.leaky_relu(),
        lambda: nn.leaky_relu(x, 0.5, negative_slope=0.5),
        lambda: nn.leaky_relu(x, slope=0.5),
        lambda: nn.elu(x, "1"),
        lambda: nn.softplus(x, 1, 20, 3),
        lambda: nn.relu_backward(x),
        lambda: nn.gelu(x, "tanh"),
        lambda: nn.gelu(np.ones(2)),
    ]
    for call in bad:
        with pytest.raises(TypeError):
            call()


def test_a_parameter_may_be_an_array(be):
    x = be.asarray(np.array([[-2.0, 1.0], [-4.0, -8.0]]))
    slope = be.asarray(np.array([0.25, 0.5]))
    np.testing.assert_array_equal(nn.leaky_relu(x, slope).to_numpy(), [[-0.5, 1], [-1, -4]])


def test_gelu_refuses_unknown_forms(be):
    x = be.asarray(np.ones(2))
    for call in (lambda: nn.gelu(x, approximate="fast"), lambda: nn.gelu_backward(x, x, approximate="slow")):
        with pytest.raises(stator.errors.InvalidValueError, match="approximate"):
            call()


def test_activations_are_of_floats(be):
    whole = be.asarray(np.array([-1, 2], np.int32))
    np.testing.assert_array_equal(nn.relu(whole).to_numpy(), [0, 2])
    for name in FORWARD:
        if "int32" not in TABLE[name]["dtypes"] and not FORWARD[name]:
            with pytest.raises(stator.errors.DTypeError):
                invoke(name, whole)
    assert nn.elu(whole, 1.5).dtype == stator.float64  # a weak number with a fraction
