"""stator.linalg: residuals in units of eps over sizes, batches, dtypes and layouts; errors; NumPy's edge cases."""

import numpy as np
import pytest
import scipy.linalg
from factorisations import CHECKS, DTYPES, assert_small, draw, get, hermitian, norm, positive, source

import stator
from stator import linalg
from stator.errors import DTypeError, LinAlgError, ShapeError

SIZES = [1, 2, 31, 32, 33, 100]
BATCHES = [(), (0,), (1,), (7,), (2, 3)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CHECKS)
def test_sizes(be, name, dtype):
    for n in SIZES:
        CHECKS[name][0](be, source(name, (n,), dtype, n), dtype, "contiguous")


@pytest.mark.parametrize("name", CHECKS)
def test_a_large_matrix(be, name):
    CHECKS[name][0](be, source(name, (257,), "float64"), "float64", "contiguous")


@pytest.mark.parametrize("name", CHECKS)
def test_batches(be, name):
    for batch in BATCHES:
        for n in (5, 40):
            CHECKS[name][0](be, source(name, (*batch, n), "float64"), "float64", "contiguous")


@pytest.mark.parametrize("dtype", DTYPES)
def test_q_of_dependent_columns_is_orthogonal(be, dtype):
    """Rounding leaves columns of almost nothing, whose lengths underflow unless they are scaled."""
    a = np.stack([draw((33, 35), dtype), np.ones((33, 35), dtype)])
    CHECKS["qr"][0](be, a, dtype, "contiguous")


@pytest.mark.parametrize("name", ["cholesky", "solve", "lu_solve", "qr", "eigh"])
def test_a_thousand_small_matrices(be, name):
    CHECKS[name][0](be, source(name, (1000, 4), "float32"), "float32", "contiguous")


def test_every_matrix_of_a_batch_of_hundreds_is_solved(be):
    # a list of pointers has more than 384 and less than 512
    a, b = 3 * np.eye(33) + np.zeros((400, 33, 33)), np.arange(400 * 33.0).reshape(400, 33, 1)
    np.testing.assert_allclose(linalg.solve(be.asarray(a), be.asarray(b)).to_numpy(), b / 3, rtol=1e-12)


@pytest.mark.parametrize("layout", ["transposed", "strided", "reversed"])
@pytest.mark.parametrize("name", CHECKS)
def test_layouts(be, name, layout):
    for n in (6, 37):
        for dtype in ("float32", "complex128"):
            CHECKS[name][0](be, source(name, (3, n), dtype), dtype, layout)


@pytest.mark.parametrize("shape", [(40, 9), (9, 40), (31, 4), (4, 31), (32, 33), (3, 20, 7), (1, 5), (5, 1)])
@pytest.mark.parametrize("name", ["qr", "svd"])
def test_tall_and_wide(be, name, shape):
    for dtype in ("float64", "complex64"):
        CHECKS[name][0](be, draw(shape, dtype), dtype, "contiguous")


@pytest.mark.parametrize("shape", [(40, 9), (9, 40), (3, 7, 5)])
def test_lu_of_rectangles_is_scipys(be, shape):
    a = draw(shape, "float64")
    p, lower, upper = get(*linalg.lu(be.asarray(a)))
    np.testing.assert_allclose(p @ lower @ upper, a, atol=1e-13)
    if a.ndim == 2:
        for got, want in zip((p, lower, upper), scipy.linalg.lu(a), strict=True):
            np.testing.assert_allclose(got, want, atol=1e-13)


@pytest.mark.parametrize("n", [5, 32, 40])
def test_lu_factor_is_scipys(be, n):
    a = draw((n, n), "float64")
    lu, pivots = get(*linalg.lu_factor(be.asarray(a)))
    want, where = scipy.linalg.lu_factor(a)
    np.testing.assert_array_equal(pivots, where)
    np.testing.assert_allclose(lu, want, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 7, 32, 50])
def test_solve_triangular_is_scipys(be, n, dtype):
    a = draw((n, n), dtype) + 3 * n**0.5 * np.eye(n, dtype=dtype)
    for columns in ((), (1,), (40,)):
        b = draw((n, *columns), dtype, 3)
        for lower in (False, True):
            for unit in (False, True):
                for trans in (0, 1, 2):
                    t = a / np.array(n if unit else 1, dtype)
                    got = get(
                        linalg.solve_triangular(
                            be.asarray(t), be.asarray(b), lower=lower, unit_diagonal=unit, trans=trans
                        )
                    )
                    want = scipy.linalg.solve_triangular(t, b, trans=trans, lower=lower, unit_diagonal=unit)
                    np.testing.assert_allclose(
                        got, want, rtol=0, atol=50 * n * np.finfo(dtype).eps * np.abs(want).max()
                    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [4, 45])
def test_a_factor_of_a_batch_is_a_triangle(be, n, upper, dtype):
    a = positive((3, n), dtype)
    factor = get(linalg.cholesky(be.asarray(a), upper=upper))
    np.testing.assert_array_equal(factor, np.triu(factor) if upper else np.tril(factor))
    adjoint = factor.conj().swapaxes(1, 2)
    product = adjoint @ factor if upper else factor @ adjoint
    np.testing.assert_allclose(product, a, rtol=0, atol=50 * n * np.finfo(dtype).eps * np.abs(a).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [4, 45])
def test_cho_solve(be, n, dtype):
    a, b = positive((n,), dtype), draw((n, 2), dtype, 3)
    for lower in (True, False):
        factor = linalg.cholesky(be.asarray(a), upper=not lower)
        x = get(linalg.cho_solve((factor, lower), be.asarray(b)))
        assert_small(a @ x - b, norm(a) * norm(x), dtype, n)


def test_right_hand_sides_broadcast(be):
    for n in (4, 40):
        a, b = draw((3, 1, n, n), "float64") + 2 * n * np.eye(n), draw((5, n, 2), "float64", 1)
        got = get(linalg.solve(be.asarray(a), be.asarray(b)))
        np.testing.assert_allclose(got, np.linalg.solve(a, b), atol=1e-12)
        vector = draw((n,), "float64", 2)
        got = get(linalg.solve(be.asarray(a[0, 0]), be.asarray(vector)))
        np.testing.assert_allclose(got, np.linalg.solve(a[0, 0], vector), atol=1e-12)
        many = draw((n, 70), "float64", 3)
        got = get(linalg.solve(be.asarray(a[0, 0]), be.asarray(many)))
        np.testing.assert_allclose(got, np.linalg.solve(a[0, 0], many), atol=1e-12)


def test_integers_become_float64_and_dtypes_promote(be):
    a = np.array([[2, 1], [1, 3]])
    assert linalg.inv(be.asarray(a)).dtype == stator.float64
    got = linalg.solve(be.asarray(a.astype(np.float32)), be.asarray(np.array([1.0, 2])))
    assert got.dtype == stator.float64
    np.testing.assert_allclose(get(got), np.linalg.solve(a, [1.0, 2]))


@pytest.mark.parametrize("n", [4, 40])
def test_a_singular_matrix_is_named(be, n):
    a = np.stack([np.eye(n), np.eye(n), np.zeros((n, n)), np.zeros((n, n))])
    on = be.asarray(a)
    for call in (linalg.inv, linalg.lu_factor, lambda x: linalg.solve(x, be.asarray(np.ones((4, n, 1))))):
        with pytest.raises(LinAlgError, match="Matrix 2 of the batch is singular") as caught:
            call(on)
        assert caught.value.index == 2
        assert isinstance(caught.value, np.linalg.LinAlgError)
    np.testing.assert_array_equal(get(linalg.inv(on[:2])), a[:2])  # the next call is correct
    _, info = linalg.inv(on, check=False)
    np.testing.assert_array_equal(get(info), [0, 0, 1, 1])
    (_, _), info = linalg.lu_factor(on, check=False)
    assert info.dtype == stator.int32
    np.testing.assert_array_equal(get(linalg.det(on)), [1, 1, 0, 0])
    sign, log = get(*linalg.slogdet(on))
    np.testing.assert_array_equal(sign, [1, 1, 0, 0])
    np.testing.assert_array_equal(log, [0, 0, -np.inf, -np.inf])


@pytest.mark.parametrize("n", [4, 40])
def test_an_indefinite_matrix_is_named(be, n):
    a = np.stack([np.eye(n), -np.eye(n)])
    with pytest.raises(LinAlgError, match="Matrix 1 of the batch is not positive definite") as caught:
        linalg.cholesky(be.asarray(a))
    assert caught.value.index == 1 and caught.value.op == "linalg.cholesky"
    factor, info = linalg.cholesky(be.asarray(a), check=False)
    np.testing.assert_array_equal(get(info), [0, 1])
    np.testing.assert_array_equal(get(factor)[0], np.eye(n))


@pytest.mark.parametrize("n", [4, 40])
def test_a_zero_on_the_diagonal_of_a_triangle(be, n):
    a = np.eye(n)
    a[2, 2] = 0
    with pytest.raises(LinAlgError, match="info 3"):
        linalg.solve_triangular(be.asarray(a), be.asarray(np.ones(n)))
    _, info = linalg.solve_triangular(be.asarray(a), be.asarray(np.ones(n)), check=False)
    assert int(info) == 3
    linalg.solve_triangular(be.asarray(a), be.asarray(np.ones(n)), unit_diagonal=True)


@pytest.mark.parametrize("n", [4, 23, 40])
def test_nan_does_not_reach_the_next_matrix(be, n):
    a = np.stack([np.full((n, n), np.nan), np.eye(n), np.eye(n)])
    (u, s, vh), info = linalg.svd(be.asarray(a), check=False)
    np.testing.assert_array_equal(get(info), [-1, 0, 0])
    for x in map(get, (u, s, vh)):
        assert np.isnan(x[0]).all() and np.isfinite(x[1:]).all()


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_end(be, n, value):
    a = np.stack([np.eye(n), np.eye(n)])
    a[1, 2, 1] = value
    on = be.asarray(a)
    for call in (linalg.eigh, linalg.eigvalsh, linalg.svd, linalg.svdvals, linalg.eig, linalg.eigvals, linalg.pinv):
        with pytest.raises(LinAlgError, match="Matrix 1 of the batch holds NaN or infinity"):
            call(on)
    values, info = linalg.eigvalsh(on, check=False)
    np.testing.assert_array_equal(get(info), [0, -1])
    np.testing.assert_array_equal(np.isnan(get(values)), [[False] * n, [True] * n])
    (u, s, vh), info = linalg.svd(on, check=False)
    assert np.isnan(get(u)[1]).all() and np.isnan(get(vh)[1]).all() and np.isfinite(get(s)[0]).all()
    if np.isnan(value):
        assert np.isnan(get(linalg.solve(on, be.asarray(np.ones((2, n, 1))), check=False)[0])[1]).any()
        a[1, 1, 1] = value
        with pytest.raises(LinAlgError):
            linalg.cholesky(be.asarray(a))


def test_unchecked_calls_do_not_synchronise(be):
    a = be.asarray(positive((3, 40), "float64"))
    before = be.statistics()["d2h_bytes"]
    for call in (linalg.cholesky, linalg.inv, linalg.eigh, linalg.svd, linalg.eig, linalg.lu_factor):
        call(a, check=False)
    linalg.det(a), linalg.qr(a), linalg.lu(a), linalg.slogdet(a)
    assert be.statistics()["d2h_bytes"] == before


def test_empty_matrices_are_numpys(be):
    none, no_batch = be.zeros((2, 0, 0)), be.zeros((0, 3, 3))
    np.testing.assert_array_equal(get(linalg.det(none)), [1, 1])
    np.testing.assert_array_equal(get(linalg.slogdet(none).sign), [1, 1])
    assert linalg.inv(none).shape == (2, 0, 0)
    assert linalg.cholesky(no_batch).shape == (0, 3, 3)
    assert linalg.eigh(no_batch).eigenvalues.shape == (0, 3)
    assert linalg.eig(none).eigenvectors.shape == (2, 0, 0)
    assert linalg.solve(none, be.zeros((2, 0, 4))).shape == (2, 0, 4)
    u, s, vh = linalg.svd(be.zeros((0, 3)))
    want = np.linalg.svd(np.zeros((0, 3)))
    for got, expected in zip((u, s, vh), want, strict=True):
        np.testing.assert_array_equal(get(got), expected)
    q, r = linalg.qr(be.zeros((3, 0)), mode="complete")
    np.testing.assert_array_equal(get(q), np.eye(3))
    assert r.shape == (3, 0)
    assert linalg.pinv(be.zeros((3, 0))).shape == (0, 3)
    assert int(linalg.matrix_rank(be.zeros((3, 0)))) == 0


@pytest.mark.parametrize("name", ["cholesky", "inv", "det", "slogdet", "eigh", "eigvalsh", "eig", "eigvals"])
def test_shapes_that_are_not_square(be, name):
    for shape in ((3, 4), (2, 3, 4), (3,), ()):
        with pytest.raises(ShapeError) as caught:
            getattr(linalg, name)(be.zeros(shape))
        assert caught.value.op == f"linalg.{name}"
    getattr(linalg, name)(be.asarray(np.eye(2)))


def test_mismatched_operands(be):
    a = be.asarray(np.eye(3))
    for b in ((4,), (4, 2), ()):
        for call in (linalg.solve, linalg.solve_triangular, linalg.lstsq):
            with pytest.raises(ShapeError):
                call(a, be.zeros(b))
    with pytest.raises(ShapeError):
        linalg.solve(be.zeros((2, 3, 3)), be.zeros((4, 3, 1)))
    with pytest.raises(DTypeError, match="float16"):
        linalg.inv(be.zeros((2, 2), dtype="float16"))
    with pytest.raises(DTypeError):
        linalg.lu_solve((a, be.zeros((3,))), be.zeros((3,)))
    with pytest.raises(ShapeError):
        linalg.lu_solve((a, be.zeros((2,), dtype="int32")), be.zeros((3,)))
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(a, mode="raw")
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(a, UPLO="X")
    with pytest.raises(ValueError, match="trans"):
        linalg.solve_triangular(a, be.zeros((3,)), trans=5)
    with pytest.raises(DTypeError):
        linalg.cho_solve(a, be.zeros((3,)))


def test_pivots_out_of_range_read_nothing_outside(be):
    for n in (3, 40):
        pivots = be.asarray(np.full(n, 10**6, np.int32))
        linalg.lu_solve((be.asarray(np.eye(n)), pivots), be.zeros((n,))).to_numpy()


def test_a_hermitian_matrix_of_extremes(be):
    for dtype, sizes in (("float32", (1e-30, 1e30)), ("float64", (1e-200, 1e200))):
        for size in sizes:
            a = hermitian((6,), dtype) * np.array(size, dtype)
            w = get(linalg.eigvalsh(be.asarray(a)))
            want = np.linalg.eigvalsh(a.astype(np.float64))
            np.testing.assert_allclose(w, want, rtol=1e-4, atol=np.finfo(dtype).eps * np.abs(want).max() * 8)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("ord", [0, 1, 2, 3, np.inf])
def test_norms_of_complex_columns(be, ord, dtype):
    x = draw((100, 50), dtype)
    want = np.linalg.norm(x.astype(np.complex128), ord=ord, axis=0)
    got = linalg.vector_norm(be.asarray(x), axis=0, ord=ord).to_numpy()
    np.testing.assert_allclose(got, want, rtol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_eigenvalues_of_complex_triangles_of_many_columns_are_their_diagonals(be, dtype):
    rng = np.random.default_rng(12)
    x = np.triu(rng.normal(size=(2, 70, 70)) + 1j * rng.normal(size=(2, 70, 70))).astype(dtype)
    got = np.sort(linalg.eigvals(be.asarray(x)).to_numpy(), axis=1)
    want = np.sort(np.diagonal(x, axis1=1, axis2=2), axis=1)
    np.testing.assert_allclose(got, want, rtol=100 * np.finfo(dtype).eps)
