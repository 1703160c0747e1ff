"""The calls of test_launches for the sparse ops: (contiguous, transposed or None) by the op's name."""

import numpy as np

import stator
from stator import sparse


def calls(be):
    x = np.where(np.random.default_rng(0).random((64, 96)) < 0.2, 1.5, 0).astype(np.float32)
    on = be.asarray(x)
    a = sparse.csr_from_dense(on)
    columns, entries = a.to_csc(), a.to_coo()
    shuffled = entries.T
    b = be.asarray(np.ones((96, 8), np.float32))
    square = sparse.csr_from_dense(be.asarray(np.eye(64, dtype=np.float32)))
    turned = stator.copy(b.T).T
    left, right = be.asarray(np.ones((64, 8), np.float32)), be.asarray(np.ones((8, 96), np.float32))
    right_turned = stator.copy(right.T).T
    return {
        "csr_matmul": (lambda: a @ b, lambda: a @ turned),
        "csr_from_dense": (lambda: sparse.csr_from_dense(on), None),
        "csr_to_dense": (a.to_dense, None),
        "csc_to_dense": (columns.to_dense, None),
        "csr_to_csc": (a.to_csc, None),
        "coo_to_csr": (shuffled.to_csr, None),
        "csr_to_coo": (a.to_coo, None),
        "sparse_add": (lambda: a + a, None),
        "sddmm": (lambda: sparse.sddmm(a, left, right), lambda: sparse.sddmm(a, left, right_turned)),
        "spgemm": (lambda: square @ a, None),
        "spsolve_triangular": (lambda: sparse.spsolve_triangular(square, left, check=False), None),
        "prune_2to4": (lambda: sparse.prune_2to4(on), lambda: sparse.prune_2to4(on.T)),
        "matmul_2to4": (lambda: sparse.matmul_2to4(on, right.T), None),
    }
