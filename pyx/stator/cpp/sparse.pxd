# stator/sparse.hpp
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool

from stator.cpp.array cimport Array, Scalar
from stator.cpp.backend cimport Stream
from stator.cpp.dtype cimport DType
from stator.cpp.error cimport translate_exception
from stator.cpp.std cimport optional


cdef extern from "stator/sparse.hpp" namespace "stator::sparse" nogil:
    cdef cppclass Csr:
        Array indptr, indices, values
        int64_t rows, cols
        cbool sorted, unique, valid
    cdef cppclass Csc:
        Array indptr, indices, values
        int64_t rows, cols
        cbool sorted, unique, valid
    cdef cppclass Coo:
        Array row, col, values
        int64_t rows, cols
        cbool sorted, unique, valid

    Csr csr(const Array&, const Array&, const Array&, int64_t, int64_t, const Stream&) except +translate_exception
    Coo coo(const Array&, const Array&, const Array&, int64_t, int64_t, const Stream&) except +translate_exception
    Csr with_values(const Csr&, const Array&, const Stream&) except +translate_exception
    Coo with_values(const Coo&, const Array&, const Stream&) except +translate_exception
    Csr check(const Csr&, const Stream&) except +translate_exception
    Coo check(const Coo&, const Stream&) except +translate_exception
    Csc transpose(const Csr&) except +translate_exception
    Csr transpose(const Csc&) except +translate_exception
    Csc to_csc(const Csr&, const Stream&) except +translate_exception
    Csr to_csr(const Csc&, const Stream&) except +translate_exception
    Csr to_csr(const Coo&, const Stream&) except +translate_exception
    Coo to_coo(const Csr&, const Stream&) except +translate_exception
    Array to_dense(const Csr&, const Stream&) except +translate_exception
    Array to_dense(const Csc&, const Stream&) except +translate_exception

    cdef cppclass FromDense:
        optional[DType] index_dtype
        optional[int64_t] nnz

    Csr csr_from_dense(const Array&, const FromDense&, const Stream&) except +translate_exception
    Csr sort_indices(const Csr&, const Stream&) except +translate_exception
    Csr coalesce(const Csr&, optional[int64_t], const Stream&) except +translate_exception
    Array matmul(const Csr&, const Array&, const Array*, const Stream&) except +translate_exception
    Csr matmul(const Csr&, const Csr&, const Stream&) except +translate_exception
    Csr add(const Csr&, const Csr&, const Scalar&, const Scalar&, optional[int64_t],
            const Stream&) except +translate_exception
    Array row_sums(const Csr&, const Stream&) except +translate_exception
    Csr sddmm(const Csr&, const Array&, const Array&, const Scalar&, const Scalar&,
              const Stream&) except +translate_exception
    cdef cppclass TriangularOptions:
        cbool lower, unit, check
    cdef cppclass TriangularSolution:
        Array x, info

    TriangularSolution solve_triangular(const Csr&, const Array&, const TriangularOptions&,
                                        const Stream&) except +translate_exception

    Array prune_2to4(const Array&, int64_t, const Stream&) except +translate_exception
    cdef cppclass TwoToFour:
        Array values, positions
        int64_t length
        int axis

    TwoToFour compress_2to4(const Array&, int64_t, const Stream&) except +translate_exception
    Array to_dense(const TwoToFour&, const Stream&) except +translate_exception
    Array matmul_2to4(const Array&, const Array&, const Stream&) except +translate_exception
    Array matmul_2to4(const Array&, const TwoToFour&, const Stream&) except +translate_exception
    Array matmul_2to4(const TwoToFour&, const Array&, const Stream&) except +translate_exception
