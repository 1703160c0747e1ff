"""Quantisation and back against exact integers: scales of a tensor, of channels and of blocks, in every layout."""

import inputs
import numpy as np
import pytest
from layer_loops import quantization as oracle
from reference import widen

import stator

nn = stator.nn
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
# Of arrays (5, 7, 12): an axis, and a block size that does or does not divide it.
WHERE = [{}, *({"axis": axis} for axis in (0, 1, -1)), *({"axis": a, "block_size": b} for a, b in ((1, 3), (-1, 5)))]

REST = [where for where in WHERE if where != WHERE[4]]


def drawn(shape, dtype="float32", seed=0):
    return inputs.random(np.random.default_rng(seed), shape, dtype, -9, 9)


def numbers(shape, axis=None, block_size=None, seed=1):
    """Scales that are powers of two, and zero points."""
    rng = np.random.default_rng(seed)
    if axis is None:
        size = ()
    elif block_size is None:
        size = (shape[axis],)
    else:
        size = tuple(-(-n // block_size) if d == axis % len(shape) else n for d, n in enumerate(shape))
    return 2.0 ** rng.integers(-4, 1, size), rng.integers(-9, 10, size)


def on(be, *arrays):
    return [be.asarray(np.asarray(x)) for x in arrays]


@pytest.mark.parametrize(
    "dtype,where", [*((d, WHERE[4]) for d in inputs.FLOATS), *(("float32", w) for w in REST)], ids=str
)
def test_values_and_the_way_back(be, dtype, where):
    x = drawn((5, 7, 12), dtype)
    scale, zero = numbers(x.shape, **where)
    given = on(be, scale.astype(np.float32), zero.astype(np.int32))
    key = {"axis": where.get("axis"), "block": where.get("block_size")}
    want = oracle.steps(widen(x), scale, zero, -128, 127, **key)
    q = nn.quantize(be.asarray(x), *given, **where)
    assert q.dtype == "int8"
    np.testing.assert_array_equal(q.to_numpy(), want)
    each_scale, each_zero = oracle.numbers(x, scale, zero, **key)
    back = widen(nn.dequantize(q, *given, dtype=dtype, **where).to_numpy()).astype(np.float64)
    np.testing.assert_allclose(back, (want - each_zero) * each_scale, rtol=EPS[dtype])
    fake = widen(nn.fake_quantize(be.asarray(x), *given, -20, 19, **where).to_numpy()).astype(np.float64)
    fewer = oracle.steps(widen(x), scale, zero, -20, 19, **key)
    np.testing.assert_allclose(fake, (fewer - each_zero) * each_scale, rtol=EPS[dtype])


@pytest.mark.parametrize("where", WHERE[1:], ids=str)
def test_layouts_are_read_as_they_are(be, where):
    x = drawn((5, 7, 12))
    scale, zero = on(be, *(n.astype(k) for n, k in zip(numbers(x.shape, **where), ("f4", "i4"), strict=True)))
    want = nn.quantize(be.asarray(x), scale, zero, **where).to_numpy()
    turned = stator.permute_dims(be.asarray(np.ascontiguousarray(x.T)), (2, 1, 0))
    shifted = stator.reshape(be.asarray(np.insert(x.ravel(), 0, np.nan))[1:], x.shape)
    for other in (turned, shifted, be.asarray(np.repeat(x, 2, axis=2))[:, :, ::2]):
        np.testing.assert_array_equal(nn.quantize(other, scale, zero, **where).to_numpy(), want)
    apart = [be.asarray(np.stack([n.to_numpy()] * 2, axis=-1))[..., 0] for n in (scale, zero)]
    np.testing.assert_array_equal(nn.quantize(turned, *apart, **where).to_numpy(), want)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("n", [64, 8191, 8192, 8208, 30000])
def test_one_scale_for_blocks_of_any_size(be, dtype, n):
    x, scale, zero = drawn((n,), dtype), np.float32(0.125), np.int32(-3)
    given = on(be, scale, zero)
    want = oracle.steps(widen(x), scale, zero, -128, 127, axis=None, block=None)
    q = nn.quantize(be.asarray(x), *given)
    np.testing.assert_array_equal(q.to_numpy(), want)
    back = nn.dequantize(q, *given, dtype=dtype).to_numpy()
    np.testing.assert_array_equal(widen(back), (want + 3) * 0.125)
    np.testing.assert_array_equal(widen(nn.fake_quantize(be.asarray(x), *given, -128, 127).to_numpy()), widen(back))


def test_ties_limits_and_what_is_no_number(be):
    x = np.array([0.5, 1.5, -0.5, -1.5, np.inf, -np.inf, np.nan, 3e38, 126.5, 1e-40], np.float32)
    got = nn.quantize(be.asarray(x), 1.0, 1).to_numpy().tolist()
    assert got == [1, 3, 1, -1, 127, -128, 1, 127, 127, 1]
    assert nn.quantize(be.asarray(x), 1.0, 200, dtype="uint8").to_numpy().tolist()[4:8] == [255, 0, 200, 255]
    assert nn.quantize(be.asarray(x), 1.0, quant_min=-7, quant_max=7).to_numpy().tolist()[4:7] == [7, -7, 0]
    assert nn.fake_quantize(be.asarray(x), 2.0, 3, 0, 15).to_numpy().tolist()[4:7] == [24.0, -6.0, 0.0]
    wide = be.asarray(np.array([2.0**21 + 0.5, -(2.0**23)]))
    assert nn.fake_quantize(wide, 1.0, 0, -(2**22), 2**22).to_numpy().tolist() == [2.0**21, -(2.0**22)]


def test_float64_is_computed_in_float64(be):
    x = np.array([2.5 + 2.0**-40, 2.5 - 2.0**-40])
    assert nn.quantize(be.asarray(x), 1.0).to_numpy().tolist() == [3, 2]


@pytest.mark.parametrize("shape", [(0,), (3, 0, 4), (0, 2)])
def test_arrays_without_elements(be, shape):
    x = be.zeros(shape, dtype="float32")
    scale = be.ones((shape[-1],), dtype="float32")
    q = nn.quantize(x, scale, axis=-1)
    assert q.shape == shape and nn.dequantize(q, scale, axis=-1).shape == shape
    of_x, of_scale, _ = nn.fake_quantize_backward(x, x, scale, 0, 0, 9, axis=-1, learned=True)
    assert of_x.shape == shape and of_scale.to_numpy().tolist() == [0.0] * shape[-1]


def slopes(x, scale, zero, low, high, key):
    """What each element adds to the gradients of x, scale and zero point, for a gradient of 1."""
    each_scale, each_zero = oracle.numbers(x, scale, zero, **key)
    near, q = np.rint(x / each_scale) + each_zero, oracle.steps(x, scale, zero, low, high, **key) - each_zero
    inside = (near >= low) & (near <= high)
    return inside, np.where(inside, q - x / each_scale, q), np.where(inside, 0, -each_scale)


def gathered(values, shape, axis=None, block_size=None):
    """Sums per scale."""
    if axis is None:
        return values.sum()
    if block_size is None:
        return np.moveaxis(values, axis, 0).reshape(shape[axis], -1).sum(axis=1)
    return np.add.reduceat(values, np.arange(0, shape[axis], block_size), axis=axis)


@pytest.mark.parametrize(
    "dtype,where", [*((d, {}) for d in inputs.FLOATS), *(("float32", w) for w in WHERE[1:])], ids=str
)
def test_gradients_of_elements_and_of_numbers(be, dtype, where):
    x, g = drawn((5, 7, 12), dtype), drawn((5, 7, 12), dtype, 2)
    wide, g_wide = widen(x).astype(np.float64), widen(g).astype(np.float64)
    scale, zero = numbers(x.shape, **where)
    key = {"axis": where.get("axis"), "block": where.get("block_size")}
    inside, by_scale, by_zero = slopes(wide, scale, zero, -20, 19, key)
    given = on(be, scale.astype(np.float32), zero.astype(np.float32))
    options = {**where, "learned": True, "grad_factor": 0.5}
    found = nn.fake_quantize_backward(be.asarray(g), be.asarray(x), *given, -20, 19, **options)
    np.testing.assert_array_equal(widen(found[0].to_numpy()), np.where(inside, g_wide, 0))
    for got, each in zip(found[1:], (by_scale, by_zero), strict=True):
        want = 0.5 * gathered(each * g_wide, x.shape, **where)
        assert got.shape == scale.shape and got.dtype == ("float64" if dtype == "float64" else "float32")
        np.testing.assert_allclose(got.to_numpy(), want, rtol=1e-4, atol=1e-4)


def test_long_sums_of_gradients_repeat_bit_by_bit(be):
    x = drawn((9000, 3))
    for array, where in ((x, {}), (x.T, {"axis": 0}), (x, {"axis": 1}), (x, {"axis": 0, "block_size": 4000})):
        scale, zero = numbers(array.shape, **where)
        key = {"axis": where.get("axis"), "block": where.get("block_size")}
        _, by_scale, _ = slopes(array.astype(np.float64), scale, zero, -20, 19, key)
        given = on(be, np.ascontiguousarray(array), scale.astype(np.float32), zero.astype(np.float32))
        call = lambda: nn.fake_quantize_backward(given[0], *given, -20, 19, learned=True, **where)  # noqa: B023, E731
        first, second = call()[1].to_numpy(), call()[1].to_numpy()
        np.testing.assert_array_equal(first, second)
        want = gathered(by_scale * array, array.shape, **where)
        np.testing.assert_allclose(first, want, rtol=1e-4, atol=1e-2)


def test_the_scale_is_that_of_the_largest_value_wherever_it_is(be):
    for at in (0, 261, 699):
        x = np.ones(700, np.float32)
        x[at] = -896
        assert float(stator.nn.quantize_fp8(be.asarray(x))[1]) == 2
    for rows in range(2, 9):
        x = np.ones((rows, 5), np.float32)
        x[-1] = -896
        assert stator.nn.quantize_fp8(be.asarray(x), axis=0)[1].tolist() == [[2] * 5]
