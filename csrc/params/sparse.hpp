// Parameters of the sparse launchers. Pointers are to dense vectors unless there are strides, which are in elements.
// Index arrays are int32, or int64 if `wide`.
#pragma once

#include "params/launcher.hpp"

#include <stator/complex.hpp>

namespace stator::params {

// A matrix compressed along its rows (a CSC matrix is its transpose): the entries of row r are indptr[r] to indptr[r +
// 1] of the `nnz` indices. Kernels clamp the values of indptr to [0, nnz], and read nothing for an index that is
// outside the columns.
struct SparseRows {
  const void* indptr;
  const void* indices;
  int64_t rows, cols, nnz;
  bool wide;
};

// out = a @ x: x is (cols, n), out is (rows, n). Null x: the sums of rows, n = 1; then `valid` says that no index needs
// to be checked.
struct SparseProduct {
  SparseRows a;
  const void *values, *x;
  void* out;
  DType dtype;  // of values, x and out
  bool valid;
  int64_t n, x_row, x_col, out_row, out_col;
};

// out[i, j] = a[i, j] where a has an entry (the sum of adjacent entries with equal indices); other elements are not
// written.
struct SparseScatter {
  SparseRows a;
  const void* values;
  void* out;
  DType dtype;
  int64_t out_row, out_col;
};

// The entries of a dense x (rows, cols) that are not 0, in row-major order. gather_count writes the number of entries
// of each row to `counts`. gather_fill writes row r from indptr[r] on and drops what is beyond `capacity`.
struct SparseGather {
  const void* x;
  DType dtype;
  int64_t rows, cols, x_row, x_col;
  bool wide;
  void* counts;
  const void* indptr;
  void *indices, *values;
  int64_t capacity;
};

// out[k] = the row of entry k; `rows` if it is in no row: before the first pointer or beyond the last.
struct SparseExpand {
  SparseRows a;
  void* out;
};

// indptr[r] = how many of the ascending keys are less than r, for r in [0, rows]. The first or last key that is outside
// the rows is reported to the error slot.
struct SparsePointers {
  const void* keys;
  int64_t n, rows;
  bool wide;
  void* indptr;
};

// One pass of a stable radix sort by keys in [0, bound]; a key outside counts as `bound` and is reported to the error
// slot. counts and offsets are [digits][blocks]; offsets is the exclusive sum of counts. `tile`: entries per block. If
// `order` is null, entry k is moved, else entry order[k]. Each output may be null.
struct SparseSort {
  const void* keys;
  const void* order;
  int64_t n, bound, tile, blocks;
  int32_t shift, digits;
  bool wide;
  int32_t* counts;
  int64_t* offsets;
  int64_t* work;  // [blocks][digits] if sort_plan asks for it
  void *out_keys, *out_order;
  const void *other, *values;  // moved too: per entry an index and a value of `itemsize` bytes
  void *out_other, *out_values;
  int32_t itemsize;
};

// Adds to found[4] how often the rules of a compressed matrix are broken.
struct SparseCheck {
  SparseRows a;
  int64_t* found;  // pointers out of order or range, indices out of range, neighbours out of order, equal neighbours
};

// out = alpha * a + beta * b by rows, with adjacent entries of equal indices added up. a and b have sorted rows. A b
// without indptr is empty. merge_count writes the number of entries of each row to `counts`.
struct SparseMerge {
  SparseRows a, b;
  const void *a_values, *b_values;
  DType dtype;
  bool unique;             // neither a nor b has an index twice in a row
  complex128 alpha, beta;  // real for real matrices
  void* counts;
  const void* indptr;
  void *indices, *values;
  int64_t capacity;
};

// out = a @ b, both compressed by rows, b without repeated indices in a row. Each of `blocks` blocks has its own
// `marks` of b.cols (zeroed) and `sums` of b.cols. The indices of a result row are in no particular order unless
// times_sorts() is true.
struct SparseTimesSparse {
  SparseRows a, b;
  const void *a_values, *b_values;
  DType dtype;
  int64_t blocks;
  int64_t* marks;
  void* sums;
  void* counts;
  const void* indptr;
  void *indices, *values;
  int64_t capacity;
};

// out[k] = alpha * (x @ y)[row of k, indices[k]] + beta * values[k]: x is (rows, inner), y is (inner, cols).
struct SparseSampled {
  SparseRows a;
  const void *values, *x, *y;
  void* out;
  DType dtype;
  int64_t inner, x_row, x_col, y_row, y_col;
  complex128 alpha, beta;  // real for real matrices
};

// Solves with the triangle of a for n right-hand sides, in place in `out` (rows, n). Entries outside the triangle are
// skipped. `singular`, if not null: the first row whose diagonal is missing or 0, counted from 1; 0 if there is none.
struct SparseSolve {
  SparseRows a;
  const void* values;
  void* out;
  DType dtype;
  bool lower, unit;
  int64_t n, out_row, out_col;
  int64_t* singular;
};

// Prunes groups of four along the middle axis of x (outer, n, inner): the two largest magnitudes are kept, the first
// ones of equal magnitudes; NaN is larger than any number. The last group may have fewer than four elements.
struct Sparse24Prune {
  const void* x;
  DType dtype;
  int64_t outer, n, inner, x_strides[3];
  void* out;           // dense (outer, n, inner), with zeros for what is not kept; null: compress
  void* values;        // dense (outer, 2 * groups, inner)
  uint8_t* positions;  // dense (outer, groups, inner): the position of the first kept in bits 0-1, of the second in 2-3
};

// The inverse of compressing: out is dense (outer, n, inner).
struct Sparse24Expand {
  const void* values;
  const uint8_t* positions;
  int32_t itemsize;
  int64_t outer, n, inner;
  void* out;
};

// out = packed @ x for matrices compressed to 2:4 along their rows: row r keeps `values` 2 g and 2 g + 1 of its group g
// of four, at the positions that positions(r, g) says. x is (depth, cols), out is (rows, cols); a batch of them has
// strides.
struct Sparse24Matmul {
  const void* values;
  const uint8_t* positions;
  const void* x;
  void* out;
  DType dtype;
  int32_t ndim;  // of the batch
  int64_t batch, rows, depth, cols;
  int64_t value_row, value_step, position_row, position_step, x_row, x_col, out_row, out_col;
  int64_t shape[max_dims], value_strides[max_dims], position_strides[max_dims], x_strides[max_dims],
      out_strides[max_dims];
};

}  // namespace stator::params

namespace stator::kernels::sparse {

extern Launcher<void(const Queue&, const params::SparseProduct&)> product;
extern Launcher<void(const Queue&, const params::SparseScatter&)> scatter;
extern Launcher<void(const Queue&, const params::SparseGather&)> gather_count;
extern Launcher<void(const Queue&, const params::SparseGather&)> gather_fill;
extern Launcher<void(const Queue&, const params::SparseExpand&)> expand;
extern Launcher<void(const Queue&, const params::SparsePointers&)> pointers;
extern Launcher<void(const Queue&, const params::SparseCheck&)> check;
// The bits per pass for keys up to `bound`, and the entries per block, for sorting n entries. Returns whether
// sort_scatter needs `work`.
extern Launcher<bool(const DeviceLimits&, int64_t n, int64_t bound, int32_t* bits, int64_t* tile)> sort_plan;
extern Launcher<void(const Queue&, const params::SparseSort&)> sort_count;
extern Launcher<void(const Queue&, const params::SparseSort&)> sort_scatter;
extern Launcher<void(const Queue&, const params::SparseMerge&)> merge_count;
extern Launcher<void(const Queue&, const params::SparseMerge&)> merge_fill;
extern Launcher<bool(const DeviceLimits&)> times_sorts;  // whether times_fill sorts the indices of each row
// The number of blocks for at most `bytes` of scratch.
extern Launcher<int64_t(const DeviceLimits&, const params::SparseTimesSparse&, int64_t bytes)> times_blocks;
extern Launcher<void(const Queue&, const params::SparseTimesSparse&)> times_count;
extern Launcher<void(const Queue&, const params::SparseTimesSparse&)> times_fill;
extern Launcher<void(const Queue&, const params::SparseSampled&)> sampled;
extern Launcher<void(const Queue&, const params::SparseSolve&)> solve;
// Sets *singular, which is 0 before, without solving.
extern Launcher<void(const Queue&, const params::SparseSolve&)> find_singular;
extern Launcher<void(const Queue&, const params::Sparse24Matmul&)> sparse24_matmul;
extern Launcher<void(const Queue&, const params::Sparse24Prune&)> sparse24_prune;
extern Launcher<void(const Queue&, const params::Sparse24Expand&)> sparse24_expand;

}  // namespace stator::kernels::sparse
