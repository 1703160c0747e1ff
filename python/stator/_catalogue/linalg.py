"""Factorisations, solvers and functions of matrices.

Where a result is unique it is compared itself, of a matrix of small condition; else what must hold of it: that the
factors multiply to the matrix, and that orthogonal ones are orthogonal. Those products are computed on the host in
float64. Errors are in units in the last place of the largest element; they grow with the length n of the matrix, so the
bound is 8 (n + 4) or the op table's 64 if that is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stator
from stator._catalogue.domains import Values
from stator._catalogue.entry import AXIS, Answer, Call, Function, Given, entries
from stator._catalogue.given import download, host_dtype, rounded


def side(given: Given) -> int:
    """The length of the matrices: below 32 kernels work on batches, above it the vendor's library on each."""
    return 72 if given.large else 12


def batch(given: Given) -> tuple[int, ...]:
    return () if given.large else (0,) if given.empty else (3,)


def adjoint(x: Values) -> Values:
    return np.conj(np.swapaxes(x, -1, -2))


def upload(given: Given, x: Values) -> stator.Array:
    """Matrices in the cell's layout; in the layout "broadcast" one matrix that is repeated by a stride of 0."""
    if given.layout == "broadcast":
        return given.repeated(x[:1], x.shape)
    if given.layout == "transposed" and given.laid:
        return given.dense(np.swapaxes(x, -1, -2)).mT
    return given.on(x)


def drawn(given: Given, shape: tuple[int, ...]) -> Values:
    """Numbers of mean 0 and variance 1; small whole numbers of an integer dtype."""
    if not given.floating:
        return given.draw(shape, range(0, 2))
    x = given.rng.normal(size=shape) + (1j * given.rng.normal(size=shape) if given.complex else 0)
    return rounded(np.asarray(x), given.cell.dtype)


def positive(given: Given) -> Values:
    """Hermitian positive definite matrices of small condition."""
    n = side(given)
    if not given.floating:
        unit = np.eye(n, dtype=host_dtype(given.cell.dtype))
        band = unit if given.cell.dtype == "bool" else 4 * unit + np.eye(n, k=1, dtype=unit.dtype)
        band = band if given.cell.dtype == "bool" else band + np.eye(n, k=-1, dtype=unit.dtype)
        return np.broadcast_to(band.astype(unit.dtype), (*batch(given), n, n)).copy()
    x = drawn(given, (*batch(given), n, n)).astype(np.complex128 if given.complex else np.float64)
    return rounded(x @ adjoint(x) / n + 2 * np.eye(n), given.cell.dtype)


def spread(given: Given) -> Values:
    """Matrices whose eigenvalues have real parts that are far from each other, in the order of the diagonal."""
    n = side(given)
    if not given.floating:
        return positive(given)
    x = drawn(given, (*batch(given), n, n)).astype(np.complex128 if given.complex else np.float64)
    return rounded(x / (4 * n) + 2 * np.diag(np.arange(1, n + 1)), given.cell.dtype)


def rectangle(given: Given) -> Values:
    """Matrices with more rows than columns, of full rank."""
    n = side(given)
    x = drawn(given, (*batch(given), n + 8, n))
    x[..., :n, :] = positive(given)
    return x


def grown(given: Given, value: Any) -> Answer:
    return Answer(value, "largest", max(64.0, 8 * (side(given) + 4)))


def wide(x: stator.Array) -> Values:
    values = download(x)
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def residual(given: Given, value: Values, result: stator.Array) -> Answer:
    """A product of factors as a result in the precision of the factors."""
    kind = result.dtype.name
    narrow = value.astype(np.result_type(value.dtype.type(0), np.dtype(kind)) if kind.startswith("c") else kind)
    return grown(given, np.asarray(narrow).astype(kind))


def of_matrix(make: Callable[[Given], Values]) -> Call:
    """A call of one matrix whose result is unique."""
    return lambda f, given: grown(given, f(upload(given, make(given))))


def solved(f: Function, given: Given) -> Any:
    a = positive(given)
    b = drawn(given, (*batch(given), side(given), 3))
    return grown(given, f(upload(given, a), upload(given, b)))


def triangular(f: Function, given: Given) -> Any:
    a, b = positive(given), drawn(given, (*batch(given), side(given), 3))
    lower = upload(given, np.tril(a))
    return [grown(given, f(lower, upload(given, b), lower=True)), grown(given, f(lower.mT, upload(given, b)))]


def cho_solve(f: Function, given: Given) -> Any:
    factor = given.made("cholesky", upload(given, positive(given)))
    return grown(given, f((factor, True), upload(given, drawn(given, (*batch(given), side(given), 3)))))


def lu_solve(f: Function, given: Given) -> Any:
    factors = given.made("lu_factor", upload(given, positive(given)))
    return grown(given, f(factors, upload(given, drawn(given, (*batch(given), side(given), 3)))))


def lu_factor(f: Function, given: Given) -> Any:
    factors, pivots = f(upload(given, spread(given)))
    packed, exchanged = wide(factors), pivots.to_numpy()
    product = (np.tril(packed, -1) + np.eye(side(given))) @ np.triu(packed)
    for at in np.ndindex(*product.shape[:-2]):
        for i in range(side(given) - 1, -1, -1):
            rows = [i, exchanged[at][i]]
            product[at][rows] = product[at][rows[::-1]]
    return residual(given, product, factors)


def lu(f: Function, given: Given) -> Any:
    p, lower, upper = f(upload(given, spread(given)))
    return residual(given, wide(p) @ np.tril(wide(lower)) @ np.triu(wide(upper)), upper)


def qr(f: Function, given: Given) -> Any:
    q, r = f(upload(given, rectangle(given)))
    unit = adjoint(wide(q)) @ wide(q)
    return [residual(given, wide(q) @ np.triu(wide(r)), r), residual(given, unit, q)]


def svd(f: Function, given: Given) -> Any:
    u, s, vh = f(upload(given, rectangle(given)), full_matrices=False)
    left, values, right = wide(u), wide(s), wide(vh)
    product = (left * values[..., None, :]) @ right
    units = [adjoint(left) @ left, right @ adjoint(right)]
    return [grown(given, s), residual(given, product, u), *[residual(given, x, u) for x in units]]


def eigh(f: Function, given: Given) -> Any:
    values, vectors = f(upload(given, positive(given)))
    v = wide(vectors)
    product = (v * wide(values)[..., None, :]) @ adjoint(v)
    return [grown(given, values), residual(given, product, vectors), residual(given, adjoint(v) @ v, vectors)]


def eig(f: Function, given: Given) -> Any:
    """A v - v w, which is zero, relative to the norm of A."""
    a = spread(given)
    values, vectors = f(upload(given, a))
    if given.layout == "broadcast":
        a = np.broadcast_to(a[:1], a.shape)
    v, w = wide(vectors), wide(values)
    size = np.linalg.norm(v, axis=-2)
    order = np.argsort(w.real, axis=-1)
    back = a @ v - v * w[..., None, :]
    return [
        grown(given, np.take_along_axis(w, order, -1).astype(values.dtype.name)),
        residual(given, back + np.abs(a).max(initial=1) * np.eye(side(given)), vectors),
        residual(given, size, vectors),
    ]


def eigvals(f: Function, given: Given) -> Any:
    values = f(upload(given, spread(given)))
    w = wide(values)
    order = np.argsort(w.real, axis=-1)
    return grown(given, np.take_along_axis(w, order, -1).astype(values.dtype.name))


def lstsq(f: Function, given: Given) -> Any:
    """Of a square matrix, and of one with more rows, which has residuals."""
    results = []
    for matrix in (positive(given), rectangle(given)):
        b = drawn(given, (*batch(given), matrix.shape[-2], 2))
        found = f(given.on(_first(matrix)), given.on(_first(b)))
        results += [grown(given, found.x), found.rank, grown(given, found.singular_values)]
    return results


def _first(x: Values) -> Values:
    """One matrix of a batch; an empty one of a batch without any."""
    return x if x.ndim == 2 else x[0] if len(x) else np.zeros((8, 2), x.dtype)


def cross(f: Function, given: Given) -> Any:
    shape = (given.rows, 3)
    return f(given.array(shape=shape), given.array(shape=shape))


NORMS = ("fro", 1, np.inf, 2, "nuc")
ENTRIES = entries(
    AXIS,
    {
        "cholesky inv pinv det matrix_rank eigvalsh expm": of_matrix(positive),
        "svdvals": of_matrix(rectangle),
        "slogdet": lambda f, g: [grown(g, x) for x in f(upload(g, positive(g)))],
        "matrix_norm": lambda f, g: [grown(g, f(upload(g, positive(g)), ord=order)) for order in NORMS],
        "cond": lambda f, g: [grown(g, f(upload(g, positive(g)))), grown(g, f(upload(g, positive(g)), 1))],
        "matrix_power": lambda f, g: [grown(g, f(upload(g, positive(g)), n)) for n in (2, 3, -2, 0)],
        "solve": solved,
        "solve_triangular": triangular,
        "cho_solve": cho_solve,
        "lu_solve": lu_solve,
        "lu_factor": lu_factor,
        "lu": lu,
        "qr": qr,
        "svd": svd,
        "eigh": eigh,
        "eig": eig,
        "eigvals": eigvals,
        "lstsq": lstsq,
        "linalg_trace": lambda f, g: f(g.array((0.5, 2))),
        "linalg_cross": cross,
    },
)
