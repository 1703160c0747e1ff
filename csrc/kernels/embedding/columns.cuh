// Work on rows of d elements: a thread has one column of an item, or on the fast host a range of columns.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "params/embedding.hpp"

namespace stator::STATOR_TARGET::embedding {

struct EmbeddingTuning {
  static constexpr int block = 256;
  static constexpr int width = by_target<1, 256>::value;  // columns of a thread
  static constexpr int positions = 128;                   // of a chunk
};

// What one thread does: some columns of one item. Neighbours have neighbouring columns.
struct Columns {
  int64_t item, first;
  int count;  // 0: nothing to do

  template <class Group>
  STATOR_FN Columns(const Group& group, int64_t items, int64_t d) {
    constexpr int width = EmbeddingTuning::width;
    const int64_t tiles = (d + width - 1) / width;
    const int64_t at = group.block() * Group::size + group.rank();
    item = at / tiles;
    first = (at - item * tiles) * width;
    count = item < items ? int(d - first < width ? d - first : width) : 0;
  }

  // f(j) for each of them, of which there must be one. One is not a loop, so that what it indexes stays in
  // registers.
  template <class F>
  STATOR_FN void for_each(F f) const {
    if constexpr (EmbeddingTuning::width == 1) {
      f(0);
    } else {
      for (int j = 0; j < count; ++j) f(j);
    }
  }
};

inline int64_t column_blocks(int64_t items, int64_t d) {
  return ceil_div(items * ceil_div(d, EmbeddingTuning::width), fast_host ? 1 : EmbeddingTuning::block);
}

// An index as it counts from the first row, or -1 where it is out of range.
STATOR_FN int64_t row_of(int64_t index, int64_t rows) {
  const int64_t row = index < 0 ? index + rows : index;
  return row >= 0 && row < rows ? row : -1;
}

}  // namespace stator::STATOR_TARGET::embedding
