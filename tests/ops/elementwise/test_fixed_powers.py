"""x ** 2, ** 3, ** -1, ** 0.5 and ** 1 with numbers: as fast as their functions, with the special cases of pow."""

import numpy as np
import pytest

import stator

REAL = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
PARTS = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e-30, -1e25)


def specials(dtype):
    values = np.array(PARTS)
    if dtype in COMPLEX:
        parts = np.array([(re, im) for re in values for im in values])
        return parts.astype({"complex64": "float32", "complex128": "float64"}[dtype]).view(dtype).ravel()
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(dtype)


def assert_same_specials(got, want):
    """NaN, infinities and zeros with their signs; other values within the rounding of pow."""
    with np.errstate(all="ignore"):
        size = np.nan_to_num(abs(want))
    for part in (np.real, np.imag):
        a, b = part(got), part(want)
        exact = ~np.isfinite(b) | (b == 0)
        np.testing.assert_array_equal(a[exact], b[exact])
        np.testing.assert_array_equal(np.signbit(a[exact & ~np.isnan(b)]), np.signbit(b[exact & ~np.isnan(b)]))
        assert np.all(abs(a[~exact] - b[~exact]) <= 8 * np.finfo(a.dtype).eps * size[~exact])


@pytest.mark.parametrize("exponent", [2, 3, -1, 0.5, 1, 2.0, -1.0, 3.0])
@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_special_cases_are_those_of_an_array_of_exponents(be, dtype, exponent):
    x = be.asarray(specials(dtype))
    want = stator.pow(x, be.full(x.shape, exponent, dtype=dtype)).to_numpy()
    assert_same_specials((x**exponent).to_numpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_whole_powers_are_rounded_products(be, dtype):
    host = np.random.default_rng(3).uniform(-9, 9, 5000).astype(dtype)
    x = be.asarray(host)
    np.testing.assert_array_equal((x**2).to_numpy(), host * host)
    np.testing.assert_array_equal((x**3).to_numpy(), host * host * host)
    np.testing.assert_array_equal((x**-1).to_numpy(), 1 / host)
    np.testing.assert_array_equal((x**1).to_numpy(), host)
    np.testing.assert_array_equal((abs(x) ** 0.5).to_numpy(), np.sqrt(abs(host)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_of_integers_wrap(be, dtype):
    info = np.iinfo(dtype)
    host = np.array([0, 1, 2, 7, info.max, info.min, info.max // 2, info.min // 2 + 1], dtype)
    with np.errstate(over="ignore"):
        for exponent in (1, 2, 3):
            np.testing.assert_array_equal((be.asarray(host) ** exponent).to_numpy(), host**exponent)


def test_strided_bases_results_and_dtypes(be):
    host = np.random.default_rng(4).uniform(0.5, 2, (40, 60)).astype("float32")
    x = be.asarray(host)
    for exponent in (2, 3, -1, 0.5):
        want = host.T[::2, ::-3].astype("float64") ** exponent
        got = stator.pow(x.T[::2, ::-3], exponent, dtype="float64")
        np.testing.assert_allclose(got.to_numpy(), want, rtol=1e-15)
        out = be.empty((40, 60), dtype="float32")
        assert stator.pow(x, exponent, out=out) is out
        np.testing.assert_allclose(out.to_numpy(), host**exponent, rtol=1e-6)
    y = stator.copy(x)
    y **= 2
    np.testing.assert_array_equal(y.to_numpy(), host * host)
    np.testing.assert_array_equal((3**x).to_numpy(), stator.pow(be.full((40, 60), 3, dtype="float32"), x).to_numpy())


@pytest.mark.parametrize("exponent", [2, 3, -1, 0.5])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_powers(be, dtype, exponent):
    rng = np.random.default_rng(5)
    host = (rng.uniform(-3, 3, 700) + 1j * rng.uniform(-3, 3, 700)).astype(dtype)
    want = host.astype("complex128") ** exponent
    tolerance = 16 * np.finfo(dtype).eps
    assert np.max(abs((be.asarray(host) ** exponent).to_numpy() - want) / abs(want)) < tolerance


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "int64", "uint64"])
def test_cubes_of_any_layout(be, dtype):
    host = np.arange(-40, 40).astype("float32" if dtype == "bfloat16" else dtype)
    x = be.asarray(host).astype(dtype)
    for view, rows in ((x, host), (x[::3], host[::3])):
        want = rows * rows * rows
        np.testing.assert_allclose((view**3).astype("float64").to_numpy(), want.astype("float64"), rtol=2**-8)
