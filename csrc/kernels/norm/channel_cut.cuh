// Normalisation of channels over a batch: how blocks divide it, and what a channel's elements are multiplied by.
#pragma once

#include "device/cascade.cuh"
#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "device/moments.cuh"
#include "device/rescale.cuh"
#include "device/vector.cuh"
#include "host/launch.hpp"
#include "kernels/norm/activations.cuh"
#include "params/norm.hpp"

namespace stator::STATOR_TARGET::norm {

struct ChannelTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<32, 256>::value;  // adjacent channels of a block
  static constexpr int units = 4;                         // vectors that a thread loads at once
  static constexpr int rows = 8;                          // rows of adjacent channels that a thread has at once
  static constexpr int64_t least = by_target<4096, 32768>::value;  // elements that are worth a block
};

// Channels are adjacent (inner is 1), and a block takes a tile of them; or apart, and a block takes one. In units, of
// `width` elements, a channel's elements are split among blocks.
struct ChannelCut {
  int64_t tiles, splits, size;  // size: units of a split
  int64_t units;                // of a channel
  FastDivmod64 inner;           // units of a channel in a sample
  bool vectors;

  STATOR_FN int64_t begin(int64_t split) const { return split * size; }
  STATOR_FN int64_t end(int64_t split) const { return (split + 1) * size < units ? (split + 1) * size : units; }
};

// A channel's mean and deviation, both of its elements times `factor`: 1, or a power of two without which their squares
// would leave the range of A.
template <class A>
struct ChannelScale {
  A mean, inverse, factor;  // inverse: 1 / deviation

  STATOR_FN A above(A x) const { return x * factor - mean; }
};

// Whether A loses the deviation of a channel, so that its variance does not give it.
template <class A>
STATOR_FN bool lacks_deviation(const params::ChannelNorm& p, A var) {
  return p.training && !SquareRange<A>::has(var + A(p.eps));
}

// From the mean and the variance.
template <class A>
STATOR_FN ChannelScale<A> stored_scale(const params::ChannelNorm& p, int64_t c) {
  return {static_cast<const A*>(p.mean)[c], A(1) / sqrt(static_cast<const A*>(p.var)[c] + A(p.eps)), A(1)};
}

template <class A>
struct ComputedScale {
  ChannelScale<A> scale;
  bool finite;  // all elements are, and the others are theirs
  A mean, var;
};
// A channel's elements. By value in a call they are in registers; a reference to the parameters of the kernel would
// copy those to local memory, for every channel.
template <class T>
struct ChannelElements {
  const T* first;
  int64_t samples, channels, inner;
  opmath_t<T> eps;
};
template <class T>
STATOR_FN ChannelElements<T> elements_of(const params::ChannelNorm& p, int64_t c) {
  const void* const x = p.residual == nullptr ? p.x : p.sum;
  return {static_cast<const T*>(x) + c * p.inner, p.samples, p.channels, p.inner, opmath_t<T>(p.eps)};
}
// From the elements, by all threads of a block: for the few channels that lack a deviation.
template <class T, class G>
STATOR_CALL ComputedScale<opmath_t<T>> computed_scale(G group, ChannelElements<T> of) {
  using A = opmath_t<T>;
  const T* const x = of.first;
  const bool channels_last = of.inner == 1;
  const int64_t parts = channels_last ? 1 : of.samples, count = channels_last ? of.samples : of.inner;
  const int64_t step = channels_last ? of.channels : 1, apart = of.channels * of.inner;
  const A n = A(of.samples * of.inner);
  A largest = A(0);
  STATOR_UNROLL(1)
  for (int64_t s = 0; s < parts; ++s)
    largest = Max{}(largest, group.template map_reduce<A>(
                                 count, Max{}, [=](int64_t i) { return abs(convert<A>(x[s * apart + i * step])); }));
  const A factor = SquareRange<A>::factor(largest);
  const auto sum_of = [&](auto f) {
    Cascade<A> sum;
    STATOR_UNROLL(1)
    for (int64_t s = 0; s < parts; ++s)
      sum.add(
          group.template map_sum<A>(count, [=](int64_t i) { return f(convert<A>(x[s * apart + i * step]) * factor); }));
    return sum.value();
  };
  A mean = A(0), m2 = A(0);
  STATOR_UNROLL(1)
  for (int turn = 0; turn < 2; ++turn) mean += sum_of([=](A v) { return v - mean; }) / n;
  m2 = sum_of([=](A v) { return (v - mean) * (v - mean); });
  const A own = mean / factor;
  const bool finite = factor != A(1);
  if (m2 == A(0)) return {{own, A(1) / sqrt(of.eps), A(1)}, finite, own, m2};
  return {{mean, A(1) / sqrt(m2 / n + of.eps * factor * factor), factor}, finite, own, m2 / n / factor / factor};
}

// In the launch after that of the sums, which noted it; the fast host computes it again.
template <class T, class G>
STATOR_FN ChannelScale<opmath_t<T>> found_scale(const G& group, const params::ChannelNorm& p, int64_t c) {
  using A = opmath_t<T>;
  if (!lacks_deviation(p, static_cast<const A*>(p.var)[c])) return stored_scale<A>(p, c);
  if constexpr (fast_host) return computed_scale(group, elements_of<T>(p, c)).scale;
  return static_cast<const ChannelScale<A>*>(p.scales)[c];
}

// Notes the scale of a channel that lacks a deviation and, of finite elements, its mean and variance.
template <class T, class G>
STATOR_FN void store_scale(const G& group, const params::ChannelNorm& p, int64_t c) {
  using A = opmath_t<T>;
  const ComputedScale<A> found = computed_scale(group, elements_of<T>(p, c));
  if (group.rank() != 0) return;
  if (!fast_host) static_cast<ChannelScale<A>*>(p.scales)[c] = found.scale;
  if (!found.finite) return;
  static_cast<A*>(p.mean)[c] = found.mean;
  static_cast<A*>(p.var)[c] = found.var;
}

// The scale of a channel, which the last argument's block notes where the variance does not give it.
template <class T, class G>
STATOR_FN ChannelScale<opmath_t<T>> first_scale(const G& group, const params::ChannelNorm& p, int64_t c, bool notes) {
  using A = opmath_t<T>;
  if (!lacks_deviation(p, static_cast<const A*>(p.var)[c])) return stored_scale<A>(p, c);
  const ChannelScale<A> found = computed_scale(group, elements_of<T>(p, c)).scale;
  if (!fast_host && notes && group.rank() == 0) static_cast<ChannelScale<A>*>(p.scales)[c] = found;
  return found;
}

// forward: y = (x * scale - mean) * factor + shift, and its activation. backward: dx = factor * (grad - plain - (x *
// scale - mean) * slope) * scale, where grad is that of y.
template <class A>
struct ChannelCoefficients {
  A mean, scale, factor, shift, plain, slope;

  STATOR_FN A above(A x) const { return x * scale - mean; }
  STATOR_FN A normal(A x) const { return above(x) * factor + shift; }
  STATOR_FN A gradient(A x, A grad) const { return factor * (grad - plain - above(x) * slope) * scale; }
};

// Summed: with what the first launch of the gradient summed up.
template <class T, bool Summed>
STATOR_FN ChannelCoefficients<opmath_t<T>> channel_coefficients(const params::ChannelNorm& p, int64_t c,
                                                                ChannelScale<opmath_t<T>> scale) {
  using A = opmath_t<T>;
  ChannelCoefficients<A> k{};
  k.mean = scale.mean;
  k.scale = scale.factor;
  k.factor = p.weight != nullptr ? scale.inverse * convert<A>(static_cast<const T*>(p.weight)[c]) : scale.inverse;
  k.shift = p.bias != nullptr ? convert<A>(static_cast<const T*>(p.bias)[c]) : A(0);
  if (Summed && p.training) {
    k.plain = static_cast<const A*>(p.sums)[c];
    k.slope = static_cast<const A*>(p.sums)[p.channels + c] * scale.inverse;
  }
  return k;
}

// Sums of gradients, and of gradients times what is above the mean.
template <class A>
struct SlopeSums {
  A plain, weighted;
};

// What the first launch sums up: moments, or gradients.
template <class A, bool Backward>
using ChannelTotal = std::conditional_t<Backward, SlopeSums<A>, Moments<A>>;

struct CombineTotals {
  template <class A>
  STATOR_FN Moments<A> operator()(const Moments<A>& a, const Moments<A>& b) const {
    return CombineMoments{}(a, b);
  }
  template <class A>
  STATOR_FN SlopeSums<A> operator()(const SlopeSums<A>& a, const SlopeSums<A>& b) const {
    return {a.plain + b.plain, a.weighted + b.weighted};
  }
};

template <class T, class A>
STATOR_FN void store_total(const params::ChannelNorm& p, int64_t c, const Moments<A>& total, ChannelScale<A>) {
  static_cast<A*>(p.mean)[c] = total.n > A(0) ? total.mean : limits<A>::nan();
  static_cast<A*>(p.var)[c] = total.m2 / total.n;
}
template <class T, class A>
STATOR_FN void store_total(const params::ChannelNorm& p, int64_t c, const SlopeSums<A>& total, ChannelScale<A> scale) {
  const A n = A(p.samples * p.inner), weighted = n > A(0) ? total.weighted * scale.inverse : A(0);
  static_cast<T*>(p.dweight)[c] = convert<T>(weighted);
  static_cast<T*>(p.dbias)[c] = convert<T>(total.plain);
  static_cast<A*>(p.sums)[c] = total.plain / n;
  static_cast<A*>(p.sums)[p.channels + c] = weighted / n;
}

}  // namespace stator::STATOR_TARGET::norm
