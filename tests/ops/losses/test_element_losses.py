"""Elementwise losses and their gradients against their formulas in wide NumPy."""

import inputs
import numpy as np
import oracles
import pytest
from cases import tolerance
from reference import assert_matches, widen

import stator

nn = stator.nn
LAYOUTS = inputs.layouts()
REDUCTIONS = ["mean", "sum", "none"]
# The domains of input and target, and options, in each of which every part of the formula has elements.
LOSSES = {
    "mse_loss": ((-4, 4), (-4, 4), [{}]),
    "l1_loss": ((-4, 4), (-4, 4), [{}]),
    "huber_loss": ((-4, 4), (-4, 4), [{}, {"delta": 2.5}]),
    "smooth_l1_loss": ((-4, 4), (-4, 4), [{}, {"beta": 2.5}, {"beta": 0}]),
    "binary_cross_entropy_with_logits": ((-8, 8), (0, 1), [{}]),
    "kl_div": ((-4, 0), (0, 1), [{}, {"log_target": True}]),
}
FORMS = [(name, options) for name, (_, _, found) in LOSSES.items() for options in found]
# None, one, a vector with a rest, several blocks of threads, several of the fast host.
SHAPES = [(), (0,), (3, 0), (7,), (3, 33), (67, 70), (5, 41, 90)]


def operands(name, shape, dtype):
    first, second, _ = LOSSES[name]
    rng = np.random.default_rng([len(name), *shape])
    return inputs.random(rng, shape, dtype, *first), inputs.random(rng, shape, dtype, *second)


def gradient(shape, dtype):
    return np.asarray(inputs.random(np.random.default_rng(9), shape, dtype, 0.5, 2))


def close(got, want, name, magnitude=None):
    """Errors count in the last place of the largest term: terms of a sum, and differences, cancel."""
    size = magnitude if magnitude is not None else np.max(np.abs(want), initial=0)
    assert_matches(got.to_numpy(), want, tolerance(name), name, np.full(np.shape(want), float(max(size, 1e-30))))


def check(be, name, x, y, **options):
    """All reductions of a loss and its gradients; operands have the layouts of x and y. Returns the last gradient."""
    on, wide = [inputs.on_device(be, a) for a in (x, y)], [widen(a) for a in (x, y)]
    dtype = x.dtype.name
    weights = {k: v for k, v in options.items() if isinstance(v, np.ndarray)}
    here = options | {k: inputs.on_device(be, v) for k, v in weights.items()}
    there = options | {k: widen(v) for k, v in weights.items()}
    for reduction in [*REDUCTIONS, *(["batchmean"] * (name == "kl_div" and x.ndim > 0 and len(x) > 0))]:
        want = getattr(oracles, name)(*wide, **there, reduction=reduction)
        got = getattr(nn, name)(*on, **here, reduction=reduction)
        assert got.dtype.name == dtype
        terms = np.abs(getattr(oracles, name)(*wide, **there, reduction="none"))
        size = np.sum(terms) if reduction == "sum" else np.max(terms, initial=0)
        close(got, want, name, max(size, 1.0) if reduction != "sum" else size)
        grad = gradient(x.shape if reduction == "none" else (), dtype)
        back = f"{name}_backward"
        got = getattr(nn, back)(inputs.on_device(be, grad), *on, **here, reduction=reduction)
        assert got.dtype.name == dtype
        close(got, getattr(oracles, back)(widen(grad), *wide, **there, reduction=reduction), back)
    return got


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "options"), FORMS)
def test_losses_and_gradients(be, name, options, shape, dtype):
    check(be, name, *operands(name, shape, dtype), **options)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
def test_operands_of_any_layout(be, name, layout):
    for shape in ((6, 70), (3, 4, 5)):
        x, y = operands(name, shape, "float32")
        check(be, name, LAYOUTS[layout](x), LAYOUTS[layout](y))
        check(be, name, x, LAYOUTS[layout](y))
        grad = LAYOUTS[layout](gradient(shape, "float32"))
        got = getattr(nn, f"{name}_backward")(*(inputs.on_device(be, a) for a in (grad, x, y)), reduction="none")
        want = getattr(oracles, f"{name}_backward")(*(widen(a) for a in (grad, x, y)), reduction="none")
        close(got, want, f"{name}_backward")


def test_a_dense_result_has_the_layout_of_its_operands(be):
    x = be.asarray(np.arange(12.0).reshape(3, 4)).T
    assert nn.mse_loss(x, x, reduction="none").strides == x.strides
    assert nn.l1_loss_backward(be.ones(()), x, x).strides == x.strides


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_addresses_that_are_aligned_to_an_element_only(be, dtype):
    x, y = operands("mse_loss", (301,), dtype)
    on = [be.asarray(a)[1:] for a in (x, y)]
    close(nn.mse_loss(*on), oracles.mse_loss(widen(x[1:]), widen(y[1:])), "mse_loss")
    got = nn.mse_loss_backward(on[1], on[0], on[1], reduction="none")
    want = oracles.mse_loss_backward(*(widen(a[1:]) for a in (y, x, y)), reduction="none")
    close(got, want, "mse_loss_backward")


def test_operands_that_are_repeated(be):
    x, y = operands("l1_loss", (8, 1), "float64")
    wide = [np.broadcast_to(x, (8, 24)), np.broadcast_to(y[:1], (8, 24))]
    on = [stator.broadcast_to(be.asarray(a), (8, 24)) for a in (x, y[:1])]
    for reduction in REDUCTIONS:
        close(nn.l1_loss(*on, reduction=reduction), oracles.l1_loss(*wide, reduction), "l1_loss", 192 * 8.0)
    close(nn.l1_loss_backward(be.ones(()), *on), oracles.l1_loss_backward(1.0, *wide), "l1_loss_backward")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shapes", [((70,), None), (None, (70,)), ((67, 1), (70,)), ((67, 70), (67, 70)), ((), (1, 1))])
def test_weights_of_logits(be, shapes, dtype):
    """Of each class, of each row, of each element, and one of all."""
    name = "binary_cross_entropy_with_logits"
    drawn = [
        None if s is None else np.asarray(inputs.random(np.random.default_rng(k), s, dtype, 0.5, 2))
        for k, s in enumerate(shapes)
    ]
    weights = {k: v for k, v in zip(("weight", "pos_weight"), drawn, strict=True) if v is not None}
    check(be, name, *operands(name, (67, 70), dtype), **weights)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logits_of_any_size(be, dtype):
    """Neither a large logit nor a certain target overflows, and a small loss keeps its digits."""
    x = np.array([-700.0, -80, -20, -1e-6, 0, 1e-6, 20, 80, 700], dtype)
    for target in (0, 1, 0.25):
        y = np.full_like(x, target)
        got = nn.binary_cross_entropy_with_logits(be.asarray(x), be.asarray(y), reduction="none").to_numpy()
        want = oracles.binary_cross_entropy_with_logits(x.astype(np.longdouble), y, reduction="none")
        tiny = np.finfo(dtype).tiny
        np.testing.assert_allclose(got, want.astype(np.float64), rtol=20 * np.finfo(dtype).eps, atol=tiny)
    one = be.asarray(np.ones_like(x))
    got = nn.binary_cross_entropy_with_logits_backward(one, be.asarray(x), one, reduction="none").to_numpy()
    want = -1 / (1 + np.exp(x.astype(np.longdouble)))
    np.testing.assert_allclose(got, want.astype(np.float64), rtol=20 * np.finfo(dtype).eps, atol=tiny)


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_derivatives(cpu, name):
    x, y = operands(name, (3, 4), "float64")
    for options in LOSSES[name][2]:
        found = getattr(nn, f"{name}_backward")(cpu.ones(()), cpu.asarray(x), cpu.asarray(y), **options).to_numpy()
        for k in range(x.size):
            step = np.zeros(x.size)
            step[k] = 1e-6
            up, down = (
                float(getattr(nn, name)(cpu.asarray(x + s * step.reshape(x.shape)), cpu.asarray(y), **options))
                for s in (1, -1)
            )
            assert found.ravel()[k] == pytest.approx((up - down) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_special_values(be, name):
    """NaN stays NaN, in a reduction too, and a zero of a divergence's target leaves -0 times the input."""
    x, y = operands(name, (20,), "float32")
    x[3] = np.nan
    each = getattr(nn, name)(be.asarray(x), be.asarray(y), reduction="none").to_numpy()
    assert np.isnan(each[3]) and not np.isnan(np.delete(each, 3)).any()
    assert np.isnan(float(getattr(nn, name)(be.asarray(x), be.asarray(y))))
    if name == "kl_div":
        zeros = be.zeros((3,), dtype="float32")
        x = be.asarray(np.array([-1, -np.inf, -3], "float32"))
        np.testing.assert_array_equal(nn.kl_div(x, zeros, reduction="none").to_numpy(), [0, np.nan, 0])


def test_kinks(be):
    """At equal operands, and where the parts of a formula meet."""
    x, y = be.asarray(np.array([1.0, 3, -1, 1])), be.asarray(np.array([1.0, 1, 1, 3]))
    one = be.ones((4,))
    assert nn.l1_loss_backward(one, x, y, reduction="none").to_numpy().tolist() == [0, 1, -1, -1]
    assert nn.smooth_l1_loss_backward(one, x, y, beta=0, reduction="none").to_numpy().tolist() == [0, 1, -1, -1]
    assert nn.huber_loss(x, y, delta=2, reduction="none").to_numpy().tolist() == [0, 2, 2, 2]
    assert nn.huber_loss_backward(one, x, y, delta=2, reduction="none").to_numpy().tolist() == [0, 2, -2, -2]
    for beta in (0, 1e-310):  # whose reciprocal is infinite
        assert nn.smooth_l1_loss(x, y, beta=beta, reduction="none").to_numpy().tolist() == [0, 2, 2, 2]
        assert nn.smooth_l1_loss_backward(one, x, y, beta=beta, reduction="none").to_numpy().tolist() == [0, 1, -1, -1]
    assert nn.smooth_l1_loss(x, y, beta=2, reduction="none").to_numpy().tolist() == [0, 1, 1, 1]
    assert nn.smooth_l1_loss_backward(one, x, y, beta=2, reduction="none").to_numpy().tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize("name", LOSSES)
def test_the_mean_of_nothing_is_nan(be, name):
    nothing, loss = be.zeros((0, 3)), getattr(nn, name)
    assert np.isnan(float(loss(nothing, nothing)))
    assert float(loss(nothing, nothing, reduction="sum")) == 0
    assert loss(nothing, nothing, reduction="none").shape == (0, 3)
    assert getattr(nn, f"{name}_backward")(be.ones(()), nothing, nothing).shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_long_sum_keeps_its_digits(be, dtype):
    n = 30_000
    x, y = (inputs.random(np.random.default_rng(k), (n,), dtype, 0.5, 1) for k in (0, 1))
    args = [be.asarray(a) for a in (x, y)]
    want = oracles.l1_loss(widen(x), widen(y))
    assert_matches(nn.l1_loss(*args).to_numpy(), want, (2, 2), "l1_loss")
    first = nn.l1_loss(*args, reduction="sum").to_numpy()
    for _ in range(3):
        assert nn.l1_loss(*args, reduction="sum").to_numpy() == first
