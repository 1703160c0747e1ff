"""Products against wider NumPy: shapes, batches, layouts without copies, compute dtypes, dtype=, out=."""

import inputs
import numpy as np
import pytest
from reference import numpy_dtype, widen

import stator

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
EPS = {
    "float16": 2**-10,
    "bfloat16": 2**-7,
    "float32": 2**-23,
    "float64": 2**-52,
    "complex64": 2**-23,
    "complex128": 2**-52,
}


def make(shape, dtype, seed):
    return inputs.random(np.random.default_rng(seed), shape, dtype, -1, 1)


def check(got, a, b, dtype=None, compute_eps=None):
    """The error of each element is at most a small multiple of eps times (|a| @ |b|)."""
    name = dtype or a.dtype.name
    want = np.matmul(widen(a), widen(b))
    bound = np.matmul(np.abs(widen(a)), np.abs(widen(b))).astype(float)
    inner = compute_eps or min(EPS[name], EPS["float32"])
    error = np.abs(widen(got.to_numpy()) - want).astype(float)
    allowed = (inner * (4 + a.shape[-1]) + EPS[name]) * bound + 1e-30
    assert got.dtype.name == name
    assert got.shape == want.shape
    assert (error <= allowed).all(), f"worst {np.max(error / allowed):.2f} of the bound"


SHAPES = [
    ((3, 4), (4, 5)),
    ((1, 1), (1, 1)),
    ((31, 32), (32, 33)),
    ((100, 257), (257, 64)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (6, 4, 5)),
    ((5, 4), (2, 3, 4, 6)),
    ((7, 4), (3, 4, 1)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_matches_numpy(be, dtype, left, right):
    a, b = make(left, dtype, 1), make(right, dtype, 2)
    check(stator.matmul(be.asarray(a), be.asarray(b)), a, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 33, 300])
def test_a_matrix_times_its_own_transpose(be, dtype, n):
    x = make((n, 57), dtype, 1)
    on = be.asarray(x)
    check(stator.matmul(on, on.mT), x, x.T)
    check(stator.matmul(on.mT, on), x.T, x)
    check(stator.matmul(on[:, 3:], on[:, 3:].mT), x[:, 3:], x[:, 3:].T)
    check(stator.matmul(on[:-1], on[1:].mT), x[:-1], x[1:].T)  # not an array and its own transpose


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5,), (1000, 20), (3, 2049), (2, 200_001)])
def test_products_of_vectors(be, dtype, shape):
    a, b = make(shape, dtype, 1), make(shape, dtype, 2)
    x, y = be.asarray(a), be.asarray(b)
    for p, q, u, v in ((x, y, a, b), (x[..., ::-2], y[..., ::-2], a[..., ::-2], b[..., ::-2])):
        check(stator.vecdot(p, q)[..., None, None], u.conj()[..., None, :], v[..., None])
        check(stator.matmul(p[..., None, :], q[..., None]), u[..., None, :], v[..., None])
    if len(shape) == 2:
        check(stator.vecdot(x, y[0])[..., None, None], a.conj()[..., None, :], b[0][:, None])
        check(stator.vecdot(x.mT, y.mT, axis=-2)[..., None, None], a.conj()[..., None, :], b[..., None])


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_a_product_of_vectors_is_one_launch(be, dtype):
    x = be.asarray(make((50, 300), dtype, 1))
    before = be.statistics()
    stator.vecdot(x, x)
    stator.dot(x[0], x[1])
    after = be.statistics()
    assert after["kernel_launches"] == before["kernel_launches"] + 2
    assert after["library_calls"] == before["library_calls"]


@pytest.mark.parametrize(
    ("left", "right"), [((0, 4), (4, 5)), ((3, 0), (0, 5)), ((0, 3, 4), (4, 2)), ((0,), (0,)), ((3, 4), (4, 0))]
)
def test_empty_operands(be, left, right):
    got = stator.matmul(be.zeros(left), be.zeros(right)).to_numpy()
    np.testing.assert_array_equal(got, np.matmul(np.zeros(left), np.zeros(right)))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16"])
def test_transposed_views_are_not_copied(be, dtype):
    a, b = make((40, 30), dtype, 1), make((50, 40), dtype, 2)
    on_a, on_b = be.asarray(a), be.asarray(b)
    before = be.statistics()
    got = stator.matmul(on_a.T, on_b.T)
    after = be.statistics()
    check(got, a.T, b.T)
    if dtype != "bfloat16":
        assert after["kernel_launches"] == before["kernel_launches"]
    assert after["library_calls"] == before["library_calls"] + 1


def test_a_broadcast_batch_is_one_call(be):
    a, b = make((6, 20, 10), "float32", 1), make((10, 5), "float32", 2)
    on_a, on_b = be.asarray(a), stator.broadcast_to(be.asarray(b), (6, 10, 5))
    before = be.statistics()
    got = stator.matmul(on_a, on_b)
    after = be.statistics()
    check(got, a, b)
    assert after["library_calls"] == before["library_calls"] + 1
    assert after["kernel_launches"] == before["kernel_launches"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_permuted_heads_are_one_call(be, dtype):
    q, k = (make((3, 24, 5, 16), dtype, seed) for seed in (1, 2))  # (batch, time, head, feature)
    heads_q, heads_k = (np.moveaxis(x, 2, 1) for x in (q, k))
    on_q, on_k = be.asarray(q), be.asarray(k)
    permuted_q, permuted_k = (stator.moveaxis(x, 2, 1) for x in (on_q, on_k))
    scores = make((3, 5, 24, 24), dtype, 3)
    on_scores = be.asarray(scores)
    shared = stator.moveaxis(on_k[:1], 2, 1)
    products = [
        (lambda: permuted_q @ permuted_k.mT, heads_q, np.swapaxes(heads_k, -1, -2)),
        (lambda: stator.einsum("bthd,bshd->bhts", on_q, on_k), heads_q, np.swapaxes(heads_k, -1, -2)),
        (lambda: on_scores @ permuted_k, scores, heads_k),
        (lambda: on_scores @ shared, scores, heads_k[:1]),
    ]
    for product, a, b in products:
        before = be.statistics()
        got = product()
        after = be.statistics()
        check(got, a, b)
        assert after["library_calls"] == before["library_calls"] + 1


def test_a_batch_of_three_dimensions(be):
    a, b = make((2, 3, 4, 9, 7), "float32", 1), make((4, 3, 2, 7, 5), "float32", 2)
    check(be.asarray(a) @ stator.permute_dims(be.asarray(b), (2, 1, 0, 3, 4)), a, np.swapaxes(b, 0, 2))


@pytest.mark.parametrize("view", ["sliced", "reversed", "permuted"])
def test_any_strides(be, view):
    a, b = make((6, 8, 10), "float64", 1), make((6, 10, 8), "float64", 2)
    pick = {
        "sliced": (slice(None), slice(1, 8, 3), slice(0, 10, 2)),
        "reversed": (slice(None, None, -1), slice(None, None, -1), slice(None)),
    }
    if view == "permuted":
        got = stator.matmul(
            stator.permute_dims(be.asarray(a), (1, 0, 2)), stator.permute_dims(be.asarray(b), (2, 1, 0))
        )
        check(got, np.transpose(a, (1, 0, 2)), np.transpose(b, (2, 1, 0)))
    else:
        left = a[pick[view]]
        right = b[:, : left.shape[-1]]
        check(stator.matmul(be.asarray(a)[pick[view]], be.asarray(b)[:, : left.shape[-1]]), left, right)


def test_mixed_dtypes_promote_and_dtype_rounds_once(be):
    a, b = make((9, 8), "float16", 1), make((8, 7), "float32", 2)
    check(stator.matmul(be.asarray(a), be.asarray(b)), a.astype(np.float32), b)
    c = make((8, 7), "float16", 3)
    check(stator.matmul(be.asarray(a), be.asarray(c), dtype="float32"), a, c, dtype="float32")


def test_half_products_accumulate_in_float32(be):
    a = np.full((1, 4096), 1.0, np.float16)
    assert stator.matmul(be.asarray(a), be.asarray(a.T)).to_numpy().item() == 4096
    b = np.full((1, 70000), 0.25, numpy_dtype("bfloat16"))
    assert float(stator.matmul(be.asarray(b), be.asarray(b.T)).to_numpy().item()) == float(
        numpy_dtype("bfloat16").type(4375)
    )


def test_compute_dtype_rounds_the_operands(be):
    a, b = make((16, 16), "float32", 1), make((16, 16), "float32", 2)
    got = stator.matmul(be.asarray(a), be.asarray(b), compute_dtype="bfloat16")
    half = numpy_dtype("bfloat16")
    want = np.matmul(a.astype(half).astype(np.float64), b.astype(half).astype(np.float64))
    assert got.dtype == stator.float32
    np.testing.assert_allclose(got.to_numpy(), want, rtol=1e-5, atol=1e-5)


def test_out_and_operators(be):
    a, b = make((4, 4), "float64", 1), make((4, 4), "float64", 2)
    on_a, on_b, out = be.asarray(a), be.asarray(b), be.empty((4, 4))
    assert stator.matmul(on_a, on_b, out=out) is out
    check(out, a, b)
    check(on_a @ on_b, a, b)
    assert stator.linalg.matmul is stator.matmul


@pytest.mark.parametrize(
    ("left", "right"), [((3, 4), (5, 6)), ((4,), (5,)), ((2, 3, 4), (3, 4, 5)), ((), (3,)), ((3, 4), ())]
)
def test_shapes_that_do_not_fit(be, left, right):
    with pytest.raises(stator.errors.ShapeError, match="matmul"):
        stator.matmul(be.zeros(left), be.zeros(right))


@pytest.mark.parametrize(
    ("left", "right"), [*SHAPES, ((0, 4), (4, 5)), ((3, 0), (0, 5)), ((9, 70), (70, 600)), ((256, 260), (260, 256))]
)
def test_int8_products_wrap_and_sum_in_int32_with_a_dtype(be, left, right):
    a, b = (np.random.default_rng(k).integers(-128, 128, s).astype(np.int8) for k, s in enumerate((left, right)))
    want = np.matmul(a.astype(np.int32), b.astype(np.int32))
    x, y = be.asarray(a), be.asarray(b)
    got = stator.matmul(x, y, dtype="int32")
    assert got.dtype == stator.int32
    np.testing.assert_array_equal(got.to_numpy(), want)
    narrow = x @ y
    assert narrow.dtype == stator.int8
    np.testing.assert_array_equal(narrow.to_numpy(), want.astype(np.int8))
    if a.ndim == b.ndim == 2:
        turned = (be.asarray(np.ascontiguousarray(m.T)).T for m in (a, b))
        np.testing.assert_array_equal(stator.matmul(*turned, dtype="int32").to_numpy(), want)
        out = be.zeros(want.shape[::-1], dtype="int64").T
        assert stator.matmul(x, y, dtype="int32", out=out) is out
        np.testing.assert_array_equal(out.to_numpy(), want)
        assert stator.matmul(x, y, out=out) is out
        np.testing.assert_array_equal(out.to_numpy(), want.astype(np.int8))


def test_int8_errors(be):
    x = be.zeros((2, 3), dtype="int8")
    with pytest.raises(stator.errors.ShapeError):
        stator.matmul(x, x)
    with pytest.raises(stator.errors.DTypeError):
        stator.matmul(x, x.T, dtype="float32")
