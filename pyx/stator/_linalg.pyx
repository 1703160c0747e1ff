# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Linear algebra on the last two axes: factorisations, solvers, spectra, norms, functions of matrices."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, new_array
from stator._backend cimport Backend, after_wait, enter
from stator._convert cimport to_dtype, to_int
from stator.cpp cimport linalg as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.std cimport optional

from stator.errors import DTypeError, InvalidValueError

EighResult = namedtuple("EighResult", ("eigenvalues", "eigenvectors"), module="stator._linalg")
EigResult = namedtuple("EigResult", ("eigenvalues", "eigenvectors"), module="stator._linalg")
LstsqResult = namedtuple("LstsqResult", ("x", "residuals", "rank", "singular_values"), module="stator._linalg")
LUFactorResult = namedtuple("LUFactorResult", ("lu", "pivots"), module="stator._linalg")
LUResult = namedtuple("LUResult", ("P", "L", "U"), module="stator._linalg")
QRResult = namedtuple("QRResult", ("Q", "R"), module="stator._linalg")
SlogdetResult = namedtuple("SlogdetResult", ("sign", "logabsdet"), module="stator._linalg")
SVDResult = namedtuple("SVDResult", ("U", "S", "Vh"), module="stator._linalg")


cdef Array wrap(const CppArray& c, Backend backend):
    cdef Array out = new_array(backend)
    out.c = c
    return out


# The result of a checked call, else (result, info).
cdef object finish(object result, const CppArray& info, Backend backend, bint check):
    if check:
        after_wait(backend)
        return result
    return result, wrap(info, backend)


cdef int to_rtol(object value, cpp.Tolerance& out, str op) except -1:
    if value is None:
        return 0
    if isinstance(value, Array):
        out.each = &(<Array>value).c
        return 0
    try:
        out.rtol = optional[double](<double>value)
    except TypeError:
        raise DTypeError(f"rtol={value!r} is not a number", op=op,
                         remedy="Pass a float, or an Array of them.") from None
    return 0


cdef cpp.Transpose to_transpose(object value, str op) except *:
    names = {"N": 0, "T": 1, "C": 2}
    code = names.get(value, value)
    if code not in (0, 1, 2):
        raise InvalidValueError(f"trans={value!r}", op=op, remedy="Pass 0, 1 or 2 ('N', 'T', 'C').")
    return <cpp.Transpose><int>code


cdef cpp.NormOrder to_order(object value, str op) except *:
    cdef cpp.NormOrder order
    order.norm = cpp.spectral
    order.smallest = False
    if value == "fro":
        order.norm = cpp.frobenius
    elif value == "nuc":
        order.norm = cpp.nuclear
    elif value in (1, -1, 2, -2, float("inf"), -float("inf")):
        order.smallest = value < 0
        order.norm = cpp.columns if abs(value) == 1 else cpp.spectral if abs(value) == 2 else cpp.rows
    else:
        raise InvalidValueError(f"the order {value!r} of a matrix norm", op=op,
                                remedy="Pass 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.")
    return order


cdef bint to_upper(object value, str op) except -1:
    if value not in ("L", "U"):
        raise InvalidValueError(f"UPLO={value!r}", op=op, remedy="Pass 'L' or 'U'.")
    return value == "U"


# A factorisation as lu_factor and SciPy's functions pass it: a tuple of two.
cdef tuple pair_of(object value, str op):
    if not isinstance(value, tuple) or len(value) != 2:
        raise DTypeError(f"expected a tuple of two, got {type(value).__name__}", op=op,
                         remedy="Pass what the factorisation returned.")
    return tuple(value)


def cholesky(x: Array, /, *, upper: bool = False, check: bool = True) -> Array:
    """The Cholesky factor of x (..., n, n): L with x = L L^H, or U with x = U^H U. Synchronises.

    upper: whether it is U. Reads only that triangle of x. LinAlgError for a matrix that is not positive definite.
    check=False is asynchronous and returns (factor, info); info is the order of the first leading minor that is not
    positive, else 0.
    """
    cdef Array a = as_array(x, "linalg.cholesky")
    cdef cpp.Options options
    cdef cbool of_upper = upper
    cdef cpp.Factor found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.cholesky(a.c, of_upper, options, stream)
    return finish(wrap(found.factor, a.backend), found.info, a.backend, check)


def cho_solve(c_and_lower: tuple[Array, bool], b: Array, /) -> Array:
    """Solves A x = b with the Cholesky factor of A. Asynchronous.

    c_and_lower: what cholesky returned, (..., n, n), and whether that is the lower factor. b: (n,) or (..., n, k); x
    has the same shape.
    """
    factor, is_lower = pair_of(c_and_lower, "linalg.cho_solve")
    cdef Array c = as_array(factor, "linalg.cho_solve"), rhs = as_array(b, "linalg.cho_solve")
    cdef Array out = new_array(c.backend)
    cdef cbool lower = bool(is_lower)
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
    """
    cdef Array matrix = as_array(a, "linalg.solve_triangular"), rhs = as_array(b, "linalg.solve_triangular")
    cdef cpp.TriangularOptions options
    cdef cpp.Solution found
    cdef CppStream stream
    options.lower = lower
    options.unit_diagonal = unit_diagonal
    options.how = to_transpose(trans, "linalg.solve_triangular")
    options.check = check
    enter(matrix.backend, stream)
    with nogil:
        found = cpp.solve_triangular(matrix.c, rhs.c, options, stream)
    return finish(wrap(found.x, matrix.backend), found.info, matrix.backend, check)


def lu_factor(x: Array, /, *, check: bool = True) -> LUFactorResult:
    """(lu, pivots) of x (..., n, n), by elimination with partial pivoting. Synchronises.

    lu has L below its diagonal (L's own diagonal is 1) and U on and above it. pivots: int32, counted from 0: row k was
    exchanged with row pivots[k]. LinAlgError for a singular matrix. check=False is asynchronous and returns
    ((lu, pivots), info); info is the first zero pivot counted from 1, else 0.
    """
    cdef Array a = as_array(x, "linalg.lu_factor")
    cdef cpp.Options options
    cdef cpp.LuFactor found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.lu_factor(a.c, options, stream)
    result = LUFactorResult(wrap(found.lu, a.backend), wrap(found.pivots, a.backend))
    return finish(result, found.info, a.backend, check)


def lu_solve(lu_and_piv: tuple[Array, Array], b: Array, /, *, trans: int | str = 0) -> Array:
    """Solves A x = b with what lu_factor returned for A. Asynchronous.

    b: (n,) or (..., n, k). trans: 0 ('N') solves with A, 1 ('T') with its transpose, 2 ('C') with its adjoint.
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
    """
    cdef Array a = as_array(x, "linalg.lu")
    cdef cpp.PLU found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.lu(a.c, stream)
    return LUResult(wrap(found.p, a.backend), wrap(found.l, a.backend), wrap(found.u, a.backend))


def solve(x1: Array, x2: Array, /, *, check: bool = True) -> Array:
    """Solves x1 x = x2 by LU with partial pivoting, for x1 (..., n, n). Synchronises.

    x2: (n,) or (..., n, k). LinAlgError for a singular matrix. check=False is asynchronous and returns (x, info); info
    is the first zero pivot counted from 1, else 0.
    """
    cdef Array a = as_array(x1, "linalg.solve"), b = as_array(x2, "linalg.solve")
    cdef cpp.Options options
    cdef cpp.Solution found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.solve(a.c, b.c, options, stream)
    return finish(wrap(found.x, a.backend), found.info, a.backend, check)


def inv(x: Array, /, *, check: bool = True) -> Array:
    """The inverse of x (..., n, n). Synchronises.

    LinAlgError for a singular matrix. check=False is asynchronous and returns (inverse, info); info is the first zero
    pivot counted from 1, else 0.
    """
    cdef Array a = as_array(x, "linalg.inv")
    cdef cpp.Options options
    cdef cpp.Solution found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.inv(a.c, options, stream)
    return finish(wrap(found.x, a.backend), found.info, a.backend, check)


def det(x: Array, /) -> Array:
    """The determinant of x (..., n, n), of the batch's shape (...). Asynchronous."""
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
    """
    cdef Array a = as_array(x, "linalg.slogdet")
    cdef cpp.SignLog found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.slogdet(a.c, stream)
    return SlogdetResult(wrap(found.sign, a.backend), wrap(found.logabsdet, a.backend))


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """(Q, R) with x = Q R, for x (..., m, n). Asynchronous.

    mode "reduced": Q (..., m, k) and R (..., k, n) with k = min(m, n); "complete": (..., m, m) and (..., m, n).
    """
    cdef Array a = as_array(x, "linalg.qr")
    cdef cpp.Qr found
    cdef CppStream stream
    cdef cbool complete = mode == "complete"
    if mode not in ("reduced", "complete"):
        raise InvalidValueError(f"mode={mode!r}", op="linalg.qr", remedy="Pass 'reduced' or 'complete'.")
    enter(a.backend, stream)
    with nogil:
        found = cpp.qr(a.c, complete, stream)
    return QRResult(wrap(found.q, a.backend), wrap(found.r, a.backend))


def svd(x: Array, /, *, full_matrices: bool = True, check: bool = True) -> SVDResult:
    """(U, S, Vh) with x = U diag(S) Vh, for x (..., m, n). Synchronises.

    S (..., k), k = min(m, n), is real and descending. full_matrices: U (..., m, m) and Vh (..., n, n), else (..., m, k)
    and (..., k, n). LinAlgError where the iteration does not converge or x holds NaN or infinity. check=False is
    asynchronous and returns ((U, S, Vh), info); for such matrices info is not 0 and the results are NaN.
    """
    cdef Array a = as_array(x, "linalg.svd")
    cdef cpp.Options options
    cdef cbool full = full_matrices
    cdef cpp.Svd found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.svd(a.c, full, options, stream)
    result = SVDResult(wrap(found.u, a.backend), wrap(found.s, a.backend), wrap(found.vh, a.backend))
    return finish(result, found.info, a.backend, check)


def svdvals(x: Array, /, *, check: bool = True) -> Array:
    """The singular values of x (..., m, n), descending: (..., min(m, n)). Synchronises.

    LinAlgError as svd. check=False is asynchronous and returns (values, info).
    """
    cdef Array a = as_array(x, "linalg.svdvals")
    cdef cpp.Options options
    cdef cpp.Svd found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.svdvals(a.c, options, stream)
    return finish(wrap(found.s, a.backend), found.info, a.backend, check)


def eigh(x: Array, /, *, UPLO: str = "L", check: bool = True) -> EighResult:
    """(eigenvalues, eigenvectors) of Hermitian matrices (..., n, n). Synchronises.

    UPLO: the triangle of x that is read, 'L' or 'U'. Eigenvalues (..., n) are real and ascending; eigenvectors are the
    columns of (..., n, n). LinAlgError where the iteration does not converge or x holds NaN or infinity. check=False is
    asynchronous and returns ((eigenvalues, eigenvectors), info); info is not 0 for such matrices.
    """
    cdef Array a = as_array(x, "linalg.eigh")
    cdef cpp.Options options
    cdef cbool upper = to_upper(UPLO, "linalg.eigh")
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.eigh(a.c, upper, options, stream)
    return finish(EighResult(wrap(found.values, a.backend), wrap(found.vectors, a.backend)), found.info, a.backend,
                  check)


def eigvalsh(x: Array, /, *, UPLO: str = "L", check: bool = True) -> Array:
    """The eigenvalues of Hermitian matrices (..., n, n), real and ascending: (..., n). Synchronises.

    UPLO and LinAlgError as eigh. check=False is asynchronous and returns (values, info).
    """
    cdef Array a = as_array(x, "linalg.eigvalsh")
    cdef cpp.Options options
    cdef cbool upper = to_upper(UPLO, "linalg.eigvalsh")
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.eigvalsh(a.c, upper, options, stream)
    return finish(wrap(found.values, a.backend), found.info, a.backend, check)


def eig(x: Array, /, *, check: bool = True) -> EigResult:
    """(eigenvalues, eigenvectors) of general matrices (..., n, n), always complex. Synchronises.

    Eigenvalues (..., n) are in no order; eigenvectors are the columns of (..., n, n), of norm 1. LinAlgError where the
    iteration does not converge or x holds NaN or infinity. check=False returns ((eigenvalues, eigenvectors), info);
    info is not 0 for such matrices.
    """
    cdef Array a = as_array(x, "linalg.eig")
    cdef cpp.Options options
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.eig(a.c, options, stream)
    return finish(EigResult(wrap(found.values, a.backend), wrap(found.vectors, a.backend)), found.info, a.backend,
                  check)


def eigvals(x: Array, /, *, check: bool = True) -> Array:
    """The eigenvalues of general matrices (..., n, n), complex and in no order: (..., n). Synchronises.

    LinAlgError as eig. check=False returns (values, info).
    """
    cdef Array a = as_array(x, "linalg.eigvals")
    cdef cpp.Options options
    cdef cpp.Eigen found
    cdef CppStream stream
    options.check = check
    enter(a.backend, stream)
    with nogil:
        found = cpp.eigvals(a.c, options, stream)
    return finish(wrap(found.values, a.backend), found.info, a.backend, check)


def lstsq(a: Array, b: Array, /, *, rtol: float | Array | None = None) -> LstsqResult:
    """The x of least norm that minimises |a x - b|, for a (..., m, n), by singular values. Synchronises.

    b: (m,) or (..., m, k). rtol: singular values up to rtol times the largest count as 0; a number, or an Array that
    broadcasts to the batch; None is max(m, n) eps. residuals: |a x - b|^2 of each right-hand side, empty unless m > n
    and every matrix has rank n. LinAlgError as svd.
    """
    cdef Array matrix = as_array(a, "linalg.lstsq"), rhs = as_array(b, "linalg.lstsq")
    cdef cpp.Tolerance tolerance
    cdef cpp.LeastSquares found
    cdef CppStream stream
    to_rtol(rtol, tolerance, "linalg.lstsq")
    enter(matrix.backend, stream)
    with nogil:
        found = cpp.lstsq(matrix.c, rhs.c, tolerance, stream)
    after_wait(matrix.backend)
    return LstsqResult(wrap(found.x, matrix.backend), wrap(found.residuals, matrix.backend),
                       wrap(found.rank, matrix.backend), wrap(found.singular_values, matrix.backend))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """The Moore-Penrose inverse (..., n, m) of x (..., m, n), by singular values. Synchronises.

    rtol as in lstsq. LinAlgError as svd.
    """
    cdef Array a = as_array(x, "linalg.pinv")
    cdef Array out = new_array(a.backend)
    cdef cpp.Tolerance tolerance
    cdef CppStream stream
    to_rtol(rtol, tolerance, "linalg.pinv")
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.pinv(a.c, tolerance, stream)
    after_wait(a.backend)
    return out


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """The rank of x (..., m, n), int64: the number of singular values above a tolerance. Synchronises.

    rtol as in lstsq. LinAlgError as svd.
    """
    cdef Array a = as_array(x, "linalg.matrix_rank")
    cdef Array out = new_array(a.backend)
    cdef cpp.Tolerance tolerance
    cdef CppStream stream
    to_rtol(rtol, tolerance, "linalg.matrix_rank")
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.matrix_rank(a.c, tolerance, stream)
    after_wait(a.backend)
    return out


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | str = "fro") -> Array:
    """A norm of each matrix (..., m, n), real, of the batch's shape. Asynchronous for most orders.

    ord: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf; 'nuc', 2 and -2 synchronise, as svd. keepdims keeps the last two axes
    with length 1.
    """
    cdef Array a = as_array(x, "linalg.matrix_norm")
    cdef Array out = new_array(a.backend)
    cdef cpp.NormOrder order = to_order(ord, "linalg.matrix_norm")
    cdef cbool keep = keepdims
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.matrix_norm(a.c, order, keep, stream)
    return out


def cond(x: Array, /, p: float | str | None = None) -> Array:
    """The condition number of x (..., m, n) in a norm of matrix_norm; infinite for a singular matrix.

    p: None is 2. Synchronises, as svd, for None, 2, -2 and 'nuc'; the other norms need square matrices.
    """
    cdef Array a = as_array(x, "linalg.cond")
    cdef Array out = new_array(a.backend)
    cdef cpp.NormOrder order = to_order(2 if p is None else p, "linalg.cond")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cond(a.c, order, stream)
    after_wait(a.backend)
    return out


def matrix_power(x: Array, n: int, /) -> Array:
    """x (..., m, m) to an integer power, by repeated squaring. Asynchronous for n >= 0.

    n < 0 is a power of the inverse, which synchronises and raises LinAlgError as inv.
    """
    cdef Array a = as_array(x, "linalg.matrix_power")
    cdef Array out = new_array(a.backend)
    cdef int64_t power = to_int(n, "linalg.matrix_power")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.matrix_power(a.c, power, stream)
    return out


def expm(x: Array, /) -> Array:
    """The exponential of matrices (..., n, n), as scipy.linalg.expm. Synchronises.

    Matrices that hold NaN or infinity become NaN.
    """
    cdef Array a = as_array(x, "linalg.expm")
    cdef Array out = new_array(a.backend)
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.expm(a.c, stream)
    after_wait(a.backend)
    return out


def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sum of a diagonal of each matrix (..., m, n), of the batch's shape. Asynchronous.

    offset as in diagonal. dtype: of the accumulation and the result; None accumulates integers in 64 bits.
    """
    cdef Array a = as_array(x, "linalg.trace")
    cdef Array out = new_array(a.backend)
    cdef int64_t k = to_int(offset, "linalg.trace")
    cdef optional[CppDType] code
    cdef CppStream stream
    to_dtype(dtype, code)
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.trace(a.c, k, code, stream)
    return out


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along an axis. Asynchronous.

    The other axes broadcast.
    """
    cdef Array a = as_array(x1, "linalg.cross"), b = as_array(x2, "linalg.cross")
    cdef Array out = new_array(a.backend)
    cdef int64_t along = to_int(axis, "linalg.cross")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cross(a.c, b.c, along, stream)
    return out
