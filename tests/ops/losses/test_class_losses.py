"""nll_loss, and cross_entropy of any number of axes and of probabilities, against their formulas in wide NumPy."""

import inputs
import numpy as np
import oracles
import pytest
from cases import tolerance
from reference import assert_matches, widen

import stator

nn = stator.nn
LAYOUTS = {k: lambda x, turn=turn: turn(x) if np.ndim(x) else x for k, turn in inputs.layouts().items()}
# One row, rows, images; more classes than a block has threads; more rows than each block sums by itself.
SHAPES = [(5,), (1, 3), (33, 10), (2, 7, 5), (3, 4, 6, 5), (40, 7, 2), (4, 300), (2, 300, 3), (1500, 3), (2, 2, 700)]
OPTIONS = [{}, {"reduction": "sum"}, {"reduction": "none"}, {"ignore_index": 2}, {"ignore_index": 1, "weight": True}]


def drawn(shape, dtype, seed=0, low=-4, high=0):
    return np.asarray(inputs.random(np.random.default_rng([seed, *shape]), shape, dtype, low, high))


def classes_of(shape, seed=1):
    rest, classes = (shape[:1] + shape[2:], shape[1]) if len(shape) > 1 else ((), shape[0])
    return np.asarray(np.random.default_rng([seed, *shape]).integers(0, classes, rest))


def close(got, want, name):
    assert_matches(
        got.to_numpy(), want, tolerance(name), name, np.full(np.shape(want), max(1.0, float(np.max(np.abs(want)))))
    )


def check(be, name, x, target, options, oracle=None, **layout):
    """A loss and its gradient; x, target and the gradient lie in memory as they are given."""
    oracle, options = oracle or name, dict(options)
    weight = drawn((x.shape[0 if x.ndim == 1 else 1],), x.dtype.name, 5, 0.5, 2) if options.pop("weight", 0) else None
    on = [inputs.on_device(be, a) for a in (x, target)]
    here = options | ({"weight": be.asarray(weight)} if weight is not None else {})
    there = options | ({"weight": widen(weight)} if weight is not None else {})
    wide = [widen(x), widen(target)]
    want = getattr(oracles, oracle)(*wide, **there)
    got = getattr(nn, name)(*on, **here)
    assert got.dtype.name == x.dtype.name
    close(got, want, name)
    grad = layout.get("layout", np.asarray)(drawn(np.shape(want), x.dtype.name, 9, 0.5, 2))
    want = getattr(oracles, f"{oracle}_backward")(widen(grad), *wide, **there)
    close(getattr(nn, f"{name}_backward")(inputs.on_device(be, grad), *on, **here), want, f"{name}_backward")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_nll_loss(be, shape, options, dtype):
    if "ignore_index" in options and (len(shape) < 2 or shape[0] == 1):
        options = {**options, "ignore_index": -5}  # a single row that does not count has no mean
    check(be, "nll_loss", drawn(shape, dtype), classes_of(shape), options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nll_loss_of_any_layout(be, layout):
    turn = LAYOUTS[layout]
    for shape in ((33, 10), (3, 4, 6, 5)):
        for options in OPTIONS:
            check(be, "nll_loss", turn(drawn(shape, "float32")), turn(classes_of(shape)), options, layout=turn)
    weight = stator.flip(be.asarray(np.arange(1.0, 11)))
    x, target = drawn((33, 10), "float64"), classes_of((33, 10))
    want = oracles.nll_loss(x, target, np.arange(10.0, 0, -1))
    close(nn.nll_loss(be.asarray(x), be.asarray(target), weight=weight), want, "nll_loss")


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "uint32", "uint64"])
def test_targets_of_any_integer_dtype(be, kind):
    x, target = drawn((33, 10), "float32"), classes_of((33, 10)).astype(kind)
    got = nn.nll_loss(be.asarray(x), be.asarray(target))
    close(got, oracles.nll_loss(widen(x), target.astype(int)), "nll_loss")


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_every_target_is_ignored(be, reduction):
    x, target = be.asarray(drawn((4, 3), "float64")), be.asarray(np.full(4, -100))
    got = nn.nll_loss(x, target, reduction=reduction).to_numpy()
    np.testing.assert_array_equal(got, {"mean": np.nan, "sum": 0.0, "none": np.zeros(4)}[reduction])
    grad = be.ones((4,) if reduction == "none" else ())
    assert not nn.nll_loss_backward(grad, x, target, reduction=reduction).to_numpy().any()


def test_nll_loss_of_an_empty_batch(be):
    x, target = be.empty((0, 3)), be.empty((0,), dtype="int64")
    assert np.isnan(float(nn.nll_loss(x, target)))
    assert float(nn.nll_loss(x, target, reduction="sum")) == 0
    assert nn.nll_loss(x, target, reduction="none").shape == (0,)
    assert nn.nll_loss_backward(be.ones(()), x, target).shape == (0, 3)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("at", "value"), [((3,), 3), ((0,), -1)])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2)])
def test_a_target_out_of_range_is_reported(be, shape, at, value, backward):
    target = np.zeros(4, int)
    target[at] = value
    target = be.asarray(target.reshape(shape[:1] + shape[2:]))
    with pytest.raises(IndexError, match=f"{value}"):
        if backward:
            nn.nll_loss_backward(be.ones(()), be.zeros(shape), target)
        else:
            nn.nll_loss(be.zeros(shape), target)
        be.synchronize()
    assert float(nn.nll_loss(be.ones((1, 2)), be.asarray(np.array([1])))) == -1


def test_log_probs_that_do_not_count_are_not_read(be):
    x = np.full((3, 4), np.nan)
    x[[0, 2], [1, 3]] = [-1, -2]
    target = be.asarray(np.array([1, -100, 3]))
    assert float(nn.nll_loss(be.asarray(x), target)) == 1.5
    got = nn.nll_loss_backward(be.asarray(np.array(3.0)), be.asarray(x), target).to_numpy()
    want = np.zeros((3, 4))
    want[[0, 2], [1, 3]] = -1.5
    np.testing.assert_array_equal(got, want)


CROSS = [{}, {"reduction": "none"}, {"label_smoothing": 0.3, "weight": True, "reduction": "sum"}]


def as_rows(x):
    """(n, classes, ...) as (rows, classes)."""
    return np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]) if x.ndim > 1 else x[None]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [*CROSS, {"ignore_index": 2}], ids=str)
@pytest.mark.parametrize("shape", [(5,), (2, 7, 5), (3, 4, 6, 5), (2, 300, 3), (2, 3, 700)])
def test_cross_entropy_of_classes_on_axis_1(be, shape, options, layout):
    options = dict(options)
    x, target = LAYOUTS[layout](drawn(shape, "float32", 0, -4, 4)), LAYOUTS[layout](classes_of(shape))
    if target.ndim == 0:
        options.pop("ignore_index", None)
    weight = drawn((shape[0 if len(shape) == 1 else 1],), "float32", 5, 0.5, 2) if options.pop("weight", 0) else None
    here = options | ({"weight": be.asarray(weight)} if weight is not None else {})
    wide = widen(as_rows(x)), target.reshape(-1), None if weight is None else widen(weight)
    want = oracles.cross_entropy(*wide, **options)
    each = options.get("reduction") == "none"
    on = [inputs.on_device(be, a) for a in (x, target)]
    got = nn.cross_entropy(*on, **here)
    close(got, want.reshape(target.shape) if each else want, "cross_entropy")
    grad = LAYOUTS[layout](drawn(target.shape if each else (), "float32", 9, 0.5, 2))
    got = nn.cross_entropy_backward(inputs.on_device(be, grad), *on, **here)
    assert got.shape == shape
    want = oracles.cross_entropy_backward(widen(grad).reshape(-1) if each else widen(grad), *wide, **options)
    assert_matches(
        np.ascontiguousarray(as_rows(got.to_numpy())),
        want,
        tolerance("cross_entropy_backward"),
        "cross_entropy_backward",
        np.full(want.shape, max(1.0, float(np.max(np.abs(want))))),
    )


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("options", CROSS, ids=str)
@pytest.mark.parametrize(
    ("shape", "axis"), [((5,), 0), ((7, 5), 0), ((2, 5, 7), -1), ((6, 3, 4), 0), ((3, 6, 5, 4), 2), ((2, 3, 300), 2)]
)
def test_cross_entropy_of_classes_on_any_axis(be, shape, axis, options, soft):
    options, classes = dict(options), shape[axis]
    x, rest = drawn(shape, "float32", 0, -4, 4), tuple(int(n) for n in np.delete(shape, axis))
    choices = np.asarray(np.random.default_rng(1).integers(0, classes, rest))
    target = drawn(shape, "float32", 1, 0, 1) if soft else choices
    weight = drawn((classes,), "float32", 5, 0.5, 2) if options.pop("weight", 0) else None
    # A weight that is not contiguous is copied.
    here = options | ({"weight": be.asarray(np.repeat(weight, 2))[::2]} if weight is not None else {})
    there = options | ({"weight": widen(weight)} if weight is not None else {})

    def rows(a):
        return np.ascontiguousarray(np.moveaxis(a, axis, -1).reshape(-1, classes))

    name, each = "soft_cross_entropy" if soft else "cross_entropy", options.get("reduction") == "none"
    wide = widen(rows(x)), widen(rows(target)) if soft else target.reshape(-1)
    want = getattr(oracles, name)(*wide, **there)
    on = be.asarray(x), be.asarray(target)
    close(nn.cross_entropy(*on, axis=axis, **here), want.reshape(rest) if each else want, "cross_entropy")
    grad = drawn(rest if each else (), "float32", 9, 0.5, 2)
    want = getattr(oracles, f"{name}_backward")(widen(grad).reshape(-1) if each else widen(grad), *wide, **there)
    got = nn.cross_entropy_backward(be.asarray(grad), *on, axis=axis, **here)
    assert got.shape == shape
    scale = np.full(want.shape, max(1.0, float(np.max(np.abs(want)))))
    assert_matches(rows(got.to_numpy()), want, tolerance("cross_entropy_backward"), "cross_entropy_backward", scale)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("options", CROSS, ids=str)
@pytest.mark.parametrize("shape", [(5,), (1, 3), (33, 10), (2, 7, 5), (4, 300), (2, 300, 3), (600, 4)])
def test_cross_entropy_of_probabilities(be, shape, options, dtype):
    x, target = drawn(shape, dtype, 0, -4, 4), drawn(shape, dtype, 1, 0, 1)
    check(be, "cross_entropy", x, target, options, "soft_cross_entropy")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_probabilities_of_any_layout(be, layout):
    turn = LAYOUTS[layout]
    for shape in ((33, 10), (3, 4, 6, 5)):
        x, target = turn(drawn(shape, "float32", 0, -4, 4)), turn(drawn(shape, "float32", 1, 0, 1))
        for options in CROSS:
            check(be, "cross_entropy", x, target, options, "soft_cross_entropy", layout=turn)


def test_certain_probabilities_are_classes(be):
    x, target = drawn((9, 4), "float64", 0, -4, 4), classes_of((9, 4))
    on = be.asarray(x)
    certain = be.asarray(np.eye(4)[target])
    got = nn.cross_entropy(on, certain).to_numpy()
    np.testing.assert_allclose(got, nn.cross_entropy(on, be.asarray(target)).to_numpy(), rtol=1e-14)


def test_probabilities_of_an_empty_batch(be):
    x = be.empty((0, 3))
    assert np.isnan(float(nn.cross_entropy(x, x)))
    assert float(nn.cross_entropy(x, x, reduction="sum")) == 0
    assert nn.cross_entropy(x, x, reduction="none").shape == (0,)
    assert nn.cross_entropy_backward(be.ones(()), x, x).shape == (0, 3)
