"""numpy.linalg on stator's arrays.

What NumPy refuses with LinAlgError is refused with it here, shapes included. Matrices are the last two axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import stator
from stator import linalg
from stator._array import Array
from stator._namespace import missing
from stator.errors import InvalidValueError, LinAlgError, UnsupportedError
from stator.linalg import EighResult, EigResult, QRResult, SlogdetResult, SVDResult
from stator.numpy import _convert, _rows
from stator.numpy._convert import ArrayLike, DTypeLike, Out
from stator.numpy._rows import differs, same
from stator.numpy.linalg._norms import cond, matrix_norm, norm, vector_norm  # noqa: F401
from stator.numpy.linalg._shapes import matrices, matrix, square

_rows.add("linalg.LinAlgError", LinAlgError, "A subclass of NumPy's, which says what to do.")
_UNSET: Any = object()


def _eps(x: Array) -> float:
    return stator.finfo(_convert.floating(x).dtype).eps


@same
def inv(a: ArrayLike) -> Array:
    """The inverse of square matrices (..., n, n); LinAlgError for a singular one. Synchronises."""
    return linalg.inv(square(a, "linalg.inv"))


@same
def det(a: ArrayLike) -> Array:
    """The determinant of matrices (..., n, n)."""
    return linalg.det(square(a, "linalg.det"))


@same
def slogdet(a: ArrayLike) -> SlogdetResult:
    """(sign, logabsdet) of matrices (..., n, n)."""
    return linalg.slogdet(square(a, "linalg.slogdet"))


@same
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """The x with a x = b, for a (..., n, n) and b (n,) or (..., n, k). Synchronises."""
    x, y = _convert.arrays("linalg.solve", a, b)
    return linalg.solve(square(x, "linalg.solve"), y)


@same
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """The x with tensordot(a, x, x.ndim) = b. axes: of a, moved to its end before. Synchronises."""
    op = "linalg.tensorsolve"
    x, y = _convert.arrays(op, a, b)
    if axes is not None:
        last = [_convert.axis(k, x.ndim, op) for k in axes]
        x = stator.permute_dims(x, [*(k for k in range(x.ndim) if k not in last), *last])
    shape = x.shape[y.ndim :]
    n = math.prod(shape)
    if x.size != n * n:
        raise LinAlgError(
            f"The shapes {x.shape} and {y.shape}",
            op=op,
            remedy="Give prod(a.shape[b.ndim:]) equations.",
        )
    return linalg.solve(stator.reshape(x, (n, n)), stator.ravel(y)).reshape(shape)


@same
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of a for tensordot(..., ind): ind first axes against the others. Synchronises."""
    op = "linalg.tensorinv"
    x = _convert.array(a, op)
    if ind <= 0:
        raise InvalidValueError(f"ind={ind}", op=op, remedy="Pass a positive number of axes.")
    shape = x.shape[ind:] + x.shape[:ind]
    n = math.prod(x.shape[ind:])
    if n * n != x.size:
        raise LinAlgError(
            f"The shape {x.shape} with ind={ind}",
            op=op,
            remedy="Pass an ind that splits the axes into groups of equal sizes.",
        )
    return linalg.inv(stator.reshape(x, (n, n))).reshape(shape)


@same
def cholesky(a: ArrayLike, /, *, upper: bool = False) -> Array:
    """L with a = L L^H, or U with a = U^H U for upper; LinAlgError where a is not positive definite. Synchronises."""
    return linalg.cholesky(square(a, "linalg.cholesky"), upper=upper)


def _is_real(x: Array, values: Array) -> bool:
    """Whether all eigenvalues of a real matrix are real, for which NumPy gives real arrays. Reads one bool."""
    return x.dtype.kind != "c" and bool(stator.all(stator.imag(values) == 0))


@differs("As NumPy's; eigenvalues, which NumPy too gives in no order, may have another one. Reads a bool on the host.")
def eig(a: ArrayLike) -> EigResult:
    """(eigenvalues, eigenvectors) of matrices (..., n, n), real where all eigenvalues of real matrices are.

    NumPy 2.5 and later return complex arrays always.
    """
    x = square(a, "linalg.eig")
    values, vectors = linalg.eig(x)
    if _is_real(x, values):
        return EigResult(stator.copy(stator.real(values)), stator.copy(stator.real(vectors)))
    return EigResult(values, vectors)


@differs("As NumPy's, in the order of eig. Reads a bool on the host.")
def eigvals(a: ArrayLike) -> Array:
    """The eigenvalues of matrices (..., n, n), real where all of those of real matrices are."""
    x = square(a, "linalg.eigvals")
    values = linalg.eigvals(x)
    return stator.copy(stator.real(values)) if _is_real(x, values) else values


def _triangle(UPLO: str, op: str) -> str:
    if not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U"):
        raise InvalidValueError(f"UPLO={UPLO!r}", op=op, remedy="Pass 'L' or 'U'.")
    return UPLO.upper()


@same
def eigh(a: ArrayLike, UPLO: str = "L") -> EighResult:
    """(eigenvalues, eigenvectors) of Hermitian matrices, of which the triangle UPLO is read. Synchronises."""
    op = "linalg.eigh"
    return linalg.eigh(square(a, op), UPLO=_triangle(UPLO, op))


@same
def eigvalsh(a: ArrayLike, UPLO: str = "L") -> Array:
    """The eigenvalues of Hermitian matrices, ascending. Synchronises."""
    op = "linalg.eigvalsh"
    return linalg.eigvalsh(square(a, op), UPLO=_triangle(UPLO, op))


@differs("As NumPy's; hermitian is accepted and changes nothing, since the general algorithm serves such matrices too.")
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult | Array:
    """(U, S, Vh) with a = U diag(S) Vh, or only S without compute_uv. Synchronises."""
    x = matrices(a, "linalg.svd")
    return linalg.svd(x, full_matrices=full_matrices) if compute_uv else linalg.svdvals(x)


@same
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values of matrices, descending. Synchronises."""
    return linalg.svdvals(matrices(x, "linalg.svdvals"))


@differs("mode 'raw', LAPACK's packed reflectors, is refused.")
def qr(a: ArrayLike, mode: str = "reduced") -> QRResult | Array:
    """(Q, R) with a = Q R; mode 'reduced' or 'complete', or 'r' for only R."""
    x = matrices(a, "linalg.qr")
    if mode == "raw":
        raise UnsupportedError("mode='raw'", op="linalg.qr", remedy="Use 'reduced', 'complete' or 'r'.")
    if mode not in ("reduced", "complete", "r"):
        raise InvalidValueError(f"mode={mode!r}", op="linalg.qr", remedy="Use 'reduced', 'complete' or 'r'.")
    found = linalg.qr(x, mode="reduced" if mode == "r" else mode)
    return found.R if mode == "r" else found


@differs("rank is a 0-d array on the device.")
def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> tuple[Array, Array, Array, Array]:
    """(x, residuals, rank, singular values) of the least squares solution of a x = b. Synchronises.

    a: (m, n). b: (m,) or (m, k). rcond: singular values up to rcond times the largest count as 0; None is
    max(m, n) eps, -1 is eps.
    """
    op = "linalg.lstsq"
    x, y = _convert.arrays(op, a, b)
    matrix(x, op)
    if y.ndim != 1:
        matrix(y, op)
    if x.shape[0] != y.shape[0]:
        raise LinAlgError(
            f"The shapes {x.shape} and {y.shape}", op=op, remedy="Pass arrays of as many rows as each other."
        )
    dtype = stator.result_type(_convert.floating(x).dtype, _convert.floating(y).dtype)
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    found = linalg.lstsq(x, y, rtol=_eps(x) if rcond is not None and rcond < 0 else rcond)
    return found.x, stator.reshape(found.residuals, (-1,)), found.rank.astype("int32"), found.singular_values


@differs("hermitian is accepted and changes nothing.")
def pinv(
    a: ArrayLike, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = _UNSET
) -> Array:
    """The Moore-Penrose inverse (..., n, m). Synchronises.

    rcond or rtol: singular values up to it times the largest count as 0. Neither is 1e-15, rtol=None max(m, n) eps.
    """
    op = "linalg.pinv"
    x = matrices(a, op)
    if rcond is not None and rtol is not _UNSET:
        raise InvalidValueError("Both rcond and rtol were given", op=op, remedy="Pass one of them.")
    limit = rcond if rcond is not None else 1e-15 if rtol is _UNSET else rtol
    if limit is not None and not isinstance(limit, (int, float)):
        limit = _convert.array(limit, op, like=x)
    return linalg.pinv(x, rtol=limit)


@differs("The rank is an array on the device; hermitian is accepted and changes nothing.")
def matrix_rank(
    A: ArrayLike, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Array:
    """The number of singular values above tol, or above rtol times the largest. Synchronises."""
    op = "linalg.matrix_rank"
    x = _convert.array(A, op)
    if tol is not None and rtol is not None:
        raise InvalidValueError("Both tol and rtol were given", op=op, remedy="Pass one of them.")
    if x.ndim < 2:
        return stator.any(x != 0).astype("int64")
    values = linalg.svdvals(x)
    if values.shape[-1] == 0:
        return stator.zeros(x.shape[:-2], dtype="int64", device=x.backend)
    if tol is not None:
        return stator.count_nonzero(values > stator.expand_dims(_convert.array(tol, op, like=x), axis=-1), axis=-1)
    if rtol is None:
        rtol = max(x.shape[-2:]) * _eps(x)
    relative = _convert.array(rtol, op, like=x)
    limit = values[..., :1] * stator.expand_dims(relative, axis=-1)
    return stator.count_nonzero(values > limit, axis=-1)


@same
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power; negative powers invert, which synchronises. Integers stay integers."""
    x = square(a, "linalg.matrix_power")
    by_product = x.dtype.kind not in "fc" or x.dtype.name == "float16"  # of what linalg has no functions
    if not by_product or not isinstance(n, int) or n <= 1:
        power = linalg.matrix_power(x.astype("float32") if by_product and n in (0, 1) else x, n)
        return power.astype(x.dtype, copy=False) if n in (0, 1) else power
    # By the binary digits of n, from the highest.
    power = x
    for digit in bin(n)[3:]:
        power = stator.matmul(power, power)
        if digit == "1":
            power = stator.matmul(power, x)
    return power


def _chain(sizes: list[int]) -> list[list[int]]:
    """Where to split each product of matrices sizes[i] x sizes[i + 1] for the fewest multiplications."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


@same
def multi_dot(arrays: Sequence[ArrayLike], *, out: Out = None) -> Array:
    """The product of several matrices, in the order of the fewest multiplications; the ends may be vectors."""
    op = "linalg.multi_dot"
    given = _convert.array_list(arrays, op)
    if len(given) < 2:
        raise InvalidValueError(f"There are {len(given)} arrays", op=op, remedy="Pass at least two.")
    first, last = given[0].ndim == 1, given[-1].ndim == 1
    if first:
        given[0] = given[0][None, :]
    if last:
        given[-1] = given[-1][:, None]
    for x in given:
        matrix(x, op)
    split = _chain([given[0].shape[0], *(x.shape[1] for x in given)])

    def product(i: int, j: int) -> Array:
        return given[i] if i == j else stator.matmul(product(i, split[i][j]), product(split[i][j] + 1, j))

    result = product(0, len(given) - 1)
    if first:
        result = result[0]
    return _convert.store(result[..., 0] if last else result, out, op)


@same
def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The matrix product, with broadcasting of the leading axes."""
    return stator.matmul(*_convert.arrays("linalg.matmul", x1, x2))


@same
def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: Any = 2) -> Array:
    """Sums of products over axes; see numpy.tensordot."""
    from stator.numpy._products import tensordot as over

    return over(x1, x2, axes)


@same
def outer(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """The outer product of two vectors."""
    op = "linalg.outer"
    x, y = _convert.arrays(op, x1, x2)
    if x.ndim != 1 or y.ndim != 1:
        raise InvalidValueError(f"Arrays of {x.ndim} and {y.ndim} axes", op=op, remedy="Pass two vectors.")
    return stator.outer(x, y)


@same
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """sum(conj(x1) * x2) along an axis, with broadcasting of the others."""
    from stator.numpy._products import vecdot as along

    return along(x1, x2, axis=axis)


@same
def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along an axis."""
    return linalg.cross(*_convert.arrays("linalg.cross", x1, x2), axis=axis)


@same
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices (..., m, n), as a view."""
    return linalg.diagonal(_convert.array(x, "linalg.diagonal"), offset=offset)


@same
def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Array:
    """The sums of diagonals of matrices (..., m, n)."""
    return linalg.trace(_convert.array(x, "linalg.trace"), offset=offset, dtype=_convert.dtype_or_none(dtype))


@same
def matrix_transpose(x: ArrayLike, /) -> Array:
    """The last two axes exchanged, as a view."""
    return stator.matrix_transpose(_convert.array(x, "linalg.matrix_transpose"))


__all__ = sorted(_rows.namespace("linalg."))


def __dir__() -> list[str]:
    return [*__all__]


if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
