// The gradient of interpolation: each element adds up the slopes of the results that it is a part of, in their order.
#include "device/launcher.cuh"
#include "kernels/resampling/slope_rows.cuh"
#include "kernels/resampling/slope_tile.cuh"

namespace stator::STATOR_TARGET::resampling {
namespace {

template <int N, class T, int Size>
STATOR_FN void slopes_of_block(const Group<Size>& group, const Interpolate& p, const SlopeCut& cut) {
  using A = opmath_t<T>;
  const int64_t size = int64_t(p.out_extent[0]) * p.out_extent[1] * p.out_extent[2];
  const auto element = [&](const Place& at) {
    const T* const grad = static_cast<const T*>(p.x) + at.plane * size;
    const Reach d = reach_of(p, 0, at.at[0]), h = reach_of(p, 1, at.at[1]), w = reach_of(p, 2, at.at[2]);
    A sum = A(0);
    STATOR_UNROLL(1)
    for (int i = d.first; i <= d.last; ++i) {
      const A deep = weight_in<N, A>(p, 0, i, at.at[0]);
      if (deep == A(0)) continue;
      STATOR_UNROLL(1)
      for (int j = h.first; j <= h.last; ++j) {
        const A high = deep * weight_in<N, A>(p, 1, j, at.at[1]);
        if (high == A(0)) continue;
        const T* const row = grad + (i * p.out_extent[1] + j) * p.out_extent[2];
        STATOR_UNROLL(1)
        for (int k = w.first; k <= w.last; ++k) {
          const A weight = weight_in<N, A>(p, 2, k, at.at[2]);
          if (weight != A(0)) sum += high * weight * convert<A>(row[k]);
        }
      }
    }
    static_cast<T*>(p.out)[at.linear] = convert<T>(sum);
  };
  if constexpr (fast_host) {
    SlopeTable<A> table;
    cut.template for_rows<SlopeTuning::tile>(group, cut.rows_per_block(), [&](Place at, int count) {
      if (table.begin != at.at[2]) table.template set<N>(p, at.at[2], count);
      const T* const grad = static_cast<const T*>(p.x) + at.plane * size;
      if (table.fits)
        slopes_of_row<N, T>(p, table, grad, at.at[0], at.at[1], count, static_cast<T*>(p.out) + at.linear);
      else
        for (int o = 0; o < count; ++o, ++at.at[2], ++at.linear) element(at);
    });
  } else {
    cut.for_each(group, element);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void interpolate_backward_kernel(Interpolate p, SlopeCut cut) {
  const Group<Size> group;
  if (p.mode == Interpolation::linear)
    slopes_of_block<2, T>(group, p, cut);
  else if (p.mode == Interpolation::cubic)
    slopes_of_block<4, T>(group, p, cut);
  else
    slopes_of_block<1, T>(group, p, cut);
}

template <class T, int Size>
STATOR_KERNEL(Size) void interpolate_backward_tile_kernel(Interpolate p, TileCut cut) {
  const Group<Size> group;
  if (p.mode == Interpolation::linear)
    slopes_of_tile<2, T>(group, p, cut);
  else if (p.mode == Interpolation::cubic)
    slopes_of_tile<4, T>(group, p, cut);
  else
    slopes_of_tile<1, T>(group, p, cut);
}

void interpolate_backward(const params::Queue& q, const Interpolate& p) {
  with_float(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (!fast_host)
      if (fits_slopes<opmath_t<T>>(p, 1) && fits_slopes<opmath_t<T>>(p, 2)) {
        const TileCut cut(p.planes, p.in, q.limits->multiprocessors);
        launch(q, "interpolate_backward_tile", interpolate_backward_tile_kernel<T, TileTuning::block>,
               {cut.blocks(), TileTuning::block}, p, cut);
        return;
      }
    const SlopeCut cut(p.planes, p.in[0], p.in[1], p.in[2]);
    launch(q, "interpolate_backward", interpolate_backward_kernel<T, SlopeTuning::block>,
           {fast_host ? cut.row_blocks() : cut.blocks(), SlopeTuning::block}, p, cut);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::resampling

STATOR_LAUNCHER(resampling, interpolate_backward)
