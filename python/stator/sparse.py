"""Sparse matrices: CSR, CSC and COO on the device, and 2:4 sparsity of dense arrays.

Operators: `a @ x`, `x @ a`, `a @ b`, `a + b`, `a - b`, `2 * a`, `a / 2`, `-a`, `a.T`, `a[i:j]`, `a.sum(axis=)`. Only
to_dense(), and toarray(), which is the same, make a dense array of a matrix.
"""

from typing import TYPE_CHECKING

from stator._namespace import missing
from stator._sparse import COO, CSC, CSR, SparseMatrix, add, matmul, spgemm
from stator._sparse_ops import (
    TwoToFour,
    compress,
    coo_from_dense,
    csc_from_dense,
    csr_from_dense,
    eye,
    from_scipy,
    matmul_2to4,
    prune_2to4,
    sddmm,
    spsolve_triangular,
)
from stator._sparse_solvers import cg, spsolve

__all__ = [
    "COO",
    "CSC",
    "CSR",
    "SparseMatrix",
    "TwoToFour",
    "add",
    "cg",
    "compress",
    "coo_from_dense",
    "csc_from_dense",
    "csr_from_dense",
    "eye",
    "from_scipy",
    "matmul",
    "matmul_2to4",
    "prune_2to4",
    "sddmm",
    "spgemm",
    "spsolve",
    "spsolve_triangular",
]


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
