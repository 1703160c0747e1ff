"""The softmax family and cross entropy against their formulas in wider NumPy; gradients against differences."""

import inputs
import numpy as np
import oracles
import pytest
import scipy.special
from cases import TABLE, tolerance
from reference import assert_matches, numpy_dtype, widen

import stator

LAYOUTS = inputs.layouts()
FORWARD = {"softmax": scipy.special.softmax, "log_softmax": scipy.special.log_softmax}
TOLERANCE = {name: tolerance(name) for name in TABLE}


def rows(shape, dtype, seed=0, low=-4, high=4):
    return inputs.random(np.random.default_rng(seed), shape, dtype, low, high)


def close(actual, expected, name, scale=1.0):
    """Errors are within the op's bound, in units of eps times `scale` (not per element, since sums cancel)."""
    eps = float(np.finfo(actual.dtype).eps) if actual.dtype.kind == "f" else 2.0**-7
    bound = max(TOLERANCE[name]) * eps * scale
    np.testing.assert_allclose(widen(actual), np.asarray(expected), rtol=bound, atol=bound, equal_nan=True)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", FORWARD)
@pytest.mark.parametrize(
    "shape", [(1,), (7,), (4, 33), (3, 256), (2, 257), (2, 3001), (2, 5000), (3, 5, 17), (2, 3, 1)]
)
def test_softmax_matches_scipy(be, name, dtype, shape):
    x = rows(shape, dtype)
    for axis in range(-1, len(shape) - 1):
        got = getattr(stator.nn, name)(be.asarray(x), axis=axis)
        assert got.dtype.name == dtype
        want = FORWARD[name](widen(x), axis=axis)
        if dtype in ("float16", "bfloat16"):
            assert_matches(got.to_numpy(), want, TOLERANCE[name], name)
        else:
            close(got.to_numpy(), want, name)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FORWARD)
def test_softmax_takes_any_layout_without_a_copy(be, name, layout):
    x = LAYOUTS[layout](rows((6, 5, 40), "float32"))
    for axis in (0, 1, 2):
        on = inputs.on_device(be, x)
        before = be.statistics()["kernel_launches"]
        got = getattr(stator.nn, name)(on, axis=axis)
        assert be.statistics()["kernel_launches"] == before + 1
        close(got.to_numpy(), FORWARD[name](widen(x), axis=axis), name)


@pytest.mark.parametrize("name", FORWARD)
def test_softmax_of_extremes(be, name):
    x = np.array([[1e4, 1e4, -1e4], [-np.inf, 0.0, 1.0], [88.0, -88.0, 700.0], [0.0, -0.0, 0.0]])
    close(getattr(stator.nn, name)(be.asarray(x)).to_numpy(), FORWARD[name](x.astype(np.longdouble), axis=-1), name)
    bad = np.array([[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf] * 3])
    assert np.isnan(stator.nn.softmax(be.asarray(bad)).to_numpy()).all(axis=1).tolist() == [True, True, True]


def test_softmax_converts_to_dtype_with_one_rounding(be):
    x = rows((5, 40), "float16")
    got = stator.nn.softmax(be.asarray(x), dtype="float32")
    assert got.dtype == stator.float32
    close(got.to_numpy(), scipy.special.softmax(widen(x), axis=-1), "softmax")


# Lines that a block holds in registers or does not, as rows and as columns; of odd lengths no vector fits.
LONG = {
    "held rows": ((4, 3_000), 1),
    "held odd rows": ((4, 3_001), 1),
    "rows": ((3, 40_000), 1),
    "odd rows": ((2, 40_001), 1),
    "columns": ((5_000, 36), 0),
    "odd columns": ((5_000, 7), 0),
}


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", LONG)
@pytest.mark.parametrize("name", FORWARD)
def test_long_softmax_of_rising_elements(be, name, shape, dtype):
    (rows, columns), axis = LONG[shape]
    ramp = np.linspace(-3, 3, (rows, columns)[axis])
    x = np.broadcast_to(ramp if axis else ramp[:, None], (rows, columns)).astype(numpy_dtype(dtype))
    got = getattr(stator.nn, name)(be.asarray(np.ascontiguousarray(x)), axis=axis).to_numpy()
    assert_matches(got, FORWARD[name](widen(x), axis=axis), TOLERANCE[name], name)


@pytest.mark.parametrize("shape", LONG)
@pytest.mark.parametrize("name", FORWARD)
def test_long_softmax_with_values_that_are_not_finite(be, name, shape):
    (rows, columns), axis = LONG[shape]
    x = np.random.default_rng(3).normal(size=(rows, columns))
    lines = x if axis else x.T
    n = lines.shape[1]
    lines[0, : n // 2] = -np.inf  # whole parts of the line count for nothing
    lines[0, -1] = -np.inf
    lines[1] = -np.inf
    if len(lines) > 2:
        lines[2, n // 3] = np.nan
    if len(lines) > 3 and name == "softmax":  # SciPy's log_softmax takes no maximum that is infinite
        lines[3, n - 2] = np.inf
    got = getattr(stator.nn, name)(be.asarray(x), axis=axis).to_numpy()
    with np.errstate(invalid="ignore"):
        want = FORWARD[name](x.astype(np.longdouble), axis=axis)
    close(got, want, name)


@pytest.mark.parametrize("shape", [(6, 40), (5, 33), (3, 9000)])
@pytest.mark.parametrize("to", inputs.FLOATS)
@pytest.mark.parametrize("of", inputs.FLOATS)
def test_softmax_converts_between_all_dtypes_along_both_axes(be, of, to, shape):
    x = rows(shape, of)
    for axis in (0, 1):
        for on in (x, np.asfortranarray(x)):
            got = stator.nn.softmax(inputs.on_device(be, on), axis=axis, dtype=to).to_numpy()
            assert_matches(got, scipy.special.softmax(widen(x), axis=axis), TOLERANCE["softmax"], "softmax")


def test_softmax_of_rows_behind_two_axes(be):
    x = rows((4, 6, 5, 1032), "float32")[:, ::2, 1:3]
    for name, of in FORWARD.items():
        close(getattr(stator.nn, name)(inputs.on_device(be, x)).to_numpy(), of(widen(x), axis=-1), name)
    y = stator.nn.softmax_backward(inputs.on_device(be, x), inputs.on_device(be, x)).to_numpy()
    close(y, oracles.softmax_backward(widen(x), widen(x)), "softmax_backward", scale=np.abs(widen(y)).max())


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("shape", LONG)
@pytest.mark.parametrize("name", FORWARD)
def test_gradient_of_a_long_softmax(be, name, shape, dtype):
    extent, axis = LONG[shape]
    g = rows(extent, dtype, 1)
    y = FORWARD[name](widen(rows(extent, dtype)), axis=axis).astype(g.dtype)
    got = getattr(stator.nn, name + "_backward")(be.asarray(g), be.asarray(y), axis=axis)
    want = getattr(oracles, name + "_backward")(widen(g), widen(y), axis=axis)
    close(got.to_numpy(), want, name + "_backward", scale=max(1, np.abs(np.asarray(want, float)).max()))


def test_long_softmax_has_equal_bits_run_to_run(be):
    for extent, axis in LONG.values():
        x = be.asarray(rows(extent, "float32"))
        first = stator.nn.softmax(x, axis=axis).to_numpy()
        assert (stator.nn.softmax(x, axis=axis).to_numpy() == first).all()


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", FORWARD)
def test_softmax_backward_matches_its_formula(be, name, dtype):
    for shape, axis in [((3, 33), -1), ((3, 33), 0), ((2, 600), 1), ((4, 3, 5), 1)]:
        x, g = rows(shape, dtype), rows(shape, dtype, 1)
        y = FORWARD[name](widen(x), axis=axis).astype(x.dtype)
        got = getattr(stator.nn, name + "_backward")(be.asarray(g), be.asarray(y), axis=axis)
        want = getattr(oracles, name + "_backward")(widen(g), widen(y), axis=axis)
        close(got.to_numpy(), want, name + "_backward", scale=max(1, np.abs(np.asarray(want, float)).max()))


OPTIONS = [
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"label_smoothing": 0.1},
    {"ignore_index": 2},
    {"label_smoothing": 0.3, "reduction": "sum", "ignore_index": 0},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_cross_entropy_and_backward(be, dtype, weighted, options):
    for n, classes in ((1, 3), (33, 10), (150, 10), (300, 300)):
        logits = rows((n, classes), dtype, n)
        target = np.random.default_rng(n).integers(0, classes, n).astype(np.int32 if n == 33 else np.int64)
        if "ignore_index" in options and n == 1:
            target[:] = 1
        weight = rows((classes,), dtype, 5, 0.5, 2) if weighted else None
        extra = {"weight": be.asarray(weight)} if weighted else {}
        args = be.asarray(logits), be.asarray(target)
        wide = widen(logits), target, None if weight is None else widen(weight)
        got = stator.nn.cross_entropy(*args, **extra, **options)
        want = oracles.cross_entropy(*wide, **options)
        close(got.to_numpy(), want, "cross_entropy", scale=max(1, float(np.max(np.abs(want)))))
        grad = rows(np.shape(want), dtype, 9, 0.5, 2)
        got = stator.nn.cross_entropy_backward(be.asarray(grad), *args, **extra, **options)
        want = oracles.cross_entropy_backward(widen(grad), *wide, **options)
        close(got.to_numpy(), want, "cross_entropy_backward", scale=max(1, float(np.max(np.abs(want)))))


@pytest.mark.parametrize("classes", [2048, 2049])
def test_cross_entropy_of_as_many_classes_as_a_block_holds_and_of_more(be, classes):
    logits, target = rows((3, classes), "float32", 7), np.array([0, classes - 1, 1000])
    args = be.asarray(logits), be.asarray(target)
    close(
        stator.nn.cross_entropy(*args).to_numpy(), oracles.cross_entropy(logits, target, None), "cross_entropy", scale=8
    )
    got = stator.nn.cross_entropy_backward(be.ones((), dtype="float32"), *args).to_numpy()
    close(got, oracles.cross_entropy_backward(np.float32(1), logits, target, None), "cross_entropy_backward")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_cross_entropy_backward_of_many_rows_sums_the_weights_once(be, dtype, weighted):
    n, classes = 70_001, 5
    logits, rng = rows((n, classes), dtype), np.random.default_rng(2)
    target, weight = rng.integers(0, classes, n), rows((classes,), dtype, 5, 0.5, 2) if weighted else None
    target[::7] = 2
    options = {"weight": be.asarray(weight)} if weighted else {}
    args = be.full((), 1.5, dtype=dtype), be.asarray(logits), be.asarray(target)
    before = be.statistics()["kernel_launches"]
    got = stator.nn.cross_entropy_backward(*args, **options, ignore_index=2)
    assert be.statistics()["kernel_launches"] == before + 2
    wide = np.float64(1.5), widen(logits), target, None if weight is None else widen(weight)
    want = oracles.cross_entropy_backward(*wide, ignore_index=2)
    close(got.to_numpy(), want, "cross_entropy_backward", scale=64 / n)
    assert stator.nn.cross_entropy_backward(*args, **options, reduction="sum").shape == (n, classes)
    assert be.statistics()["kernel_launches"] == before + 3


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 95, 100, 130])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_mean_over_a_part_of_an_array_is_that_of_its_rows(be, dtype, n):
    logits, target = rows((n + 40, 7), dtype, n), np.arange(n + 40) % 7
    args = be.asarray(logits)[:n], be.asarray(target)[:n]
    wide = widen(logits[:n]), target[:n], None
    close(stator.nn.cross_entropy(*args).to_numpy(), oracles.cross_entropy(*wide), "cross_entropy", scale=4)
    grad = np.array(2, dtype)
    got = stator.nn.cross_entropy_backward(be.asarray(grad), *args).to_numpy()
    close(got * n, oracles.cross_entropy_backward(grad, *wide) * n, "cross_entropy_backward", scale=4)


@pytest.mark.parametrize("classes", [5, 100, 300, 800])
@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_a_row_of_logits_does_not_see_its_neighbours(be, dtype, classes):
    logits, target = rows((6, classes), dtype, 1), np.arange(6) % classes
    logits[1::2] += np.array(2e4, logits.dtype)  # beside which the others have no weight
    got = stator.nn.cross_entropy(be.asarray(logits), be.asarray(target), reduction="none").to_numpy()[::2]
    want = oracles.cross_entropy(widen(logits[::2]), target[::2], None, reduction="none")
    close(got, want, "cross_entropy", scale=max(1, float(np.max(np.abs(want)))))
    grad = rows((6,), dtype, 9, 0.5, 2)
    args = be.asarray(grad), be.asarray(logits), be.asarray(target)
    got = stator.nn.cross_entropy_backward(*args, reduction="none").to_numpy()[::2]
    want = oracles.cross_entropy_backward(widen(grad[::2]), widen(logits[::2]), target[::2], None, reduction="none")
    close(got, want, "cross_entropy_backward", scale=max(1, float(np.max(np.abs(want)))))


def test_cross_entropy_gradient_is_the_slope(be):
    rng = np.random.default_rng(1)
    logits, target = rng.normal(size=(5, 4)), rng.integers(0, 4, 5)
    grad = stator.nn.cross_entropy_backward(
        be.asarray(np.array(1.0)), be.asarray(logits), be.asarray(target)
    ).to_numpy()
    for i, c in ((0, 0), (2, 3), (4, 1)):
        step = np.zeros_like(logits)
        step[i, c] = 1e-6
        up, down = (float(stator.nn.cross_entropy(be.asarray(logits + s), be.asarray(target))) for s in (step, -step))
        assert abs((up - down) / 2e-6 - grad[i, c]) < 1e-8


def test_cross_entropy_of_an_empty_batch(be):
    logits, target = be.empty((0, 3)), be.empty((0,), dtype="int64")
    assert np.isnan(float(stator.nn.cross_entropy(logits, target)))
    assert float(stator.nn.cross_entropy(logits, target, reduction="sum")) == 0
    assert stator.nn.cross_entropy(logits, target, reduction="none").shape == (0,)
    assert stator.nn.cross_entropy_backward(be.asarray(np.array(1.0)), logits, target).shape == (0, 3)


def test_cross_entropy_reports_a_target_out_of_range(be):
    stator.nn.cross_entropy(be.zeros((4, 3)), be.asarray(np.array([0, 1, 3, 2])))
    with pytest.raises(IndexError, match="3"):
        be.synchronize()
    assert float(stator.nn.cross_entropy(be.zeros((1, 2)), be.asarray(np.array([0])))) == pytest.approx(np.log(2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_long_column_errs_as_a_row_does(be, name, backward, dtype):
    x, y = np.random.default_rng(0).random((2, 100_000, 3)).astype(dtype)
    operands, name = ([x, y], name + "_backward") if backward else ([x], name)
    got = getattr(stator.nn, name)(*(be.asarray(a) for a in operands), axis=0).to_numpy()
    oracle = getattr(oracles, name, None) or FORWARD[name]
    want = oracle(*(a.astype(np.longdouble) for a in operands), axis=0)
    assert np.max(np.abs(got - want) / np.spacing(np.abs(want).astype(dtype))) < 4


def test_numpy_dtype_names_cover_bfloat16():
    assert numpy_dtype("bfloat16").itemsize == 2
