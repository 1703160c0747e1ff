// Attention on the fast host. The lanes of vectors are queries: a key's element is one number for all of them, so that
// keys and values are read where they lie, and the maxima and sums of scores are not across lanes.
#pragma once

#include "host/lanes/lane_product.hpp"
#include "kernels/attention/heads.cuh"

#include <algorithm>
#include <utility>

namespace stator::STATOR_TARGET::attention {

struct FastTuning {
  static constexpr int block = 32;  // which the fast host ignores
  static constexpr int keys = 64;   // whose scores are kept at a time
};

// Calls f with each index as a constant, so that what it indexes stays in registers.
template <int... I, class F>
STATOR_FN void unrolled(std::integer_sequence<int, I...>, F f) {
  (f(std::integral_constant<int, I>()), ...);
}

// Count vectors of lanes, one query each.
template <class A, int Count>
struct QueryLanes {
  using V = typename LaneVector<A>::type;
  static constexpr int lanes = LaneVector<A>::count, queries = Count * lanes;
  static constexpr int most_sums = Count == 1 ? 8 : 4;

  // sums[r] += numbers[r * step_r + i * step_i] * vectors[i] for the sums r < Sums and the terms i < n.
  template <int Sums>
  STATOR_FN static void accumulate(A* sums, const A* vectors, const A* numbers, int64_t step_r, int64_t step_i,
                                   int64_t n) {
    V sum[Sums * Count];
    const auto each = [](auto f) {
      unrolled(std::make_integer_sequence<int, Sums>(),
               [&](auto r) { unrolled(std::make_integer_sequence<int, Count>(), [&](auto c) { f(r, c); }); });
    };
    each([&](auto r, auto c) { sum[r * Count + c] = load_lanes(sums + r * queries + c * lanes); });
    for (int64_t i = 0; i < n; ++i) {
      const A* const x = vectors + i * queries;
      const A* const number = numbers + i * step_i;
      each([&](auto r, auto c) {
        V& into = sum[r * Count + c];
        into = multiply_add_lanes<A>(all_lanes<V>(number[r * step_r]), load_lanes(x + c * lanes), into);
      });
    }
    each([&](auto r, auto c) { store_lanes(sums + r * queries + c * lanes, sum[r * Count + c]); });
  }

  // The same for `count` sums.
  STATOR_CALL static void accumulate_all(A* sums, int64_t count, const A* vectors, const A* numbers, int64_t step_r,
                                         int64_t step_i, int64_t n) {
    int64_t r = 0;
    for (; r + most_sums <= count; r += most_sums)
      accumulate<most_sums>(sums + r * queries, vectors, numbers + r * step_r, step_r, step_i, n);
    for (; r < count; ++r) accumulate<1>(sums + r * queries, vectors, numbers + r * step_r, step_r, step_i, n);
  }
};

// Rows of keys or values as numbers of type A: where they lie, or converted to `panel`.
template <class A>
struct Rows {
  const A* data;
  int64_t row, column;
};
template <class T, class A>
STATOR_FN Rows<A> rows_of(const T* from, int64_t row, int64_t column, int64_t count, int64_t columns, A* panel) {
  if constexpr (std::is_same_v<T, A>) {
    return {from, row, column};
  } else {
    for (int64_t r = 0; r < count; ++r)
      for (int64_t c = 0; c < columns; ++c) panel[r * columns + c] = A(from[r * row + c * column]);
    return {panel, columns, 1};
  }
}

// Numbers of type A that a block needs.
template <class T, class A, int Count>
int64_t fast_numbers(const Attention& p) {
  const int64_t panel = std::is_same_v<T, A> ? 0 : int64_t(FastTuning::keys) * std::max(p.size, p.value_size);
  return QueryLanes<A, Count>::queries * (int64_t(p.size) + p.value_size + FastTuning::keys + 4) + panel;
}

template <class T, int Count, int Size>
STATOR_KERNEL(Size) void attention_fast_kernel(Attention p, int64_t numbers) {
  using A = opmath_t<T>;
  using Lanes = QueryLanes<A, Count>;
  constexpr int Q = Lanes::queries;
  const Group<Size> group;
  const QueryTile tile(p, group.block(), Q);
  const HeadOffsets offsets = head_offsets(p, tile.head);
  const HeadMask<T, A> mask(p, offsets, A(1));
  const auto operand = [&](int k) { return static_cast<const T*>(p.data[k]) + offsets.at[k]; };
  A* const q = group.template dynamic<A>(numbers);  // [size][Q], and so below
  A* const out = q + p.size * Q;
  A* const score = out + p.value_size * Q;
  A* const largest = score + FastTuning::keys * Q;
  A* const sum = largest + Q;
  A* const factor = sum + Q;
  A* const reference = factor + Q;
  A* const panel = reference + Q;
  const int64_t queries = std::min<int64_t>(Q, p.queries - tile.first);
  std::fill_n(out, p.value_size * Q, A(0));
  std::fill_n(largest, Q, -limits<A>::infinity());
  std::fill_n(sum, Q, A(0));
  const T* const rows = operand(Attention::q) + tile.first * p.row[Attention::q];
  if (queries < Q) std::fill_n(q, p.size * Q, A(0));
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t c = 0; c < p.size; ++c)
      q[c * Q + i] = A(rows[i * p.row[Attention::q] + c * p.column[Attention::q]]) * A(p.scale);
  for (int64_t first = 0; first < tile.keys; first += FastTuning::keys) {
    const int64_t n = std::min<int64_t>(FastTuning::keys, tile.keys - first);
    const Rows<A> k = rows_of<T, A>(operand(Attention::k) + first * p.row[Attention::k], p.row[Attention::k],
                                    p.column[Attention::k], n, p.size, panel);
    std::fill_n(score, n * Q, A(0));
    Lanes::accumulate_all(score, n, q, k.data, k.row, k.column, p.size);
    if (mask.data != nullptr)
      for (int64_t i = 0; i < queries; ++i)
        for (int64_t j = 0; j < n; ++j) score[j * Q + i] = mask(score[j * Q + i], tile.first + i, first + j);
    if (p.causal)
      for (int64_t j = std::max<int64_t>(0, tile.first + 1 - first); j < n; ++j)
        std::fill_n(score + j * Q, std::min<int64_t>(Q, first + j - tile.first), -limits<A>::infinity());
    for (int i = 0; i < Q; ++i) factor[i] = largest[i];
    for (int64_t j = 0; j < n; ++j)
      for (int i = 0; i < Q; ++i) largest[i] = Max{}(largest[i], score[j * Q + i]);
    for (int i = 0; i < Q; ++i) {
      reference[i] = largest[i] == -limits<A>::infinity() ? A(0) : largest[i];
      factor[i] = exp(factor[i] - reference[i]);
      sum[i] *= factor[i];
    }
    for (int64_t j = 0; j < n; ++j)
      for (int i = 0; i < Q; ++i) {
        const A e = exp(score[j * Q + i] - reference[i]);
        score[j * Q + i] = e;
        sum[i] += e;
      }
    for (int64_t c = 0; c < p.value_size; ++c)
      for (int i = 0; i < Q; ++i) out[c * Q + i] *= factor[i];
    const Rows<A> v = rows_of<T, A>(operand(Attention::v) + first * p.row[Attention::v], p.row[Attention::v],
                                    p.column[Attention::v], n, p.value_size, panel);
    Lanes::accumulate_all(out, p.value_size, score, v.data, v.column, v.row, n);
  }
  const int64_t at = tile.head * p.queries + tile.first;
  T* const to = static_cast<T*>(p.out) + at * p.value_size;
  int broken[Q] = {};
  if (hides_keys(p, mask))
    for (int64_t c = 0; c < p.value_size; ++c)
      for (int i = 0; i < Q; ++i) broken[i] |= out[c * Q + i] != out[c * Q + i];
  for (int64_t i = 0; i < queries; ++i) {
    const A scale = sum[i] == A(0) ? A(0) : A(1) / sum[i];
    T* const row = to + i * p.value_size;
    for (int64_t c = 0; c < p.value_size; ++c) row[c] = T(out[c * Q + i] * scale);
    if (broken[i] && sum[i] == sum[i])
      sum_without_hidden(QueryKeys<T, A>(p, offsets, tile.first + i), largest[i], sum[i], 0, 1,
                         [=](int c, A result) { row[c] = T(result); });
    if (p.lse != nullptr)
      static_cast<A*>(p.lse)[at + i] = sum[i] == A(0) ? -limits<A>::infinity() : largest[i] + log(sum[i]);
  }
}

// --- few queries -----------------------------------------------------------------------------------------------------

// Attention of few queries on the fast host, whose time is that of reading keys and values once. The lanes of vectors
// are features, side by side; a block has one query of a head.

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
