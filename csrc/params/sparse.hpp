// Parameters of the sparse launchers. Pointers are to dense vectors unless strides say otherwise; strides are in
// elements. Index arrays are int32, or int64 where `wide`.
#pragma once

#include "params/launcher.hpp"

namespace stator::params {

// A matrix compressed along its rows (a CSC matrix is its transpose): the entries of row r are indptr[r] to
// indptr[r + 1] of `nnz` indices. Kernels clamp what indptr says to [0, nnz] and read nothing for an index outside
// cols.
struct SparseRows {
  const void* indptr;
  const void* indices;
  int64_t rows, cols, nnz;
  bool wide;
};

// out = a @ x: x is (cols, n), out is (rows, n). No x: the sums of rows, n = 1, of which `valid` says that no index has
// to be looked at.
struct SparseProduct {
  SparseRows a;
  const void *values, *x;
  void* out;
  DType dtype;  // of all three
  bool valid;
  int64_t n, x_row, x_col, out_row, out_col;
};

// out[i, j] = a[i, j] where a has an entry (the sum of neighbours with equal indices); the rest is not written.
struct SparseScatter {
  SparseRows a;
  const void* values;
  void* out;
  DType dtype;
  int64_t out_row, out_col;
};

// The entries of a dense x (rows, cols) that are not 0, in row-major order. `counts` has a number for each row; `fill`
// places row r from indptr[r] on and drops what would go beyond `capacity`.
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

// rows[k] = the row of entry k; `rows` itself where it is of none: before the first pointer or beyond the last.
struct SparseExpand {
  SparseRows a;
  void* out;
};

// indptr[r] = how many of the ascending keys are less than r, for r in [0, rows]. The first or last key outside the
// rows goes to the error slot.
struct SparsePointers {
  const void* keys;
  int64_t n, rows;
  bool wide;
  void* indptr;
};

// One pass of a stable radix sort by keys in [0, bound]: a key outside counts as `bound` and goes to the error slot.
// counts and offsets are [digits][blocks]; offsets is the exclusive sum of counts. Where `order` is null, entry k is
// itself; else what is moved is entry order[k]. Each output may be null.
struct SparseSort {
  const void* keys;
  const void* order;
  int64_t n, bound, chunk, blocks;
  int32_t shift, digits;
  bool wide;
  int32_t* counts;
  int64_t* offsets;
  int64_t* work;  // [blocks][digits] where the plan asks for it
  void *out_keys, *out_order;
  const void *other, *values;  // moved along: an index and a value of `itemsize` bytes an entry
  void *out_other, *out_values;
  int32_t itemsize;
};

// Counts of what breaks the rules of a compressed matrix, added to found[4].
struct SparseCheck {
  SparseRows a;
  int64_t* found;  // pointers out of order or range, indices out of range, neighbours out of order, neighbours equal
};

// out = alpha * a + beta * b by rows, neighbours with equal indices added up; a and b have sorted rows. b may have no
// indptr: then it is empty. `counts` has a number for each row.
struct SparseMerge {
  SparseRows a, b;
  const void *a_values, *b_values;
  DType dtype;
  bool unique;  // neither has an index twice in a row
  double alpha, beta;
  void* counts;
  const void* indptr;
  void *indices, *values;
  int64_t capacity;
};

// out = a @ b, both compressed by rows, b without repeated indices in a row. Each of `blocks` blocks has its own
// `marks` of b.cols (zeroed) and `sums` of b.cols. Indices of a result row come in no particular order unless the
// column says times_sorts.
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
  double alpha, beta;
};

// Solves the triangle of a for n right-hand sides, in place in `out` (rows, n). Entries beyond the triangle are
// skipped. `singular`, where it is not null: the first row without a diagonal or with one of 0, counted from 1; 0 for
// none.
struct SparseSolve {
  SparseRows a;
  const void* values;
  void* out;
  DType dtype;
  bool lower, unit;
  int64_t n, out_row, out_col;
  int64_t* singular;
};

// Groups of four along the middle axis of x (outer, n, inner): the two largest magnitudes stay, of equal ones the
// first; NaN is larger than any. The last group may have fewer than four.
struct TwoToFour {
  const void* x;
  DType dtype;
  int64_t outer, n, inner, x_strides[3];
  void* out;           // dense (outer, n, inner), zeros where nothing stays; null: compress
  void* values;        // dense (outer, 2 * groups, inner)
  uint8_t* positions;  // dense (outer, groups, inner): the place of the first kept in bits 0-1, of the second in 2-3
};

// The inverse of compressing: out is dense (outer, n, inner).
struct FromTwoToFour {
  const void* values;
  const uint8_t* positions;
  int32_t itemsize;
  int64_t outer, n, inner;
  void* out;
};

// out = packed @ x for matrices packed along their rows: row r keeps `values` 2 g and 2 g + 1 of its group g of four,
// at the places that positions (r, g) says. x is (depth, cols), out is (rows, cols); a batch of them with strides.
struct PackedProduct {
  const void* values;
  const uint8_t* positions;
  const void* x;
  void* out;
  DType dtype;
  int32_t ndim;  // of the batch
  int64_t batch, rows, depth, cols;
  int64_t value_row, value_step, place_row, place_step, x_row, x_col, out_row, out_col;
  int64_t shape[max_dims], value_strides[max_dims], place_strides[max_dims], x_strides[max_dims], out_strides[max_dims];
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
// Bits a pass takes of keys up to `bound`, and the entries of a block, for sorting n entries; whether it needs
// `work`.
extern Launcher<bool(const DeviceLimits&, int64_t n, int64_t bound, int32_t* bits, int64_t* chunk)> sort_plan;
extern Launcher<void(const Queue&, const params::SparseSort&)> sort_count;
extern Launcher<void(const Queue&, const params::SparseSort&)> sort_scatter;
extern Launcher<void(const Queue&, const params::SparseMerge&)> merge_count;
extern Launcher<void(const Queue&, const params::SparseMerge&)> merge_fill;
extern Launcher<bool(const DeviceLimits&)> times_sorts;  // whether times_fill leaves the indices of each row in order
// Blocks for a scratch of at most `bytes`.
extern Launcher<int64_t(const DeviceLimits&, const params::SparseTimesSparse&, int64_t bytes)> times_blocks;
extern Launcher<void(const Queue&, const params::SparseTimesSparse&)> times_count;
extern Launcher<void(const Queue&, const params::SparseTimesSparse&)> times_fill;
extern Launcher<void(const Queue&, const params::SparseSampled&)> sampled;
extern Launcher<void(const Queue&, const params::SparseSolve&)> solve;
// *singular, 0 before, of the triangle, without solving it.
extern Launcher<void(const Queue&, const params::SparseSolve&)> find_singular;
extern Launcher<void(const Queue&, const params::PackedProduct&)> packed_product;
extern Launcher<void(const Queue&, const params::TwoToFour&)> two_to_four;
extern Launcher<void(const Queue&, const params::FromTwoToFour&)> from_two_to_four;

}  // namespace stator::kernels::sparse
