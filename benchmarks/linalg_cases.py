"""The cases of products and linear algebra: what is compared is unique up to rounding. ml_dtypes rounds and decodes
eight-bit floats for NumPy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

import stator

from .cases import Other, Others, Plan
from .inputs import ONE, SIDES, Arrays, Pool, shaped, squares

# Sides of a square matrix: iterative methods take many times n^3 operations, so these are smaller than those of matmul.
FEWER = {1_000: 16, 1_000_000: 200, 1 << 24: 500}
BYTES = {1_000: 32, 1_000_000: 256, 1 << 24: 1024}
FLOAT8 = ml_dtypes.float8_e4m3fn
TWO, SMALL = squares(2), squares(2, {size: round(n**0.5) for size, n in SIDES.items()})
VECTORS = shaped(lambda p: [(p.size,)] * 2, ONE)
SHORT = shaped(lambda p: [(SIDES[p.size],)] * 2, ONE)
THREE = shaped(lambda p: [(SIDES[p.size],) * 2] * 2 + [(SIDES[p.size],)], ONE, turned=True)


def _general(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """A matrix far from singular, so that solutions differ only by rounding."""
    (a,) = squares(1, FEWER)(plan, pool, 3 * turn)
    return (a + np.array(4 * len(a) ** 0.5, a.dtype) * np.eye(len(a), dtype=a.dtype),)


def _symmetric(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (a,) = _general(plan, pool, turn)
    return (a + np.conj(a.T),)


def _positive(plan: Plan, pool: Pool, turn: int) -> Arrays:
    (a,) = _symmetric(plan, pool, turn)
    return (a + np.array(4 * len(a), a.dtype) * np.eye(len(a), dtype=a.dtype),)


def _system(plan: Plan, pool: Pool, turn: int, matrix: Any = _general) -> Arrays:
    (a,) = matrix(plan, pool, turn)
    return a, pool.array((len(a), 4), plan.dtype, ONE, 3 * turn + 1)


def _pivoted(plan: Plan, pool: Pool, turn: int) -> Arrays:
    """A system whose pivots are unique; of bools, which tie, one row at a time has a nonzero in the next column."""
    a, b = _system(plan, pool, turn)
    if plan.dtype == "bool":
        a[:] = np.triu(a)[::-1]
    return a, b


def _positive_system(plan: Plan, pool: Pool, turn: int) -> Arrays:
    return _system(plan, pool, turn, _positive)


def _lu_solve(a: Any, b: Any) -> Any:
    return L.lu_solve(L.lu_factor(a), b)


def _scipy(name: str, *operands: Any) -> Any:
    return getattr(import_module("scipy.linalg"), name)(*operands)


def _quantized(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float32)
    return (wide / (np.abs(wide).max() / np.float32(448))).astype(FLOAT8).view(np.uint8)


def _codes(plan: Plan, pool: Pool, turn: int) -> Arrays:
    n = BYTES[plan.size]
    a, b = (_quantized(pool.array((n, n), "float32", ONE, 3 * turn + k)) for k in (0, 1))
    return a, b, np.full((n, 1), 0.5, np.float32)


def _scaled(a: np.ndarray, b: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (a.view(FLOAT8).astype(np.float32) * scale) @ (b.view(FLOAT8).astype(np.float32) * scale.T)


L = stator.linalg
LINALG: Others = {
    "dot": Other(VECTORS),
    "vecdot": Other(VECTORS),
    "outer": Other(SHORT),
    "tensordot": Other(TWO, lambda a, b: stator.tensordot(a, b, axes=1), lambda a, b: np.tensordot(a, b, axes=1)),
    "einsum": Other(
        THREE,
        lambda a, b, c: stator.einsum("ij,jk,k->i", a, b, c),
        lambda a, b, c: np.einsum("ij,jk,k->i", a, b, c, optimize=True),
    ),
    "kron": Other(SMALL),
    "addmm": Other(THREE, lambda a, b, c: stator.addmm(c, a, b), lambda a, b, c: a @ b + c),
    "baddbmm": Other(THREE, lambda a, b, c: stator.baddbmm(c, a[None], b[None]), lambda a, b, c: a[None] @ b[None] + c),
    "linear": Other(THREE, None, lambda x, w, b: x @ w.T + b),
    "cholesky": Other(_positive, None, np.linalg.cholesky),
    "cho_solve": Other(_positive_system, lambda a, b: L.cho_solve((L.cholesky(a), True), b), np.linalg.solve),
    "solve": Other(_system, None, np.linalg.solve),
    "solve_triangular": Other(_system, None, lambda a, b: np.linalg.solve(np.triu(a), b)),
    "inv": Other(_general, None, np.linalg.inv),
    "pinv": Other(_general, None, np.linalg.pinv),
    "det": Other(_general, lambda a: L.det(a / 1024), lambda a: np.linalg.det(a / 1024)),
    "slogdet": Other(_general, lambda a: L.slogdet(a).logabsdet, lambda a: np.linalg.slogdet(a)[1]),
    "lu_factor": Other(_system, _lu_solve, np.linalg.solve),
    "lu_solve": Other(_system, _lu_solve, np.linalg.solve),
    "lu": Other(_pivoted, lambda a, b: L.lu(a).P @ b, lambda a, b: _scipy("lu", a)[0] @ b),
    "qr": Other(_general, lambda a: stator.abs(L.qr(a).R), lambda a: np.abs(np.linalg.qr(a)[1])),
    "svd": Other(_general, lambda a: L.svd(a).S, lambda a: np.linalg.svd(a)[1]),
    "svdvals": Other(_general, None, np.linalg.svdvals),
    "eigh": Other(_symmetric, lambda a: L.eigh(a).eigenvalues, lambda a: np.linalg.eigh(a)[0]),
    "eigvalsh": Other(_symmetric, None, np.linalg.eigvalsh),
    "eig": Other(_general, lambda a: stator.sum(L.eig(a).eigenvalues), lambda a: np.sum(np.linalg.eig(a)[0] + 0j)),
    "eigvals": Other(_general, lambda a: stator.sum(L.eigvals(a)), lambda a: np.sum(np.linalg.eigvals(a) + 0j)),
    "lstsq": Other(_system, lambda a, b: L.lstsq(a, b).x, lambda a, b: np.linalg.lstsq(a, b, rcond=None)[0]),
    "matrix_rank": Other(_general, None, np.linalg.matrix_rank),
    "matrix_norm": Other(_general, None, np.linalg.matrix_norm),
    "cond": Other(_general, None, np.linalg.cond),
    "matrix_power": Other(_general, lambda a: L.matrix_power(a / 16, 5), lambda a: np.linalg.matrix_power(a / 16, 5)),
    "expm": Other(_general, lambda a: L.expm(a / 32), lambda a: _scipy("expm", a / 32)),
    "linalg_trace": Other(TWO, lambda a, b: L.trace(a), lambda a, b: np.trace(a)),
    "linalg_cross": Other(shaped(lambda p: [(p.size // 3, 3)] * 2, ONE), None, np.cross),
    "quantize_fp8": Other(shaped(lambda p: [(p.size,)], ONE), lambda x: stator.nn.quantize_fp8(x).values, _quantized),
    "scaled_matmul": Other(_codes, lambda a, b, scale: stator.nn.scaled_matmul(a, b, scale, scale.T), _scaled),
}
