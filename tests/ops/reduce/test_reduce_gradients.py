"""Gradients of sum, mean and prod against their formulas in wide NumPy, and against differences."""

import zlib
from fractions import Fraction
from math import prod

import inputs
import ml_dtypes  # noqa: F401  (registers bfloat16 with NumPy)
import numpy as np
import oracles
import pytest
from cases import TABLE, tolerance
from reference import assert_matches, numpy_dtype, widen

import stator

LAYOUTS = inputs.layouts()
AXES = [None, 0, 1, 2, -1, (0, 2), (1, 2), (0, 1), (0, 1, 2), ()]


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def reduced(shape, axis, keepdims):
    return np.sum(np.zeros(shape), axis=axis, keepdims=keepdims).shape


REPEATED = [(n, d) for n in ("sum_backward", "mean_backward") for d in TABLE[n]["dtypes"]]


@pytest.mark.parametrize(("name", "dtype"), REPEATED)
def test_grad_is_repeated(be, name, dtype):
    for shape in ((7, 33, 5), (3, 1, 300), (2, 0, 3)):
        for axis in AXES:
            for keepdims in (False, True):
                grad = inputs.random(rng_of(dtype, axis), reduced(shape, axis, keepdims), dtype)
                for layout in LAYOUTS.values():
                    on = inputs.on_device(be, layout(grad) if grad.ndim else grad)
                    got = getattr(stator.nn, name)(on, shape, axis, keepdims)
                    want = getattr(oracles, name)(widen(grad), shape, axis=axis, keepdims=keepdims)
                    assert got.dtype.name == dtype
                    assert got.is_contiguous or not on[1].is_contiguous  # it lies in memory as x does
                    limit = (2, 2) if dtype.startswith("complex") else tolerance(name)  # each part is a quotient
                    assert_matches(got.to_numpy(), want, limit, f"{name} {shape} {axis}")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_counts_that_the_dtype_cannot_hold(be, dtype):
    """With more elements than float16 can count, the quotient is still rounded once."""
    grad = inputs.random(rng_of(dtype), (3,), dtype, 1, 4)
    got = stator.nn.mean_backward(be.asarray(grad), (3, 4099), axis=1).to_numpy()
    assert_matches(got, np.repeat(widen(grad)[:, None] / 4099, 4099, axis=1), tolerance("mean_backward"))
    one = be.asarray(np.ones((), numpy_dtype(dtype)))
    assert float(stator.nn.mean_backward(one, (100000,)).to_numpy()[0]) == float(numpy_dtype(dtype).type(1e-5))


@pytest.mark.parametrize("name", ["sum_backward", "mean_backward"])
def test_repeating_is_one_launch(be, name):
    for shape, axis in (((64, 96), 0), ((64, 96), 1), ((64, 96), None), ((4, 5, 6), (0, 2))):
        grad = be.zeros(reduced(shape, axis, False), dtype="float32")
        before = be.statistics()["kernel_launches"]
        getattr(stator.nn, name)(grad, shape, axis=axis)
        assert be.statistics()["kernel_launches"] == before + 1


def factors(shape, dtype, *key):
    """Numbers whose products neither overflow nor vanish."""
    rng = rng_of(shape, dtype, *key)
    return (np.exp2(rng.uniform(-0.5, 0.5, shape)) * rng.choice([-1, 1], shape)).astype(numpy_dtype(dtype))


def check_product(be, x, axis=None, keepdims=False, layout=np.ascontiguousarray):
    grad = factors(reduced(x.shape, axis, keepdims), x.dtype.name, "grad")
    on = be.asarray(grad), inputs.on_device(be, layout(x))
    got = stator.nn.prod_backward(*on, axis=axis, keepdims=keepdims)
    assert got.dtype.name == x.dtype.name
    assert got.is_contiguous or not on[1].is_contiguous  # it lies in memory as x does
    want = oracles.prod_backward(widen(grad), widen(x), axis=axis, keepdims=keepdims)
    assert_matches(got.to_numpy(), want, tolerance("prod_backward"), f"prod_backward {x.shape} {axis}")


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_product_matches_its_formula(be, dtype):
    for size in (1, 2, 7, 8, 9, 31, 33, 256, 257):
        check_product(be, factors((size,), dtype))
        check_product(be, factors((size, 3), dtype), axis=0)
        check_product(be, factors((3, size), dtype), axis=1)
    check_product(be, factors((65, 130), dtype), axis=0)
    check_product(be, factors((65, 130), dtype), axis=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_side_by_side_in_several_tiles(be, dtype):
    x = factors((1100, 330), dtype)
    x[700, 300], x[701, 300] = 2.0**-120, 2.0**119
    check_product(be, x, axis=0)
    x[500, 130] = 0
    got = stator.nn.prod_backward(be.ones((330,), dtype=dtype), be.asarray(x), axis=0).to_numpy()
    assert np.flatnonzero(got[:, 130]).tolist() == [500]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_product_over_any_axes_of_any_layout(be, layout):
    x = factors((6, 35, 9), "float32", layout)
    for axis in AXES:
        for keepdims in (False, True):
            check_product(be, x, axis, keepdims, LAYOUTS[layout])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [(0,), (0, 2), (1, 3), (0, 2, 4), (1, 2, 4), (0, 1, 3, 4)])
def test_products_over_any_axes_of_a_view_of_five(be, axis, dtype):
    check_product(be, factors((3, 2, 4, 2, 5), dtype), axis, layout=LAYOUTS["sliced"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [6, (0, 1, 2, 3, 4, 5)])
def test_products_over_one_axis_and_six_of_a_view_of_seven(be, axis, dtype):
    check_product(be, factors((2,) * 6 + (3,), dtype), axis, layout=LAYOUTS["sliced"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_that_blocks_share(be, dtype):
    for shape, axis in (((150001,), None), ((2, 70001), 1), ((70001, 2), 0), ((40000, 9), 0)):
        steps = rng_of(shape).uniform(-0.2, 0.2, shape)
        x = np.exp2(steps - np.roll(steps, 1, axis=axis)).astype(dtype)
        check_product(be, x, axis)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_zeros_are_exact(be, dtype):
    x = np.array([[2, 3, 4], [2, 0, 4], [0, 3, 0], [0, 0, 0], [-0.0, 2, 2]]).astype(numpy_dtype(dtype))
    grad = np.array([1, 2, 3, 4, 5]).astype(numpy_dtype(dtype))
    got = stator.nn.prod_backward(be.asarray(grad), be.asarray(x), axis=1).to_numpy()
    want = [[12, 8, 6], [0, 16, 0], [0, 0, 0], [0, 0, 0], [20, 0, 0]]
    np.testing.assert_array_equal(widen(got), want)
    tall = np.ascontiguousarray(np.broadcast_to(x.T[:, :, None], (3, 5, 20))).reshape(3, 100)
    got = stator.nn.prod_backward(be.asarray(np.repeat(grad, 20)), be.asarray(tall), axis=0).to_numpy()
    np.testing.assert_array_equal(widen(got), np.repeat(np.array(want).T, 20, axis=1))


def test_what_is_left_without_a_zero_an_infinity_or_nan(be):
    inf, nan = np.inf, np.nan
    for x in (
        [2, inf, 3],
        [2, -inf, 0],
        [inf, inf, 2],
        [nan, 2, 3],
        [nan, 0, 3],
        [nan, nan, 1],
        [-inf, -2, -0.0, 5],
        [-inf, -inf, -3],
    ):
        x = np.array(x, np.float64)
        with np.errstate(invalid="ignore"):
            others = np.array([np.prod(np.delete(x, i)) for i in range(len(x))])
        got = stator.nn.prod_backward(be.asarray(np.array(2.0)), be.asarray(x)).to_numpy()
        np.testing.assert_array_equal(got, 2 * others)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_beyond_the_range_have_gradients_within_it(be, dtype):
    huge = 1e30 if dtype == "float32" else 1e250
    x = np.array([huge, huge, 1 / huge, 1 / huge, 3] * 40).astype(dtype)
    got = stator.nn.prod_backward(be.asarray(np.array(2, dtype)), be.asarray(x)).to_numpy()
    wide = x.astype(np.longdouble)
    scale = np.prod((wide[0::5] * wide[2::5]) * (wide[1::5] * wide[3::5])) * np.longdouble(3) ** 40
    finite = np.abs(2 * scale / wide) < np.finfo(dtype).max
    assert_matches(got[finite], (2 * scale / wide)[finite], tolerance("prod_backward"))
    assert np.isinf(got[~finite]).all()


def test_product_gradient_is_the_slope(be):
    x = rng_of(3).normal(size=(4, 6))
    x[1, 2] = 0
    got = stator.nn.prod_backward(be.asarray(np.ones(4)), be.asarray(x), axis=1).to_numpy()
    for i, j in ((0, 0), (1, 2), (1, 3), (3, 5)):
        step = np.zeros_like(x)
        step[i, j] = 1e-6
        slope = (np.prod(x + step, axis=1) - np.prod(x - step, axis=1)).sum() / 2e-6
        assert abs(slope - got[i, j]) < 1e-7


def test_results_are_equal_bits_run_to_run(be):
    x = be.asarray(factors((300001,), "float32"))
    one = be.asarray(np.array(1, np.float32))
    first = stator.nn.prod_backward(one, x).to_numpy().tobytes()
    assert all(stator.nn.prod_backward(one, x).to_numpy().tobytes() == first for _ in range(4))


def test_empty_shapes(be):
    zero = be.asarray(np.array(1.0))
    assert stator.nn.sum_backward(zero, (0, 3)).shape == (0, 3)
    assert stator.nn.mean_backward(be.zeros((3,)), (0, 3), axis=0).shape == (0, 3)
    assert stator.nn.prod_backward(be.zeros((3,)), be.zeros((0, 3)), axis=0).shape == (0, 3)
    assert float(stator.nn.prod_backward(zero, be.asarray(np.array(5.0)))) == 1


def test_bad_input_has_its_type(be):
    e = stator.errors
    x, i = be.zeros((2, 3)), be.zeros((2, 3), dtype="int32")
    for call, kind in (
        (lambda: stator.nn.sum_backward(be.zeros((2,)), (2, 3), axis=0), e.ShapeError),
        (lambda: stator.nn.sum_backward(be.zeros((3,)), (2, 3), axis=0, keepdims=True), e.ShapeError),
        (lambda: stator.nn.sum_backward(be.zeros((3,)), (2, 3), axis=2), e.AxisError),
        (lambda: stator.nn.mean_backward(be.zeros((3,)), (2, 3), axis=(0, 0)), e.AxisError),
        (lambda: stator.nn.sum_backward(be.zeros(()), (-1,)), e.ShapeError),
        (lambda: stator.nn.mean_backward(be.zeros((3,), dtype="int32"), (2, 3), axis=0), e.DTypeError),
        (lambda: stator.nn.prod_backward(be.zeros((3,), dtype="int32"), i, axis=0), e.DTypeError),
        (lambda: stator.nn.prod_backward(be.zeros((3,), dtype="float32"), x, axis=0), e.DTypeError),
        (lambda: stator.nn.prod_backward(be.zeros((2,)), x, axis=0), e.ShapeError),
        (lambda: stator.nn.prod_backward(1.0, x), e.DTypeError),
    ):
        with pytest.raises(kind) as caught:
            call()
        assert caught.value.op.startswith("nn.")
        assert caught.value.remedy


@pytest.mark.parametrize("exponent", [99, -97])
@pytest.mark.parametrize("axis", [0, 1])
def test_product_out_of_range_whose_gradient_is_not(be, axis, exponent):
    """Each factor is of moderate size, but their product is infinite or has lost digits."""
    x = np.linspace(1.01, 1.99, 40 * 11).reshape(40, 11) * 2.0**exponent
    grad = np.full(40, 1.3 * 2.0 ** (-2 * exponent))
    got = stator.nn.prod_backward(be.asarray(grad), be.asarray(x if axis else np.ascontiguousarray(x.T)), axis=axis)
    got = got.to_numpy() if axis else got.to_numpy().T
    with np.errstate(over="ignore", under="ignore"):
        products = np.prod(x, axis=1)
    assert (np.isinf(products) | (products < 1e-300)).all()
    for row, ours in zip(x, got, strict=True):
        factors_of_row = [Fraction(v) for v in row]
        whole = Fraction(grad[0]) * prod(factors_of_row)
        want = np.array([float(whole / v) for v in factors_of_row])
        np.testing.assert_allclose(ours, want, rtol=4 * 2.0**-52)
