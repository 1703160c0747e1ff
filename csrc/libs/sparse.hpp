// Sparse products and triangular systems as plain data: what cuSPARSE is asked for. Elsewhere our own kernels are used
// (params/sparse.hpp).
#pragma once

#include "core/op_call.hpp"

#include <functional>

namespace stator::libs {

// Compressed by rows, with all indices known to be in range: cuSPARSE does not check them.
struct SparseMatrix {
  const void *indptr, *indices, *values;
  int64_t rows, cols, nnz;
  DType index, dtype;
};
// Rows (or columns) that are `leading` elements apart; a vector has one column.
struct DenseMatrix {
  void* data;
  int64_t rows, cols, leading;
  bool by_rows;
};
// alpha and beta, which are real for real matrices.
struct SparseFactors {
  complex128 alpha = 1.0, beta = 0.0;
};

// Whether cuSPARSE can be opened and has the symbols. Where not: one warning per process, or LibraryNotFoundError if
// the backend requires libraries.
bool cuda_sparse_available(const OpCall& call);

// Opens cuSPARSE, and cuSPARSELt where it is there, and makes the stream's handles. LibraryNotFoundError, CudaError.
void cuda_sparse_prepare(OpCall& call);

// Enqueued with the accesses that the call has declared; buffers are scratch memory; equal bits from run to run.
// float16 and bfloat16 are summed in float32. CudaError, OutOfMemoryError.
void cuda_sparse_product(OpCall&, const SparseMatrix& a, const DenseMatrix& x, const DenseMatrix& out);
// Writes the values of `pattern`: alpha * (x @ y) where it has entries + beta * the previous values. float32 to
// complex128.
void cuda_sparse_sampled(OpCall&, const SparseMatrix& pattern, const DenseMatrix& x, const DenseMatrix& y,
                         SparseFactors);
// Solves with the triangle of a, whose rows are sorted and have no repeated indices; float32 to complex128.
void cuda_sparse_solve(OpCall&, const SparseMatrix& a, bool lower, bool unit, const DenseMatrix& b,
                       const DenseMatrix& out);

// a @ b with int32 indices, float32 to complex128. Synchronises to learn how many entries there are, then calls `make`
// for the memory of their indices and values; the pointers are given. Returns false, with nothing written, if the
// library says that its buffers would be too large.
struct SparseRoom {
  void *indices, *values;
};
bool cuda_sparse_times(OpCall&, const SparseMatrix& a, const SparseMatrix& b, void* indptr,
                       const std::function<SparseRoom(int64_t)>& make);

// Whether cuSPARSELt can be opened; tried once per process.
bool cuda_sparse_lt_available();
void cuda_sparse_lt_prepare(OpCall& call);  // makes its handle
// out = a @ b of float16 or bfloat16, where the left (or right) operand is 2:4 along the inner axis: on sparse tensor
// cores, summed in float32. That operand is first compressed into scratch memory, in the library's own format.
void cuda_structured_product(OpCall&, const DenseMatrix& a, const DenseMatrix& b, const DenseMatrix& out, bool left,
                             DType dtype);

}  // namespace stator::libs
