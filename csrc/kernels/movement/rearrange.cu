// roll and pad.
#include "device/index.cuh"
#include "host/launcher.hpp"
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

// An axis with its divisors: the extent of the output, and after how many elements outside of it the input repeats.
struct Axis : params::AxisMap {
  MultipliedDivmod<int64_t> by_extent, by_period;

  Axis() = default;
  explicit Axis(const params::AxisMap& a) : params::AxisMap(a), by_extent(a.extent), by_period(period()) {}

  STATOR_HD int64_t period() const {
    using enum params::AxisRule;
    return rule == wrap ? n : rule == symmetric ? 2 * n : rule == reflect ? 2 * n - 2 : 1;
  }
  STATOR_FN int64_t modulo(int64_t a) const {
    int64_t rest;
    by_period.divmod(a < 0 ? ~a : a, rest);
    return a < 0 ? period() - 1 - rest : rest;
  }
};

STATOR_FN AxisSpan axis_span(const Axis& axis, int64_t c) {
  using enum params::AxisRule;
  const int64_t i = c - axis.shift, n = axis.n;
  if (i >= 0 && i < n) return {i, 1, axis.shift + n};
  switch (axis.rule) {
    case inside: return {-1, 0, i < 0 ? axis.shift : axis.extent};
    case edge: return {i < 0 ? 0 : n - 1, 0, i < 0 ? axis.shift : axis.extent};
    case wrap: {
      const int64_t at = axis.modulo(i);
      return {at, 1, c + n - at};
    }
    default: {
      const bool twice = axis.rule == symmetric;
      const int64_t at = axis.modulo(i), turn = twice ? n : n - 1;
      if (at < turn) return {at, 1, c + turn - at};
      return {2 * turn - at - twice, -1, c + 2 * turn - at};
    }
  }
}

template <class Bits>
struct RearrangeSource {
  const Bits* in;
  Bits fill;
  int ndim;
  Axis axes[params::max_dims];

  explicit RearrangeSource(const params::Rearrange& p)
      : in(static_cast<const Bits*>(p.in)), fill(bits_of<Bits>(p.fill)), ndim(p.ndim) {
    for (int d = 0; d < ndim; ++d) axes[d] = Axis(p.axes[d]);
  }

  using Row = const Bits*;  // null: the whole row is the fill value
  STATOR_FN Row row(int64_t r) const {
    const Bits* from = in;
    for (int d = ndim - 2; d >= 0; --d) {
      int64_t c = r;
      if (d > 0) r = axes[d].by_extent.divmod(r, c);
      const int64_t at = axis_span(axes[d], c).at;
      if (at < 0) return nullptr;
      from += at * axes[d].stride;
    }
    return from;
  }
  STATOR_FN Span<Bits> span(Row& row, int64_t c) const {
    const Axis& axis = axes[ndim - 1];
    if (row == nullptr) return {nullptr, 0, axis.extent, fill};
    const AxisSpan s = axis_span(axis, c);
    if (s.at < 0) return {nullptr, 0, s.end, fill};
    return {row + s.at * axis.stride, s.step * axis.stride, s.end, fill};
  }
};

void rearrange(const params::Queue& q, const params::Rearrange& p) {
  const int64_t cols = p.axes[p.ndim - 1].extent;
  with_bits(p.itemsize, [&]<class Bits>(Bits) {
    launch_rows(q, "rearrange", RearrangeSource<Bits>(p), static_cast<Bits*>(p.out), p.size / cols, cols, cols);
  });
}

}  // namespace

}  // namespace stator::STATOR_TARGET::movement

STATOR_LAUNCHER(movement, rearrange)
