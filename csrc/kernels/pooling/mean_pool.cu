// The mean of each window, and the root of a mean of powers.
#include "device/rescale.cuh"
#include "device/sublanes.cuh"
#include "host/launcher.hpp"
#include "kernels/pooling/powers.cuh"
#include "kernels/pooling/rows.cuh"
#include "kernels/pooling/two_by_two.cuh"

#include <bit>

namespace stator::STATOR_TARGET::pooling {
namespace {

using params::PoolKind;

// 2^lanes_log2 neighbouring threads have a result, where blocks have threads.
template <class T, int Size>
STATOR_KERNEL(Size) void mean_pool_kernel(Pool p, Cut cut, int64_t rows, int lanes_log2) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* const x = static_cast<const T*>(p.x);
  T* const out = static_cast<T*>(p.out);
  const int64_t size = plane_size(p, true);
  const bool powers = p.kind == PoolKind::power, rescales = powers && p.power != 1;
  const A exponent = A(p.power), factor = A(p.factor);
  if constexpr (fast_host) {
    A sums[PoolTuning::tile];
    RowWindows windows;
    cut.template for_rows<PoolTuning::tile>(group, rows, [&](const Position& at, int count) {
      windows.set(p, at.at[2], count);
      for (int j = 0; j < count; ++j) sums[j] = A(0);
      const T* const plane = x + at.plane * size;
      const auto add = [](A sum, A v) { return sum + v; };
      if (powers)
        fold_row(
            p, windows, plane, at.at[0], at.at[1], count, sums, [=](T v) { return power_of(convert<A>(v), exponent); },
            add);
      else
        fold_row(p, windows, plane, at.at[0], at.at[1], count, sums, [](T v) { return convert<A>(v); }, add);
      if (p.divisor == 0) {
        const A above = A(window_of(p, 0, at.at[0]).count) * A(window_of(p, 1, at.at[1]).count);
        for (int j = 0; j < count; ++j) sums[j] = sums[j] / (above * A(windows.count[j]));
      } else {
        const A divisor = A(p.divisor);
        for (int j = 0; j < count; ++j) sums[j] = sums[j] / divisor;
      }
      if (powers) {
        bool outside[PoolTuning::tile], any = false;
        for (int j = 0; j < count; ++j) outside[j] = rescales & !SquareRange<A>::has(sums[j]);
        for (int j = 0; j < count; ++j) sums[j] = root_of(sums[j] * factor, exponent);
        for (int j = 0; j < count; ++j) any |= outside[j];
        for (int j = 0; any && j < count; ++j)
          if (outside[j])
            sums[j] =
                rescaled_root<T>(p, Position{at.linear + j, at.plane, {at.at[0], at.at[1], at.at[2] + j}}, sums[j]);
      }
      for (int j = 0; j < count; ++j) out[at.linear + j] = convert<T>(sums[j]);
    });
  } else {
    const auto finish = [&](A sum, const Position& at) {
      const A mean = sum / divisor_at<A>(p, at);
      if (!powers) return convert<T>(mean);
      const A root = root_of(mean * factor, exponent);
      return convert<T>(rescales && !SquareRange<A>::has(mean) ? rescaled_root<T>(p, at, root) : root);
    };
    static_assert(Size == PoolTuning::elements);
    const int64_t result = (group.block() * Size + group.rank()) >> lanes_log2;
    const int lanes = 1 << lanes_log2, lane = group.rank() & (lanes - 1);
    const bool exists = result < cut.total;
    const Position at = cut.position(exists ? result : 0);
    A sum = A(0);
    if (exists) {
      const T* const plane = x + at.plane * size;
      if (powers)
        for_window(p, at, [&](int i) { sum += power_of(convert<A>(plane[i]), exponent); }, lane, lanes);
      else
        for_window(p, at, [&](int i) { sum += convert<A>(plane[i]); }, lane, lanes);
    }
    if (lanes > 1) sum = sum_sublanes(sum, lanes);
    if (exists && lane == 0) out[result] = finish(sum, at);
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void mean_two_by_two_kernel(params::Pool p, int64_t vectors, FastDivmod64 per_row) {
  using A = opmath_t<T>;
  const A divisor = p.divisor == 0 ? A(4) : A(p.divisor);
  for_two_by_two<T>(Group<Size>{}, p, vectors, per_row, [=](T a, T b, T c, T d) {
    return convert<T>((A(0) + convert<A>(a) + convert<A>(b) + convert<A>(c) + convert<A>(d)) / divisor);
  });
}

// Means of whole planes, each of which is a run of elements.
template <class T, int Size>
STATOR_KERNEL(Size) void mean_planes_kernel(params::Pool p, int64_t planes) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const int64_t size = plane_size(p, true), first = group.block() * planes;
  const int64_t end = first + planes < p.planes ? first + planes : p.planes;
  const A divisor = divisor_of_planes<A>(p);
  for (int64_t plane = first; plane < end; ++plane) {
    const T* const x = static_cast<const T*>(p.x) + plane * size;
    const auto element = [=](int64_t k) { return convert<A>(x[k]); };
    // In lanes, short sums have as few roundings one after the other as those of columns and then rows.
    const A sum = size < PoolTuning::compensated ? group.template map_reduce<A>(size, Sum{}, element)
                                                 : group.template map_sum<A>(size, element);
    static_cast<T*>(p.out)[plane] = convert<T>(sum / divisor);
  }
}

// Threads that share a window: as many as it is wide where windows are far apart, so that a warp reads neighbours.
int lanes_log2_of(const params::Pool& p) {
  const PoolAxis& a = p.axes[2];
  const int apart = p.adaptive ? a.in / std::max(a.out, 1) : a.out == 1 ? a.in : a.stride;
  const int width = p.adaptive ? apart : a.kernel;
  return fast_host || apart < 4 || width < 4 ? 0 : std::min(int(std::bit_width(unsigned(width - 1))), 5);
}

void mean_pool(const params::Queue& q, const params::Pool& p) {
  const Cut cut = cut_of(p, false);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (fast_host) {
      if (has_whole_planes(p)) {
        const int64_t planes = std::max<int64_t>(1, PoolTuning::elements / plane_size(p, true));
        return launch(q, "mean_pool", mean_planes_kernel<T, PoolTuning::block>,
                      {ceil_div(p.planes, planes), PoolTuning::block}, p, planes);
      }
    }
    if constexpr (!fast_host)
      if (p.kind == PoolKind::mean && is_two_by_two<T>(p))
        return launch_two_by_two<T>(q, "mean_pool", p, mean_two_by_two_kernel<T, PoolTuning::block>);
    const int lanes_log2 = lanes_log2_of(p);
    const int64_t blocks = fast_host ? cut.row_blocks() : ceil_div(cut.total << lanes_log2, PoolTuning::block);
    launch(q, "mean_pool", mean_pool_kernel<T, PoolTuning::block>, {blocks, PoolTuning::block},
           Pool(fast_host ? with_fixed_windows(p) : p), cut, cut.rows_per_block(), lanes_log2);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, mean_pool)
