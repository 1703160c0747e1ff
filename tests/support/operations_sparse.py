"""Cases of sparse operations, for test_operation_cases.py."""

import numpy as np
import scipy.sparse as sp
from reference import assert_matches, numpy_dtype, widen

from stator import sparse

OPERATIONS = """
f32 f64: spmm_csr sparse_to_dense_csr dense_to_sparse_csr csc_to_dense csr_to_csc coo_to_csr csr_to_coo
f32 f16 bf16: sparse_matmul_24
"""


def _random(dtype, shape=(33, 47), density=0.15):
    a = sp.random_array(shape, density=density, rng=np.random.default_rng(0), format="csr").astype(dtype)
    a.sort_indices()
    return a


def _csr(be, a):
    return sparse.CSR(be.asarray(a.data), be.asarray(a.indices), be.asarray(a.indptr), a.shape)


def _same(got, want):
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(got, name).to_numpy(), getattr(want, name), name)


def spmm_csr(be, dtype):
    a, b = _random(dtype), np.random.default_rng(1).normal(size=(47, 19)).astype(dtype)
    scale = np.abs(widen(a.toarray())) @ np.abs(widen(b))
    assert_matches((_csr(be, a) @ be.asarray(b)).to_numpy(), widen(a.toarray()) @ widen(b), (4, 4), scale=scale)


def sparse_to_dense_csr(be, dtype):
    a = _random(dtype)
    np.testing.assert_array_equal(_csr(be, a).to_dense().to_numpy(), a.toarray())


def dense_to_sparse_csr(be, dtype):
    a = _random(dtype)
    _same(sparse.csr_from_dense(be.asarray(a.toarray())), a)


def csc_to_dense(be, dtype):
    a = _random(dtype).tocsc()
    got = sparse.CSC(be.asarray(a.data), be.asarray(a.indices), be.asarray(a.indptr), a.shape)
    np.testing.assert_array_equal(got.to_dense().to_numpy(), a.toarray())


def csr_to_csc(be, dtype):
    a = _random(dtype)
    _same(_csr(be, a).to_csc(), a.tocsc())


def coo_to_csr(be, dtype):
    a = _random(dtype)
    coo, order = a.tocoo(), np.random.default_rng(2).permutation(a.nnz)
    parts = [be.asarray(v[order]) for v in (coo.data, coo.row, coo.col)]
    got = sparse.COO(*parts, a.shape).to_csr()
    np.testing.assert_array_equal(got.indptr.to_numpy(), a.indptr)
    _same(got.sort_indices(), a)


def csr_to_coo(be, dtype):
    a = _random(dtype)
    got, want = _csr(be, a).to_coo(), a.tocoo()
    for mine, theirs in ((got.row, want.row), (got.col, want.col), (got.data, want.data)):
        np.testing.assert_array_equal(mine.to_numpy(), theirs)


def sparse_matmul_24(be, dtype):
    rng = np.random.default_rng(3)
    a = rng.normal(size=(31, 64)).astype(numpy_dtype(dtype))
    b = rng.normal(size=(64, 24)).astype(numpy_dtype(dtype))
    kept = np.argsort(-np.abs(b.astype(np.float64)).reshape(16, 4, 24), axis=1, kind="stable")[:, :2]
    mask = np.zeros((16, 4, 24), bool)
    np.put_along_axis(mask, kept, True, axis=1)
    b[~mask.reshape(b.shape)] = 0
    scale = np.abs(widen(a)) @ np.abs(widen(b))
    got = sparse.matmul_2to4(be.asarray(a), be.asarray(b)).to_numpy()
    assert_matches(got, widen(a) @ widen(b), (4, 4), scale=scale)
