// The gradient of interpolation: each element adds up the slopes of the results that it is a part of, in their order.
#include "device/launcher.cuh"
#include "kernels/resampling/slope_rows.cuh"
#include "kernels/resampling/slope_tile.cuh"

namespace stator::STATOR_TARGET::resampling {
namespace {

template <int N, class T, int Size>
STATOR_FN void slopes_of_block(const Group<Size>& group, const Interpolate& p, const SlopeCut& cut, int64_t rows) {
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
    const int64_t first = group.block() * rows, all = cut.total / p.in[2];
    slopes_of_rows<N, T>(p, first, first + rows < all ? first + rows : all, element);
  } else {
    cut.for_each(group, element);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void interpolate_backward_kernel(Interpolate p, SlopeCut cut, int64_t rows) {
  const Group<Size> group;
  if (p.mode == Interpolation::linear)
    slopes_of_block<2, T>(group, p, cut, rows);
  else if (p.mode == Interpolation::cubic)
    slopes_of_block<4, T>(group, p, cut, rows);
  else
    slopes_of_block<1, T>(group, p, cut, rows);
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
  const SlopeCut cut(p.planes, p.in[0], p.in[1], p.in[2]);
  // Blocks of the fast host are as large as leaves each worker some of them, because each makes its tables.
  const int64_t share = ceil_div(cut.total / p.in[2], waves(*q.limits, 1)),
                rows = std::max(cut.rows_per_block(), share);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (!fast_host)
      if (fits_slopes<opmath_t<T>>(p, 1) && fits_slopes<opmath_t<T>>(p, 2)) {
        const TileCut tiles(p.planes, p.in, q.limits->multiprocessors);
        launch(q, "interpolate_backward_tile", interpolate_backward_tile_kernel<T, TileTuning::block>,
               {tiles.blocks(), TileTuning::block}, p, tiles);
        return;
      }
    launch(q, "interpolate_backward", interpolate_backward_kernel<T, SlopeTuning::block>,
           {fast_host ? ceil_div(cut.total / p.in[2], rows) : cut.blocks(), SlopeTuning::block}, p, cut, rows);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::resampling

STATOR_LAUNCHER(resampling, interpolate_backward)
