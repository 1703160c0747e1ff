// What the attention kernels share: where a head lies in each operand, what a mask does to a score, and results without
// the keys that take no part.
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
    const A added = A(static_cast<const T*>(data)[at]);
    return added == -limits<A>::infinity() ? added : score + added * unit;  // whatever the score is
  }
  STATOR_FN bool hides(int64_t query, int64_t key) const {
    return data != nullptr && (*this)(A(0), query, key) == -limits<A>::infinity();
  }
};

// Whether some keys may take no part in a query.
template <class T, class A>
STATOR_FN bool hides_keys(const Attention& p, const HeadMask<T, A>& mask) {
  return p.causal || mask.data != nullptr;
}

// A query, and the keys and values of its head.
template <class T, class A>
struct QueryKeys {
  const T *q, *k, *v;
  int64_t q_column, k_row, k_column, v_row, v_column, query, keys;
  int size, value_size;
  A scale;
  HeadMask<T, A> mask;

  STATOR_FN QueryKeys(const Attention& p, const HeadOffsets& offsets, int64_t query_)
      : q(static_cast<const T*>(p.data[Attention::q]) + offsets.at[Attention::q] + query_ * p.row[Attention::q]),
        k(static_cast<const T*>(p.data[Attention::k]) + offsets.at[Attention::k]),
        v(static_cast<const T*>(p.data[Attention::v]) + offsets.at[Attention::v]),
        q_column(p.column[Attention::q]),
        k_row(p.row[Attention::k]),
        k_column(p.column[Attention::k]),
        v_row(p.row[Attention::v]),
        v_column(p.column[Attention::v]),
        query(query_),
        keys(p.causal && query_ < p.keys ? query_ + 1 : p.keys),
        size(p.size),
        value_size(p.value_size),
        scale(A(p.scale)),
        mask(p, offsets, A(1)) {}
};

// A key that takes no part has the weight 0, which makes NaN of a value that is not finite. So the results of a query
// that are NaN, though `sum`, that of its exponentials relative to `reference`, is not, are summed again without such
// keys. Each of `lanes` threads calls store(column, result) for every `lanes`-th column, from `lane` on.
template <class T, class A, class Store>
STATOR_COLD void sum_without_hidden(const QueryKeys<T, A>& s, A reference, A sum, int lane, int lanes, Store store) {
  constexpr int together = by_target<8, Attention::largest_size>::value;
  const A scale = sum == A(0) ? A(0) : A(1) / sum;
  if (reference == -limits<A>::infinity()) reference = A(0);
  STATOR_UNROLL(1)
  for (int first = lane; first < s.value_size; first += together * lanes) {
    A results[together] = {};
    STATOR_UNROLL(1)
    for (int64_t key = 0; key < s.keys; ++key) {
      if (s.mask.hides(s.query, key)) continue;
      A score = A(0);
      STATOR_UNROLL(1)
      for (int c = 0; c < s.size; ++c)
        score += A(s.q[c * s.q_column]) * s.scale * A(s.k[key * s.k_row + c * s.k_column]);
      if (s.mask.data != nullptr) score = s.mask(score, s.query, key);
      const A weight = exp(score - reference);
      STATOR_UNROLL()
      for (int i = 0; i < together; ++i) {
        const int c = first + i * lanes;
        if (c < s.value_size) results[i] += weight * A(s.v[key * s.v_row + c * s.v_column]);
      }
    }
    STATOR_UNROLL()
    for (int i = 0; i < together; ++i)
      if (first + i * lanes < s.value_size) store(first + i * lanes, results[i] * scale);
  }
}

}  // namespace stator::STATOR_TARGET::attention
