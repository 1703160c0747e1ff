"""Single steps: the gates of a cell after its products, and cells, against the formulas in wide NumPy."""

import inputs
import numpy as np
import pytest
from layer_loops import recurrence
from reference import widen

import stator

nn = stator.nn
GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}
ERRORS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 1e-6, "float64": 4e-15}


def drawn(shape, dtype, seed, reach=2.0):
    return inputs.random(np.random.default_rng([seed, *shape]), shape, dtype, -reach, reach)


def operands(kind, dtype, batch=5, hidden=7):
    width = GATES[kind] * hidden
    gates = [drawn((batch, width), dtype, k) for k in (0, 1)]
    states = [drawn((batch, hidden), dtype, 2)] if GATES[kind] > 1 else []
    return gates, states, [drawn((width,), dtype, k) for k in (3, 4)]


def call(be, kind, gates, states, biases):
    options = {"nonlinearity": kind} if GATES[kind] == 1 else {}
    name = "rnn" if GATES[kind] == 1 else kind
    given = [be.asarray(a) if isinstance(a, np.ndarray) else a for a in (*gates, *states, *biases)]
    found = getattr(nn, f"{name}_pointwise")(*given, **options)
    return found if isinstance(found, tuple) else (found,)


def wanted(kind, gates, states, biases):
    """h, of LSTM c, and the workspace."""
    a, b = (widen(g) + (widen(x) if biases else 0) for g, x in zip(gates, biases or gates, strict=True))
    h, c, workspace = recurrence.step(kind, a, b, *[widen(s) for s in states * 2])
    return [x for x in (h, c, workspace) if x is not None][: 1 if GATES[kind] == 1 else None]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("kind", GATES)
def test_pointwise(be, kind, dtype):
    for sizes in ((5, 7), (3, 300), (1, 1)):
        gates, states, biases = operands(kind, dtype, *sizes)
        for some in (biases, []):
            want = wanted(kind, gates, states, some)
            for got, one in zip(call(be, kind, gates, states, some), want, strict=True):
                scale = max(1.0, float(np.abs(one).max()))
                np.testing.assert_allclose(widen(got.to_numpy()), one, rtol=0, atol=ERRORS[dtype] * scale)


@pytest.mark.parametrize("kind", GATES)
def test_operands_with_strides(be, kind):
    gates, states, biases = operands(kind, "float32")
    want = call(be, kind, gates, states, biases)

    def apart(a):
        return be.asarray(np.asfortranarray(np.repeat(a, 2, axis=-1)))[..., ::2]

    for got, one in zip(call(be, kind, *[[apart(a) for a in g] for g in (gates, states, biases)]), want, strict=True):
        np.testing.assert_array_equal(got.to_numpy(), one.to_numpy())


def test_gates_far_from_zero(be):
    """Saturated gates are 0 and 1 and make no NaN; NaN stays."""
    big = np.array([[1e4, -1e4, 1e4, -1e4], [100, -100, np.nan, 100]], np.float32)
    h, c, workspace = (x.to_numpy() for x in call(be, "lstm", [big, np.zeros_like(big)], [np.ones((2, 1), "f")], []))
    np.testing.assert_array_equal(workspace[0], [1, 0, 1, 0])
    assert (h[0], c[0]) == (0, 1) and np.isnan(h[1]) and np.isnan(c[1])


def test_a_relu_of_nan_is_nan(be):
    x = np.array([[np.nan, -1.0, 2.0]], np.float32)
    np.testing.assert_array_equal(call(be, "relu", [x, x * 0], [], [])[0].to_numpy(), [[np.nan, 0, 2]])


@pytest.mark.parametrize("kind", GATES)
def test_gradients_of_a_step_are_differences(be, kind):
    gates, states, biases = operands(kind, "float64")
    found = [x.to_numpy() for x in call(be, kind, gates, states, biases)]
    results = found[: 2 if kind == "lstm" else 1]
    grads = [drawn(r.shape, "float64", 10 + k) for k, r in enumerate(results)]
    on = [be.asarray(g) for g in grads]
    if kind == "lstm":
        got = nn.lstm_pointwise_backward(*on, be.asarray(states[0]), be.asarray(found[2]))
        got = [got[0], got[0], got[1]]
    elif kind == "gru":
        got = nn.gru_pointwise_backward(*on, be.asarray(found[1]))
    else:
        got = [nn.rnn_pointwise_backward(*on, be.asarray(found[0]), nonlinearity=kind)] * 2
    moved = [*gates, *states]
    along = [drawn(a.shape, "float64", 20 + k) for k, a in enumerate(moved)]
    eps, values = 1e-6, []
    for sign in (1, -1):
        a, b, *rest = [m + sign * eps * d for m, d in zip(moved, along, strict=True)]
        ends = wanted(kind, [a, b], rest, biases)
        values.append(sum(float(np.sum(g * e)) for g, e in zip(grads, ends, strict=False)))
    slope = sum(float(np.sum(g.to_numpy() * d)) for g, d in zip(got, along, strict=True))
    assert slope == pytest.approx((values[0] - values[1]) / (2 * eps), rel=1e-7)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("kind", ["relu", "gru", "lstm"])
def test_gradients_of_a_step_of_every_dtype(be, kind, dtype):
    """They are near those of the same workspace in float64."""
    gates, states, biases = operands(kind, dtype)
    found = call(be, kind, gates, states, biases)
    grad = be.asarray(drawn((5, 7), dtype, 9))
    given = [grad, *([None, be.asarray(states[0])] if kind == "lstm" else []), found[-1]]
    name, options = ("rnn", {"nonlinearity": kind}) if kind == "relu" else (kind, {})
    back = getattr(nn, f"{name}_pointwise_backward")
    got, want = (
        back(*given, **options),
        back(*[a if a is None else stator.astype(a, "float64") for a in given], **options),
    )
    for one, wide in zip(
        got if isinstance(got, tuple) else [got], want if isinstance(want, tuple) else [want], strict=True
    ):
        assert str(one.dtype) == dtype
        np.testing.assert_allclose(widen(one.to_numpy()), wide.to_numpy(), rtol=0, atol=4 * ERRORS[dtype])


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("kind", GATES)
def test_cells(be, kind, dtype):
    """With a batch and without one, with states and biases and without them."""
    width, options = GATES[kind] * 6, {"nonlinearity": kind} if GATES[kind] == 1 else {}
    cell = getattr(nn, ("rnn" if GATES[kind] == 1 else kind) + "_cell")
    x, h, c = drawn((3, 5), dtype, 0), drawn((3, 6), dtype, 1), drawn((3, 6), dtype, 2)
    weights = [drawn((width, 5), dtype, 3, 0.5), drawn((width, 6), dtype, 4, 0.5)]
    biases = [drawn((width,), dtype, k, 0.5) for k in (5, 6)]
    a, b = widen(x) @ widen(weights[0]).T, widen(h) @ widen(weights[1]).T
    on = [be.asarray(w) for w in weights]
    states = (be.asarray(h), be.asarray(c)) if kind == "lstm" else be.asarray(h)
    found = cell(be.asarray(x), states, *on, *map(be.asarray, biases), **options)
    want = recurrence.step(kind, a + widen(biases[0]), b + widen(biases[1]), widen(h), widen(c))
    for got, one in zip(found if kind == "lstm" else [found], want, strict=False):
        np.testing.assert_allclose(
            widen(got.to_numpy()), one, rtol=0, atol=8 * ERRORS[dtype] * max(1, np.abs(one).max())
        )
    found = cell(be.asarray(x[1]), None, *on, **options)
    want = recurrence.step(kind, a[1], 0 * b[1], np.zeros(6), np.zeros(6))
    for got, one in zip(found if kind == "lstm" else [found], want, strict=False):
        np.testing.assert_allclose(
            widen(got.to_numpy()), one, rtol=0, atol=8 * ERRORS[dtype] * max(1, np.abs(one).max())
        )


def test_a_step_of_no_rows(be):
    empty = be.zeros((0, 6), dtype="float32")
    h, workspace = nn.gru_pointwise(empty, empty, be.zeros((0, 2), dtype="float32"))
    assert (h.shape, workspace.shape) == ((0, 2), (0, 10))
    assert [g.shape for g in nn.gru_pointwise_backward(h, workspace)] == [(0, 6), (0, 6), (0, 2)]
    assert nn.rnn_cell(empty, None, be.zeros((2, 6), dtype="float32"), be.zeros((2, 2), dtype="float32")).shape == (
        0,
        2,
    )
