"""Systems with sparse matrices: conjugate gradients beside SciPy's, and LU of small matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as solvers

from stator import _sparse_solvers, sparse
from stator.errors import DTypeError, HostCopyError, InvalidValueError, LinAlgError, ShapeError, UnsupportedError

RNG = np.random.default_rng(0)
N = 120
LAPLACE = sp.diags_array([-np.ones(N - 1), np.linspace(2.2, 9, N), -np.ones(N - 1)], offsets=[-1, 0, 1]).tocsr()
B = RNG.normal(size=N)
HERMITIAN = (LAPLACE + sp.diags_array([1j * np.ones(N - 1), -1j * np.ones(N - 1)], offsets=[1, -1])).tocsr()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dense", "function"])
def test_conjugate_gradients_solve(be, dtype, kind):
    host = (HERMITIAN if dtype == "complex128" else LAPLACE).astype(dtype)
    a = sparse.from_scipy(host, device=be)
    a = {"csc": a.to_csc, "coo": a.to_coo, "dense": a.to_dense, "function": lambda: a.__matmul__}.get(kind, lambda: a)()
    b = B.astype(dtype)
    x, info = sparse.cg(a, be.asarray(b), rtol=1e-4)
    want, _ = solvers.cg(host, b, rtol=1e-4)
    assert (info, x.dtype, x.shape, x.backend) == (0, dtype, (N,), be)
    assert np.linalg.norm(host @ x.to_numpy() - b) <= 1.01e-4 * np.linalg.norm(b)
    np.testing.assert_allclose(x.to_numpy(), want, atol=2e-4 * np.abs(want).max())


@pytest.mark.parametrize("rtol", [0.5, 1e-3, 1e-10])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_it_stops_where_scipy_does(be, rtol, preconditioned):
    """With a check every 16 iterations, the result is that of the first iteration that is good enough."""
    m = sp.diags_array(1 / LAPLACE.diagonal()).tocsr() if preconditioned else None
    ours = None if m is None else sparse.from_scipy(m, device=be)
    a, b = sparse.from_scipy(LAPLACE, device=be), be.asarray(B)
    counted = []
    want, _ = solvers.cg(LAPLACE, B, rtol=rtol, M=m, callback=lambda x: counted.append(x.copy()))
    seen = []
    x, info = sparse.cg(a, b, rtol=rtol, M=ours)
    same, _ = sparse.cg(a, b, rtol=rtol, M=ours, callback=lambda x: seen.append(x.to_numpy()))
    assert info == 0 and len(seen) == len(counted)
    np.testing.assert_allclose(x.to_numpy(), want, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(x.to_numpy(), same.to_numpy())
    np.testing.assert_allclose(seen[0], counted[0], rtol=1e-12)


def test_it_reads_the_residual_once_in_sixteen_iterations(be):
    a, b = sparse.from_scipy(LAPLACE, device=be), be.asarray(B)
    before = be.statistics()["d2h_bytes"]
    sparse.cg(a, b, rtol=0, maxiter=32)
    assert be.statistics()["d2h_bytes"] - before == 4 * 8  # of b, of the first residual, and after 16 and 32
    with be.forbid_host_copies(), pytest.raises(HostCopyError, match=r"sparse\.cg"):
        sparse.cg(a, b)


@pytest.mark.parametrize("most", [0, 1, 5, 20])
def test_too_few_iterations_are_said(be, most):
    a, b = sparse.from_scipy(LAPLACE, device=be), be.asarray(B)
    x, info = sparse.cg(a, b, rtol=1e-14, maxiter=most)
    want, _ = solvers.cg(LAPLACE, B, rtol=1e-14, maxiter=most)
    assert info == max(most, 1)
    np.testing.assert_allclose(x.to_numpy(), want, rtol=1e-9, atol=1e-12)


def test_a_first_guess_and_a_column(be):
    a = sparse.from_scipy(LAPLACE, device=be)
    guess = be.asarray(solvers.spsolve(LAPLACE.tocsc(), B))
    kept = guess.to_numpy()
    x, info = sparse.cg(a, be.asarray(B[:, None]), guess, rtol=1e-8)
    assert info == 0 and x.shape == (N, 1)
    np.testing.assert_array_equal(guess.to_numpy(), kept)
    np.testing.assert_allclose(x.to_numpy()[:, 0], kept, rtol=1e-12)
    zero, info = sparse.cg(a, be.zeros(N), guess)
    assert info == 0 and not zero.to_numpy().any()
    _, info = sparse.cg(a, be.asarray(B), atol=100.0)
    assert info == 0


def test_dtypes_of_solutions(be):
    a, b = sparse.from_scipy(LAPLACE, device=be), be.asarray(B)
    assert sparse.cg(a.astype("float16"), b.astype("float16"))[0].dtype == "float32"
    assert sparse.cg(a.astype("float32"), be.ones(N, dtype="int64"))[0].dtype == "float64"
    assert sparse.spsolve(a.astype("bfloat16"), b.astype("float32")).dtype == "float32"


def test_a_matrix_that_is_not_definite_ends(be):
    a = sparse.csr_from_dense(be.asarray(np.array([[0.0, 1.0], [1.0, 0.0]])))
    _, info = sparse.cg(a, be.asarray([1.0, 0.0]))
    assert info > 0


BAD = {
    "shape of A": (lambda a, b: sparse.cg(a[:5], b), ShapeError, "shape of A is"),
    "length of b": (lambda a, b: sparse.cg(a, b[:5]), ShapeError, "beside b"),
    "columns of b": (lambda a, b: sparse.cg(a, a.to_dense()), ShapeError, "one column"),
    "axes of b": (lambda a, b: sparse.cg(a, b[None, None]), ShapeError, "shape of b is"),
    "shape of M": (lambda a, b: sparse.cg(a, b, M=a[:, :4]), ShapeError, "shape of M is"),
    "shape of x0": (lambda a, b: sparse.cg(a, b, b[:3]), ShapeError, "shape of x0 is"),
    "type of A": (lambda a, b: sparse.cg(LAPLACE.toarray(), b), DTypeError, "type of A is"),
    "type of b": (lambda a, b: sparse.cg(a, B), DTypeError, "asarray"),
    "rtol": (lambda a, b: sparse.cg(a, b, rtol=-1), InvalidValueError, "rtol"),
    "atol": (lambda a, b: sparse.cg(a, b, atol=float("nan")), InvalidValueError, "atol"),
    "spsolve shape": (lambda a, b: sparse.spsolve(a[:5], b), ShapeError, "square"),
    "spsolve b": (lambda a, b: sparse.spsolve(a, b[:5]), ShapeError, "shape of b is"),
    "spsolve dense": (lambda a, b: sparse.spsolve(a.to_dense(), b), DTypeError, r"linalg\.solve"),
    "spsolve numpy": (lambda a, b: sparse.spsolve(a, B), DTypeError, "asarray"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(be, name):
    call, error, match = BAD[name]
    a, b = sparse.from_scipy(LAPLACE, device=be), be.asarray(B)
    with pytest.raises(error, match=match):
        call(a, b)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("columns", [None, 3])
def test_small_systems_are_solved_directly(be, kind, columns):
    host = (LAPLACE + sp.random_array((N, N), density=0.05, rng=np.random.default_rng(1))).tocsc()
    b = B if columns is None else RNG.normal(size=(N, columns))
    a = getattr(sparse.from_scipy(host, device=be), f"to_{kind}")()
    np.testing.assert_allclose(sparse.spsolve(a, be.asarray(b)).to_numpy(), solvers.spsolve(host, b), rtol=1e-10)


def test_large_systems_name_what_there_is(be):
    rows = _sparse_solvers.DENSE + 1
    with pytest.raises(UnsupportedError, match=r"sparse\.cg"):
        sparse.spsolve(sparse.eye(rows), be.ones(rows))


def test_singular_systems_are_said(be):
    with pytest.raises(LinAlgError):
        sparse.spsolve(sparse.eye(3, k=1), be.ones(3))
