// Normalisation of channels over a batch: how blocks divide it, and what a channel's elements are multiplied by.
#pragma once

#include "device/convert.cuh"
#include "device/functional.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/launch.cuh"
#include "device/math/math.cuh"
#include "device/moments.cuh"
#include "device/vector.cuh"
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

// forward: y = (x - mean) * factor + shift, and its activation. backward: dx = factor * (grad - plain - (x - mean) *
// slope), where grad is that of y.
template <class A>
struct ChannelCoefficients {
  A mean, factor, shift, plain, slope;

  STATOR_FN A normal(A x) const { return (x - mean) * factor + shift; }
  STATOR_FN A gradient(A x, A grad) const { return factor * (grad - plain - (x - mean) * slope); }
};

// Summed: with what the first launch of the gradient summed up.
template <class T, bool Summed>
STATOR_FN ChannelCoefficients<opmath_t<T>> channel_coefficients(const params::ChannelNorm& p, int64_t c) {
  using A = opmath_t<T>;
  ChannelCoefficients<A> k{};
  k.mean = static_cast<const A*>(p.mean)[c];
  const A inverse = A(1) / sqrt(static_cast<const A*>(p.var)[c] + A(p.eps));
  k.factor = p.weight != nullptr ? inverse * convert<A>(static_cast<const T*>(p.weight)[c]) : inverse;
  k.shift = p.bias != nullptr ? convert<A>(static_cast<const T*>(p.bias)[c]) : A(0);
  if (Summed && p.training) {
    k.plain = static_cast<const A*>(p.sums)[c];
    k.slope = static_cast<const A*>(p.sums)[p.channels + c] * inverse;
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
STATOR_FN void store_total(const params::ChannelNorm& p, int64_t c, const Moments<A>& total) {
  static_cast<A*>(p.mean)[c] = total.n > A(0) ? total.mean : limits<A>::nan();
  static_cast<A*>(p.var)[c] = total.m2 / total.n;
}
template <class T, class A>
STATOR_FN void store_total(const params::ChannelNorm& p, int64_t c, const SlopeSums<A>& total) {
  const A n = A(p.samples * p.inner);
  const A inverse = A(1) / sqrt(static_cast<const A*>(p.var)[c] + A(p.eps));
  const A weighted = total.weighted * inverse;
  static_cast<T*>(p.dweight)[c] = convert<T>(weighted);
  static_cast<T*>(p.dbias)[c] = convert<T>(total.plain);
  static_cast<A*>(p.sums)[c] = total.plain / n;
  static_cast<A*>(p.sums)[p.channels + c] = weighted / n;
}

}  // namespace stator::STATOR_TARGET::norm
