// What products with one vector and with many vectors share. A block handles whole rows with about equally many entries
// in total; a long row is shared by the whole block. Values are added without atomics: equal input gives equal bits.
#pragma once

#include "device/vector.cuh"
#include "kernels/sparse/rows.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_TARGET::sparse {

struct SparseProductTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<2048, 16384>::value;  // rows and entries per block, for one column
  static constexpr int long_row = 64;      // most entries per thread of a row, for one column; else the block shares it
  static constexpr int long_wide = 256;    // the same for a row times many columns
  static constexpr int short_row = 16;     // the fast host sums fewer entries one after the other: rows overlap
  static constexpr int entry_chunk = 512;  // entries that the fast host adds up before it adds these sums
  static constexpr int wide_entry_chunk = 128;  // the same for many columns, and for a thread's entries of a long row
  static constexpr int most_long = 80;          // most rows that long in a block
  static constexpr int few = 4;                 // fewer columns are a pass over the matrix each
  static constexpr int column_chunk = 256;      // columns that the fast host sums at once
};

// Rows that the whole block sums, noted by the threads that found them.
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

// A product with few vectors, or with vectors that are each dense, in one launch: spmv.
void multiply_vectors(const params::Queue&, const params::SparseProduct&);

}  // namespace stator::STATOR_TARGET::sparse
