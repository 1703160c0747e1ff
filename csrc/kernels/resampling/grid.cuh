// Positions that a grid names: the elements around them, their weights, and how these change with the position.
#pragma once

#include "kernels/resampling/taps.cuh"

namespace stator::STATOR_TARGET::resampling {

using params::GridMode;
using params::GridPadding;
using params::GridSample;

// Beyond what any axis has.
template <class A>
inline constexpr A far_away = A(1 << 30);

// A coordinate along an axis and its derivative by the grid's number.
template <class A>
struct Coordinate {
  A place, slope;
};

// From -1 .. 1 to elements.
template <class A>
STATOR_FN Coordinate<A> coordinate_of(A number, int extent, bool align_corners) {
  if (align_corners) return {(number + A(1)) / A(2) * A(extent - 1), A(extent - 1) / A(2)};
  return {((number + A(1)) * A(extent) - A(1)) / A(2), A(extent) / A(2)};
}

// The coordinate within the axis, as the padding has it. At an end the slope is 0. What is not a number, as reflections
// of infinity are, is at the first element.
template <class A>
STATOR_FN Coordinate<A> padded(Coordinate<A> c, int extent, GridPadding padding, bool align_corners) {
  if (padding == GridPadding::zeros) return c;
  if (padding == GridPadding::reflection) {
    const A low = align_corners ? A(0) : A(-0.5), span = align_corners ? A(extent - 1) : A(extent);
    if (span == A(0)) return {A(0), A(0)};
    A from = c.place - low;
    if (from < A(0)) {
      from = -from;
      c.slope = -c.slope;
    }
    const A flips = floor(from / span), rest = from - flips * span;
    const bool odd = flips - A(2) * floor(flips / A(2)) != A(0);
    c.place = low + (odd ? span - rest : rest);
    if (odd) c.slope = -c.slope;
  }
  if (!(c.place > A(0))) return {A(0), A(0)};
  if (c.place >= A(extent - 1)) return {A(extent - 1), A(0)};
  return c;
}

// A position that an int holds: beyond all elements where it is not a number or too far away.
template <class A>
STATOR_FN A held(A place) {
  place = place < far_away<A> ? place : place != place ? -far_away<A> : far_away<A>;
  return place > -far_away<A> ? place : -far_away<A>;
}

// The taps of an axis; those outside are at -1. slope: the derivative of a weight by the grid's number.
template <class A, int N>
struct GridAxis {
  int at[N];
  A weight[N], slope[N];
};

STATOR_FN int inside(int i, int extent) { return i >= 0 && i < extent ? i : -1; }

template <int N, class A>
STATOR_FN GridAxis<A, N> grid_axis(const GridSample& p, int axis, A number) {
  const int extent = p.in[axis];
  GridAxis<A, N> found;
  Coordinate<A> c = coordinate_of(number, extent, p.align_corners);
  if constexpr (N != 4) c = padded(c, extent, p.padding, p.align_corners);
  if (N != 4 || p.padding == GridPadding::zeros) c.place = held(c.place);
  const A whole = floor(c.place), t = c.place - whole;
  if constexpr (N == 4) {
    const A behind = t == t ? t : A(0);  // not of infinity, all of whose taps are one element
    cubic_weights(behind, found.weight);
    cubic_slopes(behind, found.slope);
    STATOR_UNROLL()
    for (int k = 0; k < N; ++k) {
      found.slope[k] *= c.slope;
      const Coordinate<A> tap = padded(Coordinate<A>{whole + A(k - 1), A(0)}, extent, p.padding, p.align_corners);
      found.at[k] = inside(int(floor(tap.place)), extent);
    }
    return found;
  }
  const int first = int(whole);
  if constexpr (N == 1) {
    // To the nearest, of two to the even one.
    const bool up = t > A(0.5) || (t == A(0.5) && (first & 1) != 0);
    found.at[0] = inside(first + int(up), extent);
    found.weight[0] = A(1);
    found.slope[0] = A(0);
  } else if constexpr (N == 2) {
    found.at[0] = inside(first, extent);
    found.at[1] = inside(first + 1, extent);
    found.weight[0] = A(1) - t;
    found.weight[1] = t;
    found.slope[0] = -c.slope;
    found.slope[1] = c.slope;
  }
  return found;
}

// The taps of a position: N along each of the last two axes, and Deep along the first.
template <int N, int Deep, class A>
struct GridTaps {
  static constexpr int count = N * N * Deep;
  GridAxis<A, Deep> d;
  GridAxis<A, N> h, w;

  // position: of its numbers, that of the last axis first.
  template <class T>
  STATOR_FN GridTaps(const GridSample& p, const T* position)
      : h(grid_axis<N, A>(p, 1, convert<A>(position[1]))), w(grid_axis<N, A>(p, 2, convert<A>(position[0]))) {
    d.at[0] = 0;
    d.weight[0] = A(1);
    d.slope[0] = A(0);
    if (p.axes == 3) d = grid_axis<Deep, A>(p, 0, convert<A>(position[2]));
  }

  // Calls f(number, index in the plane or -1, i, j, k) for each tap.
  template <class F>
  STATOR_FN void for_each(const GridSample& p, F f) const {
    STATOR_UNROLL()
    for (int i = 0; i < Deep; ++i) {
      STATOR_UNROLL()
      for (int j = 0; j < N; ++j) {
        STATOR_UNROLL()
        for (int k = 0; k < N; ++k) {
          const bool in = d.at[i] >= 0 && h.at[j] >= 0 && w.at[k] >= 0;
          f((i * N + j) * N + k, in ? (d.at[i] * p.in[1] + h.at[j]) * p.in[2] + w.at[k] : -1, i, j, k);
        }
      }
    }
  }
  STATOR_FN A weight(int i, int j, int k) const { return d.weight[i] * h.weight[j] * w.weight[k]; }
};

// Calls f(the number of taps along the last axes, that along the first) as types.
template <class F>
STATOR_FN void with_taps(const GridSample& p, F f) {
  using One = std::integral_constant<int, 1>;
  using Two = std::integral_constant<int, 2>;
  if (p.mode == GridMode::nearest) return f(One{}, One{});
  if (p.mode == GridMode::cubic) return f(std::integral_constant<int, 4>{}, One{});
  if (p.axes == 2) return f(Two{}, One{});
  return f(Two{}, Two{});
}

}  // namespace stator::STATOR_TARGET::resampling
