"""Residual, activation and the gradient of the activation in the passes of a normalisation, in wide NumPy."""

import inputs
import numpy as np
import oracles_norm
import pytest
import scipy.special
from layer_loops.norm import BATCHES, CHANNELS, ROWS, affine, close, drawn
from reference import widen

import stator
from stator import errors as E

nn = stator.nn
ACTIVATIONS = ["relu", "silu", "gelu"]


def activated(kind, z):
    z = np.asarray(z, np.float64)
    if kind == "relu":
        return np.maximum(z, 0)
    return z * (scipy.special.expit(z) if kind == "silu" else scipy.special.ndtr(z))


def slope(kind, z):
    z = np.asarray(z, np.float64)
    if kind == "relu":
        return np.where(z > 0, 1.0, 0.0)
    if kind == "silu":
        s = scipy.special.expit(z)
        return s * (1 + z * (1 - s))
    return scipy.special.ndtr(z) + z * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)


def through(kind, grad, z):
    """The gradient of what the activation was applied to."""
    return grad * slope(kind, z)


def away_from_zero(grad, z):
    """Without the elements where relu's slope depends on rounding."""
    grad = grad.copy()
    grad[np.abs(np.asarray(z, np.float64)) < 2.0**-8] = 0
    return grad


def on(be, *arrays):
    return [None if a is None else be.asarray(a) for a in arrays]


def wide(*arrays):
    return [None if a is None else widen(a) for a in arrays]


def launches(be, call, *operands, **options):
    before = be.statistics()["kernel_launches"]
    found = call(*operands, **options)
    return found, be.statistics()["kernel_launches"] - before


@pytest.mark.parametrize("kind", ACTIVATIONS)
@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", [s for s in ROWS if s[-1] > 1])
def test_gradients_of_activated_rows(be, shape, dtype, kind):
    x, grad, (weight, bias) = drawn(shape, dtype), drawn(shape, dtype, 1), affine(shape[-1:], dtype)
    for operands in ((None, None), (weight, bias), (weight, None), (None, bias)):
        z = oracles_norm.layer_norm(*wide(x, *operands))
        g = away_from_zero(grad, z)
        want = oracles_norm.layer_norm_backward(through(kind, widen(g), z), *wide(x, operands[0]))
        given, source, w, b = on(be, g, x, *operands)
        found, taken = launches(be, nn.layer_norm_backward, given, source, w, bias=b, activation=kind)
        assert taken <= 2
        for got, expected in zip(found, want, strict=True):
            close(got, expected, "layer_norm_backward", 6.0)
        if operands[1] is None:
            z = oracles_norm.rms_norm(*wide(x, operands[0]))
            g = away_from_zero(grad, z)
            want = oracles_norm.rms_norm_backward(through(kind, widen(g), z), *wide(x, operands[0]))
            for got, expected in zip(
                nn.rms_norm_backward(be.asarray(g), source, w, activation=kind), want, strict=True
            ):
                close(got, expected, "rms_norm_backward", 6.0)


@pytest.mark.parametrize("kind", ACTIVATIONS)
@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("shape", "groups"), CHANNELS)
def test_gradients_of_activated_groups(be, shape, groups, dtype, kind):
    x, grad, (weight, bias) = drawn(shape, dtype), drawn(shape, dtype, 1), affine(shape[1:2], dtype)
    names = [("group_norm", (groups,))] + ([("instance_norm", ())] if len(shape) > 2 else [])
    for name, numbers in names:
        for operands in ((None, None), (weight, bias)):
            z = getattr(oracles_norm, name)(widen(x), *numbers, *wide(*operands))
            g = away_from_zero(grad, z)
            back = getattr(oracles_norm, f"{name}_backward")
            want = back(through(kind, widen(g), z), widen(x), *numbers, *wide(operands[0]))
            given, source, w, b = on(be, g, x, *operands)
            call = getattr(nn, f"{name}_backward")
            found, taken = launches(be, call, given, source, *numbers, w, bias=b, activation=kind)
            assert taken <= 2
            for got, expected in zip(found, want, strict=True):
                close(got, expected, "group_norm_backward", 16.0)


@pytest.mark.parametrize("kind", ACTIVATIONS)
@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", BATCHES)
def test_activated_batches_and_their_gradients(be, shape, dtype, kind):
    x, residual, grad = (drawn(shape, dtype, seed) for seed in range(3))
    weight, bias = affine(shape[1:2], dtype)
    kept = "float64" if dtype == "float64" else "float32"
    mean, var = (a.astype(kept) for a in (drawn(shape[1:2], kept, 3), drawn(shape[1:2], kept, 4, 0.5, 2)))
    given = on(be, x, weight, bias)
    for training in (True, False):
        statistics = () if training else (mean, var)
        options = {"training": training, "activation": kind, "residual": be.asarray(residual)}
        found, taken = launches(be, nn.batch_norm, *given, *on(be, *statistics), **options)
        assert taken == (2 if training else 1)
        total = found[3].to_numpy()
        np.testing.assert_array_equal(widen(total), widen((widen(x) + widen(residual)).astype(x.dtype)))
        z, m, v = oracles_norm.batch_norm(*wide(total, weight, bias, *statistics), training=training)
        close(found[0], activated(kind, z), "batch_norm", 8.0)
        for got, expected in zip(found[1:3], (m, v), strict=True):
            close(got, expected, "batch_norm")
        plain = nn.batch_norm(*given, *on(be, *statistics), training=training, activation=kind)
        z, _, _ = oracles_norm.batch_norm(*wide(x, weight, bias, *statistics), training=training)
        close(plain[0], activated(kind, z), "batch_norm", 8.0)
        saved = [s.to_numpy() for s in plain[1:]]
        for operands in ((weight, bias), (None, None)):
            z, _, _ = oracles_norm.batch_norm(*wide(x, *operands, *saved))
            g = away_from_zero(grad, z)
            want = oracles_norm.batch_norm_backward(
                through(kind, widen(g), z), *wide(x, *saved, operands[0]), training=training
            )
            w, b = on(be, *operands)
            options = {"bias": b, "activation": kind, "training": training}
            found, taken = launches(be, nn.batch_norm_backward, be.asarray(g), given[0], *plain[1:], w, **options)
            assert taken == 2
            for got, expected in zip(found, want, strict=True):
                close(got, expected, "batch_norm_backward", 16.0)


def test_no_activation_needs_no_bias(be):
    x, grad, (weight, bias) = drawn((6, 5, 40), "float32"), drawn((6, 5, 40), "float32", 1), affine((5,), "float32")
    g, source, w, b = on(be, grad, x, weight, bias)
    stats = nn.batch_norm(source, training=True)[1:]
    for call in (
        lambda **more: nn.batch_norm_backward(g, source, *stats, w, training=True, **more),
        lambda **more: nn.group_norm_backward(g, source, 1, w, **more),
    ):
        for plain, biased in zip(call(), call(bias=b), strict=True):
            np.testing.assert_array_equal(plain.to_numpy(), biased.to_numpy())


@pytest.mark.parametrize("layout", inputs.layouts())
def test_any_strides(be, layout):
    lay = inputs.layouts()[layout]
    x, residual, grad = (lay(drawn((6, 4, 40), "float32", seed)) for seed in range(3))
    source, added, slopes = (inputs.on_device(be, a) for a in (x, residual, grad))
    total = (x + residual).astype(np.float32)
    y, mean, var, whole = nn.batch_norm(source, training=True, residual=added, activation="silu")
    z, _, _ = oracles_norm.batch_norm(widen(total), training=True)
    close(y, activated("silu", z), "batch_norm")
    want = oracles_norm.batch_norm_backward(
        through("silu", widen(grad), z), *wide(total, mean.to_numpy(), var.to_numpy()), training=True
    )
    found = nn.batch_norm_backward(slopes, whole, mean, var, training=True, activation="silu")
    for got, expected in zip(found, want, strict=True):
        close(got, expected, "batch_norm_backward", 8.0)
    z = oracles_norm.layer_norm(widen(x))
    want = oracles_norm.layer_norm_backward(through("silu", widen(grad), z), widen(x))
    for got, expected in zip(nn.layer_norm_backward(slopes, source, activation="silu"), want, strict=True):
        close(got, expected, "layer_norm_backward", 6.0)


def test_batches_of_nothing(be):
    x, c = be.zeros((0, 4, 3), dtype="float32"), be.full((4,), 2.0, dtype="float32")
    y, _, _, total = nn.batch_norm(x, c, c, c, c, residual=x, activation="relu")
    assert y.shape == total.shape == (0, 4, 3)
    for found in (
        nn.batch_norm_backward(x, x, c, c, c, bias=c, activation="gelu"),
        nn.group_norm_backward(x, x, 2, c, bias=c, activation="gelu"),
    ):
        assert [a.to_numpy().tolist() for a in found[1:]] == [[0] * 4] * 2
    assert nn.layer_norm_backward(x, x, activation="relu")[0].shape == (0, 4, 3)


def test_gradients_are_equal_bits_each_time(be):
    x, grad = (be.asarray(drawn((64, 6, 200), "float32", seed)) for seed in (0, 1))
    stats = [be.full((6,), v, dtype="float32") for v in (0.5, 1.0)]
    for call in (
        lambda: nn.batch_norm_backward(grad, x, *stats, training=True, activation="gelu"),
        lambda: nn.layer_norm_backward(grad, x, activation="gelu"),
        lambda: nn.group_norm_backward(grad, x, 3, activation="gelu"),
    ):
        first, second = ([a.to_numpy() for a in call()] for _ in range(2))
        for a, b in zip(first, second, strict=True):
            np.testing.assert_array_equal(a, b)


REFUSED = {
    "residual of a batch": (
        lambda x, c: nn.batch_norm(x, training=True, residual=x[0]),
        E.ShapeError,
        r"residual \(4, 5\) for x \(3, 4, 5\)",
    ),
    "dtype of a residual": (
        lambda x, c: nn.batch_norm(x, training=True, residual=stator.astype(x, "float16")),
        E.DTypeError,
        "residual is float16, x is float32",
    ),
    "activation of a batch": (
        lambda x, c: nn.batch_norm(x, training=True, activation="tanh"),
        E.InvalidValueError,
        r"nn\.batch_norm.*tanh",
    ),
    "activation of a gradient": (
        lambda x, c: nn.batch_norm_backward(x, x, c, c, activation="elu"),
        E.InvalidValueError,
        "elu",
    ),
    "activation of rows": (lambda x, c: nn.layer_norm_backward(x, x, activation="elu"), E.InvalidValueError, "elu"),
    "bias of rows": (
        lambda x, c: nn.layer_norm_backward(x, x, bias=c, activation="relu"),
        E.ShapeError,
        r"bias \(4,\) for x \(3, 4, 5\)",
    ),
    "bias of groups": (
        lambda x, c: nn.group_norm_backward(x, x, 2, bias=x[0, 0], activation="relu"),
        E.ShapeError,
        r"bias \(5,\)",
    ),
    "bias of a batch": (
        lambda x, c: nn.batch_norm_backward(x, x, c, c, bias=stator.astype(c, "float64"), activation="relu"),
        E.DTypeError,
        "bias is float64",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_values_seen(be, name):
    call, error, text = REFUSED[name]
    x, c = be.ones((3, 4, 5), dtype="float32"), be.ones((4,), dtype="float32")
    with pytest.raises(error, match=f"(?i){text}") as raised:
        call(x, c)
    assert raised.value.op.startswith("nn.") and raised.value.remedy
    assert np.isfinite(nn.layer_norm(x).to_numpy()).all()
