"""Recurrent layers against loops over each sequence by itself, in wide NumPy; their steps, lengths and layouts."""

import inputs
import numpy as np
import pytest
from layer_loops import recurrence
from reference import widen

import stator

nn = stator.nn
GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}
# The largest error of a result of up to 1, in float32 and float64 of a few steps, and in halves that round each state.
ERRORS = {"float16": 2**-8, "bfloat16": 2**-5, "float32": 2e-6, "float64": 1e-14}


def drawn(shape, dtype, seed, reach=1.0):
    return inputs.random(np.random.default_rng([seed, *shape]), shape, dtype, -reach, reach)


def close(got, want, dtype, scale=1.0):
    np.testing.assert_allclose(widen(got.to_numpy()), want, rtol=0, atol=ERRORS[dtype] * scale)


class Layer:
    """A layer with drawn operands: what it takes on the host, and its calls."""

    def __init__(self, be, kind, dtype, steps=4, batch=3, sizes=(5, 6), layers=1, bias=True, directions=1, seed=0):
        self.be, self.kind, self.dtype, self.bias, self.directions = be, kind, dtype, bias, directions
        self.name = "rnn" if GATES[kind] == 1 else kind
        size, hidden = sizes
        self.x = drawn((steps, batch, size), dtype, seed)
        self.states = [drawn((layers * directions, batch, hidden), dtype, seed + k) for k in (1, 2)]
        self.weights, g = [], GATES[kind] * hidden
        for run in range(layers * directions):
            shapes = [(g, size if run < directions else directions * hidden), (g, hidden), *[(g,)] * (2 * bias)]
            self.weights += [drawn(s, dtype, seed + 10 * run + k, 0.5) for k, s in enumerate(shapes)]
        self.options = {"num_layers": layers, "bias": bias, "bidirectional": directions == 2}
        if self.name == "rnn":
            self.options["nonlinearity"] = kind

    def pair(self, values):
        """States as the layer takes them."""
        return tuple(values) if self.kind == "lstm" else values[0]

    def on(self, x):
        return self.be.asarray(x) if isinstance(x, np.ndarray) else x

    def given(self):
        return self.on(self.x), self.pair([self.on(s) for s in self.states]), [self.on(w) for w in self.weights]

    def run(self, *given, **options):
        return getattr(nn, self.name)(*(given or self.given()), **self.options, **options)

    def back(self, grad, states, workspace, **options):
        x, _, weights = self.given()
        return getattr(nn, self.name + "_backward")(grad, states, x, weights, workspace, **self.options, **options)

    def wanted(self, states=True, lengths=None):
        wide = [widen(s) if states else None for s in self.states]
        return recurrence.layers(
            self.kind, widen(self.x), *wide, [widen(w) for w in self.weights], self.bias, self.directions, lengths
        )


def all_of(found):
    """The arrays of a result, in their order."""
    return [x for part in found for x in (all_of(part) if isinstance(part, (tuple, list)) else [part])]


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("kind", GATES)
def test_layers(be, kind, dtype):
    """Two layers of two directions; and one without biases and states, whose first product is left out."""
    layer = Layer(be, kind, dtype, layers=2, directions=2)
    for got, want in zip(all_of(layer.run()), layer.wanted(), strict=False):
        close(got, want, dtype)
    layer = Layer(be, kind, dtype, bias=False)
    x, _, weights = layer.given()
    for got, want in zip(all_of(layer.run(x, None, weights)), layer.wanted(states=False), strict=False):
        close(got, want, dtype)


@pytest.mark.parametrize("kind", GATES)
def test_lengths(be, kind):
    """Beyond a length results are zero, and the last state is that at the length, in both directions."""
    layer, lengths = Layer(be, kind, "float64", steps=5, batch=4, layers=2, directions=2), [5, 1, 3, 2]
    found = all_of(layer.run(lengths=lengths))
    for got, want in zip(found, layer.wanted(lengths=lengths), strict=False):
        close(got, want, "float64")
    strided = be.asarray(np.repeat(np.array(lengths, np.int32), 2))[::2]
    for got, same in zip(all_of(layer.run(lengths=strided)), found, strict=True):
        np.testing.assert_array_equal(got.to_numpy(), same.to_numpy())


def test_a_length_of_zero_keeps_the_state(be):
    layer = Layer(be, "lstm", "float32", directions=2)
    y, (h, c) = layer.run(lengths=be.asarray([0, 4, 0]))
    for last, first in zip((h, c), layer.states, strict=True):
        np.testing.assert_array_equal(last.to_numpy()[:, ::2], first[:, ::2])
    assert not y.to_numpy()[:, ::2].any() and y.to_numpy()[:, 1].all()


@pytest.mark.parametrize("kind", GATES)
def test_layouts(be, kind):
    """Sequences first, one sequence without a batch, and operands with strides give the same."""
    layer = Layer(be, kind, "float64", directions=2)
    x, states, weights = layer.given()
    want = all_of(layer.run())
    turned = be.asarray(np.ascontiguousarray(layer.x.transpose(1, 0, 2)))
    y, *last = all_of(layer.run(turned, states, weights, batch_first=True))
    for got, same in zip([stator.permute_dims(y, (1, 0, 2)), *last], want, strict=True):
        np.testing.assert_array_equal(got.to_numpy(), same.to_numpy())

    def strided(a):
        wide = be.zeros((*a.shape[:-1], 2 * a.shape[-1]), dtype="float64")
        wide[..., ::2] = a
        return wide[..., ::2]

    apart = [strided(w) for w in weights]
    for got, same in zip(
        all_of(layer.run(strided(x), layer.pair([strided(s) for s in all_of([states])]), apart)), want, strict=True
    ):
        close(got, same.to_numpy(), "float64")
    one = layer.pair([s[:, 1] for s in all_of([states])])
    for got, same in zip(all_of(layer.run(x[:, 1], one, weights)), want, strict=True):
        close(got, same.to_numpy()[:, 1], "float64")


@pytest.mark.parametrize("kind", GATES)
def test_no_sequences(be, kind):
    layer = Layer(be, kind, "float16", batch=0, layers=2)
    y, last, workspace = layer.run(return_workspace=True)
    assert y.shape == (4, 0, 6) and all(s.shape == (2, 0, 6) for s in all_of([last]))
    gx, first, grads = layer.back(y, last, workspace)
    assert gx.shape == (4, 0, 5) and all(s.shape == (2, 0, 6) for s in all_of([first]))
    assert [g.shape for g in grads] == [w.shape for w in layer.weights]
    assert not any(g.to_numpy().any() for g in grads)


@pytest.mark.parametrize("kind", GATES)
def test_gradients_are_differences(be, kind):
    """The derivative along one direction of all operands at once, with lengths; and all kinds of gradients at once."""
    layer = Layer(be, kind, "float64", layers=2, directions=2, seed=3)
    lengths = [4, 2, 3]
    results = layer.run(return_workspace=True, lengths=lengths)
    grads = [drawn(g.shape, "float64", 40 + k) for k, g in enumerate(all_of(results[:2]))]
    found = all_of(
        layer.back(be.asarray(grads[0]), layer.pair([*map(be.asarray, grads[1:])]), results[2], lengths=lengths)
    )
    operands = [layer.x, *layer.states[: len(grads) - 1], *layer.weights]
    along = [drawn(a.shape, "float64", 60 + k) for k, a in enumerate(operands)]
    eps, values = 1e-5, []
    for sign in (1, -1):
        moved = Layer(be, kind, "float64", layers=2, directions=2, seed=3)
        x, *rest = [a + sign * eps * d for a, d in zip(operands, along, strict=True)]
        moved.x, moved.states, moved.weights = x, rest[: len(grads) - 1], rest[len(grads) - 1 :]
        ends = all_of(moved.run(lengths=lengths))
        values.append(sum(float(np.sum(g * e.to_numpy())) for g, e in zip(grads, ends, strict=True)))
    slope = sum(float(np.sum(g.to_numpy() * d)) for g, d in zip(found, along, strict=True))
    assert slope == pytest.approx((values[0] - values[1]) / (2 * eps), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("kind", ["relu", "gru", "lstm"])
def test_gradients_of_every_dtype(be, kind, dtype):
    """Those of narrow operands are near those of the same numbers in float64."""
    layer, wide = (Layer(be, kind, dtype, directions=2, seed=5) for _ in range(2))
    wide.dtype, wide.x = "float64", widen(layer.x).astype(np.float64)
    wide.states, wide.weights = (
        [widen(a).astype(np.float64) for a in group] for group in (layer.states, layer.weights)
    )
    found = []
    for one in (layer, wide):
        y, last, workspace = one.run(return_workspace=True)
        ones = [stator.astype(be.ones(a.shape), one.dtype) for a in all_of([y, last])]
        found.append(all_of(one.back(ones[0], one.pair(ones[1:]), workspace)))
    for got, want in zip(*found, strict=True):
        assert str(got.dtype) == dtype
        close(got, want.to_numpy(), dtype, 2 * max(1.0, float(np.abs(want.to_numpy()).max())))


def test_results_do_not_depend_on_the_workspace_or_the_run(be):
    layer = Layer(be, "gru", "float32", batch=7, sizes=(9, 40), layers=2, directions=2)
    lengths = [4, 3, 2, 1, 4, 4, 2]
    y, last, workspace = layer.run(return_workspace=True, lengths=lengths)
    for got, want in zip(all_of(layer.run(lengths=lengths)), (y, last), strict=True):
        np.testing.assert_array_equal(got.to_numpy(), want.to_numpy())
    once, again = (all_of(layer.back(y, None, workspace, lengths=lengths)) for _ in range(2))
    for got, want in zip(once, again, strict=True):
        np.testing.assert_array_equal(got.to_numpy(), want.to_numpy())


@pytest.mark.parametrize("kind", GATES)
def test_a_step_is_a_product_and_a_launch(be, kind):
    """And nothing else: neither lengths nor the workspace add work to a step, forward and backward."""

    def work():
        s = be.statistics()
        return s["kernel_launches"] + s["library_calls"]

    def spent(steps, **options):
        layer = Layer(be, kind, "float32", steps=steps)
        given = layer.given()
        options |= {"lengths": be.asarray([1, 2, 3])} if options.pop("cut", False) else {}
        start = work()
        found = layer.run(*given, **options)
        middle = work()
        if "return_workspace" in options:
            options.pop("return_workspace")
            layer.back(found[0], found[1], found[2], **options)
            return middle - start, work() - middle
        return (middle - start,)

    for options in ({}, {"cut": True}, {"return_workspace": True}, {"return_workspace": True, "cut": True}):
        few, many = spent(13, **options), spent(23, **options)
        assert [b - a for a, b in zip(few, many, strict=True)] == [20] * len(few)


def test_work_is_in_the_order_of_a_stream(be):
    """The steps are, with what makes their operands before them, and what reads their results after them."""
    layer = Layer(be, "lstm", "float32", batch=64, sizes=(64, 64), steps=6)
    want = layer.run()[0].to_numpy()
    given, stream = layer.given(), be.stream(1)
    stream.wait(be.stream(0).record())
    with stream:
        y = layer.run(given[0] * 2 - given[0], *given[1:])[0] + 0
    np.testing.assert_allclose(y.to_numpy(), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("options", [{}, {"layers": 2, "directions": 2}], ids=["one layer", "layers of two directions"])
def test_steps_after_a_sequence_may_hold_anything(be, kind, options):
    lengths = [4, 2, 3]
    layer = Layer(be, kind, "float32", **options)

    def results():
        y, states, workspace = layer.run(return_workspace=True, lengths=lengths)
        ends = [be.ones(s.shape, dtype="float32") for s in (states if kind == "lstm" else [states])]
        found = layer.back(be.ones(y.shape, dtype="float32"), layer.pair(ends), workspace, lengths=lengths)
        return [x.to_numpy() for x in [y, *all_of(found)]]

    padding = np.arange(4)[:, None] >= np.array(lengths)
    layer.x[padding] = 0
    want = results()
    layer.x[padding] = np.nan
    for got, same in zip(results(), want, strict=True):
        np.testing.assert_array_equal(got, same)
