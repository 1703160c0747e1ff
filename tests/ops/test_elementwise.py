"""Every elementwise row of the op table against its oracle: dtypes, layouts, sizes, broadcasting, special values."""

import itertools
import zlib

import inputs
import numpy as np
import pytest
from cases import TABLE, bound, case, expected, function, names, result_dtype
from reference import assert_matches

import stator

UNARY, BINARY = names("unary"), names("binary")
ROWS = UNARY + BINARY
LAYOUTS = inputs.layouts()


def rng_of(*key: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def arrays(rng, name, shape, dtype):
    c = case(name)
    count = 1 if name in UNARY else 2
    made = [inputs.random(rng, shape, dtype, c.low, c.high) for _ in range(count)]
    if name == "divide" and not dtype.startswith(("float", "bfloat", "complex")):
        made[1] = np.where(made[1] == 0, np.ones_like(made[1]), made[1])
    if name == "log" and not dtype.startswith(("float", "bfloat", "complex")):
        made[0] = np.where(made[0] <= 0, np.ones_like(made[0]), made[0])
    return made


def check(be, name, made):
    want = expected(name, *made)
    got = function(name)(*[inputs.on_device(be, x) for x in made])
    assert got.dtype.name == result_dtype(name, *[x.dtype.name for x in made])
    assert_matches(got.to_numpy(), want, bound(name, got.dtype.name), name)


def test_every_row_has_an_oracle():
    for name in ROWS:
        expected(name, *[np.ones(2)] * (1 if name in UNARY else 2))


@pytest.mark.parametrize(("name", "dtype"), [(n, d) for n in ROWS for d in TABLE[n]["dtypes"]])
def test_matches_oracle_for_each_dtype(be, name, dtype):
    rng = rng_of(name, dtype)
    for size in inputs.SIZES:
        check(be, name, arrays(rng, name, (size,), dtype))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ROWS)
def test_matches_oracle_for_each_layout(be, name, layout):
    for dtype in [d for d in ("float32", "int16", "bfloat16", "complex64") if d in TABLE[name]["dtypes"]]:
        rng = rng_of(name, layout, dtype)
        made = [LAYOUTS[layout](x) for x in arrays(rng, name, (5, 33, 7), dtype)]
        check(be, name, made)


BROADCASTS = [
    ((), (3,)),
    ((4, 1), (1, 5)),
    ((7,), (3, 4, 7)),
    ((3, 1, 7), (4, 1)),
    ((0, 3), (1, 3)),
    ((64, 130), (130,)),
]


@pytest.mark.parametrize(("left", "right"), BROADCASTS)
@pytest.mark.parametrize("name", BINARY)
def test_broadcasts(be, name, left, right):
    rng = rng_of(name, left, right)
    for a_shape, b_shape in ((left, right), (right, left)):
        a, b = arrays(rng, name, a_shape, "float32")[0], arrays(rng, name, b_shape, "float32")[0]
        got = function(name)(be.asarray(a), be.asarray(b))
        assert_matches(got.to_numpy(), expected(name, a, b), bound(name, got.dtype.name), name)


MIXED = [
    ("int8", "uint8"),
    ("int32", "float32"),
    ("uint64", "int64"),
    ("float16", "float64"),
    ("bfloat16", "float16"),
    ("bool", "int16"),
    ("float32", "complex64"),
    ("bfloat16", "int32"),
]


@pytest.mark.parametrize(("left", "right"), MIXED)
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "equal"])
def test_promotes_mixed_dtypes(be, name, left, right):
    rng = rng_of(name, left, right)
    a, b = inputs.random(rng, (40,), left, 1, 8), inputs.random(rng, (40,), right, 1, 8)
    b = np.where(b == 0, np.ones_like(b), b)
    got = function(name)(be.asarray(a), be.asarray(b))
    assert got.dtype.name == result_dtype(name, left, right)
    assert_matches(got.to_numpy(), expected(name, a, b), bound(name, got.dtype.name), name)


@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", ROWS)
def test_special_values(be, name, dtype):
    if dtype not in TABLE[name]["dtypes"]:
        pytest.fail(f"{name} misses {dtype}")
    values = inputs.special(dtype)
    if name in UNARY:
        made = [values]
    else:
        pairs = np.array(list(itertools.product(values.astype(np.float64), repeat=2)))
        made = [pairs[:, 0].astype(values.dtype), pairs[:, 1].astype(values.dtype)]
    got = function(name)(*[be.asarray(x) for x in made])
    assert_matches(got.to_numpy(), expected(name, *made), bound(name, got.dtype.name), name)


@pytest.mark.parametrize("name", BINARY)
def test_python_scalars_are_weak(be, name):
    x = np.array([1.5, -2.0, 3.25], np.float32)
    for scalar in (2, 2.5, True):
        for swapped in (False, True):
            args = (scalar, be.asarray(x)) if swapped else (be.asarray(x), scalar)
            got = function(name)(*args)
            wide = [np.full(3, scalar, np.float32), x][:: 1 if swapped else -1]
            assert got.dtype.name == result_dtype(name, "float32")
            assert_matches(got.to_numpy(), expected(name, *wide), bound(name, got.dtype.name), name)


def test_integer_arrays_with_float_scalars_give_float64(be):
    got = stator.add(be.asarray(np.array([1, 2], np.int8)), 0.5)
    assert got.dtype == stator.float64
    np.testing.assert_array_equal(got.to_numpy(), [1.5, 2.5])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtype_argument_rounds_once(be, dtype):
    x = np.linspace(0.1, 3, 50).astype(np.float16)
    got = stator.exp(be.asarray(x), dtype=dtype).to_numpy()
    assert got.dtype == dtype
    assert_matches(got, np.exp(x.astype(np.float64 if dtype != "float64" else np.longdouble)), (4, 8), "exp")


def test_out_receives_the_result_and_may_be_an_input(be):
    x = be.asarray(np.arange(6.0))
    out = be.empty((6,))
    assert stator.add(x, 1.0, out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), np.arange(6.0) + 1)
    stator.multiply(x, x, out=x)
    np.testing.assert_array_equal(x.to_numpy(), np.arange(6.0) ** 2)


def test_out_may_be_a_strided_view_of_another_dtype(be):
    whole = be.zeros((4, 6), dtype="float64")
    view = whole[::2, 1::2]
    stator.add(be.asarray(np.ones((2, 3), np.float32)), 2, out=view)
    want = np.zeros((4, 6))
    want[::2, 1::2] = 3
    np.testing.assert_array_equal(whole.to_numpy(), want)


def test_in_place_operators_write_the_memory_that_views_see(be):
    x = be.asarray(np.arange(8, dtype=np.int32))
    evens = x[::2]
    evens += 10
    np.testing.assert_array_equal(x.to_numpy(), [10, 1, 12, 3, 14, 5, 16, 7])
    assert x.dtype == stator.int32


def test_operators_forward_to_the_functions(be):
    a, b = be.asarray(np.array([1.0, 2.0])), be.asarray(np.array([4.0, 0.5]))
    for got, want in (
        (a + b, [5, 2.5]),
        (a - b, [-3, 1.5]),
        (a * b, [4, 1]),
        (a / b, [0.25, 4]),
        (-a, [-1, -2]),
        (2 - a, [1, 0]),
        (a == b, [False, False]),
        (a < b, [True, False]),
        (1 / a, [1, 0.5]),
    ):
        np.testing.assert_array_equal(got.to_numpy(), want)


def test_large_dimension_counts_work(be):
    x = np.arange(2.0**10).reshape((2,) * 10)
    moved = np.transpose(x, (1, 0, 3, 2, 5, 4, 7, 6, 9, 8))
    got = stator.add(stator.permute_dims(be.asarray(x), (1, 0, 3, 2, 5, 4, 7, 6, 9, 8)), 1.0)
    np.testing.assert_array_equal(got.to_numpy(), moved + 1)


def test_results_keep_the_memory_order_of_their_operands(be):
    x = be.asarray(np.arange(24.0).reshape(2, 3, 4))
    moved = stator.permute_dims(x, (2, 0, 1))
    assert stator.add(moved, moved).strides == moved.strides
    assert stator.exp(moved).strides == moved.strides
    assert stator.add(moved, 1).strides == moved.strides
    assert stator.add(moved, be.zeros((3,))).strides == moved.strides
    assert stator.add(moved, be.zeros((4, 2, 3))).strides == (6, 3, 1)
    assert stator.exp(x[:, ::2]).strides == (8, 4, 1)
