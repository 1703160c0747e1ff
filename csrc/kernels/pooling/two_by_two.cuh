// Windows of 2 x 2 elements that do not overlap, where blocks have threads: each reads 16 bytes of two rows.
#pragma once

#include "device/vector.cuh"
#include "host/launch.hpp"
#include "kernels/pooling/windows.cuh"

namespace stator::STATOR_TARGET::pooling {

// Whether the operand is such windows and nothing else, in rows of whole vectors.
template <class T>
bool is_two_by_two(const params::Pool& p) {
  const auto has = [](const PoolAxis& a, int kernel) {
    return a.kernel == kernel && a.stride == kernel && a.padding == 0 && a.dilation == 1 && a.in == kernel * a.out;
  };
  const bool one_slice = p.axes[0].in == 1 && p.axes[0].out == 1 && p.axes[0].kernel == 1 && p.axes[0].padding == 0;
  return !p.adaptive && one_slice && has(p.axes[1], 2) && has(p.axes[2], 2) && p.axes[2].in % vector_width<T> == 0 &&
         is_aligned(p.x) && is_aligned(p.out);
}

// of_window(a, b, c, d) is the result of a window's elements, in their order.
template <class T, int Size, class F>
STATOR_FN void for_two_by_two(const Group<Size>& group, const params::Pool& p, int64_t vectors, FastDivmod64 per_row,
                              F of_window) {
  constexpr int width = vector_width<T>;
  const int64_t number = group.block() * Size + group.rank();
  if (number >= vectors) return;
  int64_t column;
  const int64_t row = per_row.divmod(number, column);
  const T* const above = static_cast<const T*>(p.x) + 2 * row * p.axes[2].in + column * width;
  const Vec<T, width> a = load_vector<width>(above), b = load_vector<width>(above + p.axes[2].in);
  Vec<T, width / 2> result;
  STATOR_UNROLL()
  for (int k = 0; k < width / 2; ++k) result[k] = of_window(a[2 * k], a[2 * k + 1], b[2 * k], b[2 * k + 1]);
  store_vector(static_cast<T*>(p.out) + number * (width / 2), result);
}

template <class T>
void launch_two_by_two(const params::Queue& q, const char* name, const params::Pool& p,
                       void (*kernel)(params::Pool, int64_t, FastDivmod64)) {
  const int64_t per_row = p.axes[2].in / vector_width<T>, vectors = p.planes * p.axes[1].out * per_row;
  launch(q, name, kernel, {ceil_div(vectors, PoolTuning::block), PoolTuning::block}, p, vectors, FastDivmod64(per_row));
}

}  // namespace stator::STATOR_TARGET::pooling
