// Attention of few queries on the fast host, whose time is that of reading keys and values once. The lanes of vectors
// are features, side by side; a block has one query of a head.
#pragma once

#include "device/lanes/lane_product.cuh"
#include "kernels/attention/heads.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::attention {

struct FastRowTuning {
  static constexpr int block = 32;       // which the fast host ignores
  static constexpr int64_t queries = 4;  // that are worth a pass each
  static constexpr int keys = 256;       // whose scores are kept at a time
  static constexpr int most_size = 256;  // of a head
};

// Features side by side in whole vectors, of the type that is computed in.
template <class T>
bool fits_rows(const Attention& p) {
  constexpr int lanes = LaneVector<opmath_t<T>>::count;
  return std::is_same_v<T, opmath_t<T>> && p.queries <= FastRowTuning::queries && p.size % lanes == 0 &&
         p.value_size % lanes == 0 && p.column[Attention::k] == 1 && p.column[Attention::v] == 1;
}

template <class T, int Size>
STATOR_KERNEL(Size) void attention_fast_row_kernel(Attention p) {
  using Tune = FastRowTuning;
  using V = typename LaneVector<T>::type;
  constexpr int lanes = LaneVector<T>::count;
  const Group<Size> group;
  const QueryTile tile(p, group.block(), 1);
  const HeadOffsets offsets = head_offsets(p, tile.head);
  const HeadMask<T, T> mask(p, offsets, T(1));
  const auto operand = [&](int k) { return static_cast<const T*>(p.data[k]) + offsets.at[k]; };
  const T* const query = operand(Attention::q) + tile.first * p.row[Attention::q];
  alignas(64) T q[Tune::most_size], out[Tune::most_size] = {}, score[Tune::keys];
  for (int c = 0; c < p.size; ++c) q[c] = query[c * p.column[Attention::q]] * T(p.scale);
  T largest = -limits<T>::infinity(), sum = 0;
  for (int64_t first = 0; first < tile.keys; first += Tune::keys) {
    const int64_t n = std::min<int64_t>(Tune::keys, tile.keys - first);
    const T* const keys = operand(Attention::k) + first * p.row[Attention::k];
    for (int64_t j = 0; j < n; ++j) {
      const T* const key = keys + j * p.row[Attention::k];
      V total{};
      for (int c = 0; c < p.size; c += lanes)
        total = multiply_add_lanes<T>(load_lanes(q + c), load_lanes(key + c), total);
      T part[lanes];
      store_lanes(part, total);
      for (int width = lanes / 2; width > 0; width /= 2)
        for (int k = 0; k < width; ++k) part[k] += part[k + width];
      score[j] = part[0];
    }
    if (mask.data != nullptr)
      for (int64_t j = 0; j < n; ++j) score[j] = mask(score[j], tile.first, first + j);
    const T before = largest;
    for (int64_t j = 0; j < n; ++j) largest = Max{}(largest, score[j]);
    const T reference = largest == -limits<T>::infinity() ? T(0) : largest;
    const T factor = exp(before - reference);
    for (int64_t j = 0; j < n; ++j) score[j] = exp(score[j] - reference);
    sum *= factor;
    for (int64_t j = 0; j < n; ++j) sum += score[j];
    for (int c = 0; c < p.value_size; ++c) out[c] *= factor;
    const T* const values = operand(Attention::v) + first * p.row[Attention::v];
    // Four keys at a time, so that what was summed is read and written once for them.
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
      const T* const value = values + j * p.row[Attention::v];
      for (int c = 0; c < p.value_size; c += lanes) {
        V total = load_lanes(out + c);
        for (int k = 0; k < 4; ++k)
          total =
              multiply_add_lanes<T>(all_lanes<V>(score[j + k]), load_lanes(value + k * p.row[Attention::v] + c), total);
        store_lanes(out + c, total);
      }
    }
    for (; j < n; ++j)
      for (int c = 0; c < p.value_size; c += lanes) {
        const V value = load_lanes(values + j * p.row[Attention::v] + c);
        store_lanes(out + c, multiply_add_lanes<T>(all_lanes<V>(score[j]), value, load_lanes(out + c)));
      }
  }
  const int64_t at = tile.head * p.queries + tile.first;
  const T scale = sum == T(0) ? T(0) : T(1) / sum;
  T* const to = static_cast<T*>(p.out) + at * p.value_size;
  int broken = 0;
  for (int c = 0; c < p.value_size; ++c) {
    to[c] = out[c] * scale;
    broken |= out[c] != out[c];
  }
  if (broken && sum == sum && hides_keys(p, mask))
    sum_without_hidden(QueryKeys<T, T>(p, offsets, tile.first), largest, sum, 0, 1,
                       [=](int c, T result) { to[c] = result; });
  if (p.lse != nullptr) static_cast<T*>(p.lse)[at] = sum == T(0) ? -limits<T>::infinity() : largest + log(sum);
}

}  // namespace stator::STATOR_TARGET::attention
