// Gradients of grid_sample. That of x is a sum over the positions that read an element: their taps are keys, which are
// sorted, and each element adds up its own in their order. The fast host has no keys.
#include "host/launcher.hpp"
#include "kernels/resampling/grid.cuh"

namespace stator::STATOR_TARGET::resampling {

// --- the fast host ---------------------------------------------------------------------------------------------------

// Gradients of grid_sample on the fast host. The elements, weights and slopes of a tile of positions are in tables, so
// that loops over positions become vector instructions. A thread adds up the gradient of whole planes, position after
// position, which takes no keys.

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
      AxisSlopes<A> cells;
      find_cells<N == 1>(p, grid, axis, count, cells);
      for (int k = 0; k < N; ++k)
        for (int o = 0; o < count; ++o) {
          const int element = cells.first[o] + k;
          const A after = cells.behind[o];
          at[k][o] = uint32_t(element) < uint32_t(p.in[axis]) ? element : -1;
          weight[k][o] = N == 1 ? A(1) : k == 1 ? after : A(1) - after;
          slope[k][o] = N == 1 ? A(0) : k == 1 ? cells.slope[o] : -cells.slope[o];
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

// --- keys, where blocks have threads
// -----------------------------------------------------------------------------------

namespace {

using params::GridGather;

struct GatherTuning {
  static constexpr int block = 256;
  static constexpr int items = by_target<256, 1024>::value;  // of a block
  static constexpr int channels = 8;
};

STATOR_FN void store_key(const GridSample& p, int64_t at, int64_t key) {
  if (p.key_dtype == DType::uint32)
    static_cast<uint32_t*>(p.keys)[at] = uint32_t(key);
  else
    static_cast<int64_t*>(p.keys)[at] = key;
}

// The keys, weights and gradient of a position.
template <int N, int Deep, class T, class A = opmath_t<T>>
STATOR_FN void position_backward(const GridSample& p, int64_t position, int64_t sample, int64_t point) {
  constexpr int taps = GridTaps<N, Deep, A>::count;
  const GridTaps<N, Deep, A> found(p, static_cast<const T*>(p.grid) + position * p.axes);
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2];
  int at[taps];
  A slope[taps];  // the sum over channels of what a weight is multiplied by
  found.for_each(p, [&](int t, int index, int i, int j, int k) {
    at[t] = index;
    slope[t] = A(0);
    // One tap of all positions after the other, so that neighbouring threads write side by side.
    const int64_t entry = t * p.samples * p.points + position;
    store_key(p, entry, index >= 0 ? sample * size + index : p.samples * size);
    static_cast<A*>(p.weights)[entry] = found.weight(i, j, k);
  });
  STATOR_UNROLL(1)
  for (int64_t c = 0; c < p.channels && N > 1; ++c) {
    const int64_t plane = sample * p.channels + c;
    const T* const x = static_cast<const T*>(p.x) + plane * size;
    const A grad = convert<A>(static_cast<const T*>(p.grad)[plane * p.points + point]);
    STATOR_UNROLL()
    for (int t = 0; t < taps; ++t) slope[t] += at[t] >= 0 ? grad * convert<A>(x[at[t]]) : A(0);
  }
  A sum[3] = {};
  found.for_each(p, [&](int t, int, int i, int j, int k) {
    sum[0] += slope[t] * (found.d.weight[i] * found.h.weight[j] * found.w.slope[k]);
    sum[1] += slope[t] * (found.d.weight[i] * found.h.slope[j] * found.w.weight[k]);
    sum[2] += slope[t] * (found.d.slope[i] * found.h.weight[j] * found.w.weight[k]);
  });
  T* const out = static_cast<T*>(p.grid_grad) + position * p.axes;
  STATOR_UNROLL()
  for (int a = 0; a < 3; ++a)
    if (a < p.axes) out[a] = convert<T>(sum[a]);
}

template <class T, int Size>
STATOR_KERNEL(Size) void grid_taps_kernel(GridSample p, FastDivmod64 points) {
  const Group<Size> group;
  const int64_t first = group.block() * GatherTuning::items, rest = p.samples * p.points - first;
  with_taps(p, [&](auto n, auto deep) {
    group.for_each(rest < GatherTuning::items ? rest : GatherTuning::items, [&](int64_t i) {
      int64_t point;
      const int64_t sample = points.divmod(first + i, point);
      position_backward<n(), deep(), T>(p, first + i, sample, point);
    });
  });
}

// Fast host: the gradient of some positions of a sample.
template <class T, int Size>
STATOR_KERNEL(Size) void grid_slopes_kernel(GridSample p, int64_t tiles, int positions) {
  const Group<Size> group;
  const int64_t sample = group.block() / tiles, first = group.block() % tiles * positions;
  const int64_t end = first + positions < p.points ? first + positions : p.points;
  with_taps(p, [&](auto n, auto deep) { slopes_of_positions<n(), deep(), T>(p, sample, first, end); });
}

void grid_taps_backward(const params::Queue& q, const GridSample& p) {
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host) {
      const int positions = positions_of(q, p);
      const int64_t tiles = ceil_div(p.points, positions);
      return launch(q, "grid_slopes", grid_slopes_kernel<T, GatherTuning::block>,
                    {p.samples * tiles, GatherTuning::block}, p, tiles, positions);
    }
    launch(q, "grid_taps", grid_taps_kernel<T, GatherTuning::block>,
           {ceil_div(p.samples * p.points, GatherTuning::items), GatherTuning::block}, p, FastDivmod64(p.points));
  });
}

// How many of the sorted keys from `low` on are less than `key`, and those before.
template <class K>
STATOR_FN int64_t keys_below(const K* keys, int64_t low, int64_t high, int64_t key) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (int64_t(keys[middle]) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
STATOR_FN int64_t keys_below(const GridGather& g, int64_t low, int64_t key) {
  if (g.sample.key_dtype == DType::uint32)
    return keys_below(static_cast<const uint32_t*>(g.sorted), low, g.entries, key);
  return keys_below(static_cast<const int64_t*>(g.sorted), low, g.entries, key);
}

// Neighbouring threads have neighbouring elements, and some channels each.
template <class T, int Size>
STATOR_KERNEL(Size) void grid_gather_kernel(GridGather g, int64_t size, FastDivmod64 elements, FastDivmod64 parts,
                                            FastDivmod64 positions, int64_t total) {
  using A = opmath_t<T>;
  constexpr int wide = GatherTuning::channels;
  const Group<Size> group;
  const GridSample& p = g.sample;
  const int64_t begin = group.block() * GatherTuning::items, rest = total - begin;
  group.for_each(rest < GatherTuning::items ? rest : GatherTuning::items, [&](int64_t item) {
    int64_t element, part;
    const int64_t sample = parts.divmod(elements.divmod(begin + item, element), part), key = sample * size + element;
    const int64_t first = part * wide, count = p.channels - first < wide ? p.channels - first : wide;
    const T* const grad = static_cast<const T*>(p.grad) + (sample * p.channels + first) * p.points - sample * p.points;
    A sum[wide] = {};
    const int64_t low = keys_below(g, 0, key), high = keys_below(g, low, key + 1);
    STATOR_UNROLL(1)
    for (int64_t k = low; k < high; ++k) {
      const int64_t entry = g.order[k];
      int64_t position;
      positions.divmod(entry, position);
      const A weight = static_cast<const A*>(p.weights)[entry];
      STATOR_UNROLL()
      for (int c = 0; c < wide; ++c)
        if (c < count) sum[c] += weight * convert<A>(grad[c * p.points + position]);
    }
    T* const out = static_cast<T*>(p.out) + (sample * p.channels + first) * size + element;
    STATOR_UNROLL()
    for (int c = 0; c < wide; ++c)
      if (c < count) out[c * size] = convert<T>(sum[c]);
  });
}

// Fast host: the gradient of some channels of a sample.
template <class T, int Size>
STATOR_KERNEL(Size) void grid_planes_kernel(GridSample p, int64_t parts, int64_t channels) {
  const Group<Size> group;
  const int64_t sample = group.block() / parts, first = group.block() % parts * channels;
  const int64_t end = first + channels < p.channels ? first + channels : p.channels;
  with_taps(p, [&](auto n, auto deep) { slopes_of_planes<n(), deep(), T>(p, sample, first, end); });
}

bool grid_sorts(const params::DeviceLimits&) { return !fast_host; }

void grid_gather(const params::Queue& q, const GridGather& g) {
  const GridSample& p = g.sample;
  if constexpr (fast_host) {
    // As many channels for a block as leave each worker some blocks, since each of them finds all taps.
    const int64_t wanted = ceil_div(waves(*q.limits, 1), p.samples);
    const int64_t channels = ceil_div(p.channels, std::min(wanted, p.channels)), parts = ceil_div(p.channels, channels);
    return visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
      if constexpr (fast_host)  // once more, in a template: other targets get no instance
        launch(q, "grid_planes", grid_planes_kernel<T, GatherTuning::block>, {p.samples * parts, GatherTuning::block},
               p, parts, channels);
    });
  }
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2], parts = ceil_div(p.channels, GatherTuning::channels);
  const int64_t total = p.samples * parts * size;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "grid_gather", grid_gather_kernel<T, GatherTuning::block>,
           {ceil_div(total, GatherTuning::items), GatherTuning::block}, g, size, FastDivmod64(size),
           FastDivmod64(parts), FastDivmod64(p.samples * p.points), total);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::resampling

STATOR_LAUNCHER(resampling, grid_sorts)
STATOR_LAUNCHER(resampling, grid_taps_backward)
STATOR_LAUNCHER(resampling, grid_gather)
