// The part of cuSPARSE that stator calls (the generic API), declared here so that building needs no CUDA header.
// tests/cpp/vendor_prototypes.cpp compares these types and values with the real header.
#pragma once

#include "libs/cuda/cublas.hpp"

struct cusparseContext;
struct cusparseSpMatDescr;
struct cusparseDnMatDescr;
struct cusparseDnVecDescr;
struct cusparseSpSVDescr;
struct cusparseSpSMDescr;
struct cusparseSpGEMMDescr;

namespace stator::libs::cusparse {

using cublas::data_type;
using cublas::DataType;
using cublas::StreamHandle;
using Handle = ::cusparseContext*;
using Sparse = ::cusparseSpMatDescr*;
using ConstSparse = const ::cusparseSpMatDescr*;
using Matrix = ::cusparseDnMatDescr*;
using ConstMatrix = const ::cusparseDnMatDescr*;
using Vector = ::cusparseDnVecDescr*;
using ConstVector = const ::cusparseDnVecDescr*;
using VectorSolve = ::cusparseSpSVDescr*;
using MatrixSolve = ::cusparseSpSMDescr*;
using Times = ::cusparseSpGEMMDescr*;
using Status = int;  // cusparseStatus_t; the enumerations below are int-sized in the library's interface
inline constexpr Status success = 0, insufficient_resources = 11;

enum class Operation : int { none = 0 };                      // cusparseOperation_t
enum class Index : int { narrow = 2, wide = 3 };              // cusparseIndexType_t
enum class Base : int { zero = 0 };                           // cusparseIndexBase_t
enum class Order : int { columns = 1, rows = 2 };             // cusparseOrder_t
enum class Attribute : int { fill_mode = 0, diag_type = 1 };  // cusparseSpMatAttribute_t
enum class Fill : int { lower = 0, upper = 1 };               // cusparseFillMode_t
enum class Diagonal : int { non_unit = 0, unit = 1 };         // cusparseDiagType_t
enum class VectorAlgorithm : int { csr_run_to_run = 3 };      // cusparseSpMVAlg_t
enum class MatrixAlgorithm : int { csr_run_to_run = 12 };     // cusparseSpMMAlg_t
enum class TimesAlgorithm : int { standard = 0 };             // cusparseSpGEMMAlg_t
enum class Algorithm : int { standard = 0 };                  // of the others

struct Api {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_stream)(Handle, StreamHandle);
  const char* (*status_name)(Status);

  Status (*create_csr)(Sparse*, int64_t rows, int64_t cols, int64_t nnz, void* indptr, void* indices, void* values,
                       Index, Index, Base, DataType);
  Status (*destroy_sparse)(ConstSparse);
  Status (*set_attribute)(Sparse, Attribute, void*, size_t);
  Status (*sparse_size)(ConstSparse, int64_t* rows, int64_t* cols, int64_t* nnz);
  Status (*set_pointers)(Sparse, void* indptr, void* indices, void* values);
  Status (*create_vector)(Vector*, int64_t size, void*, DataType);
  Status (*destroy_vector)(ConstVector);
  Status (*create_matrix)(Matrix*, int64_t rows, int64_t cols, int64_t leading, void*, DataType, Order);
  Status (*destroy_matrix)(ConstMatrix);

  Status (*times_vector_size)(Handle, Operation, const void* alpha, ConstSparse, ConstVector, const void* beta, Vector,
                              DataType, VectorAlgorithm, size_t*);
  Status (*times_vector)(Handle, Operation, const void* alpha, ConstSparse, ConstVector, const void* beta, Vector,
                         DataType, VectorAlgorithm, void*);
  Status (*times_matrix_size)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstMatrix,
                              const void* beta, Matrix, DataType, MatrixAlgorithm, size_t*);
  Status (*times_matrix)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstMatrix, const void* beta,
                         Matrix, DataType, MatrixAlgorithm, void*);
  Status (*sampled_size)(Handle, Operation, Operation, const void* alpha, ConstMatrix, ConstMatrix, const void* beta,
                         Sparse, DataType, Algorithm, size_t*);
  Status (*sampled)(Handle, Operation, Operation, const void* alpha, ConstMatrix, ConstMatrix, const void* beta, Sparse,
                    DataType, Algorithm, void*);

  Status (*create_vector_solve)(VectorSolve*);
  Status (*destroy_vector_solve)(VectorSolve);
  Status (*solve_vector_size)(Handle, Operation, const void* alpha, ConstSparse, ConstVector, Vector, DataType,
                              Algorithm, VectorSolve, size_t*);
  Status (*solve_vector_analysis)(Handle, Operation, const void* alpha, ConstSparse, ConstVector, Vector, DataType,
                                  Algorithm, VectorSolve, void*);
  Status (*solve_vector)(Handle, Operation, const void* alpha, ConstSparse, ConstVector, Vector, DataType, Algorithm,
                         VectorSolve);
  Status (*create_matrix_solve)(MatrixSolve*);
  Status (*destroy_matrix_solve)(MatrixSolve);
  Status (*solve_matrix_size)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstMatrix, Matrix,
                              DataType, Algorithm, MatrixSolve, size_t*);
  Status (*solve_matrix_analysis)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstMatrix, Matrix,
                                  DataType, Algorithm, MatrixSolve, void*);
  Status (*solve_matrix)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstMatrix, Matrix, DataType,
                         Algorithm, MatrixSolve);

  Status (*create_times)(Times*);
  Status (*destroy_times)(Times);
  Status (*times_estimate)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstSparse, const void* beta,
                           Sparse, DataType, TimesAlgorithm, Times, size_t*, void*);
  Status (*times_compute)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstSparse, const void* beta,
                          Sparse, DataType, TimesAlgorithm, Times, size_t*, void*);
  Status (*times_copy)(Handle, Operation, Operation, const void* alpha, ConstSparse, ConstSparse, const void* beta,
                       Sparse, DataType, TimesAlgorithm, Times);
};

}  // namespace stator::libs::cusparse
