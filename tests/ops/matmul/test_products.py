"""Products of integers, of eight-bit floats, and linear: against exact or wider NumPy."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import stator
from stator.errors import AxisError, DTypeError, InvalidValueError, ShapeError

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOAT8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def draw(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.2
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def wanted(a, b):
    """numpy.matmul, which wraps around."""
    with np.errstate(over="ignore"):
        return np.matmul(a, b)


SHAPES = [
    ((1, 1), (1, 1)),
    ((2, 31), (31, 32)),
    ((33, 100), (100, 257)),
    ((100, 130), (130, 3)),
    ((1, 300), (300, 70)),
    ((70, 300), (300, 1)),
    ((300,), (300,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((7, 4), (3, 4, 1)),
    ((3, 0), (0, 5)),
    ((0, 4), (4, 5)),
    ((0, 3, 4), (4, 2)),
]


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_integer_products_are_numpys(be, dtype, left, right):
    a, b = draw(left, dtype, 1), draw(right, dtype, 2)
    got = stator.matmul(be.asarray(a), be.asarray(b)).to_numpy()
    want = wanted(a, b)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["int32", "uint64"])
@pytest.mark.parametrize("batches", range(1, 7))
def test_integer_products_of_views_with_any_number_of_batch_axes(be, dtype, batches):
    a, b = (draw((3,) * batches + (2, 2), dtype, seed) for seed in (1, 2))
    every_other = (slice(None, None, 2),) * batches
    got = stator.matmul(be.asarray(a)[every_other], be.asarray(b)[every_other]).to_numpy()
    np.testing.assert_array_equal(got, wanted(a[every_other], b[every_other]))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64"])
def test_integer_layouts_are_not_copied(be, dtype):
    a, b = draw((6, 40, 50), dtype, 1), draw((50, 30), dtype, 2)
    x, y = be.asarray(a), be.asarray(b)
    before = be.statistics()
    pairs = [
        (stator.matmul(x[::-1, ::2, ::5], y[::5]), wanted(a[::-1, ::2, ::5], b[::5])),
        (
            stator.matmul(be.asarray(np.ascontiguousarray(np.swapaxes(a, 1, 2))).mT, y[:, ::-1]),
            wanted(a, b[:, ::-1]),
        ),
        (stator.matmul(y.T, x[0].T), wanted(b.T, a[0].T)),
        (stator.matmul(x[0].T[:40].T, y[:40, 3]), wanted(a[0].T[:40].T, b[:40, 3])),
        (stator.matmul(y.T[:, :40], x[:, :, 7].T), wanted(b.T[:, :40], a[:, :, 7].T)),
    ]
    if be.device.type == "cpu":
        assert be.statistics()["kernel_launches"] == before["kernel_launches"] + len(pairs)
    for got, want in pairs:
        np.testing.assert_array_equal(got.to_numpy(), want)


def test_many_small_integer_products(be):
    a, b = draw((1000, 4, 4), "int32", 1), draw((1000, 4, 4), "int32", 2)
    np.testing.assert_array_equal(stator.matmul(be.asarray(a), be.asarray(b)).to_numpy(), wanted(a, b))


def test_integer_dtypes_mix_and_widen(be):
    a, b = draw((5, 6), "int8", 1), draw((6, 7), "uint16", 2)
    got = stator.matmul(be.asarray(a), be.asarray(b)).to_numpy()
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))
    c = draw((6, 7), "int8", 3)
    wide = stator.matmul(be.asarray(a), be.asarray(c), dtype="int64").to_numpy()
    assert wide.dtype == np.int64
    np.testing.assert_array_equal(wide, a.astype(np.int64) @ c.astype(np.int64))
    out = be.zeros((7, 5), dtype="int64").T
    assert stator.matmul(be.asarray(a), be.asarray(c), dtype="int64", out=out) is out
    np.testing.assert_array_equal(out.to_numpy(), wide)
    mixed = stator.matmul(be.asarray(a), be.asarray(b.astype("float32"))).to_numpy()
    np.testing.assert_allclose(mixed, a.astype("float32") @ b.astype("float32"), rtol=1e-6)


def test_an_operand_may_be_the_output(be):
    a = draw((33, 33), "int32", 1)
    x = be.asarray(a)
    assert stator.matmul(x, x, out=x) is x
    np.testing.assert_array_equal(x.to_numpy(), wanted(a, a))


@pytest.mark.parametrize("dtype", ["int16", "int64", "uint32"])
def test_the_family_takes_integers(be, dtype):
    a, b, v = draw((6, 5), dtype, 1), draw((5, 4), dtype, 2), draw((5,), dtype, 3)
    x, y, w = map(be.asarray, (a, b, v))
    with np.errstate(over="ignore"):
        pairs = [
            (stator.dot(x, y), a @ b),
            (stator.dot(w, w), v @ v),
            (stator.vecdot(x, w), np.vecdot(a, v)),
            (stator.tensordot(x, y, axes=1), np.tensordot(a, b, axes=1)),
            (stator.einsum("ij,jk->ki", x, y), np.einsum("ij,jk->ki", a, b)),
            (stator.einsum("ij,jk,j->i", x, y, w), np.einsum("ij,jk,j->i", a, b, v)),
            (stator.kron(x, y), np.kron(a, b)),
            (stator.outer(w, w), np.outer(v, v)),
        ]
    for got, want in pairs:
        assert got.dtype.name == dtype
        np.testing.assert_array_equal(got.to_numpy(), want)


def test_integer_product_errors(be):
    x = be.zeros((2, 3), dtype="int32")
    with pytest.raises(ShapeError, match="3 columns and 2 rows"):
        stator.matmul(x, x)
    with pytest.raises(DTypeError, match="dtype=float32"):
        stator.matmul(x, x.T, dtype="float32")
    with pytest.raises(DTypeError, match="compute_dtype="):
        stator.matmul(x, x.T, compute_dtype="float16")
    assert stator.matmul(x, x.T).shape == (2, 2)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_einsum_of_chains_multiplies_in_the_cheapest_order(be, count):
    sides = [2, 30, 3, 25, 4, 20][: count + 1]
    arrays = [np.random.default_rng(k).normal(size=pair) for k, pair in enumerate(itertools.pairwise(sides))]
    letters = "abcdef"
    text = ",".join(letters[k : k + 2] for k in range(count)) + "->a" + letters[count]
    got = stator.einsum(text, *map(be.asarray, arrays)).to_numpy()
    np.testing.assert_allclose(got, np.linalg.multi_dot(arrays), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_batches_of_many_small_matrices(be, dtype):
    for batch, m, n, k in ((1000, 4, 4, 4), (7, 1, 3, 2), (50, 3, 17, 5), (9, 32, 32, 32)):
        rng = np.random.default_rng(batch)
        a, b = rng.normal(size=(batch, m, k)).astype(dtype), rng.normal(size=(batch, k, n)).astype(dtype)
        want = a.astype("float64") @ b.astype("float64")
        tolerance = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-13}[dtype]
        for x in (be.asarray(a), be.asarray(np.ascontiguousarray(np.swapaxes(a, 1, 2))).mT):
            got = stator.matmul(x, be.asarray(b)).to_numpy()
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


ACTIVATIONS = ["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("activation", [None, *ACTIVATIONS])
def test_linear_is_one_product_and_at_most_one_launch(be, dtype, activation):
    x, w, b = (
        be.asarray(np.random.default_rng(k).normal(size=s).astype(dtype))
        for k, s in enumerate([(2, 9, 40), (700, 40), (700,)])
    )
    before = be.statistics()
    got = stator.nn.linear(x, w, b, activation=activation)
    after = be.statistics()
    assert after["library_calls"] == before["library_calls"] + 1
    assert after["kernel_launches"] <= before["kernel_launches"] + 1
    want = stator.matmul(stator.astype(x, "float64"), stator.astype(w, "float64").T) + b
    if activation:
        made = {"tanh": stator.tanh, "gelu_tanh": lambda v: stator.nn.gelu(v, approximate="tanh")}
        want = (made.get(activation) or getattr(stator.nn, activation))(want)
    tolerance = {"float16": 4e-3, "float32": 2e-5}[dtype]
    assert got.dtype.name == dtype
    np.testing.assert_allclose(got.to_numpy(), want.to_numpy(), rtol=tolerance, atol=tolerance)


def test_linear_of_any_bias(be):
    x, w = be.asarray(np.ones((3, 2), np.float32)), be.asarray(np.ones((4, 2), np.float32))
    wide = stator.nn.linear(x, w, be.asarray(np.arange(4.0)), activation="relu")
    assert wide.dtype == stator.float64
    np.testing.assert_array_equal(wide.to_numpy()[0], [2, 3, 4, 5])
    sliced = be.asarray(np.arange(8, dtype=np.float32))[::-2]
    np.testing.assert_array_equal(stator.nn.linear(x, w, sliced).to_numpy()[1], [9, 7, 5, 3])
    nothing = stator.nn.linear(
        be.zeros((3, 0)), be.zeros((4, 0)), be.asarray(np.array([-1.0, 2, 0, 3])), activation="relu"
    )
    np.testing.assert_array_equal(nothing.to_numpy(), [[0, 2, 0, 3]] * 3)
    assert stator.nn.linear(be.zeros((0, 2)), be.zeros((4, 2)), activation="gelu").shape == (0, 4)
    with pytest.raises(DTypeError, match="linear"):
        stator.nn.linear(be.zeros((3, 2), dtype="int32"), be.zeros((4, 2), dtype="int32"))


def quantized(x, format, axis):
    """The oracle: ml_dtypes rounds, this function clips."""
    kind = FLOAT8[format]
    most = np.float32(ml_dtypes.finfo(kind).max)
    x = x.astype(np.float32)
    finite = np.where(np.isfinite(x), np.abs(x), np.float32(0))
    amax = finite.max(axis=axis, keepdims=axis is not None, initial=np.float32(0))
    scale = np.where(amax / most > 0, amax / most, np.float32(1)).astype(np.float32)
    return np.clip(x / scale, -most, most).astype(kind), scale


@pytest.mark.parametrize("format", ["e4m3", "e5m2"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((33, 257), None), ((33, 257), 1), ((33, 257), 0), ((3, 5, 7), -2), ((), None)]
)
def test_quantised_values_and_scales(be, format, dtype, shape, axis):
    x = np.asarray(np.random.default_rng(1).normal(size=shape) ** 3)
    x = stator.astype(be.asarray(x), dtype)
    values, scale = stator.nn.quantize_fp8(x, format=format, axis=axis)
    want, want_scale = quantized(x.to_numpy(), format, axis)
    assert values.dtype == stator.uint8
    np.testing.assert_array_equal(scale.to_numpy(), want_scale)
    np.testing.assert_array_equal(values.to_numpy(), want.view(np.uint8))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("at", [0, 300, 600, 900, 1200, 1499])
def test_the_largest_number_is_finite_wherever_it_lies(be, at, axis):
    x = np.ones((1500, 2), np.float32)
    x[at] = np.finfo(np.float32).max
    x = x.T.copy() if axis == 1 else x
    scale = stator.nn.quantize_fp8(be.asarray(x), axis=axis).scale
    np.testing.assert_array_equal(scale.to_numpy(), quantized(x, "e4m3", axis)[1])


@pytest.mark.parametrize("format", ["e4m3", "e5m2"])
def test_every_eight_bit_number_comes_back(be, format):
    kind = FLOAT8[format]
    numbers = np.arange(256, dtype=np.uint8).view(kind).astype(np.float32)
    finite = np.where(np.isfinite(numbers), numbers, 0).astype(np.float32)
    values, scale = stator.nn.quantize_fp8(be.asarray(finite), format=format)
    assert float(scale) == 1
    np.testing.assert_array_equal(values.to_numpy().view(kind).astype(np.float32), finite)
    one = be.asarray(np.array([[0x38 if format == "e4m3" else 0x3C]], np.uint8))
    unit = be.asarray(np.float32(1))
    codes = be.asarray(np.arange(256, dtype=np.uint8)[:, None])
    back = stator.nn.scaled_matmul(codes, one, unit, unit, a_format=format, b_format=format).to_numpy()[:, 0]
    np.testing.assert_array_equal(back, numbers)


def test_quantised_special_values(be):
    x = be.asarray(np.array([np.nan, np.inf, -np.inf, 2.0, -0.0, 1e-30], np.float32))
    values, scale = stator.nn.quantize_fp8(x)
    back = values.to_numpy().view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    np.testing.assert_array_equal(back, [np.nan, 448, -448, 448, -0.0, 0])
    assert np.signbit(back[4])
    assert float(scale) == np.float32(2) / np.float32(448)
    zeros, ones = stator.nn.quantize_fp8(be.zeros((2, 3)), axis=1)
    assert not zeros.to_numpy().any()
    assert ones.to_numpy().tolist() == [[1], [1]]
    empty, one = stator.nn.quantize_fp8(be.zeros((0, 3)), axis=0)
    assert empty.shape == (0, 3)
    assert one.to_numpy().tolist() == [[1, 1, 1]]
    turned, _ = stator.nn.quantize_fp8(be.asarray(np.arange(6.0).reshape(2, 3)).T)
    np.testing.assert_array_equal(
        turned.to_numpy(), quantized(np.arange(6.0).reshape(2, 3).T, "e4m3", None)[0].view(np.uint8)
    )


@pytest.mark.parametrize("formats", [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2")])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("axes", [(None, None), (1, 0)])
def test_scaled_products(be, formats, dtype, axes):
    rng = np.random.default_rng(3)
    a, b, bias = rng.normal(size=(32, 48)), rng.normal(size=(48, 64)), rng.normal(size=(64,))
    (qa, sa), (qb, sb) = (
        stator.nn.quantize_fp8(be.asarray(x), format=f, axis=axis)
        for x, f, axis in zip((a, b), formats, axes, strict=True)
    )
    wide = [
        q.to_numpy().view(FLOAT8[f]).astype("float64") * s.to_numpy()
        for q, s, f in zip((qa, qb), (sa, sb), formats, strict=True)
    ]
    options = {"a_format": formats[0], "b_format": formats[1], "dtype": dtype}
    lengths = stator.asarray(bias.astype("float32"), device=be)
    turned = stator.copy(qb.T).T
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5}[dtype]
    for right in (qb, turned):
        got = stator.nn.scaled_matmul(qa, right, sa, sb, bias=lengths, **options)
        assert got.dtype.name == dtype
        np.testing.assert_allclose(
            stator.astype(got, "float64").to_numpy(), wide[0] @ wide[1] + bias, rtol=tolerance, atol=10 * tolerance
        )
    plain = stator.nn.scaled_matmul(
        qa[::2, :3],
        qb[:3, ::-1],
        stator.asarray(np.float32(2), device=be),
        stator.asarray(np.ones((1, 1), np.float32), device=be),
        **options,
    )
    want = (
        2
        * qa.to_numpy()[::2, :3].view(FLOAT8[formats[0]]).astype("float64")
        @ qb.to_numpy()[:3, ::-1].view(FLOAT8[formats[1]]).astype("float64")
    )
    if dtype != "float16":  # the numbers are beyond its range
        np.testing.assert_allclose(stator.astype(plain, "float64").to_numpy(), want, rtol=tolerance)


def test_scaled_products_of_nothing(be):
    one = be.asarray(np.float32(1))
    bias = be.asarray(np.arange(3, dtype=np.float32))
    got = stator.nn.scaled_matmul(be.zeros((2, 0), dtype="uint8"), be.zeros((0, 3), dtype="uint8"), one, one, bias=bias)
    np.testing.assert_array_equal(got.to_numpy(), [[0, 1, 2]] * 2)
    assert stator.nn.scaled_matmul(
        be.zeros((0, 4), dtype="uint8"), be.zeros((4, 3), dtype="uint8"), one, one
    ).shape == (0, 3)


def test_eight_bit_errors(be):
    x, one = be.zeros((2, 2), dtype="uint8"), be.asarray(np.float32(1))
    for call, error, text in [
        (lambda: stator.nn.quantize_fp8(be.zeros((2,)), format="e3m4"), InvalidValueError, "e3m4"),
        (lambda: stator.nn.quantize_fp8(be.zeros((2,), dtype="int32")), DTypeError, "int32"),
        (lambda: stator.nn.quantize_fp8(be.zeros((2,)), axis=1), AxisError, "axis 1"),
        (lambda: stator.nn.scaled_matmul(x, be.zeros((2, 2)), one, one), DTypeError, "uint8"),
        (lambda: stator.nn.scaled_matmul(x, be.zeros((3, 2), dtype="uint8"), one, one), ShapeError, r"\(m, k\)"),
        (lambda: stator.nn.scaled_matmul(x, x, be.zeros((2,), dtype="float32"), one), ShapeError, "scale_a"),
        (lambda: stator.nn.scaled_matmul(x, x, one, be.zeros(())), DTypeError, "scale_b"),
        (lambda: stator.nn.scaled_matmul(x, x, one, one, dtype="float64"), DTypeError, "float64"),
        (lambda: stator.nn.scaled_matmul(x, x, one, one, bias=be.zeros((3,))), ShapeError, "bias"),
    ]:
        with pytest.raises(error, match=text):
            call()
    assert stator.nn.scaled_matmul(x, x, one, one).shape == (2, 2)


def test_the_cache_of_plans_has_figures_and_a_limit(be):
    info = stator.linalg.matmul_cache_info()
    assert info.limit > 0
    try:
        stator.linalg.set_matmul_cache_limit(2)
        x = be.zeros((8, 8), dtype="float32")
        for n in (3, 4, 5, 5):
            stator.matmul(x[:n], x)
        seen = stator.linalg.matmul_cache_info()
        assert seen.limit == 2
        if be.device.type == "cuda":
            assert (seen.misses - info.misses, seen.hits - info.hits) == (3, 1)
            assert seen.plans <= 2
        else:
            assert (seen.misses - info.misses, seen.hits - info.hits) == (0, 0)
        stator.linalg.clear_matmul_cache()
        assert stator.linalg.matmul_cache_info().plans == 0
        with pytest.raises(InvalidValueError, match="at least 0"):
            stator.linalg.set_matmul_cache_limit(-1)
    finally:
        stator.linalg.set_matmul_cache_limit(info.limit)


def test_vecdot_conjugates_broadcast_views_once(be):
    z, w = np.array([1 + 2j, 3 - 1j]), np.array([[1j, 2], [3, 4j]])
    got = stator.vecdot(stator.broadcast_to(be.asarray(z), (2, 2)), be.asarray(w))
    np.testing.assert_allclose(got.to_numpy(), np.vecdot(z, w))


@pytest.mark.parametrize(
    ("text", "values", "dtypes"),
    [
        ("i,j->j", ([100, 100], [1]), ("int8", "float64")),
        ("i,j->j", ([1, 1], [1]), ("bool", "float64")),
        ("i,j->j", ([200, 200], [1]), ("uint8", "int64")),
        ("i,j->j", ([1e8, 1], [1]), ("float32", "float64")),
        ("i,j->j", ([2000] * 100, [0.001]), ("float16", "float16")),
        ("i,i,i->", ([300], [300], [0.001]), ("float16", "float16", "float16")),
        ("i,i,i->", ([0.001], [300], [300]), ("float16", "float16", "float16")),
        ("ij,jk,kl->il", ([[300, 1]], [[300], [1]], [[0.001, 0.25]]), ("float16", "float16", "float16")),
        ("i,i->", ([3, 4, 5], [2]), ("float64", "float64")),
    ],
)
def test_einsum_computes_in_the_common_dtype_and_rounds_once(be, text, values, dtypes):
    arrays = [np.array(v, d) for v, d in zip(values, dtypes, strict=True)]
    got = stator.einsum(text, *map(be.asarray, arrays))
    assert got.dtype == np.result_type(*arrays)
    want = np.einsum(text, *[a.astype("float64") for a in arrays])
    np.testing.assert_allclose(got.to_numpy(), want.astype(got.dtype), rtol=0)


@pytest.mark.parametrize(
    ("text", "count"), [("i,i,i->", 3), ("i,j->ij", 2), ("i->", 1), ("i->i", 1), ("i,i->", 2), ("i,j->j", 2)]
)
def test_einsum_of_int8_wraps_or_is_of_the_dtype_asked_for_in_any_order(be, text, count):
    values = [[100], [100], [1]][:count]
    for turn in range(count):
        arrays = [np.array(v, "int8") for v in values[turn:] + values[:turn]]
        wide = stator.einsum(text, *map(be.asarray, arrays), dtype="int32")
        assert wide.dtype == np.int32
        assert wide.to_numpy().ravel()[0] == np.prod(values)
        narrow = stator.einsum(text, *map(be.asarray, arrays))
        assert narrow.dtype == np.int8
        assert narrow.to_numpy().ravel()[0] == np.array(np.prod(values)).astype(np.int8)


SUMS = {
    "dot": lambda x, y, **k: stator.dot(x, y, **k),
    "vecdot": lambda x, y, **k: stator.vecdot(x, y, **k),
    "tensordot": lambda x, y, **k: stator.tensordot(x, y, axes=1, **k),
    "einsum": lambda x, y, **k: stator.einsum("i,i->", x, y, **k),
    "matmul": lambda x, y, **k: stator.matmul(x, y, **k),
    "linalg.vecdot": lambda x, y, **k: stator.linalg.vecdot(x, y, **k),
    "linalg.tensordot": lambda x, y, **k: stator.linalg.tensordot(x, y, axes=1, **k),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_products_have_the_promoted_dtype_or_the_one_asked_for(be, name):
    call = SUMS[name]
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        a, b = np.array([info.max, 3, 2], dtype), np.array([2, info.max, 1], dtype)
        x, y = be.asarray(a), be.asarray(b)
        got, exact = call(x, y).to_numpy(), int(a.astype(object) @ b.astype(object))
        assert got.dtype == np.dtype(dtype)
        assert int(got) == np.array(exact % 2**info.bits, "uint64").astype(dtype)
        if info.bits < 64:
            wide = call(x, y, dtype="int64").to_numpy()
            assert wide.dtype == np.int64
            assert int(wide) == exact
    small, other = be.asarray(np.array([100], "int8")), be.asarray(np.array([2], "uint8"))
    assert call(small, other).dtype == stator.int16
    half = np.full(4096, 0.5, np.float16)
    assert float(call(be.asarray(half), be.asarray(half), dtype="float32")) == 1024
    assert call(be.asarray(half), be.asarray(half), dtype="float64").dtype == stator.float64
    flags = np.array([True, True, False])
    assert call(be.asarray(flags), be.asarray(flags)).dtype == stator.bool
    assert int(call(be.asarray(flags), be.asarray(flags), dtype="int64")) == 2
    for bad, given in (("float32", small), ("int32", be.asarray(half)), ("bool", small)):
        with pytest.raises(DTypeError):
            call(given, given, dtype=bad)


@pytest.mark.parametrize(("text", "shape"), [("......", (2,) * 6), ("ii->i", (1, 3)), ("ii->i", (3, 1))])
def test_einsum_refuses_two_ellipses_and_uneven_diagonals(be, text, shape):
    with pytest.raises(ShapeError) as caught:
        stator.einsum(text, be.ones(shape))
    assert caught.value.op == "einsum"


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("dot", ((3,), (4,))),
        ("vecdot", ((2, 3), (4, 3))),
        ("addmm", ((2, 2), (2, 3), (4, 2))),
        ("addmm", ((7, 7), (0, 3), (3, 4))),
        ("baddbmm", ((2, 2), (2, 2, 3), (3, 3, 2))),
    ],
)
def test_products_that_do_not_fit_name_the_function_called(be, call, shapes):
    with pytest.raises(ShapeError) as caught:
        getattr(stator, call)(*map(be.ones, shapes))
    assert caught.value.op == call
    assert str(shapes[-1]) in str(caught.value) or "(0, 4)" in str(caught.value)


def test_addmm_has_one_dtype_whatever_beta_is(be):
    c, a = be.ones((2, 2), dtype="complex128"), be.ones((2, 2))
    assert [stator.addmm(c, a, a, beta=beta).dtype for beta in (0, 1)] == [np.complex128] * 2


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("inner", [0, 1, 7])
def test_addmm_takes_complex_factors(be, dtype, inner):
    rng = np.random.default_rng(4)

    def drawn(*shape):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)

    c, a, b = drawn(5, 3), drawn(5, inner), drawn(inner, 3)
    for alpha, beta in ((2j, 0), (1 - 1j, 1j), (0.5, -2 + 1j), (1j, 1)):
        want = beta * c.astype("complex128") + alpha * (a.astype("complex128") @ b.astype("complex128"))
        got = stator.addmm(*map(be.asarray, (c, a, b)), alpha=alpha, beta=beta)
        assert got.dtype == dtype
        np.testing.assert_allclose(got.to_numpy(), want, rtol=2e-5 if dtype == "complex64" else 1e-12, atol=1e-6)
        batch = stator.baddbmm(*(be.asarray(x[None]) for x in (c, a, b)), alpha=alpha, beta=beta)
        np.testing.assert_array_equal(batch.to_numpy()[0], got.to_numpy())
    # One complex operand is enough; a complex factor is not.
    got = stator.addmm(be.asarray(c), be.asarray(a.real), be.asarray(b.real), alpha=1j).to_numpy()
    np.testing.assert_allclose(got, c + 1j * (a.real @ b.real), rtol=2e-5, atol=1e-6)
    with pytest.raises(DTypeError, match="complex alpha"):
        stator.addmm(be.asarray(c.real), be.asarray(a.real), be.asarray(b.real), alpha=1j)
