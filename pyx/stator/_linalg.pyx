# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Linear algebra on the last two axes: factorisations, solvers and spectra."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, new_array, wrap_array
from stator._backend cimport Backend, after_wait, enter
from stator._convert cimport to_choice, to_flag, to_int
from stator.cpp cimport linalg as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream

from stator.errors import DTypeError, InvalidValueError

EighResult = namedtuple("EighResult", ("eigenvalues", "eigenvectors"), module="stator._linalg")
EigResult = namedtuple("EigResult", ("eigenvalues", "eigenvectors"), module="stator._linalg")
LUFactorResult = namedtuple("LUFactorResult", ("lu", "pivots"), module="stator._linalg")
LUResult = namedtuple("LUResult", ("P", "L", "U"), module="stator._linalg")
QRResult = namedtuple("QRResult", ("Q", "R"), module="stator._linalg")
SlogdetResult = namedtuple("SlogdetResult", ("sign", "logabsdet"), module="stator._linalg")
SVDResult = namedtuple("SVDResult", ("U", "S", "Vh"), module="stator._linalg")


# The result of a checked call, else (result, info).
cdef object finish(object result, const CppArray& info, Backend backend, bint check):
    if check:
        after_wait(backend)
        return result
    return result, wrap_array(backend, info)


cdef cpp.Transpose to_transpose(object value, str op) except *:
    cdef int64_t code
    if isinstance(value, str):
        return <cpp.Transpose>to_choice(value, ("N", "T", "C"), op, "trans")
    code = to_int(value, op, "trans")
    if not 0 <= code <= 2:
        raise InvalidValueError(f"trans={code}", op=op, remedy="Pass 0, 1 or 2 ('N', 'T', 'C').")
    return <cpp.Transpose><int>code


# A factorisation as lu_factor and SciPy's functions pass it: a tuple of two.
cdef tuple pair_of(object value, str op):
    if not isinstance(value, tuple) or len(value) != 2:
        raise DTypeError(f"Expected a tuple of two, got {type(value).__name__}", op=op,
                         remedy="Pass what the factorisation returned.")
    return tuple(value)


def cholesky(x: Array, /, *, upper: bool = False, check: bool = True) -> Array:
    """The Cholesky factor of x (..., n, n): L with x = L L^H, or U with x = U^H U. Synchronises.

    upper: whether it is U. Reads only that triangle of x. LinAlgError for a matrix that is not positive definite.
    check=False is asynchronous and returns (factor, info); info is the order of the first leading minor that is not
    positive, else 0.

    >>> stator.linalg.cholesky(stator.asarray([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    cdef Array a = as_array(x, "linalg.cholesky")
    cdef cpp.Options options
    cdef cbool of_upper = to_flag(upper, "linalg.cholesky", "upper")
    cdef cpp.Factor found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.cholesky", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.cholesky(a.c, of_upper, options, stream)
    return finish(wrap_array(a.backend, found.factor), found.info, a.backend, options.check)


def cho_solve(c_and_lower: tuple[Array, bool], b: Array, /) -> Array:
    """Solves A x = b with the Cholesky factor of A. Asynchronous.

    c_and_lower: what cholesky returned, (..., n, n), and whether that is the lower factor. b: (n,) or (..., n, k); x
    has the same shape.

    >>> a, b = stator.asarray([[4.0, 2.0], [2.0, 5.0]]), stator.asarray([8.0, 8.0])
    >>> stator.linalg.cho_solve((stator.linalg.cholesky(a), True), b).round(6).tolist()
    [1.5, 1.0]
    """
    factor, is_lower = pair_of(c_and_lower, "linalg.cho_solve")
    cdef Array c = as_array(factor, "linalg.cho_solve"), rhs = as_array(b, "linalg.cho_solve")
    cdef Array out = new_array(c.backend)
    cdef cbool lower = to_flag(is_lower, "linalg.cho_solve", "c_and_lower")
    cdef CppStream stream
    enter(c.backend, stream)
    with nogil:
        out.c = cpp.cho_solve(c.c, lower, rhs.c, stream)
    return out


def solve_triangular(a: Array, b: Array, /, *, trans: int | str = 0, lower: bool = False,
                     unit_diagonal: bool = False, check: bool = True) -> Array:
    """Solves A x = b, where A is the upper or lower triangle of a (..., n, n). Synchronises.

    b: (n,) or (..., n, k). trans: 0 ('N') solves with A, 1 ('T') with its transpose, 2 ('C') with its adjoint.
    unit_diagonal: the diagonal counts as ones. LinAlgError for a zero on the diagonal. check=False is asynchronous and
    returns (x, info); info is the first zero on the diagonal counted from 1, else 0.

    >>> a, b = stator.asarray([[2.0, 0.0], [1.0, 4.0]]), stator.asarray([4.0, 6.0])
    >>> stator.linalg.solve_triangular(a, b, lower=True).round(6).tolist()
    [2.0, 1.0]
    """
    cdef Array matrix = as_array(a, "linalg.solve_triangular"), rhs = as_array(b, "linalg.solve_triangular")
    cdef cpp.TriangularOptions options
    cdef cpp.Solution found
    cdef CppStream stream
    options.lower = to_flag(lower, "linalg.solve_triangular", "lower")
    options.unit_diagonal = to_flag(unit_diagonal, "linalg.solve_triangular", "unit_diagonal")
    options.how = to_transpose(trans, "linalg.solve_triangular")
    options.check = to_flag(check, "linalg.solve_triangular", "check")
    enter(matrix.backend, stream)
    with nogil:
        found = cpp.solve_triangular(matrix.c, rhs.c, options, stream)
    return finish(wrap_array(matrix.backend, found.x), found.info, matrix.backend, options.check)


def lu_factor(x: Array, /, *, check: bool = True) -> LUFactorResult:
    """(lu, pivots) of x (..., n, n), by elimination with partial pivoting. Synchronises.

    lu has L below its diagonal (L's own diagonal is 1) and U on and above it. pivots: int32, counted from 0: row k was
    exchanged with row pivots[k]. LinAlgError for a singular matrix. check=False is asynchronous and returns
    ((lu, pivots), info); info is the first zero pivot counted from 1, else 0.

    >>> lu, pivots = stator.linalg.lu_factor(stator.asarray([[1.0, 2.0], [4.0, 2.0]]))
    >>> lu.tolist(), pivots.tolist()
    ([[4.0, 2.0], [0.25, 1.5]], [1, 1])
    """
    cdef Array a = as_array(x, "linalg.lu_factor")
    cdef cpp.Options options
    cdef cpp.LuFactor found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.lu_factor", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.lu_factor(a.c, options, stream)
    result = LUFactorResult(wrap_array(a.backend, found.lu), wrap_array(a.backend, found.pivots))
    return finish(result, found.info, a.backend, options.check)


def lu_solve(lu_and_piv: tuple[Array, Array], b: Array, /, *, trans: int | str = 0) -> Array:
    """Solves A x = b with what lu_factor returned for A. Asynchronous.

    b: (n,) or (..., n, k). trans: 0 ('N') solves with A, 1 ('T') with its transpose, 2 ('C') with its adjoint.

    >>> factors = stator.linalg.lu_factor(stator.asarray([[1.0, 2.0], [4.0, 2.0]]))
    >>> stator.linalg.lu_solve(factors, stator.asarray([5.0, 8.0])).round(6).tolist()
    [1.0, 2.0]
    """
    factors, exchanges = pair_of(lu_and_piv, "linalg.lu_solve")
    cdef Array matrix = as_array(factors, "linalg.lu_solve"), pivots = as_array(exchanges, "linalg.lu_solve")
    cdef Array rhs = as_array(b, "linalg.lu_solve")
    cdef Array out = new_array(matrix.backend)
    cdef cpp.Transpose how = to_transpose(trans, "linalg.lu_solve")
    cdef CppStream stream
    enter(matrix.backend, stream)
    with nogil:
        out.c = cpp.lu_solve(matrix.c, pivots.c, rhs.c, how, stream)
    return out


def lu(x: Array, /) -> LUResult:
    """(P, L, U) with x = P L U, as scipy.linalg.lu. Asynchronous.

    For x (..., m, n) and k = min(m, n): P (..., m, m) is a permutation matrix, L (..., m, k) and U (..., k, n).

    >>> p, l, u = stator.linalg.lu(stator.asarray([[1.0, 2.0], [4.0, 2.0]]))
    >>> (p @ l @ u).tolist()
    [[1.0, 2.0], [4.0, 2.0]]
    """
    cdef Array a = as_array(x, "linalg.lu")
    cdef cpp.PLU found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.lu(a.c, stream)
    return LUResult(wrap_array(a.backend, found.p), wrap_array(a.backend, found.l), wrap_array(a.backend, found.u))


def solve(x1: Array, x2: Array, /, *, check: bool = True) -> Array:
    """Solves x1 x = x2 by LU with partial pivoting, for x1 (..., n, n). Synchronises.

    x2: (n,) or (..., n, k). LinAlgError for a singular matrix. check=False is asynchronous and returns (x, info); info
    is the first zero pivot counted from 1, else 0.

    >>> a, b = stator.asarray([[2.0, 0.0], [1.0, 4.0]]), stator.asarray([4.0, 6.0])
    >>> stator.linalg.solve(a, b).round(6).tolist()
    [2.0, 1.0]
    """
    cdef Array a = as_array(x1, "linalg.solve"), b = as_array(x2, "linalg.solve")
    cdef cpp.Options options
    cdef cpp.Solution found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.solve", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.solve(a.c, b.c, options, stream)
    return finish(wrap_array(a.backend, found.x), found.info, a.backend, options.check)


def inv(x: Array, /, *, check: bool = True) -> Array:
    """The inverse of x (..., n, n). Synchronises.

    LinAlgError for a singular matrix. check=False is asynchronous and returns (inverse, info); info is the first zero
    pivot counted from 1, else 0.

    >>> stator.linalg.inv(stator.asarray([[2.0, 0.0], [0.0, 4.0]])).round(6).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    cdef Array a = as_array(x, "linalg.inv")
    cdef cpp.Options options
    cdef cpp.Solution found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.inv", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.inv(a.c, options, stream)
    return finish(wrap_array(a.backend, found.x), found.info, a.backend, options.check)


def det(x: Array, /) -> Array:
    """The determinant of x (..., n, n), of the batch's shape (...). Asynchronous.

    >>> stator.linalg.det(stator.asarray([[2.0, 0.0], [1.0, 4.0]])).round(6).item()
    8.0
    """
    cdef Array a = as_array(x, "linalg.det")
    cdef Array out = new_array(a.backend)
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.det(a.c, stream)
    return out


def slogdet(x: Array, /) -> SlogdetResult:
    """(sign, logabsdet) of x (..., n, n): the determinant is sign * exp(logabsdet). Asynchronous.

    A singular matrix has 0 and -inf.

    >>> sign, logarithm = stator.linalg.slogdet(stator.asarray([[0.0, 1.0], [1.0, 0.0]]))
    >>> sign.item(), logarithm.item()
    (-1.0, 0.0)
    """
    cdef Array a = as_array(x, "linalg.slogdet")
    cdef cpp.SignLog found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.slogdet(a.c, stream)
    return SlogdetResult(wrap_array(a.backend, found.sign), wrap_array(a.backend, found.logabsdet))


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """(Q, R) with x = Q R, for x (..., m, n). Asynchronous.

    mode "reduced": Q (..., m, k) and R (..., k, n) with k = min(m, n); "complete": (..., m, m) and (..., m, n).

    >>> q, r = stator.linalg.qr(stator.ones((3, 2)))
    >>> q.shape, r.shape
    ((3, 2), (2, 2))
    """
    cdef Array a = as_array(x, "linalg.qr")
    cdef cpp.Qr found
    cdef CppStream stream
    cdef cbool complete = to_choice(mode, ("reduced", "complete"), "linalg.qr", "mode") == 1
    enter(a.backend, stream)
    with nogil:
        found = cpp.qr(a.c, complete, stream)
    return QRResult(wrap_array(a.backend, found.q), wrap_array(a.backend, found.r))


def svd(x: Array, /, *, full_matrices: bool = True, check: bool = True) -> SVDResult:
    """(U, S, Vh) with x = U diag(S) Vh, for x (..., m, n). Synchronises.

    S (..., k), k = min(m, n), is real and descending. full_matrices: U (..., m, m) and Vh (..., n, n), else (..., m, k)
    and (..., k, n). LinAlgError where the iteration does not converge or x holds NaN or infinity. check=False is
    asynchronous and returns ((U, S, Vh), info); for such matrices info is not 0 and the results are NaN.

    >>> u, s, vh = stator.linalg.svd(stator.ones((3, 2)), full_matrices=False)
    >>> u.shape, s.shape, vh.shape
    ((3, 2), (2,), (2, 2))
    """
    cdef Array a = as_array(x, "linalg.svd")
    cdef cpp.Options options
    cdef cbool full = to_flag(full_matrices, "linalg.svd", "full_matrices")
    cdef cpp.Svd found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.svd", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.svd(a.c, full, options, stream)
    result = SVDResult(wrap_array(a.backend, found.u), wrap_array(a.backend, found.s), wrap_array(a.backend, found.vh))
    return finish(result, found.info, a.backend, options.check)


def svdvals(x: Array, /, *, check: bool = True) -> Array:
    """The singular values of x (..., m, n), descending: (..., min(m, n)). Synchronises.

    LinAlgError as svd. check=False is asynchronous and returns (values, info).

    >>> stator.linalg.svdvals(stator.asarray([[0.0, 2.0], [3.0, 0.0]])).round(6).tolist()
    [3.0, 2.0]
    """
    cdef Array a = as_array(x, "linalg.svdvals")
    cdef cpp.Options options
    cdef cpp.Svd found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.svdvals", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.svdvals(a.c, options, stream)
    return finish(wrap_array(a.backend, found.s), found.info, a.backend, options.check)


def eigh(x: Array, /, *, UPLO: str = "L", check: bool = True) -> EighResult:
    """(eigenvalues, eigenvectors) of Hermitian matrices (..., n, n). Synchronises.

    UPLO: the triangle of x that is read, 'L' or 'U'. Eigenvalues (..., n) are real and ascending; eigenvectors are the
    columns of (..., n, n). LinAlgError where the iteration does not converge or x holds NaN or infinity. check=False is
    asynchronous and returns ((eigenvalues, eigenvectors), info); info is not 0 for such matrices.

    >>> values, vectors = stator.linalg.eigh(stator.asarray([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(6).tolist(), vectors.shape
    ([1.0, 3.0], (2, 2))
    """
    cdef Array a = as_array(x, "linalg.eigh")
    cdef cpp.Options options
    cdef cbool upper = to_choice(UPLO, ("L", "U"), "linalg.eigh", "UPLO") == 1
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.eigh", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.eigh(a.c, upper, options, stream)
    return finish(EighResult(wrap_array(a.backend, found.values), wrap_array(a.backend, found.vectors)), found.info,
                  a.backend, options.check)


def eigvalsh(x: Array, /, *, UPLO: str = "L", check: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices (..., n, n), real and ascending: (..., n). Synchronises.

    UPLO and LinAlgError as eigh. check=False is asynchronous and returns (values, info).

    >>> stator.linalg.eigvalsh(stator.asarray([[2.0, 1.0], [1.0, 2.0]])).round(6).tolist()
    [1.0, 3.0]
    """
    cdef Array a = as_array(x, "linalg.eigvalsh")
    cdef cpp.Options options
    cdef cbool upper = to_choice(UPLO, ("L", "U"), "linalg.eigvalsh", "UPLO") == 1
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.eigvalsh", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.eigvalsh(a.c, upper, options, stream)
    return finish(wrap_array(a.backend, found.values), found.info, a.backend, options.check)


def eig(x: Array, /, *, check: bool = True) -> EigResult:
    """(eigenvalues, eigenvectors) of general matrices (..., n, n), always complex. Synchronises.

    Eigenvalues (..., n) are in no order; eigenvectors are the columns of (..., n, n), of norm 1. LinAlgError where the
    iteration does not converge or x holds NaN or infinity. check=False returns ((eigenvalues, eigenvectors), info);
    info is not 0 for such matrices.

    >>> values, vectors = stator.linalg.eig(stator.asarray([[2.0, 0.0], [0.0, 3.0]]))
    >>> stator.sort(values).tolist()
    [(2+0j), (3+0j)]
    """
    cdef Array a = as_array(x, "linalg.eig")
    cdef cpp.Options options
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.eig", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.eig(a.c, options, stream)
    return finish(EigResult(wrap_array(a.backend, found.values), wrap_array(a.backend, found.vectors)), found.info,
                  a.backend, options.check)


def eigvals(x: Array, /, *, check: bool = True) -> Array:
    """The eigenvalues of general matrices (..., n, n), complex and in no order: (..., n). Synchronises.

    LinAlgError as eig. check=False returns (values, info).

    >>> stator.sort(stator.linalg.eigvals(stator.asarray([[2.0, 0.0], [0.0, 3.0]]))).tolist()
    [(2+0j), (3+0j)]
    """
    cdef Array a = as_array(x, "linalg.eigvals")
    cdef cpp.Options options
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = to_flag(check, "linalg.eigvals", "check")
    enter(a.backend, stream)
    with nogil:
        found = cpp.eigvals(a.c, options, stream)
    return finish(wrap_array(a.backend, found.values), found.info, a.backend, options.check)
