// Arrays at another resolution: weighted sums of the elements around each position.
#include "device/planes.cuh"
#include "host/launcher.hpp"
#include "kernels/resampling/interpolate_tile.cuh"
#include "kernels/resampling/taps.cuh"

namespace stator::STATOR_TARGET::resampling {
namespace {

struct InterpolateTuning {
  static constexpr int elements = 8192;  // of a block of the fast host
  static constexpr int tile = 256;       // results of a row that it makes at once
  static constexpr int columns = 1024;   // elements that they may be of
};
// Whole rows of the fast host's blocks.
struct RowCut : Planes<InterpolateTuning::elements> {
  RowCut(int64_t planes, const int (&extent)[3], int) : Planes(planes, extent[0], extent[1], extent[2]) {}
  int64_t blocks() const { return row_blocks(); }
};
using Cut = std::conditional_t<fast_host, RowCut, TileCut>;

// A row of results on the fast host: rows of the operand are added up, then their elements, so that loops over a row
// become vector instructions.
template <int N, class T, class A = opmath_t<T>>
STATOR_FN void interpolate_row(const Interpolate& p, const T* plane, const Taps<A, N>& d, const Taps<A, N>& h,
                               const int (&from)[N][InterpolateTuning::tile],
                               const A (&weight)[N][InterpolateTuning::tile], int first, int width, int count,
                               T* STATOR_RESTRICT out) {
  A column[InterpolateTuning::columns];
  const bool deep = p.in[0] > 1 || p.out_extent[0] > 1, high = p.in[1] > 1 || p.out_extent[1] > 1;
  bool started = false;
  for (int i = 0; i < (deep ? N : 1); ++i)
    for (int j = 0; j < (high ? N : 1); ++j) {
      const A w = (deep ? d.weight[i] : A(1)) * (high ? h.weight[j] : A(1));
      const T* STATOR_RESTRICT row = plane + (int64_t(d.at[i]) * p.in[1] + h.at[j]) * p.in[2] + first;
      if (started)
        for (int k = 0; k < width; ++k) column[k] += w * convert<A>(row[k]);
      else
        for (int k = 0; k < width; ++k) column[k] = w * convert<A>(row[k]);
      started = true;
    }
  A sum[InterpolateTuning::tile];
  for (int o = 0; o < count; ++o) sum[o] = weight[0][o] * column[from[0][o]];
  for (int k = 1; k < N; ++k)
    for (int o = 0; o < count; ++o) sum[o] += weight[k][o] * column[from[k][o]];
  for (int o = 0; o < count; ++o) out[o] = convert<T>(sum[o]);
}

// Of the fast host.
template <int N, class T, int Size>
STATOR_FN void interpolate_rows(const Group<Size>& group, const Interpolate& p, const RowCut& cut) {
  using A = opmath_t<T>;
  const T* const x = static_cast<const T*>(p.x);
  T* const out = static_cast<T*>(p.out);
  const int64_t size = int64_t(p.in[0]) * p.in[1] * p.in[2];
  const auto element = [&](const Position& at) {
    const T* const plane = x + at.plane * size;
    const Taps<A, N> d = axis_taps<N, A>(p, 0, at.at[0]), h = axis_taps<N, A>(p, 1, at.at[1]),
                     w = axis_taps<N, A>(p, 2, at.at[2]);
    if constexpr (N == 1) {
      out[at.linear] = plane[(d.at[0] * p.in[1] + h.at[0]) * p.in[2] + w.at[0]];
    } else {
      // Axes of one element need no sum.
      const int deep = p.in[0] > 1 || p.out_extent[0] > 1 ? N : 1, high = p.in[1] > 1 || p.out_extent[1] > 1 ? N : 1;
      A sum = A(0);
      STATOR_UNROLL()
      for (int i = 0; i < N; ++i) {
        if (i >= deep) break;
        STATOR_UNROLL()
        for (int j = 0; j < N; ++j) {
          if (j >= high) break;
          const T* const row = plane + (d.at[i] * p.in[1] + h.at[j]) * p.in[2];
          A line = A(0);
          STATOR_UNROLL()
          for (int k = 0; k < N; ++k) line += w.weight[k] * convert<A>(row[w.at[k]]);
          sum += (deep > 1 ? d.weight[i] : A(1)) * (high > 1 ? h.weight[j] : A(1)) * line;
        }
      }
      out[at.linear] = convert<T>(sum);
    }
  };
  constexpr int tile = InterpolateTuning::tile;
  int from[N][tile], begin = -1, first = 0, width = 0;
  A weight[N][tile];
  cut.template for_rows<tile>(group, cut.rows_per_block(), [&](Position at, int count) {
    if (begin != at.at[2]) {  // another tile of the row than before
      begin = at.at[2];
      int last = 0;
      first = p.in[2];
      for (int o = 0; o < count; ++o) {
        const Taps<A, N> w = axis_taps<N, A>(p, 2, begin + o);
        for (int k = 0; k < N; ++k) {
          from[k][o] = w.at[k];
          weight[k][o] = w.weight[k];
          first = w.at[k] < first ? w.at[k] : first;
          last = w.at[k] > last ? w.at[k] : last;
        }
      }
      width = last + 1 - first;
      for (int o = 0; o < count; ++o)
        for (int k = 0; k < N; ++k) from[k][o] -= first;
    }
    const T* const plane = x + at.plane * size;
    const Taps<A, N> d = axis_taps<N, A>(p, 0, at.at[0]), h = axis_taps<N, A>(p, 1, at.at[1]);
    if constexpr (N == 1) {
      const T* const row = plane + (int64_t(d.at[0]) * p.in[1] + h.at[0]) * p.in[2] + first;
      for (int o = 0; o < count; ++o) out[at.linear + o] = row[from[0][o]];
    } else if (width <= InterpolateTuning::columns) {
      interpolate_row<N, T>(p, plane, d, h, from, weight, first, width, count, out + at.linear);
    } else {
      for (int o = 0; o < count; ++o, ++at.at[2], ++at.linear) element(at);
    }
  });
}

template <int N, class T, int Size>
STATOR_FN void interpolate_block(const Group<Size>& group, const Interpolate& p, const Cut& cut) {
  if constexpr (fast_host)
    interpolate_rows<N, T>(group, p, cut);
  else
    interpolate_tile<N, T>(group, p, cut);
}

template <class T, int Size>
STATOR_KERNEL(Size) void interpolate_kernel(Interpolate p, Cut cut) {
  const Group<Size> group;
  if (p.mode == Interpolation::linear)
    interpolate_block<2, T>(group, p, cut);
  else if (p.mode == Interpolation::cubic)
    interpolate_block<4, T>(group, p, cut);
  else
    interpolate_block<1, T>(group, p, cut);
}

void interpolate(const params::Queue& q, const Interpolate& p) {
  const Cut cut(p.planes, p.out_extent, q.limits->multiprocessors);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "interpolate", interpolate_kernel<T, TileTuning::block>, {cut.blocks(), TileTuning::block}, p, cut);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::resampling

STATOR_LAUNCHER(resampling, interpolate)
