// Helpers of the sparse kernels: indices of either width, rows with checked bounds, and the division of a matrix into
// tiles of rows with about equally many entries.
#pragma once

#include "device/convert.cuh"
#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/sublanes.cuh"
#include "host/launch.hpp"
#include "params/sparse.hpp"

#include <algorithm>
#include <bit>

namespace stator::STATOR_TARGET::sparse {

// factor * v; a real factor multiplies each part of v, so that an infinite one does not reach the other.
template <class A>
STATOR_FN A scaled(complex128 factor, A v) {
  if constexpr (is_complex<A>) {
    using R = real_t<A>;
    if (factor.im == 0) return A(R(factor.re) * v.re, R(factor.re) * v.im);
    return A(factor) * v;
  } else {
    return A(factor.re) * v;
  }
}

STATOR_FN int64_t load_index(const void* base, bool wide, int64_t at) {
  return wide ? static_cast<const int64_t*>(base)[at] : int64_t(static_cast<const int32_t*>(base)[at]);
}
STATOR_FN void store_index(void* base, bool wide, int64_t at, int64_t value) {
  if (wide)
    static_cast<int64_t*>(base)[at] = value;
  else
    static_cast<int32_t*>(base)[at] = int32_t(value);
}

struct RowSpan {
  int64_t begin, end;
};

STATOR_FN int64_t row_begin(const params::SparseRows& a, int64_t r) {
  const int64_t at = load_index(a.indptr, a.wide, r);
  return at < 0 ? 0 : at > a.nnz ? a.nnz : at;
}
STATOR_FN RowSpan row_span(const params::SparseRows& a, int64_t r) { return {row_begin(a, r), row_begin(a, r + 1)}; }

// A call, because inlined it would be most of an unrolled loop.
STATOR_CALL int64_t report_index(params::ErrorSlot slot, uint16_t op, int64_t k, int64_t index) {
  report(slot, op, params::Fault::index_out_of_range, k, index);
  return -1;
}

// The index of entry k; -1, with a report, if it is outside the columns.
STATOR_FN int64_t column_of(const params::SparseRows& a, int64_t k, const params::ErrorSlot& slot, uint16_t op) {
  const int64_t index = load_index(a.indices, a.wide, k);
  return uint64_t(index) < uint64_t(a.cols) ? index : report_index(slot, op, k, index);
}

// The first row r for which r plus the number of entries before it is at least `work`.
STATOR_FN int64_t row_at_work(const params::SparseRows& a, int64_t work) {
  int64_t low = 0, high = a.rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (row_begin(a, middle) + middle < work)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The row that holds entry k, in [low, high).
STATOR_FN int64_t row_of_entry(const params::SparseRows& a, int64_t k, int64_t low, int64_t high) {
  while (low + 1 < high) {
    const int64_t middle = low + (high - low) / 2;
    if (row_begin(a, middle) <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// The rows of tile t: those that start within its range of rows plus entries, so that rows are never split. A tile is
// only larger than this if a row is longer than it.
STATOR_FN RowSpan rows_of_tile(const params::SparseRows& a, int64_t t, int64_t tile) {
  return {row_at_work(a, t * tile), row_at_work(a, (t + 1) * tile)};
}
inline int64_t row_tiles(const params::SparseRows& a, int64_t tile) { return ceil_div(a.rows + a.nnz, tile); }

// The number of threads that share a row: about half as many as it has entries on average.
inline int lanes_for(int64_t entries, int64_t rows) {
  const int64_t mean = entries / std::max<int64_t>(rows, 1);
  return int(std::min<int64_t>(most_sublanes, std::bit_floor(uint64_t(std::max<int64_t>(mean / 2, 1)))));
}

// f(const I*) for the index type of `wide`.
template <class F>
STATOR_FN void with_indices(const void* indices, bool wide, F f) {
  if (wide)
    f(static_cast<const int64_t*>(indices));
  else
    f(static_cast<const int32_t*>(indices));
}

}  // namespace stator::STATOR_TARGET::sparse
