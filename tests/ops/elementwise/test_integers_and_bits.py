"""gcd and lcm of all integers, frexp, heaviside, and the neighbours of halves."""

import inputs
import ml_dtypes
import numpy as np
import pytest
from reference import numpy_dtype

import stator

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_common_divisors_and_multiples_are_numpys(be, name, dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(3)
    ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 6, 12, 36, 97]
    drawn = rng.integers(info.min, info.max, 40, dtype=dtype, endpoint=True)
    values = np.concatenate([np.array(ends, dtype), drawn, (drawn // 7) * 6])
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x, y)
    np.testing.assert_array_equal(getattr(stator, name)(be.asarray(x), be.asarray(y)).to_numpy(), want, strict=True)


def test_common_divisors_of_consecutive_fibonacci_numbers(be):
    """The operands for which Euclid's algorithm takes the most steps."""
    f = [1, 1]
    while f[-1] + f[-2] < 2**63:
        f.append(f[-1] + f[-2])
    x, y = np.array(f[1:]), np.array(f[:-1])
    np.testing.assert_array_equal(stator.gcd(be.asarray(x), be.asarray(y)).to_numpy(), np.ones(len(x)))
    np.testing.assert_array_equal(stator.gcd(be.asarray(x * 0), be.asarray(-x)).to_numpy(), x)
    np.testing.assert_array_equal(stator.gcd(be.asarray(x), 6).to_numpy(), np.gcd(x, 6))


@pytest.mark.parametrize("dtype", inputs.FLOATS)
def test_frexp_is_numpys(be, dtype):
    rng = np.random.default_rng(5)
    kind = numpy_dtype(dtype)
    with np.errstate(over="ignore"):
        drawn = (rng.normal(size=(9, 50)) * np.exp2(rng.integers(-140, 120, (9, 50)))).astype(kind)
    x = np.concatenate([inputs.special(dtype), drawn.ravel()])
    # float64 has the values of bfloat16, for which NumPy has no frexp.
    mantissa, exponent = np.frexp(x.astype(np.float64))
    got = stator.frexp(be.asarray(x))
    assert got._fields == ("mantissa", "exponent")
    assert got.mantissa.dtype.name == dtype and got.exponent.dtype == stator.int32
    np.testing.assert_array_equal(got.mantissa.to_numpy().astype(np.float64), mantissa)
    np.testing.assert_array_equal(np.signbit(got.mantissa.to_numpy()), np.signbit(mantissa))
    np.testing.assert_array_equal(got.exponent.to_numpy(), np.where(np.isfinite(mantissa), exponent, 0))


def test_frexp_of_every_half(be):
    every = np.arange(1 << 16, dtype=np.uint16)
    for kind in (np.float16, ml_dtypes.bfloat16):
        x = every.view(kind)
        got = stator.frexp(be.asarray(x))
        with np.errstate(invalid="ignore"):  # NaN of either kind
            mantissa, exponent = np.frexp(x.astype(np.float64))
            np.testing.assert_array_equal(got.mantissa.to_numpy().astype(np.float64), mantissa)
        np.testing.assert_array_equal(got.exponent.to_numpy(), np.where(np.isfinite(mantissa), exponent, 0))


@pytest.mark.parametrize("shape", [(0, 3), (1,), (5, 9, 7), (300, 70)])
def test_frexp_of_any_layout(be, shape):
    x = np.random.default_rng(6).normal(size=shape).astype(np.float32)
    for move in inputs.layouts().values():
        got = stator.frexp(inputs.on_device(be, move(x)))
        want = np.frexp(x)
        assert got.mantissa.shape == got.exponent.shape == shape
        np.testing.assert_array_equal(got.mantissa.to_numpy(), want[0])
        np.testing.assert_array_equal(got.exponent.to_numpy(), want[1])
    assert [float(v.to_numpy()) for v in stator.frexp(be.asarray(np.array(-6.5)))] == [-0.8125, 3]
    wide = be.asarray(np.arange(1.0, 4.0)[None])
    np.testing.assert_array_equal(stator.frexp(stator.broadcast_to(wide, (4, 3))).exponent.to_numpy(), [[1, 2, 2]] * 4)


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_every_half_has_its_neighbours(be, kind):
    x = np.arange(1 << 16, dtype=np.uint16).view(kind)
    for towards in (np.inf, -np.inf, 0.0, -0.0, 1.0, np.nan):
        y = np.full(x.shape, towards, kind)
        with np.errstate(all="ignore"):
            want = np.where(x == y, y, np.nextafter(x, y))  # NumPy's float16 has x, and so another zero than C
        got = stator.nextafter(be.asarray(x), be.asarray(y)).to_numpy()
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))
        kept = ~np.isnan(want.astype(np.float64))
        np.testing.assert_array_equal(np.signbit(got[kept]), np.signbit(want[kept]))


def test_neighbours_of_halves_step_in_the_dtype_of_the_operands(be):
    one, up = be.ones((3,), dtype="float16"), be.full((3,), 2.0, dtype="float16")
    near = np.nextafter(np.float16(1), np.float16(2)).astype(np.float64)
    np.testing.assert_array_equal(stator.nextafter(one, 2.0).to_numpy().astype(np.float64), [near] * 3)
    out = be.zeros((3,), dtype="float64")
    stator.nextafter(one, up, out=out)
    np.testing.assert_array_equal(out.to_numpy(), [near] * 3)
    # dtype= converts the operands first; float16 and bfloat16 meet in float32.
    wide = np.nextafter(np.float32(1), np.float32(2)).astype(np.float64)
    np.testing.assert_array_equal(stator.nextafter(one, up, dtype="float32").to_numpy(), [wide] * 3)
    np.testing.assert_array_equal(stator.nextafter(one, stator.astype(up, "bfloat16")).to_numpy(), [wide] * 3)
    strided = be.ones((4, 6), dtype="bfloat16")[::2, ::-1]
    got = stator.nextafter(strided, be.zeros((1, 6), dtype="bfloat16")).to_numpy()
    np.testing.assert_array_equal(got.astype(np.float64), np.full((2, 6), 1 - 2.0**-8))


@pytest.mark.parametrize("dtype", [*inputs.FLOATS, "int32", "bool"])
def test_heaviside_takes_the_second_operand_at_zero(be, dtype):
    if dtype in inputs.FLOATS:
        values = [-np.inf, -2, -0.0, 0.0, 1e-30, 3, np.inf, np.nan]
    else:
        values = [0, 1] if dtype == "bool" else [-3, 0, 5]
    x = np.array(values).astype(numpy_dtype(dtype))
    for at_zero in (0.5, -0.0, np.nan, 7.0):
        got = stator.heaviside(be.asarray(x), at_zero).to_numpy()
        want = np.heaviside(x.astype(np.float64), at_zero)
        np.testing.assert_array_equal(got.astype(np.float64), want)
        kept = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[kept]), np.signbit(want[kept]))
