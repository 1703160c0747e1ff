# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=python
# cython: annotation_typing=False, freethreading_compatible=True
"""Linear algebra on the last two axes: factors, solutions, eigenvalues and singular values."""
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


# The result of a checked call, or it and the info.
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


# The two arrays of a factorisation, as lu_factor and SciPy's functions pass them.
cdef tuple pair_of(object value, str op):
    if not isinstance(value, tuple) or len(value) != 2:
        raise DTypeError(f"expected a tuple of two, got {type(value).__name__}", op=op,
                         remedy="Pass what the factorisation returned.")
    return tuple(value)


def cholesky(x: Array, /, *, upper: bool = False, check: bool = True) -> Array:
    """L with x = L L^H, or upper: U with x = U^H U, reading that triangle of x alone.

    Synchronises, and raises LinAlgError for a matrix that is not positive definite, unless check=False: returns
    (factor, info); info is the order of the first leading minor that is not positive, else 0.
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
    """x of A x = b, by (c, lower): the factor of A that cholesky gave, and whether it is the lower one. Asynchronous.

    b: (n,) or (..., n, k).
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
    """x of A x = b for a triangle of a; trans: 1 ('T') solves with the transpose, 2 ('C') with the adjoint.

    b: (n,) or (..., n, k). Synchronises, and raises LinAlgError for a zero on the diagonal, unless check=False:
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
    """(lu, pivots): L below the diagonal of lu, whose own diagonal is 1, and U in and above it.

    pivots: int32, on the device, counted from 0: row k was exchanged with row pivots[k]. Synchronises, and raises
    LinAlgError for a singular matrix, unless check=False: returns ((lu, pivots), info); info is the first zero pivot
    counted from 1, else 0.
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
    """x of A x = b by what lu_factor gave; trans: 1 ('T') with the transpose, 2 ('C') with the adjoint. Asynchronous.

    b: (n,) or (..., n, k).
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
    """(P, L, U) with x = P L U, as scipy.linalg.lu: P a permutation matrix. Asynchronous."""
    cdef Array a = as_array(x, "linalg.lu")
    cdef cpp.PLU found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.lu(a.c, stream)
    return LUResult(wrap(found.p, a.backend), wrap(found.l, a.backend), wrap(found.u, a.backend))


def solve(x1: Array, x2: Array, /, *, check: bool = True) -> Array:
    """x of x1 x = x2, by LU with partial pivoting. x2: (n,) or (..., n, k).

    Synchronises, and raises LinAlgError for a singular matrix, unless check=False: returns (x, info); info is the
    first zero pivot counted from 1, else 0.
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
    """The inverse. Synchronises, and raises LinAlgError for a singular matrix, unless check=False: returns
    (inverse, info); info is the first zero pivot counted from 1, else 0."""
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
    """The determinant, the product of the pivots of LU: 0 for a singular matrix. Asynchronous."""
    cdef Array a = as_array(x, "linalg.det")
    cdef Array out = new_array(a.backend)
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.det(a.c, stream)
    return out


def slogdet(x: Array, /) -> SlogdetResult:
    """(sign, logabsdet): the determinant is sign * exp(logabsdet); 0 and -inf for a singular matrix. Asynchronous."""
    cdef Array a = as_array(x, "linalg.slogdet")
    cdef cpp.SignLog found
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        found = cpp.slogdet(a.c, stream)
    return SlogdetResult(wrap(found.sign, a.backend), wrap(found.logabsdet, a.backend))


def qr(x: Array, /, *, mode: str = "reduced") -> QRResult:
    """(Q, R) with x = Q R: Q is (m, k) and R (k, n), k = min(m, n); "complete": (m, m) and (m, n). Asynchronous."""
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
    """(U, S, Vh) with x = U diag(S) Vh: U is (m, m) and Vh (n, n), or (m, k) and (k, n) with k = min(m, n).

    Synchronises, and raises LinAlgError where the iteration does not converge or x holds NaN or infinity, unless
    check=False: returns ((U, S, Vh), info); info is not 0 for such matrices, whose results are NaN.
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
    """The singular values, descending. Synchronises unless check=False, as svd: returns (values, info)."""
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
    """(eigenvalues, eigenvectors) of the Hermitian matrix whose triangle is named: real, ascending; columns.

    Synchronises, and raises LinAlgError where the iteration does not converge or x holds NaN or infinity, unless
    check=False: returns ((eigenvalues, eigenvectors), info); info is not 0 for such matrices.
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
    """The eigenvalues that eigh gives. Synchronises unless check=False, as eigh: returns (values, info)."""
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
    """(eigenvalues, eigenvectors) of any square matrix: always complex, in no order; columns of length 1.

    Synchronises, and raises LinAlgError where the iteration does not converge or x holds NaN or infinity, unless
    check=False: returns ((eigenvalues, eigenvectors), info); info is not 0 for such matrices.
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
    """The eigenvalues that eig gives. Synchronises unless check=False, as eig: returns (values, info)."""
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
    """x of the smallest norm that minimises |a x - b|, by singular values. b: (m,) or (..., m, k). Synchronises.

    rtol: singular values up to rtol times the largest count as 0, a number or an Array that broadcasts to the batch;
    None: max(m, n) eps. residuals: |a x - b|^2 for each
    right-hand side, empty unless m > n and every matrix has rank n. LinAlgError as svd.
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
    """The Moore-Penrose inverse, by singular values; rtol as of lstsq. Synchronises. LinAlgError as svd."""
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
    """How many singular values are larger than rtol (as of lstsq) times the largest. Synchronises, as svd."""
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
    """A norm of each matrix: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf. 'nuc', 2 and -2 synchronise, as svd."""
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
    """The condition number in a norm of matrix_norm, None: 2. Infinite for a singular matrix. Synchronises, as svd."""
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
    """x to an integer power by repeated squaring; n < 0: of the inverse, which synchronises, as inv."""
    cdef Array a = as_array(x, "linalg.matrix_power")
    cdef Array out = new_array(a.backend)
    cdef int64_t power = to_int(n, "linalg.matrix_power")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.matrix_power(a.c, power, stream)
    return out


def expm(x: Array, /) -> Array:
    """The matrix exponential, as scipy.linalg.expm. Matrices that hold NaN or infinity become NaN. Synchronises."""
    cdef Array a = as_array(x, "linalg.expm")
    cdef Array out = new_array(a.backend)
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.expm(a.c, stream)
    after_wait(a.backend)
    return out


def trace(x: Array, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> Array:
    """The sum of a diagonal, offset as for diagonal. Integers accumulate in 64 bits. Asynchronous."""
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
    """The cross product of vectors of three elements along an axis. Asynchronous."""
    cdef Array a = as_array(x1, "linalg.cross"), b = as_array(x2, "linalg.cross")
    cdef Array out = new_array(a.backend)
    cdef int64_t along = to_int(axis, "linalg.cross")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cross(a.c, b.c, along, stream)
    return out
