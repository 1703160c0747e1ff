# stator/linalg.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/linalg.hpp" namespace "stator::linalg" nogil:
    cdef cppclass Options:
        cbool check

    cdef cppclass Factor:
        Array factor, info
    cdef cppclass Solution:
        Array x, info
    cdef cppclass LuFactor:
        Array lu, pivots, info
    cdef cppclass PLU:
        Array p, l, u
    cdef cppclass SignLog:
        Array sign, logabsdet
    cdef cppclass Qr:
        Array q, r
    cdef cppclass Svd:
        Array u, s, vh, info
    cdef cppclass Eigen:
        Array values, vectors, info
    cdef cppclass Tolerance:
        optional[double] rtol
        const Array* each
    cdef cppclass LeastSquares:
        Array x, residuals, rank, singular_values

    ctypedef enum Transpose "stator::linalg::Transpose":
        no_transpose "stator::linalg::Transpose::none"
    cdef cppclass TriangularOptions:
        cbool lower, unit_diagonal, check
        Transpose how

    Factor cholesky(const Array&, cbool, const Options&, const Stream&) except +translate_exception
    Array cho_solve(const Array&, cbool, const Array&, const Stream&) except +translate_exception
    Solution solve_triangular(const Array&, const Array&, const TriangularOptions&,
                              const Stream&) except +translate_exception
    LuFactor lu_factor(const Array&, const Options&, const Stream&) except +translate_exception
    Array lu_solve(const Array&, const Array&, const Array&, Transpose, const Stream&) except +translate_exception
    PLU lu(const Array&, const Stream&) except +translate_exception
    Solution solve(const Array&, const Array&, const Options&, const Stream&) except +translate_exception
    Solution inv(const Array&, const Options&, const Stream&) except +translate_exception
    Array det(const Array&, const Stream&) except +translate_exception
    SignLog slogdet(const Array&, const Stream&) except +translate_exception
    Qr qr(const Array&, cbool, const Stream&) except +translate_exception
    Svd svd(const Array&, cbool, const Options&, const Stream&) except +translate_exception
    Svd svdvals(const Array&, const Options&, const Stream&) except +translate_exception
    Eigen eigh(const Array&, cbool, const Options&, const Stream&) except +translate_exception
    Eigen eigvalsh(const Array&, cbool, const Options&, const Stream&) except +translate_exception
    Eigen eig(const Array&, const Options&, const Stream&) except +translate_exception
    Eigen eigvals(const Array&, const Options&, const Stream&) except +translate_exception
    LeastSquares lstsq(const Array&, const Array&, const Tolerance&, const Stream&) except +translate_exception
    Array pinv(const Array&, const Tolerance&, const Stream&) except +translate_exception
    Array matrix_rank(const Array&, const Tolerance&, const Stream&) except +translate_exception

    ctypedef enum MatrixNorm:
        frobenius "stator::linalg::MatrixNorm::frobenius"
        nuclear "stator::linalg::MatrixNorm::nuclear"
        rows "stator::linalg::MatrixNorm::rows"
        columns "stator::linalg::MatrixNorm::columns"
        spectral "stator::linalg::MatrixNorm::spectral"
    cdef cppclass NormOrder:
        MatrixNorm norm
        cbool smallest

    Array matrix_norm(const Array&, NormOrder, cbool, const Stream&) except +translate_exception
    Array cond(const Array&, NormOrder, const Stream&) except +translate_exception
    Array matrix_power(const Array&, int64_t, const Stream&) except +translate_exception
    Array expm(const Array&, const Stream&) except +translate_exception
    Array trace(const Array&, int64_t, optional[DType], const Stream&) except +translate_exception
    Array cross(const Array&, const Array&, int64_t, const Stream&) except +translate_exception
