"""Solutions of systems with a sparse matrix, composed of ops: conjugate gradients, and LU of small ones."""

from __future__ import annotations

import sys
from collections.abc import Callable

from stator._array import Array
from stator._creation import copy, zeros_like
from stator._dtype import DType, result_type
from stator._linalg import solve
from stator._matmul import vecdot
from stator._movement_views import reshape
from stator._namespace import FUNCTIONS
from stator._sparse import SparseMatrix
from stator.errors import DTypeError, HostCopyError, InvalidValueError, ShapeError, UnsupportedError, renamed

DENSE = 4096  # rows up to which spsolve factorises a dense copy: 128 MiB in float64
BETWEEN = 16  # iterations of cg from one read of the residual to the next

Linear = SparseMatrix | Array | Callable[[Array], Array]

_add: Callable[..., Array] = FUNCTIONS["add"]
_where: Callable[..., Array] = FUNCTIONS["where"]
_norm: Callable[..., Array] = FUNCTIONS["linalg.vector_norm"]


def _square(a: SparseMatrix | Array, op: str, name: str) -> int:
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise ShapeError(f"The shape of {name} is {a.shape}", op=op, remedy="Give a square matrix.")
    return a.shape[0]


def _right_side(b: object, rows: int | None, op: str, name: str = "b") -> Array:
    if not isinstance(b, Array):
        remedy = f"Use stator.asarray({name})."
        raise DTypeError(f"Expected {name} as an Array, got {type(b).__name__}", op=op, remedy=remedy)
    if b.ndim not in (1, 2) or (rows is not None and b.shape[0] != rows):
        wanted = "(n,) or (n, k)" if rows is None else f"({rows},) or ({rows}, k)"
        raise ShapeError(f"The shape of {name} is {b.shape}", op=op, remedy=f"Give one of shape {wanted}.")
    return b


def spsolve(A: SparseMatrix, b: Array, /) -> Array:
    """The solution x of A @ x = b by LU of a dense copy of A, for up to 4096 rows. Synchronises.

    A: (n, n). b: a dense (n,) or (n, k), the shape of x. UnsupportedError for more rows, because stator has no sparse
    LU; LinAlgError where A is singular.
    """
    if not isinstance(A, SparseMatrix):
        remedy = "Make one with sparse.csr_from_dense, or use linalg.solve."
        raise DTypeError(f"Expected a sparse matrix, got {type(A).__name__}", op="sparse.spsolve", remedy=remedy)
    rows = _square(A, "sparse.spsolve", "A")
    right = _right_side(b, rows, "sparse.spsolve")
    if rows > DENSE:
        raise UnsupportedError(
            f"The matrix has {rows} rows, and there is no sparse LU for more than {DENSE}",
            op="sparse.spsolve",
            remedy="Use sparse.cg for a positive definite matrix, or sparse.spsolve_triangular for a triangular one.",
        )
    kind = _inexact(A.dtype, right.dtype)
    return solve(A.toarray().astype(kind, copy=False), right.astype(kind, copy=False))


def _inexact(*dtypes: DType) -> DType:
    """The dtype of a solution: float64 for integers, at least float32."""
    return result_type(*dtypes, "float32") if all(d.itemsize <= 2 for d in dtypes) else result_type(*dtypes, 1.0)


def _product(a: object, rows: int, name: str) -> Callable[[Array], Array]:
    """The product with a matrix, or with what a function stands for."""
    if isinstance(a, (SparseMatrix, Array)):
        if _square(a, "sparse.cg", name) != rows:
            raise ShapeError(
                f"The shape of {name} is {a.shape} beside b of {rows} rows",
                op="sparse.cg",
                remedy="Give a matrix with as many rows as b.",
            )
        return a.__matmul__
    if callable(a) and not isinstance(a, type):
        return a
    remedy = "Pass a sparse matrix, an Array, or a function of an Array."
    raise DTypeError(f"The type of {name} is {type(a).__name__}", op="sparse.cg", remedy=remedy)


def cg(
    A: Linear,
    b: Array,
    x0: Array | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Linear | None = None,
    callback: Callable[[Array], object] | None = None,
) -> tuple[Array, int]:
    """(x, info) of A @ x = b by conjugate gradients, for a Hermitian positive definite A. Synchronises.

    A: (n, n), sparse, dense or a function of a vector. b: (n,) or (n, 1), the shape of x. x0: where to begin, else 0.
    Done where norm(b - A @ x) <= max(rtol * norm(b), atol): info is then 0, else the number of iterations done, at
    most maxiter (10 n). M: an approximate inverse of A, as A. callback(x) is called after each iteration.

    Synchronises once before, and then every 16 iterations, or in each one with a callback: the steps after the last
    one that is needed change nothing. ShapeError, DTypeError, InvalidValueError.
    """
    given = _right_side(b, None, "sparse.cg")
    rows = given.shape[0]
    if given.ndim == 2 and given.shape[1] != 1:
        raise ShapeError(f"The shape of b is {given.shape}", op="sparse.cg", remedy="Solve for one column at a time.")
    multiply = _product(A, rows, "A")
    precondition = None if M is None else _product(M, rows, "M")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, (int, float)):
            kind_of = type(value).__name__
            raise DTypeError(f"Got {name} of type {kind_of}", op="sparse.cg", remedy="Pass a number of at least 0.")
        if not 0 <= value <= sys.float_info.max:
            raise InvalidValueError(f"Got {name}={value}", op="sparse.cg", remedy="Pass a number of at least 0.")
    if not isinstance(maxiter, (int, type(None))):
        raise DTypeError(f"Got maxiter of type {type(maxiter).__name__}", op="sparse.cg", remedy="Pass an integer.")
    if callback is not None and (not callable(callback) or isinstance(callback, type)):
        raise DTypeError(f"Got callback of type {type(callback).__name__}", op="sparse.cg", remedy="Pass a function.")
    kind = _inexact(*(v.dtype for v in (given, A, M, x0) if isinstance(v, (SparseMatrix, Array))))
    right = reshape(given, (rows,)).astype(kind, copy=False)
    if x0 is None:
        x = zeros_like(right)
    else:
        x = copy(reshape(_right_side(x0, rows, "sparse.cg", "x0"), (rows,)).astype(kind, copy=False))
    try:
        found, info = _iterate(
            multiply, right, x, rtol, atol, 10 * rows if maxiter is None else maxiter, precondition, callback
        )
    except HostCopyError as error:
        raise renamed(error, "sparse.cg") from None
    return reshape(found, given.shape), info


def _iterate(
    multiply: Callable[[Array], Array],
    b: Array,
    x: Array,
    rtol: float,
    atol: float,
    most: int,
    precondition: Callable[[Array], Array] | None,
    callback: Callable[[Array], object] | None,
) -> tuple[Array, int]:
    size = float(_norm(b))
    if size == 0:
        return zeros_like(b), 0
    enough = max(rtol * size, atol)
    r = b - multiply(x)
    p: Array | None = None
    norm = _norm(r)
    done, left, rho = 0, float(norm), norm
    while left > enough and done < most:
        for _ in range(1 if callback is not None else min(BETWEEN, most - done)):
            # A step that is not needed any more multiplies by 0, so that the results are those of an exact stop.
            going = norm > enough
            z = r if precondition is None else precondition(r)
            before, rho = rho, norm * norm if precondition is None else vecdot(r, z)
            p = copy(z) if p is None else _add(z, p, alpha=_where(going, rho / before, 0), out=p)
            q = multiply(p)
            alpha = _where(going, rho / vecdot(p, q), 0)
            _add(x, p, alpha=alpha, out=x)
            _add(r, q, alpha=-alpha, out=r)
            norm = _norm(r)
            done += 1
        left = float(norm)
        if callback is not None:
            callback(x)
    return x, 0 if left <= enough else max(done, 1)
