// The elements that interpolation along an axis reads, and their weights.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "params/resampling.hpp"

namespace stator::STATOR_TARGET::resampling {

using params::Interpolate;
using params::Interpolation;

STATOR_FN int clamped(int i, int extent) { return i < 0 ? 0 : i < extent ? i : extent - 1; }

// The weights of four neighbours for a position `t` after the second of them: cubic convolution with a = -0.75
// (Keys, 1981).
template <class A>
STATOR_FN void cubic_weights(A t, A (&w)[4]) {
  constexpr A a = A(-0.75);
  const auto near = [=](A d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [=](A d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  w[0] = far(t + 1);
  w[1] = near(t);
  w[2] = near(1 - t);
  w[3] = far(2 - t);
}
// Their derivatives by t.
template <class A>
STATOR_FN void cubic_slopes(A t, A (&w)[4]) {
  constexpr A a = A(-0.75);
  const auto near = [=](A d) { return (3 * (a + 2) * d - 2 * (a + 3)) * d; };
  const auto far = [=](A d) { return (3 * a * d - 10 * a) * d + 8 * a; };
  w[0] = far(t + 1);
  w[1] = near(t);
  w[2] = -near(1 - t);
  w[3] = -far(2 - t);
}

inline constexpr int taps_of(Interpolation mode) {
  return mode == Interpolation::cubic ? 4 : mode == Interpolation::linear ? 2 : 1;
}

template <class A, int N>
struct Taps {
  int at[N];
  A weight[N];
};

// Of result o of an axis; N is the number of the mode's taps. Taps beyond the ends read the outer elements.
template <int N, class A>
STATOR_FN Taps<A, N> axis_taps(const Interpolate& p, int axis, int o) {
  const int in = p.in[axis];
  Taps<A, N> taps;
  if constexpr (N == 1) {
    const float position = p.mode == Interpolation::nearest ? float(o) : float(o) + 0.5f;
    taps.at[0] = clamped(int(floor(position * float(p.scale[axis]))), in);
    taps.weight[0] = A(1);
  } else {
    const A scale = A(p.scale[axis]);
    A position = p.align_corners ? scale * A(o) : scale * (A(o) + A(0.5)) - A(0.5);
    if (N == 2 && position < A(0)) position = A(0);
    const A whole = floor(position), t = position - whole;
    const int first = int(whole);
    if constexpr (N == 2) {
      taps.at[0] = clamped(first, in);
      taps.at[1] = clamped(first + 1, in);
      taps.weight[0] = A(1) - t;
      taps.weight[1] = t;
    } else {
      cubic_weights(t, taps.weight);
      STATOR_UNROLL()
      for (int k = 0; k < 4; ++k) taps.at[k] = clamped(first - 1 + k, in);
    }
  }
  return taps;
}

// The results of an axis whose taps may have element i.
struct Reach {
  int first, last;
};

STATOR_FN Reach reach_of(const Interpolate& p, int axis, int i) {
  const int in = p.in[axis], out = p.out_extent[axis];
  const double scale = p.scale[axis];
  if (scale <= 0) return {0, out - 1};
  // From and to what positions results have the element; an element more on each side for rounding.
  const double around = p.mode == Interpolation::cubic ? 3 : 2;
  const double shift = p.align_corners || p.mode == Interpolation::nearest ? 0 : 0.5;
  double first = (double(i) - around + shift) / scale - shift, last = (double(i) + around + shift) / scale - shift;
  first = i < int(around) || first < 0 ? 0 : floor(first);
  last = i + int(around) >= in || last > double(out - 1) ? double(out - 1) : ceil(last);
  return {first < double(out) ? int(first) : out, int(last)};
}

}  // namespace stator::STATOR_TARGET::resampling
