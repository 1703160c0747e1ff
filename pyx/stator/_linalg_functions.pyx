# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
# cython: annotation_typing=False, freethreading_compatible=True
"""Least squares, pseudo-inverses, norms, and functions of matrices: what is made of factorisations."""
from collections import namedtuple

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator._array cimport Array, as_array, new_array, wrap_array
from stator._backend cimport Backend, after_wait, enter
from stator._convert cimport to_choice, to_diagonal, to_dtype, to_flag, to_float, to_int
from stator.cpp cimport linalg as cpp
from stator.cpp.array cimport Array as CppArray
from stator.cpp.backend cimport Stream as CppStream
from stator.cpp.dtype cimport DType as CppDType
from stator.cpp.std cimport optional

from stator.errors import InvalidValueError

LstsqResult = namedtuple("LstsqResult", ("x", "residuals", "rank", "singular_values"),
                         module="stator._linalg_functions")


cdef int to_rtol(object value, cpp.Tolerance& out, str op) except -1:
    if value is None:
        return 0
    if isinstance(value, Array):
        out.each = &(<Array>value).c
        return 0
    out.rtol = optional[double](to_float(value, op, "rtol"))
    return 0


cdef cpp.NormOrder to_order(object value, str op, str name) except *:
    cdef cpp.NormOrder order
    cdef double number
    order.smallest = False
    if isinstance(value, str):
        order.norm = cpp.nuclear if to_choice(value, ("fro", "nuc"), op, name) else cpp.frobenius
        return order
    number = to_float(value, op, name)
    if number not in (1, -1, 2, -2, float("inf"), -float("inf")):
        raise InvalidValueError(f"{name}={value!r}", op=op, remedy="Pass 'fro', 'nuc', 1, -1, 2, -2, inf or -inf.")
    order.smallest = number < 0
    order.norm = cpp.columns if abs(number) == 1 else cpp.spectral if abs(number) == 2 else cpp.rows
    return order


cdef bint waits(cpp.NormOrder order):
    """Whether a norm of this order is of singular values, which wait for the device."""
    return order.norm == cpp.spectral or order.norm == cpp.nuclear


def lstsq(a: Array, b: Array, /, rcond: float | None = None, *, rtol: float | Array | None = None) -> LstsqResult:
    """The x of least norm that minimises |a x - b|, for a (..., m, n), by singular values. Synchronises.

    b: (m,) or (..., m, k). rtol: singular values up to rtol times the largest count as 0; a number, or an Array that
    broadcasts to the batch; None is max(m, n) eps. rcond: NumPy's name of rtol; a negative one is eps. residuals:
    |a x - b|^2 of each right-hand side, empty unless m > n and every matrix has rank n. LinAlgError as svd.

    >>> a, b = stator.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), stator.asarray([3.0, 4.0, 5.0])
    >>> found = stator.linalg.lstsq(a, b)
    >>> found.x.round(6).tolist(), found.rank.item()
    ([3.0, 2.0], 2)
    """
    cdef Array matrix = as_array(a, "linalg.lstsq"), rhs = as_array(b, "linalg.lstsq")
    cdef cpp.Tolerance tolerance
    cdef cpp.LeastSquares found
    cdef CppStream stream
    if rcond is not None:
        if rtol is not None:
            raise InvalidValueError("Both rcond and rtol were given", op="linalg.lstsq", remedy="Give one of them.")
        rtol = to_float(rcond, "linalg.lstsq", "rcond")
        if rtol < 0:
            rtol = 2.0**-23 if matrix.dtype.name in ("float32", "complex64") else 2.0**-52
    to_rtol(rtol, tolerance, "linalg.lstsq")
    enter(matrix.backend, stream)
    with nogil:
        found = cpp.lstsq(matrix.c, rhs.c, tolerance, stream)
    after_wait(matrix.backend)
    return LstsqResult(wrap_array(matrix.backend, found.x), wrap_array(matrix.backend, found.residuals),
                       wrap_array(matrix.backend, found.rank), wrap_array(matrix.backend, found.singular_values))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """The Moore-Penrose inverse (..., n, m) of x (..., m, n), by singular values. Synchronises.

    rtol as in lstsq. LinAlgError as svd.

    >>> stator.linalg.pinv(stator.asarray([[2.0, 0.0], [0.0, 4.0]])).round(6).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
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

    >>> stator.linalg.matrix_rank(stator.ones((3, 2))).item()
    1
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
    with length 1. Of a matrix without elements it is 0, as an empty sum; InvalidValueError for the smallest of no
    rows (-inf), columns (-1) or singular values (-2).

    >>> stator.linalg.matrix_norm(stator.asarray([[3.0, 0.0], [4.0, 0.0]])).item()
    5.0
    """
    cdef Array a = as_array(x, "linalg.matrix_norm")
    cdef Array out = new_array(a.backend)
    cdef cpp.NormOrder order = to_order(ord, "linalg.matrix_norm", "ord")
    cdef cbool keep = to_flag(keepdims, "linalg.matrix_norm", "keepdims")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.matrix_norm(a.c, order, keep, stream)
    if waits(order):
        after_wait(a.backend)
    return out


def cond(x: Array, /, p: float | str | None = None) -> Array:
    """The condition number of x (..., m, n) in a norm of matrix_norm; infinite for a singular matrix.

    p: None is 2. Synchronises, as svd, for None, 2, -2 and 'nuc'; the other norms need square matrices.

    >>> stator.linalg.cond(stator.asarray([[2.0, 0.0], [0.0, 4.0]]), p=1).item()
    2.0
    """
    cdef Array a = as_array(x, "linalg.cond")
    cdef Array out = new_array(a.backend)
    cdef cpp.NormOrder order = to_order(2 if p is None else p, "linalg.cond", "p")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cond(a.c, order, stream)
    if waits(order):
        after_wait(a.backend)
    return out


def matrix_power(x: Array, n: int, /) -> Array:
    """x (..., m, m) to an integer power, by repeated squaring. Asynchronous for n >= 0.

    n < 0 is a power of the inverse, which synchronises and raises LinAlgError as inv.

    >>> stator.linalg.matrix_power(stator.asarray([[1, 1], [0, 1]]), 5).tolist()
    [[1.0, 5.0], [0.0, 1.0]]
    """
    cdef Array a = as_array(x, "linalg.matrix_power")
    cdef Array out = new_array(a.backend)
    cdef int64_t power = to_int(n, "linalg.matrix_power", "n")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.matrix_power(a.c, power, stream)
    if power < 0:
        after_wait(a.backend)
    return out


def expm(x: Array, /) -> Array:
    """The exponential of matrices (..., n, n), as scipy.linalg.expm. Synchronises.

    Matrices that hold NaN or infinity become NaN.

    >>> stator.linalg.expm(stator.zeros((2, 2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
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

    >>> stator.linalg.trace(stator.asarray([[1, 2], [3, 4]])).item()
    5
    """
    cdef Array source = as_array(x, "linalg.trace")
    return trace_of(source.backend, source.c, offset, dtype)


cdef Array trace_of(Backend backend, const CppArray& a, object offset, object dtype):
    cdef Array out = new_array(backend)
    cdef int64_t k = to_diagonal(offset, "linalg.trace", "offset")
    cdef optional[CppDType] code
    cdef CppStream stream
    to_dtype(dtype, code, "linalg.trace")
    enter(backend, stream)
    with nogil:
        out.c = cpp.trace(a, k, code, stream)
    return out


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product of vectors of three elements along an axis. Asynchronous.

    The other axes broadcast.

    >>> stator.linalg.cross(stator.asarray([1, 0, 0]), stator.asarray([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    cdef Array a = as_array(x1, "linalg.cross"), b = as_array(x2, "linalg.cross")
    cdef Array out = new_array(a.backend)
    cdef int64_t along = to_int(axis, "linalg.cross")
    cdef CppStream stream
    enter(a.backend, stream)
    with nogil:
        out.c = cpp.cross(a.c, b.c, along, stream)
    return out
