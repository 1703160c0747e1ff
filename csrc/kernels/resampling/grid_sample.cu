// Elements of planes at the positions of a grid.
#include "host/launcher.hpp"
#include "kernels/resampling/grid.cuh"

namespace stator::STATOR_TARGET::resampling {
namespace {

struct GridTuning {
  static constexpr int block = 256;
  static constexpr int positions = by_target<1, 64>::value;  // of a thread
  static constexpr int channels = by_target<8, 1024>::value;
};

// The taps of an axis, of the positions of a thread.
template <class A, int N>
struct AxisTable {
  int at[N][GridTuning::positions];
  A weight[N][GridTuning::positions];

  STATOR_FN void set(int o, const GridAxis<A, N>& axis) {
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) {
      at[k][o] = axis.at[k];
      weight[k][o] = axis.weight[k];
    }
  }
};

// The taps of some positions, and the results of them in some channels.
template <int N, int Deep, class T, class A = opmath_t<T>>
STATOR_FN void sample_positions(const GridSample& p, int64_t sample, int64_t first_channel, int64_t first,
                                int positions) {
  constexpr int taps = GridTaps<N, Deep, A>::count, wide = GridTuning::positions;
  const int count = wide > 1 ? positions : 1;  // a constant where threads have one
  // Along each axis first, then together, in loops over positions.
  AxisTable<A, Deep> d;
  AxisTable<A, N> h, w;
  const T* const grid = static_cast<const T*>(p.grid) + (sample * p.points + first) * p.axes;
  for (int o = 0; o < count; ++o) {
    const GridTaps<N, Deep, A> found(p, grid + int64_t(o) * p.axes);
    d.set(o, found.d);
    h.set(o, found.h);
    w.set(o, found.w);
  }
  int at[taps][wide], in[taps][wide], outside = 0;
  A weight[taps][wide];
  STATOR_UNROLL()
  for (int t = 0; t < taps; ++t) {
    const int i = t / (N * N), j = t / N % N, k = t % N;
    for (int o = 0; o < count; ++o) {
      const int inside = (d.at[i][o] | h.at[j][o] | w.at[k][o]) >= 0;
      // What is outside reads the first element, and drops it.
      at[t][o] = inside * ((d.at[i][o] * p.in[1] + h.at[j][o]) * p.in[2] + w.at[k][o]);
      in[t][o] = inside;
      weight[t][o] = d.weight[i][o] * h.weight[j][o] * w.weight[k][o];
      outside |= 1 - inside;
    }
  }
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2];
  const int64_t end =
      first_channel + GridTuning::channels < p.channels ? first_channel + GridTuning::channels : p.channels;
  STATOR_UNROLL(1)
  for (int64_t c = first_channel; c < end; ++c) {
    const int64_t plane = sample * p.channels + c;
    const T* STATOR_RESTRICT const x = static_cast<const T*>(p.x) + plane * size;
    T* STATOR_RESTRICT const out = static_cast<T*>(p.out) + plane * p.points + first;
    A sum[wide] = {};
    STATOR_UNROLL()
    for (int t = 0; t < taps; ++t) {
      if (outside == 0)
        for (int o = 0; o < count; ++o) sum[o] += weight[t][o] * convert<A>(x[at[t][o]]);
      else
        for (int o = 0; o < count; ++o) {
          const A value = weight[t][o] * convert<A>(x[at[t][o]]);
          sum[o] += in[t][o] != 0 ? value : A(0);
        }
    }
    for (int o = 0; o < count; ++o) out[o] = convert<T>(sum[o]);
  }
}

// Neighbouring threads have neighbouring positions.
template <class T, int Size>
STATOR_KERNEL(Size) void grid_sample_kernel(GridSample p, int64_t total, FastDivmod64 tiles, FastDivmod64 parts) {
  const Group<Size> group;
  const int64_t item = group.block() * group.size + group.rank();
  if (item >= total) return;
  int64_t tile, part;
  const int64_t sample = parts.divmod(tiles.divmod(item, tile), part), first = tile * GridTuning::positions;
  const int64_t rest = p.points - first;
  const int count = rest < GridTuning::positions ? int(rest) : GridTuning::positions;
  with_taps(p, [&](auto n, auto deep) {
    sample_positions<n(), deep(), T>(p, sample, part * GridTuning::channels, first, count);
  });
}

void grid_sample(const params::Queue& q, const GridSample& p) {
  const int64_t tiles = ceil_div(p.points, GridTuning::positions), parts = ceil_div(p.channels, GridTuning::channels);
  const int64_t total = p.samples * parts * tiles;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host) {
      if (has_lines(p)) {
        const int positions = positions_of(q, p);
        const int64_t lines = ceil_div(p.points, positions);
        return launch(q, "grid_sample", grid_lines_kernel<T, GridTuning::block>, {p.samples * lines, GridTuning::block},
                      p, lines, positions);
      }
    }
    launch(q, "grid_sample", grid_sample_kernel<T, GridTuning::block>,
           {fast_host ? total : ceil_div(total, GridTuning::block), GridTuning::block}, p, total, FastDivmod64(tiles),
           FastDivmod64(parts));
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::resampling

STATOR_LAUNCHER(resampling, grid_sample)
