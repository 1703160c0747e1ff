// What the attention kernels share: where a head lies in each operand, and what a mask does to a score.
#pragma once

#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "device/vector.cuh"
#include "params/attention.hpp"

namespace stator::STATOR_TARGET::attention {

using params::Attention;

// Where a head begins in each operand.
struct HeadOffsets {
  int64_t at[Attention::operands];
};
STATOR_FN HeadOffsets head_offsets(const Attention& p, int64_t head) {
  HeadOffsets offsets{};
  STATOR_UNROLL(1)
  for (int d = p.ndim - 1; d >= 0; --d) {
    const int64_t rest = d == 0 ? 0 : head / p.shape[d], i = head - rest * p.shape[d];
    const int64_t shared = d == p.ndim - 1 ? i / p.group : i;
    STATOR_UNROLL()
    for (int k = 0; k < Attention::operands; ++k)
      offsets.at[k] += (k == Attention::k || k == Attention::v ? shared : i) * p.strides[k][d];
    head = rest;
  }
  return offsets;
}

// A block has some queries of a head. Those of the last queries come first, which under `causal` see the most keys.
struct QueryTile {
  int64_t head, first;
  int64_t keys;  // that any of the queries sees

  STATOR_FN QueryTile(const Attention& p, int64_t block, int rows) {
    const int64_t tiles = (p.queries + rows - 1) / rows;
    head = block / tiles;
    first = (tiles - 1 - (block - head * tiles)) * rows;
    keys = p.causal && first + rows < p.keys ? first + rows : p.keys;
  }
};

// Of one head. `unit` is what a score is measured in: scores of exp2 are log2(e) times as large.
template <class T, class A>
struct HeadMask {
  const void* data;
  int64_t row, column;
  bool is_bool;
  A unit;

  STATOR_FN HeadMask(const Attention& p, const HeadOffsets& offsets, A unit_)
      : data(p.data[Attention::mask]),
        row(p.row[Attention::mask]),
        column(p.column[Attention::mask]),
        is_bool(p.mask_is_bool),
        unit(unit_) {
    if (data == nullptr) return;
    const int64_t at = offsets.at[Attention::mask];
    data = is_bool ? static_cast<const void*>(static_cast<const bool*>(data) + at)
                   : static_cast<const void*>(static_cast<const T*>(data) + at);
  }
  STATOR_FN A operator()(A score, int64_t query, int64_t key) const {
    const int64_t at = query * row + key * column;
    if (is_bool) return static_cast<const bool*>(data)[at] ? score : -limits<A>::infinity();
    return score + A(static_cast<const T*>(data)[at]) * unit;
  }
};

}  // namespace stator::STATOR_TARGET::attention
