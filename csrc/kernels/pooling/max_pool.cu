// The largest element of each window, and where it is.
#include "host/launcher.hpp"
#include "kernels/pooling/rows.cuh"
#include "kernels/pooling/two_by_two.cuh"

namespace stator::STATOR_TARGET::pooling {
namespace {

// NaN is larger than all.
struct Larger {
  template <class A>
  STATOR_FN A operator()(A best, A v) const {
    return wins(v, best) ? v : best;
  }
  template <class A>
  STATOR_FN static bool wins(A v, A best) {
    return (v > best) | (v != v);
  }
};

template <class T, int Size>
STATOR_KERNEL(Size) void max_pool_kernel(Pool p, Cut cut, int64_t rows) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const T* const x = static_cast<const T*>(p.x);
  T* const out = static_cast<T*>(p.out);
  const int64_t size = plane_size(p, true);
  if constexpr (fast_host) {
    A best[PoolTuning::tile];
    int winners[PoolTuning::tile];
    RowWindows windows;
    cut.template for_rows<PoolTuning::tile>(group, rows, [&](const Position& at, int count) {
      windows.set(p, at.at[2], count);
      const T* const plane = x + at.plane * size;
      for (int j = 0; j < count; ++j) best[j] = -limits<A>::infinity();
      if (p.winners == nullptr) {
        fold_row(p, windows, plane, at.at[0], at.at[1], count, best, [](T v) { return convert<A>(v); }, Larger{});
      } else {
        for (int j = 0; j < count; ++j) winners[j] = -1;
        find_row(p, windows, plane, at.at[0], at.at[1], count, best, winners,
                 [](A v, A b) { return Larger::wins(v, b); });
        for (int j = 0; j < count; ++j) p.winners[at.linear + j] = winners[j];
      }
      for (int j = 0; j < count; ++j) out[at.linear + j] = convert<T>(best[j]);
    });
  } else {
    cut.for_each(group, [&](const Position& at) {
      const T* const plane = x + at.plane * size;
      A best = -limits<A>::infinity();
      int index = -1;
      for_window(p, at, [&](int i) {
        const A v = convert<A>(plane[i]);
        const bool wins = Larger::wins(v, best) | (index < 0);
        best = wins ? v : best;
        index = wins ? i : index;
      });
      out[at.linear] = convert<T>(best);
      if (p.winners != nullptr) p.winners[at.linear] = index;
    });
  }
}

template <class T, int Size>
STATOR_KERNEL(Size) void max_two_by_two_kernel(params::Pool p, int64_t vectors, FastDivmod64 per_row) {
  using A = opmath_t<T>;
  for_two_by_two<T>(Group<Size>{}, p, vectors, per_row, [](T a, T b, T c, T d) {
    const Larger larger;
    return convert<T>(larger(larger(larger(convert<A>(a), convert<A>(b)), convert<A>(c)), convert<A>(d)));
  });
}

void max_pool(const params::Queue& q, const params::Pool& p) {
  const Cut cut = cut_of(p, false);
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    if constexpr (!fast_host)
      if (p.winners == nullptr && is_two_by_two<T>(p))
        return launch_two_by_two<T>(q, "max_pool", p, max_two_by_two_kernel<T, PoolTuning::block>);
    launch(q, "max_pool", max_pool_kernel<T, PoolTuning::block>,
           {fast_host ? cut.row_blocks() : cut.blocks(), PoolTuning::block},
           Pool(fast_host ? with_fixed_windows(p) : p), cut, cut.rows_per_block());
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::pooling

STATOR_LAUNCHER(pooling, max_pool)
