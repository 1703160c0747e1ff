// What a convolution does along each axis, the same for both directions.
#pragma once

#include "device/target.cuh"
#include "params/convolution.hpp"

#include <cstdint>
#include <type_traits>

namespace stator::STATOR_TARGET::convolution {

inline constexpr int axes = params::window_axes;

// The type of sums.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Result `first + i * step` for i < count is the sum over taps `first_tap + j * tap_step`, j < taps, of the source at
// i * scale + j * tap_scale + origin.
struct Axis {
  int32_t count, first, step;
  int32_t taps, first_tap, tap_step;
  int32_t scale, tap_scale, origin;
};
struct Axes {
  Axis axis[axes];
  constexpr const Axis& operator[](int d) const { return axis[d]; }
  constexpr int64_t positions() const { return int64_t(axis[0].count) * axis[1].count * axis[2].count; }
  constexpr int32_t taps() const { return axis[0].taps * axis[1].taps * axis[2].taps; }
};

// How many convolutions of stride one a transposed convolution falls apart into on an axis.
constexpr int64_t remainders(const params::Convolution& p, int d) {
  return !p.transposed ? 1 : p.stride[d] < p.result.extent[d] ? p.stride[d] : p.result.extent[d];
}

// The results on axis d whose remainder is r; of a convolution that is not transposed, all of them.
constexpr Axis axis_of(const params::Convolution& p, int d, int32_t r) {
  const int32_t extent = int32_t(p.result.extent[d]), taps = int32_t(p.weight.taps[d]);
  const int32_t stride = int32_t(p.stride[d]), padding = int32_t(p.padding[d]), dilation = int32_t(p.dilation[d]);
  if (!p.transposed) return {extent, 0, 1, taps, 0, 1, stride, dilation, -padding};
  int32_t divisor = stride;
  for (int32_t rest = dilation % stride; rest != 0;) {
    const int32_t next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  const int32_t tap_step = stride / divisor;
  int32_t tap = 0;
  while (tap < tap_step && tap < taps && (r + padding - int64_t(tap) * dilation) % stride != 0) ++tap;
  const bool found = tap < tap_step && tap < taps;
  return {(extent - r + stride - 1) / stride,
          r,
          stride,
          found ? (taps - 1 - tap) / tap_step + 1 : 0,
          tap,
          tap_step,
          1,
          -(dilation / divisor),
          found ? int32_t((r + padding - int64_t(tap) * dilation) / stride) : 0};
}

constexpr Axes axes_of(const params::Convolution& p, int64_t phase) {
  const int64_t last = remainders(p, 2), middle = remainders(p, 1);
  return {{axis_of(p, 0, int32_t(phase / last / middle)), axis_of(p, 1, int32_t(phase / last % middle)),
           axis_of(p, 2, int32_t(phase % last))}};
}
constexpr int64_t phases_of(const params::Convolution& p) {
  return remainders(p, 0) * remainders(p, 1) * remainders(p, 2);
}

// The axes that have the most taps and results of all phases.
inline Axes largest_axes(const params::Convolution& p) {
  Axes a = axes_of(p, 0);
  for (int d = 0; d < axes; ++d) {
    const int32_t step = a.axis[d].tap_step, taps = int32_t(p.weight.taps[d]);
    a.axis[d].taps = (taps + step - 1) / step;
  }
  return a;
}

// The taps of a weight gradient: those of the convolution that it belongs to.
constexpr Axes axes_of(const params::WeightGradient& p) {
  Axes found{};
  for (int d = 0; d < axes; ++d)
    found.axis[d] = {
        int32_t(p.grad.extent[d]), 0, 1, int32_t(p.dweight.taps[d]), 0, 1, int32_t(p.stride[d]), int32_t(p.dilation[d]),
        int32_t(-p.padding[d])};
  return found;
}

}  // namespace stator::STATOR_TARGET::convolution
