// roll and pad.
#include "device/index.cuh"
#include "device/launcher.cuh"
#include "kernels/movement/rows.cuh"
#include "params/movement.hpp"

#include <cstring>

namespace stator::STATOR_TARGET::movement {
namespace {

// Which elements of an axis the coordinates from c up to `end` read: those from element `at` on, `step` apart, or none
// if `at` is -1.
struct AxisSpan {
  int64_t at, step, end;
};

STATOR_FN int64_t modulo(int64_t a, int64_t n) {
  const int64_t rest = (a | n) >> 31 == 0 ? int64_t(uint32_t(a) % uint32_t(n)) : a % n;
  return rest < 0 ? rest + n : rest;
}

STATOR_FN AxisSpan axis_span(const params::AxisMap& axis, int64_t c) {
  using enum params::AxisRule;
  const int64_t i = c - axis.shift, n = axis.n;
  if (i >= 0 && i < n) return {i, 1, axis.shift + n};
  switch (axis.rule) {
    case inside: return {-1, 0, i < 0 ? axis.shift : axis.extent};
    case edge: return {i < 0 ? 0 : n - 1, 0, i < 0 ? axis.shift : axis.extent};
    case wrap: {
      const int64_t at = modulo(i, n);
      return {at, 1, c + n - at};
    }
    default: {
      const bool twice = axis.rule == symmetric;
      const int64_t period = twice ? 2 * n : 2 * n - 2, at = modulo(i, period), turn = twice ? n : n - 1;
      if (at < turn) return {at, 1, c + turn - at};
      return {period - at - twice, -1, c + period - at};
    }
  }
}

template <class Bits>
struct RearrangeSource {
  params::Rearrange p;
  Bits fill;

  using Row = const Bits*;  // null: the whole row is the fill value
  STATOR_FN Row row(int64_t r) const {
    const Bits* from = static_cast<const Bits*>(p.in);
    for (int d = p.ndim - 2; d >= 0; --d) {
      const params::AxisMap& axis = p.axes[d];
      const int64_t rest = d == 0 ? 0 : r / axis.extent;
      const int64_t at = axis_span(axis, r - rest * axis.extent).at;
      if (at < 0) return nullptr;
      from += at * axis.stride;
      r = rest;
    }
    return from;
  }
  STATOR_FN Span<Bits> span(Row& row, int64_t c) const {
    const params::AxisMap& axis = p.axes[p.ndim - 1];
    if (row == nullptr) return {nullptr, 0, axis.extent, fill};
    const AxisSpan s = axis_span(axis, c);
    if (s.at < 0) return {nullptr, 0, s.end, fill};
    return {row + s.at * axis.stride, s.step * axis.stride, s.end, fill};
  }
};

void rearrange(const params::Queue& q, const params::Rearrange& p) {
  const int64_t cols = p.axes[p.ndim - 1].extent;
  with_bits(p.itemsize, [&]<class Bits>(Bits) {
    launch_rows(q, "rearrange", RearrangeSource<Bits>{p, bits_of<Bits>(p.fill)}, static_cast<Bits*>(p.out),
                p.size / cols, cols, cols);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::movement

STATOR_LAUNCHER(movement, rearrange)
