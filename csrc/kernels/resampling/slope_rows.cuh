// Gradients of interpolation on the fast host, in rows of elements. Results and their weights along each axis are found
// once for many rows. Where results have fewer rows than the elements, each row of results is made a row of elements
// first, which the elements' rows are sums of; else rows of results are added up first, and their sum is made elements.
#pragma once

#include "device/planes.cuh"
#include "kernels/resampling/taps.cuh"

namespace stator::STATOR_TARGET::resampling {

struct SlopeTuning {
  static constexpr int block = 256;
  static constexpr int elements = by_target<256, 16384>::value;  // of a block; of the fast host at least
  static constexpr int tile = 512;                               // elements of an axis that it has a table of
  static constexpr int weights = 4096;                           // of a table
  static constexpr int columns = 2048;                           // results in a row that a tile may have
  static constexpr int kept = 8;                                 // rows of results, as elements
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

// How many elements of an axis a table has room for: as many as have few enough results.
STATOR_FN int slope_tile(const Interpolate& p, int axis) {
  const double scale = p.scale[axis], out = double(p.out_extent[axis]);
  const double some = scale > 0 ? 6 / scale + 2 : out, most = some < out ? some : out;  // results of an element
  const double by_weights = SlopeTuning::weights / most;
  double tile = by_weights < SlopeTuning::tile ? by_weights : SlopeTuning::tile;
  if (scale > 0 && p.out_extent[axis] > SlopeTuning::columns) {
    const double by_columns = scale * (SlopeTuning::columns - most);
    tile = by_columns < tile ? by_columns : tile;
  }
  return tile > 1 ? int(tile) : 1;
}

// The results that elements [begin, begin + count) of an axis are in. All elements have `most`, side by side, some of
// them with a weight of 0, so that loops over the elements become vector instructions.
template <class A>
struct SlopeTable {
  int begin = 0, count = 0;
  bool fits = false;               // whether there is room
  int first, width, most;          // of all their results; of one element's
  int from[SlopeTuning::tile];     // an element's first result, from `first` on
  A weight[SlopeTuning::weights];  // [number of the result][element]

  template <int N>
  STATOR_COLD void set(const Interpolate& p, int axis, int from_element, int elements) {
    begin = from_element;
    count = elements;
    const int begin_result = reach_of(p, axis, begin).first, last_result = reach_of(p, axis, begin + count - 1).last;
    // Calls f(element - begin, result, weight), in the order of the results.
    const auto for_taps = [&](auto f) {
      for (int k = begin_result; k <= last_result; ++k) {
        const Taps<A, N> taps = axis_taps<N, A>(p, axis, k);
        for (int t = 0; t < N; ++t)
          if (uint32_t(taps.at[t] - begin) < uint32_t(count) && taps.weight[t] != A(0))
            f(taps.at[t] - begin, k, taps.weight[t]);
      }
    };
    int last[SlopeTuning::tile];
    for (int i = 0; i < count; ++i) last[i] = -1;
    most = 0;
    first = p.out_extent[axis];
    int end = 0;
    for_taps([&](int i, int k, A) {
      if (last[i] < 0) from[i] = k;
      last[i] = k;
      most = k + 1 - from[i] > most ? k + 1 - from[i] : most;
      first = k < first ? k : first;
      end = k + 1;
    });
    width = end > first ? end - first : 0;
    fits = int64_t(most) * count <= SlopeTuning::weights && width <= SlopeTuning::columns;
    if (!fits) return;
    for (int i = 0; i < count; ++i) {
      const int own = last[i] < 0 ? 0 : from[i] - first;
      from[i] = own < width - most ? own : width - most;  // within the results, with all that are added to it
    }
    for (int i = 0; i < most * count; ++i) weight[i] = A(0);
    for_taps([&](int i, int k, A w) { weight[(k - first - from[i]) * count + i] += w; });
  }

  // Calls f(result, weight) for those of an element.
  template <class F>
  STATOR_FN void for_results(int element, F f) const {
    const int i = element - begin;
    for (int m = 0; m < most; ++m) {
      const A w = weight[m * count + i];
      if (w != A(0)) f(first + from[i] + m, w);
    }
  }
};

// sums = w row, or sums += w row.
template <class A, class T>
STATOR_FN void add_row(A* STATOR_RESTRICT sums, A w, const T* STATOR_RESTRICT row, int count, bool started) {
  if (started)
    for (int k = 0; k < count; ++k) sums[k] += w * convert<A>(row[k]);
  else
    for (int k = 0; k < count; ++k) sums[k] = w * convert<A>(row[k]);
}

// The slopes of a table's elements. row: its results, from the first one on.
template <class A>
STATOR_FN void spread_row(const SlopeTable<A>& table, const A* STATOR_RESTRICT row, A* STATOR_RESTRICT sums) {
  const int count = table.count;
  if (table.most == 0)
    for (int o = 0; o < count; ++o) sums[o] = A(0);
  for (int m = 0; m < table.most; ++m) {
    const A* STATOR_RESTRICT const weight = table.weight + m * count;
    const int* STATOR_RESTRICT const from = table.from;
    // What is not a result of an element must not make NaN of its slope.
    if (m == 0)
      for (int o = 0; o < count; ++o) {
        const A slope = weight[o] * row[from[o]];
        sums[o] = weight[o] != A(0) ? slope : A(0);
      }
    else
      for (int o = 0; o < count; ++o) {
        const A slope = weight[o] * row[from[o] + m];
        sums[o] += weight[o] != A(0) ? slope : A(0);
      }
  }
}

// Rows of results as elements, for the rows of elements that follow each other.
template <class A>
struct KeptRows {
  int64_t row[SlopeTuning::kept];
  A slopes[SlopeTuning::kept][SlopeTuning::tile];

  STATOR_FN void clear() {
    for (int64_t& r : row) r = -1;
  }
};

// A row of a tile's elements. grad: the plane's results. `kept` is of these planes where Spread.
template <bool Spread, class T, class A = opmath_t<T>>
STATOR_FN void slopes_of_row(const Interpolate& p, const SlopeTable<A> (&table)[Interpolate::dims], const T* grad,
                             const Position& at, KeptRows<A>& kept, T* STATOR_RESTRICT out) {
  constexpr bool direct = std::is_same_v<A, T>;
  const SlopeTable<A>& line = table[2];
  A column[SlopeTuning::columns], own[direct ? 1 : SlopeTuning::tile];
  A* const sums = direct ? reinterpret_cast<A*>(out) : own;
  bool started = false;
  table[0].for_results(at.at[0], [&](int i, A deep) {
    table[1].for_results(at.at[1], [&](int j, A high) {
      const int row = i * p.out_extent[1] + j;
      const T* const results = grad + int64_t(row) * p.out_extent[2] + line.first;
      if constexpr (Spread) {
        const int64_t number = at.plane * p.out_extent[0] * p.out_extent[1] + row;
        const int slot = (i & 1) * 4 + (j & 3);
        if (kept.row[slot] != number) {
          kept.row[slot] = number;
          if constexpr (direct) {
            spread_row(line, results, kept.slopes[slot]);
          } else {
            for (int k = 0; k < line.width; ++k) column[k] = convert<A>(results[k]);
            spread_row(line, column, kept.slopes[slot]);
          }
        }
        add_row(sums, deep * high, kept.slopes[slot], line.count, started);
      } else {
        add_row(column, deep * high, results, line.width, started);
      }
      started = true;
    });
  });
  if (!started)
    for (int o = 0; o < line.count; ++o) sums[o] = A(0);
  else if (!Spread)
    spread_row(line, column, sums);
  if constexpr (!direct)
    for (int o = 0; o < line.count; ++o) out[o] = convert<T>(sums[o]);
}

// The slopes of rows [first, end) of elements of all planes. element: makes that of one element.
template <int N, class T, class F>
STATOR_FN void slopes_of_rows(const Interpolate& p, int64_t first, int64_t end, F element) {
  using A = opmath_t<T>;
  SlopeTable<A> table[Interpolate::dims];
  KeptRows<A> kept;
  int tile[Interpolate::dims];
  for (int axis = 0; axis < Interpolate::dims; ++axis) tile[axis] = slope_tile(p, axis);
  const int64_t in_rows = int64_t(p.in[0]) * p.in[1], out_rows = int64_t(p.out_extent[0]) * p.out_extent[1];
  for (int left = 0; left < p.in[2]; left += tile[2]) {
    table[2].template set<N>(p, 2, left, left + tile[2] < p.in[2] ? tile[2] : p.in[2] - left);
    kept.clear();
    Position at{first * p.in[2] + left, first / in_rows, {int(first % in_rows / p.in[1]), int(first % p.in[1]), left}};
    for (int64_t row = first; row < end; ++row, at.linear += p.in[2]) {
      for (int axis = 0; axis < 2; ++axis) {
        if (uint32_t(at.at[axis] - table[axis].begin) < uint32_t(table[axis].count)) continue;
        const int begin = at.at[axis] / tile[axis] * tile[axis], rest = p.in[axis] - begin;
        table[axis].template set<N>(p, axis, begin, tile[axis] < rest ? tile[axis] : rest);
      }
      const T* const grad = static_cast<const T*>(p.x) + at.plane * out_rows * p.out_extent[2];
      T* const out = static_cast<T*>(p.out) + at.linear;
      if (!table[0].fits || !table[1].fits || !table[2].fits) {
        Position one = at;
        for (int o = 0; o < table[2].count; ++o, ++one.at[2], ++one.linear) element(one);
      } else if (out_rows < in_rows) {
        slopes_of_row<true>(p, table, grad, at, kept, out);
      } else {
        slopes_of_row<false>(p, table, grad, at, kept, out);
      }
      if (++at.at[1] < p.in[1]) continue;
      at.at[1] = 0;
      if (++at.at[0] < p.in[0]) continue;
      at.at[0] = 0;
      ++at.plane;
    }
  }
}

}  // namespace stator::STATOR_TARGET::resampling
