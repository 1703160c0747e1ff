// Normalisation of rows where blocks have threads: what a thread holds of a row, and the row's statistics.
#pragma once

#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "device/moments.cuh"
#include "device/vector.cuh"
#include "kernels/norm/activations.cuh"
#include "params/norm.hpp"

namespace stator::STATOR_TARGET::norm {

// Vectors of a row in a thread: 8 elements of 4 bytes or less, 4 of 8 bytes.
template <class T>
inline constexpr int row_vectors = sizeof(T) == 2 ? 1 : 2;

// One row, of which a block of Size threads holds row_vectors vectors per thread. Without vectors the same number of
// single elements is held.
template <class T, int Size>
struct RowTile {
  using A = opmath_t<T>;
  static constexpr int V = vector_width<T>, held = row_vectors<T> * V, tile = Size * held;
  int rank;
  bool vectors;

  // Where element i of those that the thread holds is, from `first` on.
  STATOR_FN int64_t position(int i, int64_t first) const {
    return vectors ? first + (i / V * Size + rank) * V + i % V : first + int64_t(i) * Size + rank;
  }
  STATOR_FN int count(int64_t first, int64_t n) const {
    int used = 0;
    STATOR_UNROLL()
    for (int i = 0; i < held; ++i) used += position(i, first) < n;
    return used;
  }

  // Elements from `first` on; those from n on are 0.
  STATOR_FN void load(A (&value)[held], const T* row, int64_t first, int64_t n) const {
    STATOR_UNROLL()
    for (int i = 0; i < held; i += V) {
      if (vectors) {
        const bool inside = position(i, first) < n;
        Vec<T, V> in{};
        if (inside) in = load_vector<V>(row + position(i, first));
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) value[i + j] = convert<A>(in[j]);
      } else {
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) {
          const int64_t at = position(i + j, first);
          value[i + j] = at < n ? convert<A>(row[at]) : A(0);
        }
      }
    }
  }

  template <class U>
  STATOR_FN void store(const A (&value)[held], U* row, int64_t first, int64_t n) const {
    STATOR_UNROLL()
    for (int i = 0; i < held; i += V) {
      if (vectors) {
        if (position(i, first) >= n) continue;
        Items<A, V> out;
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j) out[j] = value[i + j];
        STATOR_TARGET::detail::store_side_by_side(row + position(i, first), out);
      } else {
        STATOR_UNROLL()
        for (int j = 0; j < V; ++j)
          if (position(i + j, first) < n) row[position(i + j, first)] = convert<U>(value[i + j]);
      }
    }
  }
};

// Which weight an element of a row has.
struct RowChannels {
  FastDivmod64 inner;
  int64_t first;  // of the row
  bool present;   // else element i has weight i
  bool whole;     // vectors do not cross channels

  STATOR_FN int64_t of(int64_t position) const { return first + inner.divide(position); }
};

// Weights or biases of the elements that a thread holds.
template <bool Channels, class T, int Size>
STATOR_FN void load_weights(opmath_t<T> (&value)[RowTile<T, Size>::held], const RowTile<T, Size>& tile,
                            const RowChannels& channels, const void* weights, int64_t first, int64_t n) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  const T* const from = static_cast<const T*>(weights);
  if constexpr (!Channels) {
    tile.load(value, from, first, n);
  } else {
    STATOR_UNROLL()
    for (int i = 0; i < Tile::held; ++i) {
      const bool repeats = i % Tile::V != 0 && tile.vectors && channels.whole;
      const int64_t at = tile.position(i, first);
      if (!repeats) value[i] = at < n ? convert<A>(from[channels.of(at)]) : A(0);
      if (repeats) value[i] = value[i / Tile::V * Tile::V];
    }
  }
}

template <class A>
struct RowScale {
  A mean, inverse;  // inverse: 1 / deviation
};
template <class A>
STATOR_FN RowScale<A> row_scale(A mean, A m2, const params::RowNorm& p) {
  if (!p.total) return {mean, A(1) / sqrt(m2 / A(p.n) + A(p.eps))};
  const A length = sqrt(m2), least = A(p.eps);
  return {mean, A(1) / (length < least ? least : length)};
}
// What sums over a row are divided by.
template <class A>
STATOR_FN A row_divisor(const params::RowNorm& p) {
  return p.total ? A(1) : A(p.n);
}
template <class T>
STATOR_FN void store_length(const params::RowNorm& p, int64_t row, RowScale<opmath_t<T>> scale) {
  static_cast<T*>(p.lengths)[row] = convert<T>(opmath_t<T>(1) / scale.inverse);
}

// Of a row that is held.
template <class T, int Size>
STATOR_FN RowScale<opmath_t<T>> held_scale(const Group<Size>& group, const params::RowNorm& p,
                                           const RowTile<T, Size>& tile,
                                           const opmath_t<T> (&value)[RowTile<T, Size>::held]) {
  using A = opmath_t<T>;
  A mean = A(0);
  if (p.centered) {
    STATOR_UNROLL()
    for (int i = 0; i < RowTile<T, Size>::held; ++i) mean += value[i];
    mean = group.reduce(mean, Sum{}) / A(p.n);
  }
  A m2 = A(0);
  STATOR_UNROLL()
  for (int i = 0; i < RowTile<T, Size>::held; ++i) {
    const A d = value[i] - mean;
    m2 += tile.position(i, 0) < p.n ? d * d : A(0);
  }
  return row_scale(mean, group.reduce(m2, Sum{}), p);
}

// Of a row in memory, from a thread's moments.
template <class A, int Size>
STATOR_FN RowScale<A> joined_scale(const Group<Size>& group, const params::RowNorm& p, Moments<A> mine) {
  if (!p.centered) return row_scale(A(0), group.reduce(mine.m2, Sum{}), p);
  const Moments<A> all = group.reduce(mine, CombineMoments{});
  return row_scale(all.mean, all.m2, p);
}

// Adds what a thread holds to its moments, or to its sum of squares.
template <class T, int Size>
STATOR_FN void enter_moments(Moments<opmath_t<T>>& mine, const params::RowNorm& p, const RowTile<T, Size>& tile,
                             const opmath_t<T> (&value)[RowTile<T, Size>::held], int64_t first) {
  if (p.centered) {
    mine = CombineMoments{}(
        mine, moments_of(value, tile.count(first, p.n), [&](int i) { return tile.position(i, first) < p.n; }));
  } else {
    STATOR_UNROLL()
    for (int i = 0; i < RowTile<T, Size>::held; ++i) mine.m2 += value[i] * value[i];
  }
}

}  // namespace stator::STATOR_TARGET::norm
