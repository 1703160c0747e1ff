"""stator.linalg at its limits: dependent rows, numbers near overflow and underflow, empty matrices."""

import warnings

import numpy as np
import pytest
from factorisations import CHECKS, adjoint, assert_small, draw, get

from stator import linalg
from stator.errors import InvalidValueError, LinAlgError

DTYPES = ["float32", "float64", "complex64", "complex128"]
INDEFINITE = np.array([[1.0, 2, 3], [2, 1, 4], [3, 4, 1]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("equal", ["rows", "columns"])
def test_qr_of_dependent_vectors_is_finite_and_right(be, dtype, equal):
    for seed in range(8):
        row = np.random.default_rng(seed).normal(size=32)
        a = (np.tile(row, (32, 1)) * (1 + 2j if dtype.startswith("complex") else 1)).astype(dtype)
        a = a if equal == "rows" else np.ascontiguousarray(a.T)
        q, r = (x.to_numpy() for x in linalg.qr(be.asarray(a)))
        eps = np.finfo(dtype).eps
        assert np.abs(q @ r - a).max() < 100 * eps * np.abs(a).max()
        assert np.abs(q.conj().T @ q - np.eye(32)).max() < 200 * eps


@pytest.mark.parametrize(("dtype", "tiny"), [("float64", 1e-310), ("float32", 1e-39)])
def test_qr_of_subnormal_numbers(be, dtype, tiny):
    q, r = linalg.qr(be.asarray(np.full((2, 1), tiny, dtype)))
    np.testing.assert_allclose(q.to_numpy(), -np.sqrt(np.full((2, 1), 0.5)), rtol=1e-6)
    np.testing.assert_allclose(r.to_numpy(), [[-tiny * np.sqrt(2)]], rtol=1e-5)


@pytest.mark.parametrize(
    "pivots", [[1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, 1e200], [1e8] * 40 + [1e-8] * 40]
)
def test_determinant_overflows_only_as_a_whole(be, pivots):
    assert abs(float(linalg.det(be.asarray(np.diag(pivots)))) - 1) < 1e-13
    small = np.array([1e20, 1e20, 1e-20, 1e-20])
    for dtype in ("float32", "complex64"):
        assert abs(complex(linalg.det(be.asarray(np.diag(small).astype(dtype))).to_numpy()) - 1) < 1e-6


@pytest.mark.parametrize(
    ("pivots", "sign"),
    [([1e-310, 1, 2], 1), ([np.inf, 1], 1), ([-np.inf, 1e-310], -1), ([0, 1], 0), ([-1e-310, 1], -1)],
)
def test_sign_of_determinants_at_the_ends_of_the_range(be, pivots, sign):
    assert float(linalg.slogdet(be.asarray(np.diag(np.array(pivots, float)))).sign) == sign
    normal = np.array([np.sign(p) * 1e-300 if 0 < abs(p) < 1e-300 else p for p in pivots], complex)
    assert complex(linalg.slogdet(be.asarray(np.diag(normal))).sign.to_numpy()) == sign


@pytest.mark.parametrize("size", [1e300, 1e-310, 1e-200])
def test_eigenvalues_of_huge_and_subnormal_matrices(be, size):
    values, vectors = linalg.eigh(be.asarray(INDEFINITE * size))
    np.testing.assert_allclose(values.to_numpy() / size, np.linalg.eigvalsh(INDEFINITE), rtol=1e-12)
    np.testing.assert_allclose(np.abs(vectors.to_numpy()), np.abs(np.linalg.eigh(INDEFINITE)[1]), rtol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 40), (300, 35), (35, 300)])
def test_svd_of_batches_of_every_rank_and_size(be, shape, dtype):
    """Rank 3, zero, equal columns, near both ends of the range, and an ordinary matrix in one batch."""
    plain = draw(shape, dtype)
    rank = draw((shape[0], 3), dtype) @ draw((3, shape[1]), dtype, 1)
    ends = (1e-37, 1e35) if np.finfo(dtype).bits == 32 else (1e-306, 1e304)
    sizes = np.array([1, 1, 1, 1, *ends])
    a = np.stack([plain, rank, 0 * plain, np.ones_like(plain), plain, plain])
    on = be.asarray((a * sizes[:, None, None]).astype(dtype))
    for full in (False, True):
        u, s, vh = get(*linalg.svd(on, full_matrices=full))
        s, k = s / sizes[:, None].astype(s.dtype), s.shape[-1]
        top = np.maximum(s[:, 0], 1)
        assert_small((u[..., :k] * s[:, None]) @ vh[..., :k, :] - a, top, dtype, max(shape))
        assert_small(adjoint(u) @ u - np.eye(u.shape[-1]), np.ones(6), dtype, max(shape))
        assert_small(vh @ adjoint(vh) - np.eye(vh.shape[-2]), np.ones(6), dtype, max(shape))
        assert (np.diff(s) <= 0).all()
        want = np.linalg.svd(a.astype(np.result_type(dtype, np.float64)), compute_uv=False)
        assert_small((s - want)[..., None], top, dtype, max(shape))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(33, 33), (70, 34), (34, 70), (700, 36), (2000, 9)])
def test_qr_of_batches_of_larger_matrices(be, shape, dtype):
    a = np.stack([draw(shape, dtype), np.ones(shape, dtype), draw(shape, dtype, 1)])
    CHECKS["qr"][0](be, a, dtype, "contiguous")


@pytest.mark.parametrize("n", [4, 9, 40])
@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_eigh_reads_the_named_triangle_alone(be, n, uplo, dtype):
    own = (np.tril if uplo == "L" else np.triu)(np.ones((n, n)))
    a = np.where(own == 1, own, np.nan).astype(dtype)
    np.testing.assert_allclose(linalg.eigvalsh(be.asarray(a), UPLO=uplo).to_numpy(), [0] * (n - 1) + [n], atol=1e-5 * n)
    a[0, 0] = np.inf
    with pytest.raises(LinAlgError, match="NaN or infinity"):
        linalg.eigvalsh(be.asarray(a), UPLO=uplo)


@pytest.mark.parametrize("order", [1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_condition_of_singular_matrices_is_infinite(be, order):
    got = linalg.cond(be.asarray(np.stack([np.eye(2), np.ones((2, 2))])), order).to_numpy()
    assert np.isfinite(got[0])
    assert np.isinf(got[1])


def test_condition_of_the_zero_matrix_is_infinite(be):
    assert [float(linalg.cond(be.zeros((2, 2)), order)) for order in (2, -2)] == [np.inf, np.inf]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (0, 3, 3)])
def test_norms_of_empty_matrices(be, shape):
    for order in (1, 2, np.inf, "fro", "nuc"):
        got = linalg.matrix_norm(be.zeros(shape, dtype="float32"), ord=order, keepdims=True)
        assert (got.shape, got.dtype) == ((*shape[:-2], 1, 1), np.float32)
        assert not got.to_numpy().any()
    for order in (-1, -2, -np.inf) if shape[0] != 0 or len(shape) == 2 else ():
        try:
            want = np.linalg.matrix_norm(np.zeros(shape), ord=order)
        except ValueError:
            with pytest.raises(InvalidValueError) as caught:
                linalg.matrix_norm(be.zeros(shape), ord=order)
            assert caught.value.op == "linalg.matrix_norm"
        else:
            np.testing.assert_array_equal(linalg.matrix_norm(be.zeros(shape), ord=order).to_numpy(), want)


def test_only_norms_of_singular_values_tell_of_a_division_by_zero(be):
    """They wait for the device, as every call that warns; the others are asynchronous."""
    a = be.asarray(np.eye(3) + 1)
    for call, waits in (
        (lambda: linalg.cond(a, 1), False),
        (lambda: linalg.cond(a, "fro"), False),
        (lambda: linalg.matrix_norm(a, ord=1), False),
        (lambda: linalg.matrix_power(a, 2), False),
        (lambda: linalg.cond(a, "nuc"), True),
        (lambda: linalg.cond(a), True),
        (lambda: linalg.matrix_norm(a, ord=2), True),
        (lambda: linalg.matrix_power(a, -2), True),
    ):
        be.arange(3) // 0
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call()
        with warnings.catch_warnings(record=True) as later:
            warnings.simplefilter("always")
            be.synchronize()
        assert (len(seen), len(later)) == (waits, not waits)


@pytest.mark.parametrize("solve", [linalg.solve, linalg.solve_triangular])
@pytest.mark.parametrize("n", [3, 40])
def test_singular_matrices_are_found_without_right_hand_sides(be, solve, n):
    empty = be.zeros((n, 0))
    with pytest.raises(LinAlgError):
        solve(be.zeros((n, n)), empty)
    assert solve(be.asarray(np.eye(n)), empty).shape == (n, 0)
    assert solve(be.zeros((n, n)), empty, check=False)[1].to_numpy() > 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("at", [0, 31, 32, 63, 64, 90, 127, 128, 139])
def test_the_first_zero_on_a_diagonal_is_found_anywhere(be, at, dtype):
    a = np.eye(140, dtype=dtype)
    a[at, at] = 0
    info = linalg.solve_triangular(be.asarray(a), be.asarray(np.ones((140, 1), dtype)), check=False)[1]
    assert int(info) == at + 1


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("at", range(0, 40, 3))
def test_nan_on_the_diagonal_alone_is_found(be, at, upper, dtype):
    a = np.eye(40, dtype=dtype)
    a[at, at] = np.nan
    with pytest.raises(LinAlgError, match="NaN"):
        linalg.eigvalsh(be.asarray(a), UPLO="U" if upper else "L")
