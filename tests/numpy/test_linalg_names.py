"""stator.numpy.linalg beside numpy.linalg: values, dtypes, argument forms, errors."""

import numpy as np
import pytest
from beside_numpy import assert_same, compare, on_device

import stator
import stator.numpy as snp

inf = float("inf")


def matrix(*shape, dtype="float64", seed=3):
    values = np.random.default_rng(seed).normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.default_rng(seed + 1).normal(size=shape)
    return values.astype(dtype)


def hermitian(n, dtype="float64"):
    a = matrix(n, n, dtype=dtype)
    return (a @ a.conj().T + np.eye(n)).astype(dtype)


A = matrix(4, 4)
BATCH = matrix(3, 4, 4)
TALL = matrix(5, 3)
WIDE = matrix(3, 5)

CALLS = {
    "inv": [(A,), (BATCH,), (matrix(3, 3, dtype="complex64"),), (matrix(3, 3, dtype="float32"),), ([[1, 2], [3, 4]],)],
    "det": [(A,), (BATCH,), ([[1, 2], [3, 4]],)],
    "slogdet": [(A,), (BATCH,), (matrix(3, 3, dtype="complex128"),)],
    "solve": [(A, A[0]), (A, matrix(4, 2)), (BATCH, matrix(3, 4, 2)), ([[2, 0], [0, 4]], [1, 2])],
    "tensorsolve": [(matrix(2, 3, 6), matrix(2, 3)), (matrix(2, 6, 3), matrix(2, 3), (1,))],
    "tensorinv": [(matrix(4, 6, 8, 3),), (matrix(24, 8, 3), 1)],
    "cholesky": [(hermitian(4),), (hermitian(3, "complex128"),)],
    "eigvalsh": [(hermitian(4),), (hermitian(4), "U"), (hermitian(3, "complex64"),)],
    "svdvals": [(TALL,), (WIDE,), (BATCH,)],
    "matrix_rank": [
        (A,),
        (BATCH,),
        (np.ones((3, 3)),),
        (np.ones(3),),
        (np.zeros(3),),
        (A, 1.0),
        (BATCH, np.array([0.1, 1.0, 2.0])),
        (np.zeros((0, 3)),),
    ],
    "matrix_power": [
        (A, 3),
        (A, 0),
        (A, -2),
        (BATCH, 2),
        (np.array([[1, 1], [1, 0]]), 80),
        (np.array([[1, 2], [3, 4]]), 0),
        ([[2, 0], [0, 4]], -1),
    ],
    "pinv": [(TALL,), (WIDE,), (BATCH,), (np.ones((3, 2)), 1e-5), (TALL.astype("complex64"),)],
    "cond": [(A, p) for p in (None, 1, -1, 2, -2, inf, -inf, "fro", "nuc")] + [(TALL,), (BATCH,), (np.zeros((2, 2)),)],
    "multi_dot": [
        ([A, A],),
        ([matrix(4, 2), matrix(2, 6), matrix(6, 3)],),
        ([A[0], matrix(4, 2), matrix(2, 6), matrix(6)],),
        ([A[0], A, matrix(4, 2)],),
    ],
    "matmul": [(A, A), (BATCH, A), (A, A[0])],
    "outer": [(A[0], A[1]), ([1, 2], [3, 4])],
    "tensordot": [(A, A), (BATCH, matrix(4, 4, 2))],
    "vecdot": [(A, A[0]), (matrix(3, dtype="complex128"), matrix(3, dtype="complex128", seed=9))],
    "cross": [(WIDE[:, :3], TALL[:3]), ([1, 2, 3], [4, 5, 6])],
    "diagonal": [(A,), (BATCH,)],
    "trace": [(A,), (BATCH,), (np.ones((2, 2), dtype="int32"),), (np.ones((2, 2), dtype="uint8"),)],
    "matrix_transpose": [(BATCH,), (WIDE,)],
    "matrix_norm": [(A,), (BATCH,)],
    "vector_norm": [(A,), (A[0],), ([3, 4],)],
}


@pytest.mark.parametrize(("name", "args"), [(n, a) for n, calls in CALLS.items() for a in calls])
def test_functions_agree(be, name, args):
    compare(getattr(snp.linalg, name), getattr(np.linalg, name), *args)


KEYWORDS = [
    ("cholesky", (hermitian(4),), {"upper": True}),
    ("eigvalsh", (hermitian(4),), {"UPLO": "u"}),
    ("matrix_rank", (A,), {"rtol": 0.3}),
    ("matrix_rank", (hermitian(3),), {"hermitian": True}),
    ("pinv", (TALL,), {"rtol": None}),
    ("pinv", (TALL,), {"rtol": 0.5}),
    ("pinv", (hermitian(3),), {"hermitian": True}),
    ("cross", (TALL.T, TALL.T), {"axis": 0}),
    ("diagonal", (BATCH,), {"offset": -1}),
    ("trace", (BATCH,), {"offset": 1, "dtype": np.float32}),
    ("vecdot", (A, A), {"axis": 0}),
    ("tensordot", (BATCH, BATCH), {"axes": ((0, 1), (0, 2))}),
    ("tensordot", (A, A), {"axes": 1}),
    ("matrix_norm", (BATCH,), {"ord": "nuc", "keepdims": True}),
    ("vector_norm", (BATCH,), {"axis": (0, 2), "ord": 3, "keepdims": True}),
    ("vector_norm", (np.zeros(0),), {"ord": inf}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), KEYWORDS)
def test_keywords_agree(be, name, args, kwargs):
    compare(getattr(snp.linalg, name), getattr(np.linalg, name), *args, **kwargs)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("ord", [None, inf, -inf, 0, 1, 2, 3, -1, 0.5])
def test_norms_of_vectors(be, ord, keepdims):
    for args in ((A[0], ord), (A, ord, 0), (BATCH, ord, -2), ([1, -2, 3], ord)):
        compare(snp.linalg.norm, np.linalg.norm, *args, keepdims=keepdims)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("ord", [None, "fro", "nuc", inf, -inf, 1, -1, 2, -2])
def test_norms_of_matrices(be, ord, keepdims):
    for args in ((A, ord), (BATCH, ord, (1, 2)), (BATCH, ord, (2, 0)), (matrix(3, 2, dtype="complex64"), ord)):
        compare(snp.linalg.norm, np.linalg.norm, *args, keepdims=keepdims)


def test_norm_of_all_axes(be):
    compare(snp.linalg.norm, np.linalg.norm, BATCH)
    compare(snp.linalg.norm, np.linalg.norm, BATCH, keepdims=True)
    compare(snp.linalg.norm, np.linalg.norm, np.float32([[3, 4]]))


@pytest.mark.parametrize("shape", [(5,), (5, 2)])
@pytest.mark.parametrize("rcond", [None, -1, 0.1])
def test_least_squares(be, shape, rcond):
    compare(snp.linalg.lstsq, np.linalg.lstsq, TALL, matrix(*shape), rcond)


def test_least_squares_of_deficient_rank_and_wide(be):
    compare(snp.linalg.lstsq, np.linalg.lstsq, WIDE, matrix(3))
    found = snp.linalg.lstsq(stator.ones((4, 2)), [1.0, 2.0, 3.0, 4.0])
    wanted = np.linalg.lstsq(np.ones((4, 2)), [1.0, 2.0, 3.0, 4.0])
    assert_same(found, wanted)


def test_svd(be):
    for full in (True, False):
        u, s, vh = snp.linalg.svd(on_device(TALL), full)
        wanted = np.linalg.svd(TALL, full)
        assert (u.shape, vh.shape) == (wanted.U.shape, wanted.Vh.shape)
        assert_same(s, wanted.S)
        assert_same(u[:, :3] * s @ vh[:3], TALL)
    compare(snp.linalg.svd, np.linalg.svd, TALL, compute_uv=False)


def test_qr(be):
    for mode in ("reduced", "complete"):
        found, wanted = snp.linalg.qr(on_device(TALL), mode), np.linalg.qr(TALL, mode)
        assert (found.Q.shape, found.R.shape) == (wanted.Q.shape, wanted.R.shape)
        assert_same(found.Q @ found.R, TALL)
    assert_same(abs(snp.linalg.qr(on_device(TALL), "r")), abs(np.linalg.qr(TALL, "r")))
    with pytest.raises(NotImplementedError, match="raw"):
        snp.linalg.qr(on_device(TALL), "raw")


def test_eigenvalues_are_real_where_they_can_be(be):
    found, wanted = snp.linalg.eig(on_device(hermitian(4))), np.linalg.eig(hermitian(4))
    assert found.eigenvalues.dtype == found.eigenvectors.dtype == np.float64
    assert np.lib.NumpyVersion(np.__version__) >= "2.5.0" or wanted.eigenvalues.dtype == np.float64
    assert_same(np.sort(found.eigenvalues.to_numpy()), np.sort(wanted.eigenvalues.real), rtol=1e-10)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert snp.linalg.eig(on_device(turn)).eigenvalues.dtype == np.complex128
    found = snp.linalg.eigvals(on_device(turn)).to_numpy()
    assert_same(found[np.argsort(found.imag)], [-1j, 1j])
    assert snp.linalg.eigvals([[2.0, 0.0], [0.0, 3.0]]).dtype == np.float64
    assert snp.linalg.eigvals(on_device(hermitian(3, "complex128"))).dtype == np.complex128


def test_eigh(be):
    found = snp.linalg.eigh(on_device(hermitian(4)), "U")
    w, v = found.eigenvalues, found.eigenvectors
    assert_same(w, np.linalg.eigvalsh(hermitian(4)))
    assert_same(v * w @ v.T, hermitian(4), rtol=1e-10)


def test_out_of_multi_dot(be):
    out = stator.zeros((4, 4))
    assert snp.linalg.multi_dot([on_device(A)] * 3, out=out) is out
    assert_same(out, A @ A @ A)


REFUSED = [
    ("inv", ([1.0, 2.0],)),
    ("inv", (np.ones((2, 3)),)),
    ("inv", (np.zeros((2, 2)),)),
    ("det", (np.ones((2, 3)),)),
    ("slogdet", (np.ones(2),)),
    ("solve", (np.zeros((2, 2)), np.ones(2))),
    ("solve", (np.eye(2), np.ones(3))),
    ("tensorsolve", (np.ones((2, 3)), np.ones(2))),
    ("tensorinv", (np.ones((4, 6)), 0)),
    ("tensorinv", (np.ones((4, 6)), 1)),
    ("cholesky", (-np.eye(2),)),
    ("cholesky", (np.ones(2),)),
    ("eig", (np.ones((2, 3)),)),
    ("eig", (np.full((2, 2), np.nan),)),
    ("eigh", (np.eye(2), "X")),
    ("svd", (np.ones(3),)),
    ("qr", (np.ones(3),)),
    ("qr", (np.ones((3, 3)), "half")),
    ("lstsq", (np.ones((3, 2)), np.ones(2))),
    ("lstsq", (np.ones(3), np.ones(3))),
    ("matrix_power", (np.ones((2, 3)), 2)),
    ("matrix_power", (np.eye(2), 1.5)),
    ("multi_dot", ([np.eye(2)],)),
    ("multi_dot", ([np.eye(2), np.ones((2, 2, 2)), np.eye(2)],)),
    ("cond", (np.ones((0, 2)),)),
    ("cond", (np.ones((3, 2)), 1)),
    ("norm", (np.ones((2, 2, 2)), 2)),
    ("norm", (np.ones((2, 2)), 3)),
    ("norm", (np.ones(2), "fro")),
    ("norm", (np.ones((2, 2)), None, (0, 0))),
    ("norm", (np.ones((2, 2)), None, 4)),
    ("matrix_rank", (np.eye(2), 1.0)),
]


@pytest.mark.parametrize(("name", "args"), REFUSED)
def test_what_numpy_refuses_is_refused_alike(be, name, args):
    kwargs = {"rtol": 0.1} if name == "matrix_rank" else {}
    with pytest.raises(Exception) as wanted:
        getattr(np.linalg, name)(*args, **kwargs)
    theirs = next(c for c in wanted.type.__mro__ if c.__module__ in ("builtins", "numpy.linalg"))
    with pytest.raises(theirs) as found:
        getattr(snp.linalg, name)(*(on_device(a) for a in args), **kwargs)
    assert isinstance(found.value, stator.errors.StatorError)


def test_numpy_arrays_are_refused(be):
    for name in ("inv", "norm", "svd", "eig"):
        with pytest.raises(TypeError, match="asarray"):
            getattr(snp.linalg, name)(np.eye(2))


def test_every_name_of_numpy_is_there():
    assert set(np.linalg.__all__) == set(snp.linalg.__all__)
