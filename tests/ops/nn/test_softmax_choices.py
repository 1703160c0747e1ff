"""Softmax of chosen elements, softmin and gumbel_softmax with their gradients, and what they refuse."""

import inputs
import numpy as np
import oracles
import pytest
import scipy.special
from cases import tolerance
from reference import assert_matches, widen

import stator
from stator import errors as E

nn = stator.nn
# (shape, axis): lines of a few elements, of more than a block has threads, and of more than shared memory holds.
LINES = [((3, 7), -1), ((4, 300, 3), 1), ((40,), 0), ((2, 9000), -1), ((2, 70_000), 1)]


def drawn(shape, dtype, seed=0, low=-2, high=2):
    return inputs.random(np.random.default_rng(seed), shape, dtype, low, high)


def masked(x, mask, axis=-1, op="softmax"):
    x = np.where(mask, -x if op == "softmin" else x, -np.inf)
    largest = np.max(x, axis=axis, keepdims=True)
    x = x - np.where(np.isneginf(largest), 0, largest)
    e = np.exp(x)
    total = np.sum(e, axis=axis, keepdims=True)
    total = np.where(total == 0, 1, total)
    return x - np.log(total) if op == "log_softmax" else e / total


def assert_close(got, want, op):
    """Rounding grows with the numbers that a logarithm is a difference of; infinities are where they should be."""
    if op != "log_softmax":
        return assert_matches(got, want, tolerance(op), op)
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(want))
    got, want = (np.where(np.isneginf(v), np.zeros_like(v), v) for v in (got, want))
    return assert_matches(got, want, tolerance(op), op, scale=np.ones(want.shape))


OPS = ["softmax", "log_softmax", "softmin"]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("shape", "axis"), LINES, ids=str)
def test_elements_that_take_part(be, dtype, shape, axis, op):
    x, mask = drawn(shape, dtype), np.random.default_rng(1).random(shape) < 0.5
    got = getattr(nn, op)(be.asarray(x), axis, mask=be.asarray(mask)).to_numpy()
    assert_close(got, masked(widen(x), mask, axis, op), op)


def slopes_of_log(grad, y, mask, axis=-1):
    total = np.sum(np.where(mask, grad, 0), axis=axis, keepdims=True)
    return np.where(mask, grad - np.exp(y) * total, 0)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("shape", "axis"), [*LINES, ((5, 8192), -1)], ids=str)
def test_gradients_of_the_logarithm(be, dtype, shape, axis):
    x, g, mask = drawn(shape, dtype), drawn(shape, dtype, 2), np.random.default_rng(1).random(shape) < 0.5
    if len(shape) > 1:
        mask[0] = False
    for shown in (mask, mask.any(axis=axis, keepdims=True)):
        chosen = be.asarray(shown)
        y = nn.log_softmax(be.asarray(x), axis, mask=chosen)
        got = nn.log_softmax_backward(be.asarray(g), y, axis, mask=chosen).to_numpy()
        shown = np.broadcast_to(shown, shape)
        want = slopes_of_log(widen(g), widen(y.to_numpy()), shown, axis)
        size = np.broadcast_to(np.abs(want).max(axis=axis, keepdims=True), want.shape)
        assert_matches(got, want, tolerance("log_softmax_backward"), "log_softmax_backward", scale=size)
        assert not got[~shown].any()


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_what_takes_no_part_counts_for_no_gradient(be, dtype):
    """Gradients that are not numbers, and lines without elements."""
    x, g, mask = drawn((4, 16), dtype), drawn((4, 16), dtype, 2), np.random.default_rng(3).random((4, 16)) < 0.5
    mask[1] = False
    g[~mask] = np.nan
    y = nn.log_softmax(be.asarray(x), mask=be.asarray(mask))
    assert np.isneginf(y.to_numpy()[1]).all()
    got = nn.log_softmax_backward(be.asarray(g), y, mask=be.asarray(mask)).to_numpy()
    assert not got[~mask].any() and np.isfinite(got.astype(float)).all() and got[0].any()


def test_gradients_of_chosen_elements_are_slopes(be):
    x, g, way = (drawn((5, 8), "float64", seed) for seed in (0, 1, 2))
    mask, step = np.random.default_rng(3).random((5, 8)) < 0.6, 1e-5
    for chosen in ({"mask": be.asarray(mask)}, {"causal": True}, {"mask": be.asarray(mask), "causal": True}):
        for op in OPS:
            part = chosen if op == "log_softmax" else {}
            f = getattr(nn, op)
            y = f(be.asarray(x), **chosen)
            taken = np.isfinite(y.to_numpy()) if op == "log_softmax" else y.to_numpy() > 0
            slope = getattr(nn, f"{op}_backward")(be.asarray(g), y, **part).to_numpy()
            ends = [np.where(taken, f(be.asarray(x + s * step * way), **chosen).to_numpy(), 0) for s in (1, -1)]
            np.testing.assert_allclose(
                np.sum(g * (ends[0] - ends[1])) / (2 * step), np.sum(slope * way), rtol=1e-7, atol=1e-7
            )


@pytest.mark.parametrize("shape", [(5, 6, 7), (6, 7), (7,), (6, 1), (5, 1, 1), ()], ids=str)
@pytest.mark.parametrize("axis", [0, 2])
def test_masks_are_broadcast(be, shape, axis):
    x, mask = drawn((5, 6, 7), "float64"), np.random.default_rng(2).random(shape) < 0.5
    got = nn.softmax(be.asarray(x), axis, mask=be.asarray(mask)).to_numpy()
    assert_matches(got, masked(widen(x), mask, axis), tolerance("softmax"), "softmax")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_lines_without_elements_are_zero(be, dtype):
    x, mask = drawn((4, 9), dtype), np.ones((4, 9), bool)
    mask[1] = False
    y = nn.softmax(be.asarray(x), mask=be.asarray(mask))
    assert not y.to_numpy()[1].any() and y.to_numpy()[0].any()
    grad = nn.softmax_backward(be.asarray(drawn((4, 9), dtype, 3)), y).to_numpy()
    assert not grad[1].any() and grad[0].any()


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_rows_see_no_later_column(be, dtype, op):
    """Also rows in vectors, whose last one is partly seen."""
    f = getattr(nn, op)
    for shape in ((6, 6), (2, 3, 5, 9), (3, 9, 4), (2, 40, 32)):
        x, seen = drawn(shape, dtype), np.tril(np.ones(shape[-2:], bool))
        assert_close(f(be.asarray(x), causal=True).to_numpy(), masked(widen(x), seen, -1, op), op)
        mask = np.random.default_rng(4).random(shape) < 0.7
        got = f(be.asarray(x), causal=True, mask=be.asarray(mask)).to_numpy()
        assert_close(got, masked(widen(x), seen & mask, -1, op), op)


def test_gradients_of_causal_rows(be):
    for dtype in inputs.FLOATS:
        for shape in ((2, 40, 32), (6, 6), (3, 9, 4)):
            x, g, seen = drawn(shape, dtype), drawn(shape, dtype, 1), np.tril(np.ones(shape[-2:], bool))
            y = nn.log_softmax(be.asarray(x), causal=True)
            got = nn.log_softmax_backward(be.asarray(g), y, causal=True).to_numpy()
            want = slopes_of_log(widen(g), widen(y.to_numpy()), seen)
            size = np.broadcast_to(np.abs(want).max(axis=-1, keepdims=True), want.shape)
            assert_matches(got, want, tolerance("log_softmax_backward"), "log_softmax_backward", scale=size)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_noise_of_chosen_elements(be, dtype):
    """The noise is that of the call without a mask."""
    for shape in ((5, 7), (3, 5, 16)):
        x, mask = drawn(shape, dtype), np.random.default_rng(4).random(shape) < 0.6
        mask[0] = False
        seen = mask & np.tril(np.ones(shape[-2:], bool))
        noise = oracles.gumbel_noise(7, 1000, shape, dtype)
        want = masked((widen(x) + noise) / 0.5, seen)
        chosen = {"mask": be.asarray(mask), "causal": True, "rng": seeded(be, (7, 1000))}
        y, _ = nn.gumbel_softmax(be.asarray(x), 0.5, **chosen)
        assert_matches(y.to_numpy(), want, (128, 128), "gumbel_softmax")
        hard, _ = nn.gumbel_softmax(be.asarray(x), 0.5, True, **chosen)
        one = (np.arange(shape[-1]) == np.argmax(want, axis=-1, keepdims=True)) & seen.any(axis=-1, keepdims=True)
        np.testing.assert_array_equal(hard.to_numpy(), one)


def test_chosen_elements_of_any_layout_and_dtype(be):
    x, mask = drawn((8, 12), "float16"), np.random.default_rng(5).random((12, 8)) < 0.5
    on, chosen = be.asarray(x).T[::-1], be.asarray(mask)
    for op in OPS:
        got = getattr(nn, op)(on, mask=chosen, dtype="float32").to_numpy()
        assert got.dtype == np.float32
        assert_close(got, masked(widen(x).T[::-1], mask, -1, op), op)
    y = nn.log_softmax(on, mask=chosen)
    got = nn.log_softmax_backward(on, y, mask=chosen).to_numpy()
    want = slopes_of_log(widen(x).T[::-1], widen(y.to_numpy()), mask)
    size = np.broadcast_to(np.abs(want).max(axis=-1, keepdims=True), want.shape)
    assert_matches(got, want, tolerance("log_softmax_backward"), "log_softmax_backward", scale=size)
    rows = be.asarray(drawn((9, 8), "float16"))[1:]  # vectors of all operands but a mask that they cannot have
    whole = np.random.default_rng(6).random((8, 9)) < 0.5
    got = nn.softmax(rows, mask=be.asarray(whole)[:, 1:]).to_numpy()
    assert_close(got, masked(widen(rows.to_numpy()), whole[:, 1:]), "softmax")
    empty = nn.log_softmax_backward(be.zeros((0, 3)), be.zeros((0, 3)), mask=be.zeros((3,), dtype="bool"))
    assert empty.shape == (0, 3)
    assert nn.softmax(be.zeros((0, 3)), mask=be.zeros((3,), dtype="bool")).shape == (0, 3)
    assert float(nn.softmax(be.asarray(2.0), 0, mask=be.asarray(True))) == 1


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("shape", "axis"), [*LINES[:4], ((300, 8), 0), ((5000, 8), 0), ((2, 20_000), -1)], ids=str)
def test_softmin(be, dtype, shape, axis):
    x, g = drawn(shape, dtype), drawn(shape, dtype, 1)
    want = scipy.special.softmax(-widen(x), axis=axis)
    y = nn.softmin(be.asarray(x), axis)
    assert_matches(y.to_numpy(), want, tolerance("softmin"), "softmin")
    want = oracles.softmin_backward(widen(g), widen(y.to_numpy()), axis)
    got = nn.softmin_backward(be.asarray(g), y, axis).to_numpy()
    size = np.broadcast_to(np.abs(want).max(axis=axis, keepdims=True), want.shape)
    assert_matches(got, want, tolerance("softmin_backward"), "softmin_backward", scale=size)
    wide = nn.softmin(be.asarray(x), axis, dtype="float64").to_numpy()
    want = scipy.special.softmax(-x.astype(np.longdouble), axis=axis)
    assert_matches(wide, want, tolerance("softmin"), "softmin")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize(("shape", "axis"), LINES[:4], ids=str)
@pytest.mark.parametrize("tau", [1.0, 0.5])
def test_gumbel_softmax_by_the_words_of_the_state(be, dtype, shape, axis, tau):
    x, state = drawn(shape, dtype), (7, 1000)
    y, made = nn.gumbel_softmax(be.asarray(x), tau, axis=axis, rng=seeded(be, state))
    assert (made.seed, made.counter) == state
    noise = oracles.gumbel_noise(*state, shape, dtype)
    want = oracles.gumbel_softmax(widen(x), noise, tau, axis=axis)
    # Errors of the noise, of a few units in its last place, are factors of the result.
    assert_matches(y.to_numpy(), want, (128, 128), "gumbel_softmax")
    hard, _ = nn.gumbel_softmax(be.asarray(x), tau, True, axis, rng=made)
    np.testing.assert_array_equal(hard.to_numpy(), oracles.gumbel_softmax(widen(x), noise, tau, True, axis=axis))
    g = drawn(shape, dtype, 1)
    got = nn.gumbel_softmax_backward(be.asarray(g), y, tau, axis).to_numpy()
    grad, p = widen(g), widen(y.to_numpy())
    want = oracles.gumbel_softmax_backward(grad, p, tau, axis)
    size = p * np.maximum(np.abs(grad), np.sum(np.abs(grad * p), axis=axis, keepdims=True)) / tau
    assert_matches(got, want, tolerance("gumbel_softmax_backward"), "gumbel_softmax_backward", scale=size)


def seeded(be, state):
    """A state of the generator's kind with those numbers."""
    return be.random.get_state()._replace(seed=state[0], counter=state[1])


def test_gumbel_softmax_advances_the_generator(be):
    for dtype, each in (("float32", 4), ("float64", 2)):
        x = be.zeros((5, 7), dtype=dtype)
        before = be.random.get_state()
        first, state = nn.gumbel_softmax(x)
        second, behind = nn.gumbel_softmax(x)
        assert state == before and behind.counter == before.counter + -(-35 // each)
        assert not np.array_equal(first.to_numpy(), second.to_numpy())
        np.testing.assert_array_equal(nn.gumbel_softmax(x, rng=state)[0].to_numpy(), first.to_numpy())
        by_seed = [nn.gumbel_softmax(x, rng=3)[0].to_numpy() for _ in range(2)]
        np.testing.assert_array_equal(*by_seed)


def test_gumbel_softmax_draws_by_the_probabilities(be):
    weights = np.array([0.5, 0.3, 0.2])
    x = be.asarray(np.broadcast_to(np.log(weights), (20_000, 3)).astype("float32"))
    drawn_classes = nn.gumbel_softmax(x, hard=True, rng=11)[0].to_numpy()
    np.testing.assert_allclose(drawn_classes.mean(axis=0), weights, atol=0.02)
    assert (drawn_classes.sum(axis=1) == 1).all()


def test_a_graph_draws_anew(be):
    x = be.zeros((4, 5), dtype="float32")
    graph = be.graph(lambda x: nn.gumbel_softmax(x)[0])
    first, second = graph(x).to_numpy(), graph(x).to_numpy()
    assert not np.array_equal(first, second)


def test_refused_with_the_values_seen(be):
    x, one = be.ones((3, 4), dtype="float32"), be.ones((4,), dtype="float32")
    with pytest.raises(E.ShapeError, match=r"(?i)mask \(4, 3\) for x \(3, 4\)"):
        nn.softmax(x, mask=be.ones((4, 3), dtype="bool"))
    with pytest.raises(E.ShapeError, match=r"(?i)mask \(1, 3, 4\)"):
        nn.softmax(x, mask=be.ones((1, 3, 4), dtype="bool"))
    with pytest.raises(E.DTypeError, match=r"(?i)mask is float32"):
        nn.softmax(x, mask=x)
    with pytest.raises(E.InvalidValueError, match=r"causal=True along axis 0 of \(3, 4\)"):
        nn.softmax(x, 0, causal=True)
    with pytest.raises(E.InvalidValueError, match=r"causal=True along axis 0 of \(4,\)"):
        nn.softmax(one, causal=True)
    with pytest.raises(E.DTypeError, match="dtype=int32"):
        nn.softmax(x, causal=True, dtype="int32")
    for refusing in (nn.log_softmax, nn.softmin, nn.gumbel_softmax):
        with pytest.raises(E.ShapeError, match=r"(?i)mask \(4, 3\) for x \(3, 4\)"):
            refusing(x, mask=be.ones((4, 3), dtype="bool"))
        with pytest.raises(E.InvalidValueError, match=r"causal=True along axis 0 of \(3, 4\)"):
            refusing(x, axis=0, causal=True)
    with pytest.raises(E.ShapeError, match=r"\(3, 4\) and \(4,\) of the gradient and the forward result"):
        nn.log_softmax_backward(x, one, causal=True)
    with pytest.raises(E.DTypeError, match=r"(?i)mask is float32"):
        nn.log_softmax_backward(x, x, mask=x)
    for tau in (0.0, -1.0, float("nan"), float("inf"), 1e-300):
        with pytest.raises(E.InvalidValueError, match="tau="):
            nn.gumbel_softmax(x, tau)
        with pytest.raises(E.InvalidValueError, match="tau="):
            nn.gumbel_softmax_backward(x, x, tau)
    with pytest.raises(E.DTypeError):
        nn.gumbel_softmax(be.ones((3,), dtype="int32"))
    with pytest.raises(E.AxisError):
        nn.softmin(x, 2)
    with pytest.raises(E.ShapeError):
        nn.softmin_backward(x, one)
