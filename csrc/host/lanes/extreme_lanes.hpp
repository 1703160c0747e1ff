// Fast host: the smallest and the largest of a line's elements, which is read once. Both are NaN if an element is.
// Targets whose blocks have threads do not use it.
#pragma once

#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"

#include <cstring>
#include <type_traits>

namespace stator::STATOR_TARGET {

template <class A>
struct Extremes {
  A min, max;
};

// The extremes of n elements. Finite: only of those that are finite numbers.
template <bool Finite, class A, class T>
STATOR_FN Extremes<A> line_extremes(const T* x, int64_t n);

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)

// Accumulators of the extremes, whose comparisons drop NaN, and of whether there was one: one test of an element and
// NaN for both extremes is cheaper than two extremes that keep it.
template <class A>
struct ExtremeLanes {
  typedef A Vector __attribute__((vector_size(native_bytes)));
  using Flags = decltype(Vector{} < Vector{});
  static constexpr int width = native_bytes / int(sizeof(A));

  Vector low = Vector{} + limits<A>::infinity(), high = -low;
  Flags nan{};

  template <bool Finite>
  STATOR_FN void take(Vector v) {
    if constexpr (Finite) {
      const Flags is_finite = v - v == Vector{};
      merge(is_finite ? v : Vector{} + limits<A>::infinity(), is_finite ? v : Vector{} - limits<A>::infinity());
    } else {
      merge(v, v);
      nan |= v != v;
    }
  }
  STATOR_FN void merge(const ExtremeLanes& other) {
    merge(other.low, other.high);
    nan |= other.nan;
  }
  STATOR_FN Extremes<A> fold() const {
    A lows[width], highs[width];
    std::memcpy(lows, &low, sizeof low);
    std::memcpy(highs, &high, sizeof high);
    Extremes<A> found{lows[0], highs[0]};
    bool any = false;
    for (int k = 0; k < width; ++k) {
      found = {Min{}(lows[k], found.min), Max{}(highs[k], found.max)};
      any |= nan[k] != 0;
    }
    const A not_one = limits<A>::nan();
    return any ? Extremes<A>{not_one, not_one} : found;
  }

 private:
  STATOR_FN void merge(Vector lows, Vector highs) {
    low = lows < low ? lows : low;
    high = highs > high ? highs : high;
  }
};

template <bool Finite, class A, class T>
STATOR_FN Extremes<A> line_extremes(const T* x, int64_t n) {
  using Lanes = ExtremeLanes<A>;
  using Vector = typename Lanes::Vector;
  constexpr int width = Lanes::width;
  const auto take = [&](Lanes& into, int64_t i) {
    Vector v;
    if constexpr (std::is_same_v<A, T>) {
      std::memcpy(&v, x + i, sizeof v);
    } else {
      A loaded[width];
      for (int k = 0; k < width; ++k) loaded[k] = convert<A>(x[i + k]);
      std::memcpy(&v, loaded, sizeof v);
    }
    into.template take<Finite>(v);
  };
  Lanes a, b, c, d;  // no array, since that would not stay in registers
  int64_t i = 0;
  for (; i + 4 * width <= n; i += 4 * width) {
    take(a, i);
    take(b, i + width);
    take(c, i + 2 * width);
    take(d, i + 3 * width);
  }
  for (; i + width <= n; i += width) take(a, i);
  a.merge(b);
  c.merge(d);
  a.merge(c);
  for (; i < n; ++i) a.template take<Finite>(Vector{} + convert<A>(x[i]));
  return a.fold();
}

#endif

}  // namespace stator::STATOR_TARGET
