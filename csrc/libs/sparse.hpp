// Sparse products and triangular systems as plain data: what cuSPARSE is asked for. Our own kernels serve elsewhere
// (params/sparse.hpp).
#pragma once

#include "core/op_call.hpp"

#include <functional>

namespace stator::libs {

// Compressed by rows, with every index known to be inside: cuSPARSE looks at none.
struct SparseMatrix {
  const void *indptr, *indices, *values;
  int64_t rows, cols, nnz;
  DType index, dtype;
};
// Rows (or columns) of `leading` elements from one to the next; a vector has one target.
struct DenseMatrix {
  void* data;
  int64_t rows, cols, leading;
  bool by_rows;
};
// alpha and beta, which are real.
struct SparseFactors {
  double alpha = 1, beta = 0;
};

// Whether cuSPARSE can be opened and has the symbols; asked once a process.
bool cuda_sparse_available();

// Enqueued with the accesses that the call has declared; buffers are scratch memory; equal bits run to run. float16 and
// bfloat16 are summed in float32. CudaError, OutOfMemoryError.
void cuda_sparse_product(OpCall&, const SparseMatrix& a, const DenseMatrix& x, const DenseMatrix& out);
// The values of `pattern`, written: alpha * (x @ y) where it has entries + beta * what they were. float32 to
// complex128.
void cuda_sparse_sampled(OpCall&, const SparseMatrix& pattern, const DenseMatrix& x, const DenseMatrix& y,
                         SparseFactors);
// The triangle of a, whose rows are sorted, without repeated indices; float32 to complex128.
void cuda_sparse_solve(OpCall&, const SparseMatrix& a, bool lower, bool unit, const DenseMatrix& b,
                       const DenseMatrix& out);

// a @ b with int32 indices, float32 to complex128. Synchronises to learn how many entries there are, then asks for the
// indices and values of so many; the pointers are given. False, and nothing written, where the library says that its
// buffers would be too large.
struct SparseRoom {
  void *indices, *values;
};
bool cuda_sparse_times(OpCall&, const SparseMatrix& a, const SparseMatrix& b, void* indptr,
                       const std::function<SparseRoom(int64_t)>& make);

// Whether cuSPARSELt can be opened; asked once a process.
bool cuda_sparse_lt_available();
// out = a @ b of float16 or bfloat16, where the left (or right) operand is 2:4 along the inner axis: on sparse tensor
// cores, summed in float32. It is compressed into scratch memory in the library's own form first.
void cuda_structured_product(OpCall&, const DenseMatrix& a, const DenseMatrix& b, const DenseMatrix& out, bool left,
                             DType dtype);

}  // namespace stator::libs
