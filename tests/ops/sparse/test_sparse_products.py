"""Arithmetic of sparse matrices against NumPy in higher precision."""

import inputs
import numpy as np
import pytest
import scipy.sparse as sp
from cases import TABLE
from reference import assert_matches, numpy_dtype, widen
from sparse_inputs import DTYPES, INDICES, SHAPES, dense, on, on_device

import stator
from stator import errors, sparse

LAYOUTS = ["contiguous", "transposed", "sliced", "reversed"]


def close(got, a, b, what=""):
    """got is a @ b within a few units in the last place of the sum of magnitudes; halves are rounded once."""
    scale = np.abs(widen(a)) @ np.abs(widen(b))
    assert_matches(got.to_numpy(), widen(a) @ widen(b), (8, 8), what, scale=scale)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(
    ("index", "n"), [("int64", None), ("int64", 33), *(("int32", n) for n in (None, 0, 1, 3, 4, 33))]
)
def test_matrix_times_dense(be, name, index, n):
    x = dense(name, "float64")
    shape = (x.shape[1],) if n is None else (x.shape[1], n)
    b = np.random.default_rng(1).normal(size=shape)
    a = on(be, x, index=index)
    got = a @ be.asarray(b)
    assert got.shape == (x @ b).shape
    close(got, x, b, name)
    if n in (None, 3) and index == "int32":
        close(a.to_csc() @ be.asarray(b), x, b, "csc")
        close(a.to_coo() @ be.asarray(b), x, b, "coo")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [1, 8, 32])
def test_every_dtype_and_layout(be, dtype, layout, n):
    x = dense("random", dtype)
    b = inputs.random(np.random.default_rng(2), (x.shape[1], n), dtype, -1, 1)
    got = on(be, x) @ on_device(be, b, layout)
    assert got.dtype == dtype
    close(got, x, b)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 8])
def test_our_own_products_of_every_dtype(be, dtype, n):
    x = dense("random", dtype)
    b = inputs.random(np.random.default_rng(2), (x.shape[1], n), dtype, -1, 1)
    with stator.Backend(str(be.device), deterministic=True) as own:
        close(on(own, x) @ own.asarray(b), x, b)


def test_more_columns_than_a_tile(be):
    x, b = dense("random", "float32"), np.random.default_rng(1).normal(size=(45, 700)).astype(np.float32)
    close(on(be, x) @ be.asarray(b), x, b)
    close(on(be, x) @ be.asarray(b[:, :699]), x, b[:, :699])


def test_strided_and_broadcast_vectors(be):
    x, v = dense("random", "float32"), np.random.default_rng(0).normal(size=90).astype(np.float32)
    a, on_v = on(be, x), be.asarray(v)
    close(a @ on_v[::2], x, v[::2])
    close(a @ on_v[::-2], x, v[::-2])
    same = stator.broadcast_to(on_v[:1], (45,))
    close(a @ same, x, np.broadcast_to(v[:1], (45,)))


def test_dense_times_sparse(be):
    x, b = dense("random", "float64"), np.random.default_rng(0).normal(size=(5, 67))
    for a in (on(be, x), on(be, x).to_csc(), on(be, x).to_coo()):
        got = be.asarray(b) @ a
        assert got.shape == (5, 45)
        close(got, b, x)
        close(be.asarray(b[0]) @ a, b[0], x)


def test_mixed_dtypes_promote(be):
    x = dense("random", "float32")
    b = np.random.default_rng(0).normal(size=(45, 6))
    assert (on(be, x) @ be.asarray(b)).dtype == "float64"
    close(on(be, x) @ be.asarray(b), x.astype(float), b)
    assert (on(be, x) @ be.asarray(b.astype(np.complex64))).dtype == "complex64"
    assert (on(be, x) @ be.asarray(np.ones((45, 2), int))).dtype == "float64"


def test_nan_and_infinity_reach_their_rows_alone(be):
    x = np.eye(4)
    b = np.array([np.nan, np.inf, -np.inf, 2.0])
    np.testing.assert_array_equal((on(be, x) @ be.asarray(b)).to_numpy(), b)


def test_equal_input_gives_equal_bits(be):
    x = np.where(np.random.default_rng(0).random((500, 700)) < 0.3, np.random.default_rng(1).normal(size=(500, 700)), 0)
    a, b = on(be, x.astype(np.float32)), be.asarray(np.random.default_rng(2).normal(size=(700, 40)).astype(np.float32))
    first = (a @ b).to_numpy()
    for _ in range(3):
        np.testing.assert_array_equal((a @ b).to_numpy(), first)


def test_out(be):
    x, b = dense("random", "float32"), np.random.default_rng(0).normal(size=(45, 6)).astype(np.float32)
    out = be.zeros((67, 6), dtype="float64")
    assert sparse.matmul(on(be, x), be.asarray(b), out=out) is out
    close(out.astype("float32"), x, b)
    turned = be.zeros((6, 67), dtype="float32")
    sparse.matmul(on(be, x), be.asarray(b), out=turned.T)
    close(turned.T, x, b)
    with pytest.raises(stator.errors.ShapeError, match="Out has shape"):
        sparse.matmul(on(be, x), be.asarray(b), out=be.zeros((6, 67)))
    square = on(be, np.diag(np.arange(1.0, 4.0)) + np.eye(3, k=1))
    y = be.asarray(np.ones((3, 5)))
    sparse.matmul(square, y, out=y)
    np.testing.assert_array_equal(y.to_numpy(), np.repeat([[2.0], [3.0], [3.0]], 5, axis=1))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_sums(be, name, dtype):
    x = dense(name, dtype)
    a = on(be, x)
    for made in (a, a.to_csc(), a.to_coo()):
        for axis in (0, 1):
            want = widen(x).sum(axis=axis)
            assert_matches(made.sum(axis=axis).to_numpy(), want, (8, 8), scale=np.abs(widen(x)).sum(axis=axis))
        assert_matches(made.sum().to_numpy(), widen(x).sum(), (8, 8), scale=np.abs(widen(x)).sum())
    with pytest.raises(ValueError, match="axis"):
        a.sum(axis=2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("lengths", [[7] * 40, range(40), [0] * 60 + [5000]], ids=["short", "all", "long"])
def test_sums_of_rows_whose_entries_are_all_in_the_first_column(be, lengths, index, dtype):
    indptr = np.cumsum([0, *lengths])
    parts = (np.ones(indptr[-1], numpy_dtype(dtype)), np.zeros(indptr[-1], index), indptr.astype(index))
    a = sparse.CSR(*map(be.asarray, parts), (len(indptr) - 1, 3))
    np.testing.assert_array_equal(widen(a.sum(axis=1).to_numpy()), widen(np.diff(indptr).astype(numpy_dtype(dtype))))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sum_of_two(be, dtype):
    rng = np.random.default_rng(7)
    x, y = (np.where(rng.random((50, 70)) < 0.2, rng.integers(-4, 5, (50, 70)), 0) for _ in range(2))
    x, y = x.astype(numpy_dtype(dtype)), y.astype(numpy_dtype(dtype))
    a, b = on(be, x), on(be, y, index="int64")
    for left in (a, a.to_csc(), a.to_coo()):
        for right in (b, b.to_csc(), b.to_coo()):
            got = left + right
            assert got.is_coalesced and got.dtype == dtype
            assert isinstance(
                got, sparse.CSC if isinstance(left, sparse.CSC) == isinstance(right, sparse.CSC) == 1 else sparse.CSR
            )
            np.testing.assert_array_equal(got.to_dense().to_numpy(), x + y)
    np.testing.assert_array_equal((a - b).to_dense().to_numpy(), x - y)
    np.testing.assert_array_equal(sparse.add(a, b, alpha=2, beta=-3).to_dense().to_numpy(), 2 * widen(x) - 3 * widen(y))


@pytest.mark.parametrize("index", INDICES)
def test_sum_of_two_with_repeated_entries_and_rows_that_are_empty(be, index):
    rng = np.random.default_rng(12)
    want, both = 0, []
    for _ in range(2):
        count = rng.integers(0, 4, 64)
        indptr = np.concatenate([[0], np.cumsum(count)])
        indices = np.concatenate([np.sort(rng.integers(0, 3, n)) for n in count])
        values = rng.integers(1, 9, len(indices)).astype("float64")
        parts = (be.asarray(v) for v in (values, indices.astype(index), indptr.astype(index)))
        both.append(sparse.CSR(*parts, (64, 3), is_sorted=True))
        want = want + sp.csr_array((values, indices, indptr), shape=(64, 3)).toarray()
    got = both[0] + both[1]
    assert got.nnz == np.count_nonzero(want)
    np.testing.assert_array_equal(got.to_dense().to_numpy(), want)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_factors(be, dtype):
    rng = np.random.default_rng(10)
    p = np.array([[1 + 2j, 0, 3], [0, -1j, 0]], dtype)
    x, y = inputs.random(rng, (2, 5), dtype, -1, 1), inputs.random(rng, (5, 3), dtype, -1, 1)
    a = on(be, p)
    for got, want in (
        (sparse.add(a, a, alpha=2j, beta=1 - 1j), (1 + 1j) * widen(p)),
        (
            sparse.sddmm(a, be.asarray(x), be.asarray(y), alpha=2j, beta=1 - 3j),
            (p != 0) * (2j * (widen(x) @ widen(y)) + (1 - 3j) * widen(p)),
        ),
    ):
        assert got.dtype == dtype
        assert_matches(got.to_dense().to_numpy(), want, (8, 8), scale=np.full(p.shape, 20.0))
    endless = on(be, np.array([[np.inf + 1j]], dtype))
    np.testing.assert_array_equal(sparse.add(endless, endless).to_dense().to_numpy(), [[np.inf + 2j]])
    real = on(be, p.real)
    with pytest.raises(errors.DTypeError, match="complex beta"):
        sparse.add(real, real, beta=1j)
    with pytest.raises(errors.DTypeError, match="complex alpha"):
        sparse.sddmm(real, be.asarray(x.real), be.asarray(y.real), alpha=1j)


@pytest.mark.parametrize("name", SHAPES)
def test_sums_of_any_shape(be, name):
    x = dense(name, "float64")
    got = on(be, x) + on(be, x)
    np.testing.assert_array_equal(got.to_dense().to_numpy(), 2 * x)
    assert got.nnz == np.count_nonzero(x)
    np.testing.assert_array_equal(sparse.add(on(be, x), on(be, x), nnz=got.nnz).to_dense().to_numpy(), 2 * x)


def test_a_sum_with_a_wrong_number_of_entries(be):
    a = on(be, np.eye(3))
    sparse.add(a, a, nnz=2)
    with pytest.raises(IndexError, match=r"sparse\.add"):
        be.synchronize()
    be.synchronize()


@pytest.mark.parametrize("dtype", DTYPES)
def test_scaling(be, dtype):
    x = dense("random", dtype)
    for a in (on(be, x), on(be, x).to_csc(), on(be, x).to_coo()):
        np.testing.assert_array_equal((2 * a).to_dense().to_numpy(), 2 * x)
        np.testing.assert_array_equal((a * np.float32(0.5)).to_dense().to_numpy(), (x * x.dtype.type(0.5)))
        np.testing.assert_array_equal((a / 2).to_dense().to_numpy(), x / x.dtype.type(2))
        np.testing.assert_array_equal((-a).to_dense().to_numpy(), -x)
        assert type(2 * a) is type(a) and (2 * a).dtype == dtype
    assert a.astype("complex128").dtype == "complex128"


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_of_two(be, dtype):
    rng = np.random.default_rng(8)
    x = np.where(rng.random((40, 60)) < 0.2, rng.integers(-3, 4, (40, 60)), 0).astype(numpy_dtype(dtype))
    y = np.where(rng.random((60, 51)) < 0.2, rng.integers(-3, 4, (60, 51)), 0).astype(numpy_dtype(dtype))
    a, b = on(be, x), on(be, y)
    for left, right in ((a, b), (a.to_csc(), b.to_csc()), (a.to_coo(), b.to_coo())):
        got = left @ right
        assert isinstance(got, sparse.CSR) and got.is_sorted and got.is_coalesced
        np.testing.assert_array_equal(got.to_dense().to_numpy(), widen(x) @ widen(y))
        want = abs(sp.csr_array(widen(x) != 0).astype(float) @ sp.csr_array(widen(y) != 0).astype(float))
        assert got.nnz == want.nnz


@pytest.mark.parametrize("name", SHAPES)
def test_products_of_any_shape(be, name):
    x = dense(name, "float64")
    a = on(be, x)
    got = a @ a.T
    assert got.shape == (x.shape[0], x.shape[0])
    # Up to 3000 products are added one after the other.
    scale = np.abs(widen(x)) @ np.abs(widen(x)).T
    assert_matches(got.to_dense().to_numpy(), widen(x) @ widen(x).T, (64, 64), scale=scale)


def test_a_product_with_repeated_entries(be):
    row, col = be.asarray(np.array([0, 0, 1])), be.asarray(np.array([1, 1, 0]))
    a = sparse.COO(be.asarray(np.array([1.0, 2.0, 5.0])), row, col, (2, 2))
    np.testing.assert_array_equal((a @ a).to_dense().to_numpy(), [[15, 0], [0, 15]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [0, 1, 31, 70])
def test_sampled_product(be, dtype, k):
    rng = np.random.default_rng(9)
    p = dense("random", dtype)
    x, y = inputs.random(rng, (67, k), dtype, -1, 1), inputs.random(rng, (k, 45), dtype, -1, 1)
    pattern = on(be, p)
    got = sparse.sddmm(pattern, be.asarray(x), be.asarray(y)).to_dense().to_numpy()
    assert_matches(got, (widen(x) @ widen(y)) * (p != 0), (8, 8), scale=(np.abs(widen(x)) @ np.abs(widen(y))))
    turned = inputs.on_device(be, inputs.layouts()["transposed"](y))
    got = sparse.sddmm(pattern, be.asarray(x), turned, alpha=2, beta=3).to_dense().to_numpy()
    spaced = on_device(be, y, "sliced")  # which cuSPARSE does not take
    again = sparse.sddmm(pattern, be.asarray(x), spaced, alpha=2, beta=3).to_dense().to_numpy()
    want = 2 * (widen(x) @ widen(y)) * (p != 0) + 3 * widen(p)
    scale = 2 * np.abs(widen(x)) @ np.abs(widen(y)) + 3 * np.abs(widen(p))
    assert_matches(got, want, (8, 8), scale=scale)
    assert_matches(again, want, (8, 8), scale=scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [None, 1, 5, 40])
def test_triangular_systems(be, dtype, lower, n):
    rng = np.random.default_rng(10)
    m = 50
    x = np.where(rng.random((m, m)) < 0.1, rng.uniform(-0.5, 0.5, (m, m)), 0) + np.diag(rng.uniform(1, 2, m))
    x = x.astype(numpy_dtype(dtype))
    triangle = np.tril(widen(x)) if lower else np.triu(widen(x))
    b = inputs.random(rng, (m,) if n is None else (m, n), dtype, -1, 1)
    eps = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-7, "complex64": 1e-7}.get(dtype, 1e-15)
    got = sparse.spsolve_triangular(on(be, x), be.asarray(b), lower=lower).to_numpy()
    assert got.dtype == b.dtype
    np.testing.assert_allclose(triangle @ widen(got), widen(b), rtol=0, atol=40 * eps)
    unit = triangle - np.diag(np.diag(triangle)) + np.eye(m)
    got = sparse.spsolve_triangular(on(be, x), be.asarray(b), lower=lower, unit_diagonal=True).to_numpy()
    np.testing.assert_allclose(unit @ widen(got), widen(b), rtol=0, atol=100 * eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
def test_triangles_whose_columns_are_in_no_order(be, dtype, index):
    """cuSPARSE takes none of them. Rows are long enough for unrolled loops."""
    m = 140
    rng = np.random.default_rng(11)
    x = rng.uniform(-0.5, 0.5, (m, m)) / m + np.eye(m)
    if "complex" in dtype:
        x = x + 1j * rng.uniform(-0.5, 0.5, (m, m)) / m
    x = x.astype(numpy_dtype(dtype))
    order = rng.permutation(m)
    parts = x[:, order].ravel(), np.tile(order, m).astype(index), m * np.arange(m + 1, dtype=index)
    a = sparse.CSR(*map(be.asarray, parts), (m, m))
    b = inputs.random(rng, (m, 2), dtype, -1, 1)
    for lower, triangle in ((True, np.tril), (False, np.triu)):
        got = sparse.spsolve_triangular(a, be.asarray(b), lower=lower).to_numpy()
        apart = {"float16": 1e-2, "bfloat16": 1e-1, "float32": 1e-5, "complex64": 1e-5}.get(dtype, 1e-13)
        np.testing.assert_allclose(triangle(widen(x)) @ widen(got), widen(b), rtol=0, atol=apart)


@pytest.mark.parametrize("n", [None, 3, 40])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_singular_triangle_names_its_row(be, n, dtype):
    x = np.diag(np.arange(1.0, 9.0)).astype(numpy_dtype(dtype))
    x[5, 2] = 1
    x[3, 3] = x[6, 6] = 0
    b = be.asarray(np.ones((8,) if n is None else (8, n)).astype(numpy_dtype(dtype)))
    zeros = sparse.CSR(
        *(be.asarray(v) for v in (x[[0, 1, 3], [0, 1, 3]], np.array([0, 1, 2]))),
        be.asarray(np.array([0, 1, 2, 3])),
        (3, 3),
    )  # stored zeros
    with pytest.raises(np.linalg.LinAlgError, match="row 2"):
        sparse.spsolve_triangular(zeros, b[:3])
    for lower in (True, False):
        with pytest.raises(np.linalg.LinAlgError, match=r"sparse\.spsolve_triangular.*row 3"):
            sparse.spsolve_triangular(on(be, x), b, lower=lower)
        before = be.statistics()["d2h_bytes"]
        got, info = sparse.spsolve_triangular(on_device_known(be, x), b, lower=lower, check=False)
        assert be.statistics()["d2h_bytes"] == before
        assert int(info) == 4 and not np.isfinite(widen(got.to_numpy())[3]).any()
        sparse.spsolve_triangular(on(be, x), b, lower=lower, unit_diagonal=True)
    fine = sparse.csr_from_dense(be.asarray(np.eye(8).astype(numpy_dtype(dtype))))
    assert int(sparse.spsolve_triangular(fine, b, check=False)[1]) == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("row", range(1, 7))
def test_a_stored_zero_on_a_full_triangle_is_found_in_any_place(be, row, index, dtype):
    one = 1j if "complex" in dtype else 1  # whose real part is zero
    x = np.full((7, 7), one, numpy_dtype(dtype))
    x[row, row] = 0
    parts = x.ravel(), np.arange(49, dtype=index) % 7, 7 * np.arange(8, dtype=index)
    a = sparse.CSR(*map(be.asarray, parts), (7, 7)).check()
    with pytest.raises(np.linalg.LinAlgError, match=f"row {row}"):
        sparse.spsolve_triangular(a, be.asarray(np.ones(7, numpy_dtype(dtype))))


def on_device_known(be, x):
    return sparse.csr_from_dense(be.asarray(x), nnz=int(np.count_nonzero(x)))


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_every_dtype_and_index(be, dtype, index):
    """Values that half types must round; sums are within the bound of the exact ones."""
    rng = np.random.default_rng(12)
    x = np.where(rng.random((33, 70)) < 0.3, inputs.random(rng, (33, 70), dtype, -1, 1), 0).astype(numpy_dtype(dtype))
    y = np.where(rng.random((70, 41)) < 0.3, inputs.random(rng, (70, 41), dtype, -1, 1), 0).astype(numpy_dtype(dtype))
    a, b = on(be, x, index=index), on(be, y, index=index)
    got = a @ b
    assert got.dtype == dtype and got.indices.dtype == index and got.indptr.dtype == index
    close(got.to_dense(), x, y)
    left, right = (inputs.random(rng, s, dtype, -1, 1) for s in ((33, 20), (20, 70)))
    got = sparse.sddmm(a, be.asarray(left), be.asarray(right))
    assert got.dtype == dtype and got.indices.dtype == index
    want = (widen(left) @ widen(right)) * (x != 0)
    assert_matches(got.to_dense().to_numpy(), want, (8, 8), scale=np.abs(widen(left)) @ np.abs(widen(right)))


def test_shapes_that_do_not_fit(be):
    a, errors = on(be, np.ones((3, 4))), stator.errors
    with pytest.raises(errors.ShapeError, match=r"\(3, 4\) times shape \(3,\)"):
        a @ be.asarray(np.ones(3))
    with pytest.raises(errors.ShapeError):
        a @ be.asarray(np.ones((4, 2, 2)))
    with pytest.raises(errors.ShapeError, match="columns of the left"):
        a @ a
    with pytest.raises(errors.ShapeError, match="equal shapes"):
        a + a.T.to_csr()
    with pytest.raises(errors.ShapeError, match="square"):
        sparse.spsolve_triangular(a, be.asarray(np.ones(3)))
    with pytest.raises(errors.ShapeError, match="right-hand"):
        sparse.spsolve_triangular(on(be, np.eye(3)), be.asarray(np.ones(4)))
    with pytest.raises(errors.ShapeError, match="rows, k"):
        sparse.sddmm(a, be.asarray(np.ones((3, 2))), be.asarray(np.ones((3, 4))))
    with pytest.raises(errors.DTypeError, match="sparse"):
        sparse.add(a, be.asarray(np.ones((3, 4))))
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(TypeError):
        a @ np.ones(4)
    with pytest.raises(TypeError):
        a * be.asarray(np.ones(4))
    assert (a @ be.asarray(np.ones(4))).to_numpy().tolist() == [4, 4, 4]


def test_a_matrix_takes_no_factor_but_a_number(be):
    a = on(be, np.eye(4))
    for factor in (a, be.asarray(np.ones(4)), np.ones(4), None):
        for multiply in (lambda f: a * f, lambda f: f * a, lambda f: a / f):
            with pytest.raises(TypeError, match=r"unsupported operand|does not support"):
                multiply(factor)


@pytest.mark.parametrize("n", [1, 4, 9, 40])
def test_long_rows_err_as_short_ones_do(be, n):
    x = np.random.default_rng(0).random((1, 200_000), dtype=np.float32)
    b = np.random.default_rng(1).random((200_000, n), dtype=np.float32)
    # stator's own kernels, which a deterministic backend takes: libraries add in any order.
    with stator.Backend(str(be.device), deterministic=True) as own:
        got = on(own, x) @ own.asarray(b)
        assert_matches(got.to_numpy(), widen(x) @ widen(b), (4, 4))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 4])
def test_long_rows_are_within_the_bound_that_grows_with_them(be, n, dtype):
    terms = 20_000
    x = np.random.default_rng(0).random((1, terms)).astype(dtype)
    b = np.random.default_rng(1).random((terms, n)).astype(dtype)
    want = widen(x).astype(np.longdouble) @ widen(b).astype(np.longdouble)
    bound = TABLE["csr_matmul"]["tolerance"][dtype] + terms * TABLE["csr_matmul"]["error_per_term"]
    assert_matches((on(be, x) @ be.asarray(b)).to_numpy(), want, (bound, bound))


def test_a_factor_of_zero_leaves_nothing_of_what_memory_held(be):
    a, left, right = on(be, np.eye(40)), be.asarray(np.ones((40, 3))), be.asarray(np.ones((3, 40)))
    be.full((40,), np.nan).to_numpy()  # its memory is the next that is taken
    got = sparse.sddmm(a, left, right, beta=0)
    assert got.data.to_numpy().tolist() == [3] * 40
