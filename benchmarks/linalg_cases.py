"""The cases of products and linear algebra: inputs, calls; the compared results are unique up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import stator

from .domains import Interval
from .float8_cases import CASES as FLOAT8
from .inputs import Pool

if TYPE_CHECKING:
    from .cases import Plan

Arrays = tuple[np.ndarray, ...]
# Sides of a square matrix: iterative methods take many times n^3 operations, so these are smaller than those of matmul.
SIDE = {1_000: 16, 1_000_000: 200, 1 << 24: 500}
PRODUCT = {1_000: 32, 1_000_000: 1_000, 1 << 24: 4096}
ONE = Interval(-1, 1)


def _square(n: int, plan: Plan, pool: Pool, turn: int) -> np.ndarray:
    return pool.array((n, n), plan.dtype, ONE, 3 * turn, plan.layout)


def _general(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """A matrix far from singular, so that solutions differ only by rounding."""
    n = SIDE[plan.size]
    a = _square(n, plan, pool, turn)
    return (a + np.array(4 * n**0.5, a.dtype) * np.eye(n, dtype=a.dtype),)


def _system(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (a,) = _general(plan, pool, turn)
    return a, pool.array((len(a), 4), plan.dtype, ONE, 3 * turn + 1)


def _symmetric(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (a,) = _general(plan, pool, turn)
    return (a + np.conj(a.T),)


def _positive(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (a,) = _symmetric(plan, pool, turn)
    n = len(a)
    return (a + np.array(4 * n, a.dtype) * np.eye(n, dtype=a.dtype),)


def _matrices(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = PRODUCT[plan.size]
    return tuple(pool.array((n, n), plan.dtype, ONE, 3 * turn + k, plan.layout) for k in (0, 1))


def _three(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = PRODUCT[plan.size]
    return (*_matrices(plan, pool, turn), pool.array((n,), plan.dtype, ONE, 3 * turn + 2))


def _vectors(plan: Plan, pool: Pool, turn: int) -> Arrays:
    return tuple(pool.array((plan.size,), plan.dtype, ONE, 3 * turn + k) for k in (0, 1))


def _short(plan: Plan, pool: Pool, turn: int) -> Arrays:
    return tuple(pool.array((PRODUCT[plan.size],), plan.dtype, ONE, 3 * turn + k) for k in (0, 1))


def _small(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = round(PRODUCT[plan.size] ** 0.5)
    return tuple(pool.array((n, n), plan.dtype, ONE, 3 * turn + k, plan.layout) for k in (0, 1))


def _lu_solve(a: Any, b: Any) -> Any:
    return stator.linalg.lu_solve(stator.linalg.lu_factor(a), b)


def _cho_solve(a: Any, b: Any) -> Any:
    return stator.linalg.cho_solve((stator.linalg.cholesky(a), True), b)


def _positive_system(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (a,) = _positive(plan, pool, turn)
    return a, pool.array((len(a), 4), plan.dtype, ONE, 3 * turn + 1)


def _lu(a: Any) -> Any:
    from scipy.linalg import lu

    return lu(a)


def _expm(a: Any) -> Any:
    from scipy.linalg import expm

    return expm(a)


L = stator.linalg
CASES: dict[str, tuple[Callable[[Plan, Pool, int], Arrays], Callable[..., Any], Callable[..., Any]]] = {
    "dot": (_vectors, stator.dot, np.dot),
    "vecdot": (_vectors, stator.vecdot, np.vecdot),
    "outer": (_short, stator.outer, np.outer),
    "tensordot": (_matrices, lambda a, b: stator.tensordot(a, b, axes=1), lambda a, b: np.tensordot(a, b, axes=1)),
    "einsum": (
        _three,
        lambda a, b, c: stator.einsum("ij,jk,k->i", a, b, c),
        lambda a, b, c: np.einsum("ij,jk,k->i", a, b, c, optimize=True),
    ),
    "kron": (_small, stator.kron, np.kron),
    "addmm": (_three, lambda a, b, c: stator.addmm(c, a, b), lambda a, b, c: a @ b + c),
    "baddbmm": (
        _three,
        lambda a, b, c: stator.baddbmm(c, a[None], b[None]),
        lambda a, b, c: a[None] @ b[None] + c,
    ),
    "linear": (_three, stator.nn.linear, lambda x, w, b: x @ w.T + b),
    "cholesky": (_positive, L.cholesky, np.linalg.cholesky),
    "cho_solve": (_positive_system, _cho_solve, np.linalg.solve),
    "solve": (_system, L.solve, np.linalg.solve),
    "solve_triangular": (_system, L.solve_triangular, lambda a, b: np.linalg.solve(np.triu(a), b)),
    "inv": (_general, L.inv, np.linalg.inv),
    "pinv": (_general, L.pinv, np.linalg.pinv),
    "det": (_general, lambda a: L.det(a / 1024), lambda a: np.linalg.det(a / 1024)),
    "slogdet": (_general, lambda a: L.slogdet(a).logabsdet, lambda a: np.linalg.slogdet(a)[1]),
    "lu_factor": (_system, _lu_solve, np.linalg.solve),
    "lu_solve": (_system, _lu_solve, np.linalg.solve),
    "lu": (_system, lambda a, b: L.lu(a).P @ b, lambda a, b: _lu(a)[0] @ b),
    "qr": (_general, lambda a: stator.abs(L.qr(a).R), lambda a: np.abs(np.linalg.qr(a)[1])),
    "svd": (_general, lambda a: L.svd(a).S, lambda a: np.linalg.svd(a)[1]),
    "svdvals": (_general, L.svdvals, np.linalg.svdvals),
    "eigh": (_symmetric, lambda a: L.eigh(a).eigenvalues, lambda a: np.linalg.eigh(a)[0]),
    "eigvalsh": (_symmetric, L.eigvalsh, np.linalg.eigvalsh),
    "eig": (_general, lambda a: stator.sum(L.eig(a).eigenvalues), lambda a: np.sum(np.linalg.eig(a)[0] + 0j)),
    "eigvals": (_general, lambda a: stator.sum(L.eigvals(a)), lambda a: np.sum(np.linalg.eigvals(a) + 0j)),
    "lstsq": (_system, lambda a, b: L.lstsq(a, b).x, lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
    "matrix_rank": (_general, L.matrix_rank, np.linalg.matrix_rank),
    "matrix_norm": (_general, L.matrix_norm, np.linalg.matrix_norm),
    "cond": (_general, L.cond, np.linalg.cond),
    "matrix_power": (_general, lambda a: L.matrix_power(a / 16, 5), lambda a: np.linalg.matrix_power(a / 16, 5)),
    "expm": (_general, lambda a: L.expm(a / 32), lambda a: _expm(a / 32)),
    "linalg_trace": (_matrices, lambda a, b: L.trace(a), lambda a, b: np.trace(a)),
    "linalg_cross": (
        lambda plan, pool, turn: tuple(pool.array((plan.size // 3, 3), plan.dtype, ONE, 2 * turn + k) for k in (0, 1)),
        L.cross,
        np.cross,
    ),
    **FLOAT8,
}
