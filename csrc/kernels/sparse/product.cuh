// What products with one vector and with many share. A block takes whole rows with about equally many entries in all; a
// long row is shared by the whole block. No atomics on values: equal input gives equal bits.
#pragma once

#include "device/vector.cuh"
#include "params/sparse.hpp"
#include "kernels/sparse/rows.cuh"

namespace stator::STATOR_TARGET::sparse {

struct SparseProductTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<2048, 16384>::value;  // rows and entries a block takes, one target
  static constexpr int long_row = 64;    // entries a thread sums of one row, one target; more: the block shares it
  static constexpr int long_wide = 256;  // the same of a row times many columns
  static constexpr int run = 512;        // entries that the fast host adds up before it adds the sums
  static constexpr int wide_run = 128;   // the same of a row times many columns, and of a thread's share of a long row
  static constexpr int most_long = 80;   // rows that long in a block
  static constexpr int few = 4;          // columns up to which each is a pass over the matrix
  static constexpr int chunk = 256;      // columns the fast host sums at once
};

// Rows that the whole block sums, noted by the threads that met them.
struct LongRows {
  uint32_t count;
  int64_t row[SparseProductTuning::most_long];

  STATOR_FN void add(int64_t r) {
    const uint32_t at = atomic_add(&count, 1u);
    if (at < uint32_t(SparseProductTuning::most_long)) row[at] = r;
  }
};

template <class T>
struct ProductView {
  using A = opmath_t<T>;
  const params::SparseProduct& p;
  const params::ErrorSlot& slot;
  uint16_t op;

  STATOR_FN A value(int64_t k) const { return A(static_cast<const T*>(p.values)[k]); }
  STATOR_FN A term(int64_t k, int64_t column) const {
    if (!p.x && p.valid) return value(k);
    const int64_t index = column_of(p.a, k, slot, op);
    if (index < 0) return A(0);
    return p.x ? value(k) * A(static_cast<const T*>(p.x)[index * p.x_row + column]) : value(k);
  }
};

// A product with few vectors, or vectors that are dense each, in one launch: spmv.
void multiply_vectors(const params::Queue&, const params::SparseProduct&);

}  // namespace stator::STATOR_TARGET::sparse
