// Gradients of interpolation on the fast host: the rows of results that have a row of elements are added up first, then
// the results of each element, whose weights are found once for all rows.
#pragma once

#include "device/planes.cuh"
#include "kernels/resampling/taps.cuh"

namespace stator::STATOR_TARGET::resampling {

struct SlopeTuning {
  static constexpr int block = 256;
  static constexpr int elements = by_target<256, 4096>::value;  // of a block
  static constexpr int tile = 256;                              // elements of a row that the fast host makes at once
  static constexpr int columns = 2048;                          // results in a row that may have them
  static constexpr int weights = 4096;                          // of them
};
using SlopeCut = Planes<SlopeTuning::elements>;

// The weight of element i in result o of an axis.
template <int N, class A>
STATOR_FN A weight_in(const Interpolate& p, int axis, int o, int i) {
  const Taps<A, N> taps = axis_taps<N, A>(p, axis, o);
  A weight = A(0);
  STATOR_UNROLL()
  for (int k = 0; k < N; ++k) weight += taps.at[k] == i ? taps.weight[k] : A(0);
  return weight;
}

// The results along the row that have the elements of a tile, and their weights.
template <class A>
struct SlopeTable {
  int begin = -1;                                             // of the tile
  bool fits = false;                                          // whether there is room for the weights
  int first, width;                                           // of all results
  int from[SlopeTuning::tile], start[SlopeTuning::tile + 1];  // of an element: its first result, its first weight
  A weight[SlopeTuning::weights];

  // Of elements [tile, tile + count).
  template <int N>
  STATOR_COLD void set(const Interpolate& p, int tile, int count) {
    begin = tile;
    first = p.out_extent[2];
    int used = 0, end = 0;
    for (int o = 0; o < count; ++o) {
      const Reach reach = reach_of(p, 2, tile + o);
      from[o] = reach.first;
      start[o] = used;
      for (int k = reach.first; k <= reach.last; ++k) {
        const A w = weight_in<N, A>(p, 2, k, tile + o);
        if (w == A(0) && used == start[o]) {
          from[o] = k + 1;  // nothing so far
          continue;
        }
        fits = used < SlopeTuning::weights;
        if (!fits) return;
        weight[used++] = w;
      }
      while (used > start[o] && weight[used - 1] == A(0)) --used;
      if (used == start[o]) continue;
      first = from[o] < first ? from[o] : first;
      end = from[o] + used - start[o] > end ? from[o] + used - start[o] : end;
    }
    start[count] = used;
    width = end > first ? end - first : 0;
    fits = width <= SlopeTuning::columns;
  }
};

// The slopes of `count` elements of a row. grad: the plane of results.
template <int N, class T, class A = opmath_t<T>>
STATOR_FN void slopes_of_row(const Interpolate& p, const SlopeTable<A>& table, const T* grad, int deep, int high,
                             int count, T* STATOR_RESTRICT out) {
  A column[SlopeTuning::columns];
  const int width = table.width;
  for (int k = 0; k < width; ++k) column[k] = A(0);
  const Reach d = reach_of(p, 0, deep), h = reach_of(p, 1, high);
  for (int i = d.first; i <= d.last; ++i) {
    const A weight = weight_in<N, A>(p, 0, i, deep);
    if (weight == A(0)) continue;
    for (int j = h.first; j <= h.last; ++j) {
      const A w = weight * weight_in<N, A>(p, 1, j, high);
      if (w == A(0)) continue;
      const T* STATOR_RESTRICT const row = grad + (int64_t(i) * p.out_extent[1] + j) * p.out_extent[2] + table.first;
      for (int k = 0; k < width; ++k) column[k] += w * convert<A>(row[k]);
    }
  }
  for (int o = 0; o < count; ++o) {
    const A* const own = column + (table.from[o] - table.first);
    A sum = A(0);
    for (int k = table.start[o]; k < table.start[o + 1]; ++k)
      if (table.weight[k] != A(0)) sum += table.weight[k] * own[k - table.start[o]];
    out[o] = convert<T>(sum);
  }
}

}  // namespace stator::STATOR_TARGET::resampling
