"""Calls of ops on sparse matrices, which are assembled on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator import sparse
from stator._verify.compare import Answer
from stator._verify.domains import Values
from stator._verify.given import Given
from stator._verify.operations import AXIS, DENSE, FILLED, Operation, register

Function = Callable[..., Any]


def pattern(given: Given, rows: int, columns: int) -> Values:
    """A matrix of the cell's dtype in which a fifth of the elements is not zero."""
    x = given.draw((rows, columns), (0.5, 2))
    x[given.rng.random((rows, columns)) >= 0.2] = 0
    return x


def csr(given: Given, x: Values) -> sparse.CSR:
    """The CSR matrix of x, its parts contiguous."""
    row, column = np.nonzero(x)
    starts = np.searchsorted(row, np.arange(len(x) + 1))
    parts = given.dense(x[row, column]), given.dense(column, "int64"), given.dense(starts, "int64")
    return sparse.CSR(*parts, x.shape, is_sorted=True, is_coalesced=True)


def both(given: Given) -> tuple[sparse.CSR, Values]:
    rows = 700 if given.large else given.rows
    x = pattern(given, rows, 65)
    return csr(given, x), x


def terms(*factors: Values) -> Values:
    """The sum of the magnitudes of a product's terms."""
    left, right = (np.abs(x).astype(np.float64) for x in factors)
    return np.asarray(left @ right)


def csr_matmul(f: Function, given: Given) -> Any:
    a, x = both(given)
    b = given.draw((65, 19))
    if given.layout == "broadcast":
        b = np.broadcast_to(b[:1], b.shape).copy()
        right = given.repeated(b[:1], b.shape)
    else:
        right = given.on(b)
    return Answer(f(a, right), terms(x, b))


def sddmm(f: Function, given: Given) -> Any:
    a, x = both(given)
    left, right = given.draw((len(x), 8), (0.5, 2)), given.draw((8, 65), (0.5, 2))
    return f(a, given.on(left), given.on(right), beta=0.5).data


def spgemm(f: Function, given: Given) -> Any:
    a, _ = both(given)
    return members(f(a, csr(given, pattern(given, 65, 40))))


def members(a: Any) -> list[stator.Array]:
    """The arrays of a compressed matrix with sorted indices."""
    ordered = a.sort_indices()
    return [ordered.indptr, ordered.indices, ordered.data]


def spsolve_triangular(f: Function, given: Given) -> Any:
    n = 300 if given.large else 40
    x = np.tril(pattern(given, n, n)) / power(given, n)
    np.fill_diagonal(x, 2)
    b = given.on(given.draw((n, 3), (0.5, 2)))
    return Answer(f(csr(given, x.astype(given.draw((1,)).dtype)), b), "largest", 64)


def power(given: Given, n: int) -> Values:
    """A power of two by which the part beside the diagonal is divided, without rounding, so that it stays small."""
    return np.full((), 2.0 ** np.ceil(np.log2(n)), given.draw((1,)).dtype)


def coo(f: Function, given: Given) -> Any:
    _, x = both(given)
    row, column = np.nonzero(x)
    order = given.rng.permutation(len(row))
    row, column = row[order], column[order]
    parts = given.dense(x[row, column]), given.dense(row, "int64"), given.dense(column, "int64")
    return members(f(sparse.COO(*parts, x.shape)))


def pruned(x: Values) -> Values:
    """x with the two smallest of each four neighbours along the last axis set to zero."""
    groups = x.reshape(-1, 4).copy()
    smallest = np.argsort(np.abs(groups), axis=1, kind="stable")[:, :2]
    np.put_along_axis(groups, smallest, 0, axis=1)
    return groups.reshape(x.shape)


def matmul_2to4(f: Function, given: Given) -> Any:
    a, b = pruned(given.draw((32, 64))), given.draw((64, 24))
    return Answer(f(given.on(a), given.on(b)), terms(a, b))


def add(into: dict[str, Operation]) -> None:
    register(
        into,
        DENSE,
        {
            "csr_to_dense": lambda f, g: f(both(g)[0]),
            "csc_to_dense": lambda f, g: f(both(g)[0].to_csc()),
            "csr_to_csc": lambda f, g: members(f(both(g)[0])),
            "csr_to_coo": lambda f, g: [(c := f(both(g)[0])).row, c.col, c.data],
            "coo_to_csr": coo,
            "sparse_add": lambda f, g: members(f(both(g)[0], both(g)[0], alpha=2)),
        },
        wide=False,
    )
    register(into, DENSE, {"spgemm": spgemm})
    register(into, AXIS, {"csr_matmul": csr_matmul, "sddmm": sddmm})
    register(into, FILLED, {"spsolve_triangular": spsolve_triangular})
    register(into, AXIS, {"csr_from_dense": lambda f, g: members(f(g.array()))}, wide=False)
    register(into, FILLED, {"prune_2to4": lambda f, g: f(g.array(shape=(g.rows, 64)))}, wide=False)
    register(into, [x for x in FILLED if x != "broadcast"], {"matmul_2to4": matmul_2to4})
