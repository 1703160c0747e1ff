// Gradients of grid_sample on the fast host. The elements, weights and slopes of a tile of positions are in tables, so
// that loops over positions become vector instructions. A thread adds up the gradient of whole planes, position after
// position, which takes no keys.
#pragma once

#include "kernels/resampling/grid_lines.cuh"

namespace stator::STATOR_TARGET::resampling {

// Along an axis, of each position of a tile: the elements of its N taps, or -1, their weights, and how these change
// with the grid's number.
template <class A, int N>
struct AxisTaps {
  int at[N][LineTuning::step];
  A weight[N][LineTuning::step], slope[N][LineTuning::step];

  template <class T>
  STATOR_FN void fill(const GridSample& p, const T* grid, int axis, int count) {
    if constexpr (N == 4) {
      for (int o = 0; o < count; ++o) {
        const T* const number = grid + int64_t(o) * p.axes + (GridSample::dims - 1 - axis);
        const GridAxis<A, N> found = grid_axis<N, A>(p, axis, convert<A>(*number));
        for (int k = 0; k < N; ++k) {
          at[k][o] = found.at[k];
          weight[k][o] = found.weight[k];
          slope[k][o] = found.slope[k];
        }
      }
    } else {
      AxisSlopes<A> places;
      find_places<N == 1>(p, grid, axis, count, places);
      for (int k = 0; k < N; ++k)
        for (int o = 0; o < count; ++o) {
          const int element = places.first[o] + k;
          const A after = places.behind[o];
          at[k][o] = uint32_t(element) < uint32_t(p.in[axis]) ? element : -1;
          weight[k][o] = N == 1 ? A(1) : k == 1 ? after : A(1) - after;
          slope[k][o] = N == 1 ? A(0) : k == 1 ? places.slope[o] : -places.slope[o];
        }
    }
  }

  // The axis that is not there.
  STATOR_FN void fill_one(int count) {
    for (int k = 0; k < N; ++k)
      for (int o = 0; o < count; ++o) {
        at[k][o] = k == 0 ? 0 : -1;
        weight[k][o] = k == 0 ? A(1) : A(0);
        slope[k][o] = A(0);
      }
  }
};

// The taps of the positions of a tile, as GridTaps numbers them.
template <int N, int Deep, class A>
struct TileTaps {
  AxisTaps<A, Deep> d;
  AxisTaps<A, N> h, w;
  int at[N * N * Deep][LineTuning::step];  // the index in the plane, or -1
  bool all;                                // whether none is -1
  int count;

  template <class T>
  STATOR_FN TileTaps(const GridSample& p, const T* grid, int positions) : count(positions) {
    w.fill(p, grid, 2, count);
    h.fill(p, grid, 1, count);
    if (p.axes == 3)
      d.fill(p, grid, 0, count);
    else
      d.fill_one(count);
    int outside = 0;
    for_each([&](int t, int i, int j, int k) {
      for (int o = 0; o < count; ++o) {
        const int missing = d.at[i][o] | h.at[j][o] | w.at[k][o],
                  index = (d.at[i][o] * p.in[1] + h.at[j][o]) * p.in[2] + w.at[k][o];
        at[t][o] = missing < 0 ? -1 : index;
        outside |= missing;
      }
    });
    all = outside >= 0;
  }

  // Calls f(number, i, j, k) for each tap.
  template <class F>
  STATOR_FN void for_each(F f) const {
    for (int i = 0; i < Deep; ++i)
      for (int j = 0; j < N; ++j)
        for (int k = 0; k < N; ++k) f((i * N + j) * N + k, i, j, k);
  }
};

// Calls f(first, taps) for the tiles of positions [first, end) of a sample.
template <int N, int Deep, class T, class F>
STATOR_FN void for_tiles(const GridSample& p, int64_t sample, int64_t first, int64_t end, F f) {
  for (; first < end; first += LineTuning::step) {
    const T* const grid = static_cast<const T*>(p.grid) + (sample * p.points + first) * p.axes;
    f(first, TileTaps<N, Deep, opmath_t<T>>(p, grid, int(std::min<int64_t>(LineTuning::step, end - first))));
  }
}

// The gradient of positions [begin, end) of a sample: by each tap's weight first, summed over the channels.
template <int N, int Deep, class T>
STATOR_FN void slopes_of_positions(const GridSample& p, int64_t sample, int64_t begin, int64_t end) {
  using A = opmath_t<T>;
  constexpr int step = LineTuning::step, all_taps = N * N * Deep;
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2];
  for_tiles<N, Deep, T>(p, sample, begin, end, [&](int64_t first, const TileTaps<N, Deep, A>& taps) {
    A by_weight[all_taps][step] = {};
    const int count = taps.count;
    for (int64_t c = 0; c < p.channels && N > 1; ++c) {  // the nearest element does not change with the position
      const int64_t plane = sample * p.channels + c;
      const T* STATOR_RESTRICT const x = static_cast<const T*>(p.x) + plane * size;
      const T* STATOR_RESTRICT const given = static_cast<const T*>(p.grad) + plane * p.points + first;
      A grad[step];
      for (int o = 0; o < count; ++o) grad[o] = convert<A>(given[o]);
      for (int t = 0; t < all_taps; ++t)
        for (int o = 0; o < count; ++o) {
          const int at = taps.at[t][o];
          const A slope = grad[o] * convert<A>(x[at < 0 ? 0 : at]);
          by_weight[t][o] += at < 0 ? A(0) : slope;
        }
    }
    A sum[3][step] = {};
    taps.for_each([&](int t, int i, int j, int k) {
      const auto &d = taps.d, &h = taps.h, &w = taps.w;
      for (int o = 0; o < count; ++o) {
        sum[0][o] += by_weight[t][o] * (d.weight[i][o] * h.weight[j][o] * w.slope[k][o]);
        sum[1][o] += by_weight[t][o] * (d.weight[i][o] * h.slope[j][o] * w.weight[k][o]);
        sum[2][o] += by_weight[t][o] * (d.slope[i][o] * h.weight[j][o] * w.weight[k][o]);
      }
    });
    T* const out = static_cast<T*>(p.grid_grad) + (sample * p.points + first) * p.axes;
    for (int a = 0; a < p.axes; ++a)
      for (int o = 0; o < count; ++o) out[o * p.axes + a] = convert<T>(sum[a][o]);
  });
}

// The gradient of channels [begin, end) of a sample of x.
template <int N, int Deep, class T>
STATOR_FN void slopes_of_planes(const GridSample& p, int64_t sample, int64_t begin, int64_t end) {
  using A = opmath_t<T>;
  constexpr int step = LineTuning::step, all_taps = N * N * Deep;
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2], first_plane = sample * p.channels + begin,
                elements = (end - begin) * size;
  constexpr bool in_place = std::is_same_v<A, T>;
  A* const sums = static_cast<A*>(p.sums) + first_plane * size;
  std::fill_n(sums, elements, A(0));
  for_tiles<N, Deep, T>(p, sample, 0, p.points, [&](int64_t first, const TileTaps<N, Deep, A>& taps) {
    const int count = taps.count;
    A weight[all_taps][step];
    taps.for_each([&](int t, int i, int j, int k) {
      for (int o = 0; o < count; ++o) weight[t][o] = taps.d.weight[i][o] * taps.h.weight[j][o] * taps.w.weight[k][o];
    });
    for (int64_t c = 0; c < end - begin; ++c) {
      const T* STATOR_RESTRICT const given = static_cast<const T*>(p.grad) + (first_plane + c) * p.points + first;
      A* STATOR_RESTRICT const plane = sums + c * size;
      for (int o = 0; o < count; ++o) {
        const A grad = convert<A>(given[o]);
        for (int t = 0; t < all_taps; ++t)
          if (taps.all || taps.at[t][o] >= 0) plane[taps.at[t][o]] += weight[t][o] * grad;
      }
    }
  });
  if constexpr (!in_place) {
    T* const out = static_cast<T*>(p.out) + first_plane * size;
    for (int64_t i = 0; i < elements; ++i) out[i] = convert<T>(sums[i]);
  }
}

}  // namespace stator::STATOR_TARGET::resampling
