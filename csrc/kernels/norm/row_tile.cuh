// Normalisation of rows where blocks have threads: what a thread holds of a row, and the row's statistics.
#pragma once

#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "device/moments.cuh"
#include "device/rescale.cuh"
#include "device/vector.cuh"
#include "kernels/norm/activations.cuh"
#include "params/norm.hpp"

namespace stator::STATOR_TARGET::norm {

// Vectors of a row in a thread: 8 elements of 4 bytes or less, 4 of 8 bytes.
template <class T>
inline constexpr int row_vectors = sizeof(T) == 2 ? 1 : 2;

// One row, of which a block of Size threads holds row_vectors vectors per thread. Without vectors the same number of
// single elements is in registers.
template <class T, int Size>
struct RowTile {
  using A = opmath_t<T>;
  static constexpr int V = vector_width<T>, per_thread = row_vectors<T> * V, tile = Size * per_thread;
  int rank;
  bool vectors;

  // Where element i of those that the thread holds is, from `first` on.
  STATOR_FN int64_t position(int i, int64_t first) const {
    return vectors ? first + (i / V * Size + rank) * V + i % V : first + int64_t(i) * Size + rank;
  }
  STATOR_FN int count(int64_t first, int64_t n) const {
    int used = 0;
    STATOR_UNROLL()
    for (int i = 0; i < per_thread; ++i) used += position(i, first) < n;
    return used;
  }

  // Elements from `first` on; those from n on are 0.
  STATOR_FN void load(A (&value)[per_thread], const T* row, int64_t first, int64_t n) const {
    STATOR_UNROLL()
    for (int i = 0; i < per_thread; i += V) {
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
  STATOR_FN void store(const A (&value)[per_thread], U* row, int64_t first, int64_t n) const {
    STATOR_UNROLL()
    for (int i = 0; i < per_thread; i += V) {
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
STATOR_FN void load_weights(opmath_t<T> (&value)[RowTile<T, Size>::per_thread], const RowTile<T, Size>& tile,
                            const RowChannels& channels, const void* weights, int64_t first, int64_t n) {
  using A = opmath_t<T>;
  using Tile = RowTile<T, Size>;
  const T* const from = static_cast<const T*>(weights);
  if constexpr (!Channels) {
    tile.load(value, from, first, n);
  } else {
    STATOR_UNROLL()
    for (int i = 0; i < Tile::per_thread; ++i) {
      const bool repeats = i % Tile::V != 0 && tile.vectors && channels.whole;
      const int64_t at = tile.position(i, first);
      if (!repeats) value[i] = at < n ? convert<A>(from[channels.of(at)]) : A(0);
      if (repeats) value[i] = value[i / Tile::V * Tile::V];
    }
  }
}

// A row's mean and deviation, both of its elements times `factor`: 1, or a power of two without which their squares
// would leave the range of A.
template <class A>
struct RowScale {
  A mean, inverse, factor;  // inverse: 1 / deviation

  STATOR_FN A above(A x) const { return x * factor - mean; }
  STATOR_FN A normal(A x) const { return above(x) * inverse; }
  STATOR_FN A slope(A x) const { return x * inverse * factor; }
};
// Equal elements have no deviation that a factor would keep in range, and their mean is one of them.
template <class A>
STATOR_FN RowScale<A> row_scale(A mean, A m2, A factor, const params::RowNorm& p) {
  if (m2 == A(0)) {
    mean /= factor;
    factor = A(1);
  }
  const A eps = A(p.eps) * factor;
  if (!p.total) return {mean, A(1) / sqrt(m2 / A(p.n) + eps * factor), factor};
  const A length = sqrt(m2);
  return {mean, A(1) / (length < eps ? eps : length), factor};
}
// Whether a sum of squares gives a row's deviation without a factor.
template <class A>
STATOR_FN bool gives_deviation(A m2, const params::RowNorm& p) {
  return SquareRange<A>::has(p.total ? m2 : m2 / A(p.n) + A(p.eps));
}
// What sums over a row are divided by.
template <class A>
STATOR_FN A row_divisor(const params::RowNorm& p) {
  return p.total ? A(1) : A(p.n);
}
template <class T>
STATOR_FN void store_length(const params::RowNorm& p, int64_t row, RowScale<opmath_t<T>> scale) {
  static_cast<T*>(p.lengths)[row] = convert<T>(opmath_t<T>(1) / scale.inverse / scale.factor);
}

// Of a row in registers. A turn may be followed by one with the mean that the deviations correct, or with a factor.
template <class T, int Size>
STATOR_FN RowScale<opmath_t<T>> tile_scale(const Group<Size>& group, const params::RowNorm& p,
                                           const RowTile<T, Size>& tile,
                                           const opmath_t<T> (&value)[RowTile<T, Size>::per_thread]) {
  using A = opmath_t<T>;
  constexpr int per_thread = RowTile<T, Size>::per_thread;
  A mean = A(0), factor = A(1);
  bool corrected = !p.centered;
  STATOR_UNROLL(1)
  while (true) {
    if (p.centered) {
      A sum = A(0);
      STATOR_UNROLL()
      for (int i = 0; i < per_thread; ++i) sum += tile.position(i, 0) < p.n ? value[i] * factor - mean : A(0);
      mean += group.reduce(sum, Sum{}) / A(p.n);
    }
    A m2 = A(0);
    STATOR_UNROLL()
    for (int i = 0; i < per_thread; ++i) {
      const A d = value[i] * factor - mean;
      m2 += tile.position(i, 0) < p.n ? d * d : A(0);
    }
    m2 = group.reduce(m2, Sum{});
    if (factor == A(1) && !gives_deviation(m2, p)) {
      A largest = A(0);
      STATOR_UNROLL()
      for (int i = 0; i < per_thread; ++i) largest = Max{}(largest, abs(value[i]));
      factor = SquareRange<A>::factor(group.reduce(largest, Max{}));
      if (factor != A(1)) {
        mean = A(0);
        corrected = !p.centered;
        continue;
      }
    }
    if (corrected || !is_mean_coarse(mean, m2, A(p.n))) return row_scale(mean, m2, factor, p);
    corrected = true;
  }
}

// Of a row in memory, from a thread's moments, in which elements were multiplied by the factor.
template <class A, int Size>
STATOR_FN Moments<A> joined_moments(const Group<Size>& group, const params::RowNorm& p, Moments<A> mine) {
  if (p.centered) return group.reduce(mine, CombineMoments{});
  return {A(p.n), A(0), group.reduce(mine.m2, Sum{})};
}

// Adds what a thread holds, times the factor, to its moments, or to its sum of squares.
template <class T, int Size>
STATOR_FN void enter_moments(Moments<opmath_t<T>>& mine, const params::RowNorm& p, const RowTile<T, Size>& tile,
                             opmath_t<T> (&value)[RowTile<T, Size>::per_thread], int64_t first, opmath_t<T> factor) {
  STATOR_UNROLL()
  for (int i = 0; i < RowTile<T, Size>::per_thread; ++i) value[i] *= factor;
  if (p.centered) {
    mine = CombineMoments{}(
        mine, moments_of(value, tile.count(first, p.n), [&](int i) { return tile.position(i, first) < p.n; }));
  } else {
    STATOR_UNROLL()
    for (int i = 0; i < RowTile<T, Size>::per_thread; ++i) mine.m2 += value[i] * value[i];
  }
}

// Of a row of any length in memory.
template <class T, int Size>
STATOR_FN RowScale<opmath_t<T>> long_scale(const Group<Size>& group, const params::RowNorm& p,
                                           const RowTile<T, Size>& tile, const T* row) {
  using A = opmath_t<T>;
  A value[RowTile<T, Size>::per_thread], factor = A(1);
  STATOR_UNROLL(1)
  while (true) {
    Moments<A> mine{A(0), A(0), A(0)};
    STATOR_UNROLL(1)
    for (int64_t first = 0; first < p.n; first += RowTile<T, Size>::tile) {
      tile.load(value, row, first, p.n);
      enter_moments(mine, p, tile, value, first, factor);
    }
    const Moments<A> all = joined_moments(group, p, mine);
    if (factor == A(1) && !gives_deviation(all.m2, p))
      factor = SquareRange<A>::factor(
          group.template map_reduce<A>(p.n, Max{}, [=](int64_t i) { return abs(convert<A>(row[i])); }));
    else
      return row_scale(all.mean, all.m2, factor, p);
    if (factor == A(1)) return row_scale(all.mean, all.m2, factor, p);
  }
}

}  // namespace stator::STATOR_TARGET::norm
