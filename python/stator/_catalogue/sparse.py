"""Sparse matrices, which are assembled on the host."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

import stator
from stator import sparse
from stator._catalogue.domains import Values
from stator._catalogue.entry import AXIS, DENSE, FILLED, Answer, Function, Given, entries, largest


def pattern(given: Given, rows: int, columns: int) -> Values:
    """A matrix of the cell's dtype in which a fifth of the elements is not zero."""
    x = given.draw((rows, columns), (0.5, 2))
    x[given.rng.random((rows, columns)) >= 0.2] = 0
    return x


def csr(given: Given, x: Values, index: str = "int32") -> sparse.CSR:
    """The CSR matrix of x, its parts contiguous. With 32-bit indices it is checked, as vendors' libraries want it."""
    row, column = np.nonzero(x)
    starts = np.searchsorted(row, np.arange(len(x) + 1))
    indices, pointers = (given.dense(part.astype(index), index) for part in (column, starts))
    made = sparse.CSR(given.dense(x[row, column]), indices, pointers, x.shape, is_sorted=True, is_coalesced=True)
    return cast("sparse.CSR", made.check()) if index == "int32" else made


def matrices(given: Given) -> tuple[list[sparse.CSR], Values]:
    """A matrix with 32-bit indices, the same one with 64-bit ones, and its values."""
    x = pattern(given, 700 if given.large else given.rows, 65)
    return [csr(given, x, index) for index in ("int32", "int64")], x


def terms(*factors: Values) -> Values:
    """The sum of the magnitudes of a product's terms."""
    left, right = (np.abs(x).astype(np.float64) for x in factors)
    return np.asarray(left @ right)


def csr_matmul(f: Function, given: Given) -> Any:
    found, x = matrices(given)
    b = given.draw((65, 19))
    if given.layout == "broadcast":
        b = np.broadcast_to(b[:1], b.shape).copy()
        right = given.repeated(b[:1], b.shape)
    else:
        right = given.on(b)
    return Answer([f(a, right) for a in found], terms(x, b))


def sddmm(f: Function, given: Given) -> Any:
    found, x = matrices(given)
    left, right = (given.on(given.draw(shape, (0.5, 2))) for shape in ((len(x), 8), (8, 65)))
    return [f(a, left, right, beta=beta).data for a, beta in zip(found, (0, 0.5), strict=True)]


def spgemm(f: Function, given: Given) -> Any:
    found, right = matrices(given)[0], pattern(given, 65, 40)
    return [members(f(a, csr(given, right, a.indices.dtype.name))) for a in found]


def members(a: Any) -> list[stator.Array]:
    """The arrays of a compressed matrix with sorted indices."""
    ordered = a.sort_indices()
    return [ordered.indptr, ordered.indices, ordered.data]


def spsolve_triangular(f: Function, given: Given) -> Any:
    n = 300 if given.large else 40
    x = np.tril(pattern(given, n, n)) / power(given, n)
    np.fill_diagonal(x, 2)
    b = given.on(given.draw((n, 3), (0.5, 2)))
    x = x.astype(given.draw((1,)).dtype)
    return largest(*[f(csr(given, x, index), b) for index in ("int32", "int64")], bound=64)


def power(given: Given, n: int) -> Values:
    """A power of two by which the part beside the diagonal is divided, without rounding, so that it stays small."""
    return np.full((), 2.0 ** np.ceil(np.log2(n)), given.draw((1,)).dtype)


def coo(f: Function, given: Given) -> Any:
    """Of entries in any order."""
    x = matrices(given)[1]
    row, column = np.nonzero(x)
    order = given.rng.permutation(len(row))
    found = []
    for index in ("int32", "int64"):
        rows, columns = (given.dense(part[order].astype(index), index) for part in (row, column))
        found.append(members(f(sparse.COO(given.dense(x[row, column][order]), rows, columns, x.shape))))
    return found


def pruned(x: Values) -> Values:
    """x with the two smallest of each four neighbours along the last axis set to zero."""
    groups = x.reshape(-1, 4).copy()
    smallest = np.argsort(np.abs(groups), axis=1, kind="stable")[:, :2]
    np.put_along_axis(groups, smallest, 0, axis=1)
    return groups.reshape(x.shape)


def matmul_2to4(f: Function, given: Given) -> Any:
    a, b = pruned(given.draw((32, 64))), given.draw((64, 24))
    return Answer(f(given.on(a), given.on(b)), terms(a, b))


ENTRIES = {
    **entries(
        DENSE,
        {
            "csr_to_dense": lambda f, g: [f(a) for a in matrices(g)[0]],
            "csc_to_dense": lambda f, g: [f(a.to_csc()) for a in matrices(g)[0]],
            "csr_to_csc": lambda f, g: [members(f(a)) for a in matrices(g)[0]],
            "csr_to_coo": lambda f, g: [[(c := f(a)).row, c.col, c.data] for a in matrices(g)[0]],
            "coo_to_csr": coo,
            "sparse_add": lambda f, g: [members(f(a, a, alpha=2)) for a in matrices(g)[0]],
        },
        wide=False,
    ),
    **entries(DENSE, {"spgemm": spgemm}),
    **entries(AXIS, {"csr_matmul": csr_matmul, "sddmm": sddmm}),
    **entries(FILLED, {"spsolve_triangular": spsolve_triangular}, copies=True),
    **entries(AXIS, {"csr_from_dense": lambda f, g: members(f(g.array()))}, wide=False),
    **entries(FILLED, {"prune_2to4": lambda f, g: f(g.array(shape=(g.rows, 64)))}, wide=False),
    **entries([x for x in FILLED if x != "broadcast"], {"matmul_2to4": matmul_2to4}),
}
