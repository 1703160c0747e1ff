// The mean of each window, and the root of a mean of powers.
#include "device/launcher.cuh"
#include "kernels/pooling/powers.cuh"
#include "kernels/pooling/rows.cuh"

namespace stator::STATOR_TARGET::pooling {
namespace {

using params::PoolKind;

template <class T, int Size>
STATOR_KERNEL(Size) void mean_pool_kernel(Pool p, Cut cut, int64_t rows) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* const x = static_cast<const T*>(p.x);
  T* const out = static_cast<T*>(p.out);
  const int64_t size = plane_size(p, true);
  const bool powers = p.kind == PoolKind::power;
  const A exponent = A(p.power), factor = A(p.factor);
  if constexpr (fast_host) {
    A sums[PoolTuning::tile];
    RowWindows windows;
    cut.template for_rows<PoolTuning::tile>(group, rows, [&](const Place& at, int count) {
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
        const A above = A(window_of(p, p.axes[0], at.at[0]).count) * A(window_of(p, p.axes[1], at.at[1]).count);
        for (int j = 0; j < count; ++j) sums[j] = sums[j] / (above * A(windows.count[j]));
      } else {
        const A divisor = A(p.divisor);
        for (int j = 0; j < count; ++j) sums[j] = sums[j] / divisor;
      }
      if (powers)
        for (int j = 0; j < count; ++j) sums[j] = root_of(sums[j] * factor, exponent);
      for (int j = 0; j < count; ++j) out[at.linear + j] = convert<T>(sums[j]);
    });
  } else {
    const auto finish = [&](A sum, const Place& at, int w) {
      A divisor = A(p.divisor);
      if (divisor == A(0))
        divisor = A(window_of(p, p.axes[0], at.at[0]).count) * A(window_of(p, p.axes[1], at.at[1]).count) *
                  A(window_of(p, p.axes[2], w).count);
      return convert<T>(powers ? root_of(sum / divisor * factor, exponent) : sum / divisor);
    };
    cut.for_each(group, [&](const Place& at) {
      const T* const plane = x + at.plane * size;
      A sum = A(0);
      if (powers)
        for_window(p, at, [&](int i) { sum += power_of(convert<A>(plane[i]), exponent); });
      else
        for_window(p, at, [&](int i) { sum += convert<A>(plane[i]); });
      out[at.linear] = finish(sum, at, at.at[2]);
    });
  }
}

void mean_pool(const params::Queue& q, const Pool& p) {
  const Cut cut = cut_of(p, false);
  with_float(p.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "mean_pool", mean_pool_kernel<T, PoolTuning::block>,
           {fast_host ? cut.row_blocks() : cut.blocks(), PoolTuning::block}, fast_host ? with_fixed_windows(p) : p, cut,
           cut.rows_per_block());
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, mean_pool)
