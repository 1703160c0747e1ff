"""Activations, losses and gradients of reductions and masks, against torch and its autograd."""

from __future__ import annotations

import itertools

import inputs
import numpy as np
import pytest
from cases import tolerance
from torch_rows import Row, assert_close, check, draw, gradients, tensor, torch, wide

import stator

nn, F = stator.nn, torch.nn.functional

# For each op: its name in torch, and the numbers that follow x.
ACTIVATIONS = {
    "relu": (F.relu, [()]),
    "leaky_relu": (F.leaky_relu, [(), (0.25,), (0.0,)]),
    "elu": (F.elu, [(), (1.5,)]),
    "selu": (F.selu, [()]),
    "celu": (F.celu, [(), (1.5,)]),
    "gelu": (F.gelu, [()]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), [()]),
    "gelu_sigmoid": (lambda x: x * torch.sigmoid(1.702 * x), [()]),
    "silu": (F.silu, [()]),
    "mish": (F.mish, [()]),
    "sigmoid": (torch.sigmoid, [()]),
    "tanh": (torch.tanh, [()]),
    "hardsigmoid": (F.hardsigmoid, [()]),
    "hardswish": (F.hardswish, [()]),
    "softplus": (F.softplus, [(), (1.5, 16), (0.5, 3)]),
    "softsign": (F.softsign, [()]),
    "abs": (torch.abs, [()]),
    "clip": (torch.clamp, [(-1.5, 2)]),
}
# Gradients for which autograd uses the saved output: it is rounded, as stator's is.
aten = torch.ops.aten
OF_OUTPUT = {
    "sigmoid": aten.sigmoid_backward,
    "tanh": aten.tanh_backward,
    "softmax": lambda g, y, axis: aten._softmax_backward_data(g, y, axis, g.dtype),
    "log_softmax": lambda g, y, axis: aten._log_softmax_backward_data(g, y, axis, g.dtype),
}
CALLS = [(name, numbers) for name, (_, options) in ACTIVATIONS.items() for numbers in options]
# Where formulas change, and beyond: at 6 softplus(0.5, 3) reaches its threshold.
CORNERS = [0.0, -0.0, 3.0, -3.0, -1.5, 2.0, 6.0, -6.0, 16 / 1.5, 20.0, 25.0, 1.0, -1.0]


def ours(name, backward=False):
    """The function of an activation's op, and its keywords."""
    base, _, form = name.partition("_") if name.startswith("gelu") else (name, "", "")
    found = getattr(nn, f"{base}_backward") if backward else getattr(nn, base, None) or getattr(stator, base)
    return found, {"approximate": form} if form else {}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("name", "numbers"), CALLS)
def test_activations_and_gradients(be, name, numbers, dtype):
    theirs = ACTIVATIONS[name][0]
    x = np.concatenate([np.array(CORNERS), draw((301,), low=-20, high=20)]).astype(draw((1,), dtype).dtype)
    g = draw(x.shape, dtype, 1, -2, 2)
    call, keywords = ours(name)
    y = call(be.asarray(x), *numbers, **keywords)
    assert y.dtype.name == dtype
    assert_close(y, theirs(tensor(x), *numbers), max(1, *tolerance(name)))
    call, keywords = ours(name, backward=True)
    got = call(be.asarray(g), y if name in OF_OUTPUT else be.asarray(x), *numbers, **keywords)
    assert got.dtype.name == dtype
    if name in OF_OUTPUT:
        want = OF_OUTPUT[name](tensor(g), tensor(y.to_numpy()))
    else:
        (want,) = gradients(lambda x: theirs(x, *numbers), tensor(g), tensor(x))
    units = max(1, *tolerance(f"{name}_backward"))
    if name == "hardsigmoid" and dtype == "float64":
        units = 2.0**29  # torch's 1 / 6 is a float32 there
    assert_close(got, want, units, np.abs(wide(g)) / 4)


# Gradients at NaN, infinity and -infinity that differ from torch's: NaN stays NaN, and softsign's is 0.
nan = np.nan
OWN_GRADIENTS = {
    "elu": [nan, 1, 0],
    "celu": [nan, 1, 0],
    "selu": [nan, 1.0507009873554805, 0],
    "hardswish": [nan, 1, 0],
    "abs": [nan, 1, -1],
    "softsign": [nan, 0, 0],
}


@pytest.mark.parametrize(("name", "numbers"), CALLS)
def test_activations_of_what_is_not_finite(be, name, numbers):
    x = np.array([np.nan, np.inf, -np.inf])
    theirs = ACTIVATIONS[name][0]
    call, keywords = ours(name)
    y = call(be.asarray(x), *numbers, **keywords)
    assert_close(y, theirs(tensor(x), *numbers), 1)
    call, keywords = ours(name, backward=True)
    got = call(be.ones(3), y if name in OF_OUTPUT else be.asarray(x), *numbers, **keywords)
    (want,) = gradients(lambda x: theirs(x, *numbers), torch.ones(3, dtype=torch.float64), tensor(x))
    assert_close(got, OWN_GRADIENTS.get(name, want), 1)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(1,), (3, 33), (2, 300), (4, 3, 5)])
def test_softmax_and_gradients(be, name, shape, dtype):
    call, theirs = getattr(nn, name), getattr(torch, name)
    x, g = draw(shape, dtype, low=-8, high=8), draw(shape, dtype, 1)
    for axis in range(-1, len(shape) - 1):
        y = call(be.asarray(x), axis=axis)
        assert_close(y, theirs(tensor(x), axis), 8, name == "log_softmax")
        got = getattr(nn, f"{name}_backward")(be.asarray(g), y, axis=axis)
        want = OF_OUTPUT[name](tensor(g), tensor(y.to_numpy()), axis)
        scale = np.abs(wide(g)).sum(axis=axis, keepdims=True)
        assert_close(got, want, 16, scale)
        if dtype == "float64":
            assert_close(got, *gradients(lambda x, axis=axis: theirs(x, axis), tensor(g), tensor(x)), 32, scale)


REDUCTIONS, SMOOTHINGS, IGNORED = ("mean", "sum", "none"), (0.0, 0.1, 1.0), (-100, 2)
LOSSES = [
    {"reduction": r, "label_smoothing": s, "ignore_index": i}
    for r, s, i in itertools.product(REDUCTIONS, SMOOTHINGS, IGNORED)
]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_and_gradients(be, dtype, weighted):
    """All combinations of options; numbers of classes around a warp; ignored targets."""
    for (n, classes), options in itertools.product([(1, 3), (33, 10), (9, 300)], LOSSES):
        logits, target = draw((n, classes), dtype, n), np.random.default_rng(n).integers(0, classes, n)
        target[0], target[n // 2] = (1, 2)[n > 1], -100 if options["ignore_index"] == -100 and n > 1 else 1
        weight = draw((classes,), dtype, 5, 0.5, 2) if weighted else None
        on = {"weight": be.asarray(weight)} if weighted else {}
        there = {"weight": tensor(weight)} if weighted else {}

        def theirs(x, target=target, there=there, options=options):
            return F.cross_entropy(x, tensor(target), **there, **options)

        loss = nn.cross_entropy(be.asarray(logits), be.asarray(target), **on, **options)
        want = theirs(tensor(logits))
        assert_close(loss, want, 8, 1 + float(want.abs().max()), str(options))
        g = draw(tuple(want.shape), dtype, 9, 0.5, 2)
        got = nn.cross_entropy_backward(be.asarray(g), be.asarray(logits), be.asarray(target), **on, **options)
        assert_close(got, gradients(theirs, tensor(g), tensor(logits))[0], 16, 2, str(options))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy_where_every_target_is_ignored(be, reduction):
    logits, target = draw((4, 3)), np.full(4, -100)
    options = {"reduction": reduction, "label_smoothing": 0.1}
    got = nn.cross_entropy(be.asarray(logits), be.asarray(target), **options)
    assert_close(got, F.cross_entropy(tensor(logits), tensor(target), **options), 1)


def reduced(name, shape, axis, keepdims):
    """The gradient of a reduction; prod takes x, which has zeros in some of its segments."""

    def make(dtype):
        x = draw(shape, dtype)
        if name == "prod" and x.ndim > 1:
            x[0, 0, 0] = x[1, 2, 0] = x[1, 2, 4] = 0
        return x, draw(np.sum(np.zeros(shape), axis=axis, keepdims=keepdims).shape, dtype, 1)

    def ours(x, g):
        saved = x if name == "prod" else x.shape
        return getattr(nn, f"{name}_backward")(g, saved, axis=axis, keepdims=keepdims)

    def theirs(x, g):
        if name == "prod" and axis is None:
            return gradients(lambda x: torch.prod(x).reshape(g.shape), g, x)
        return gradients(lambda x: getattr(torch, name)(x, dim=axis, keepdim=keepdims), g, x)

    return Row(ours, theirs, make, 32)


AXES = [None, 0, 1, -1, (0, 2), (1, 2)]
REDUCED = {
    f"{name}-{axis}-{keepdims}": reduced(name, (2, 3, 5), axis, keepdims)
    for name, axis, keepdims in itertools.product(["sum", "mean", "prod"], AXES, [False, True])
    if not (name == "prod" and isinstance(axis, tuple))  # torch.prod takes one axis
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("row", REDUCED.values(), ids=REDUCED)
def test_gradients_of_reductions(be, row, dtype):
    check(be, row, dtype)


def masked(dtype, shape=(7, 33)):
    mask = np.random.default_rng(3).random(shape) < 0.4
    return draw(shape, dtype), mask, draw((int(np.prod(shape)),), dtype, 1), draw(shape, dtype, 2)


MASKED = {
    "fill": Row(
        lambda x, m, s, g: [stator.masked_fill(x, m, 3.0), nn.masked_fill_backward(g, m)],
        lambda x, m, s, g: [x.masked_fill(m, 3.0), *gradients(lambda x: x.masked_fill(m, 3.0), g, x)],
        masked,
        0,
    ),
    "fill, broadcast": Row(
        lambda x, m, s, g: [stator.masked_fill(x, m[0], 3.0), nn.masked_fill_backward(g, m[0])],
        lambda x, m, s, g: [x.masked_fill(m[0], 3.0), *gradients(lambda x: x.masked_fill(m[0], 3.0), g, x)],
        masked,
        0,
    ),
    "select": Row(
        lambda x, m, s, g: [stator.masked_select(x, m), nn.masked_select_backward(s, m)],
        lambda x, m, s, g: [
            x.masked_select(m),
            *gradients(lambda x: x.masked_select(m), s[: int(m.sum())], x),
        ],
        masked,
        0,
    ),
    "scatter": Row(
        lambda x, m, s, g: [stator.masked_scatter(x, m, s), *nn.masked_scatter_backward(g, m, s.shape)],
        lambda x, m, s, g: [
            x.masked_scatter(m, s),
            *gradients(lambda x, s: x.masked_scatter(m, s), g, x, s),
        ],
        masked,
        0,
    ),
}


@pytest.mark.parametrize("dtype", [*inputs.FLOATS, "complex64"])
@pytest.mark.parametrize("row", MASKED.values(), ids=MASKED)
def test_masks_and_gradients(be, row, dtype):
    check(be, row, dtype)


@pytest.mark.parametrize("shape", [(6, 9), (3, 8, 16)])
@pytest.mark.parametrize("causal", [True, False])
def test_softmax_of_chosen_elements(be, shape, causal):
    """Against what torch makes of scores that are -inf where they take no part, whose results are not compared."""
    x, g, mask = draw(shape), draw(shape, seed=1), np.random.default_rng(2).random(shape) < 0.6
    mask[..., 0] = True  # torch has NaN where nothing takes part
    seen = mask & np.tril(np.ones(shape[-2:], bool)) if causal else mask
    for name in ("softmax", "log_softmax", "softmin"):
        there = torch.from_numpy(x).requires_grad_()
        left = there.masked_fill(torch.from_numpy(~seen), np.inf if name == "softmin" else -np.inf)
        want = getattr(F, name)(left, dim=-1)
        torch.where(torch.from_numpy(seen), want * torch.from_numpy(g), 0.0).sum().backward()
        chosen = {"mask": be.asarray(mask), "causal": causal}
        y = getattr(nn, name)(be.asarray(x), **chosen)
        np.testing.assert_allclose(y.to_numpy(), want.detach().numpy(), rtol=1e-14, atol=1e-15)
        back = getattr(nn, f"{name}_backward")
        got = back(be.asarray(g), y, **(chosen if name == "log_softmax" else {})).to_numpy()
        np.testing.assert_allclose(got, there.grad.numpy(), rtol=0, atol=1e-14)


FLOAT8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


@pytest.mark.parametrize("format", FLOAT8)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_eight_bit_floats_are_torchs(be, format, axis):
    x = (draw((33, 65)) ** 3).astype("float32")
    values, scale = nn.quantize_fp8(be.asarray(x), format=format, axis=axis)
    there, most = torch.from_numpy(x), torch.finfo(FLOAT8[format]).max
    amax = there.abs().amax() if axis is None else there.abs().amax(dim=axis, keepdim=True)
    want = (there / (amax / most)).clamp(-most, most).to(FLOAT8[format])
    np.testing.assert_array_equal(scale.to_numpy(), (amax / most).numpy())
    np.testing.assert_array_equal(values.to_numpy(), want.view(torch.uint8).numpy())
    y = draw((65, 17), "float32", 1)
    right, right_scale = nn.quantize_fp8(be.asarray(y), format=format)
    back = torch.from_numpy(right.to_numpy()).view(FLOAT8[format]).double() * float(right_scale)
    left = want.double() * (amax / most).double()
    if axis != 0:  # scales are per row
        got = nn.scaled_matmul(values, right, scale, right_scale, a_format=format, b_format=format)
        assert_close(got, left @ back, 8, (left.abs() @ back.abs()).numpy())
