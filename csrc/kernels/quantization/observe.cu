// Running ranges of arrays, and scales and zero points from ranges.
#include "device/functional.cuh"
#include "device/index.cuh"
#include "device/vector.cuh"
#include "host/lanes/extreme_lanes.hpp"
#include "host/launcher.hpp"
#include "kernels/quantization/lines.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::quantization {
namespace {

struct ObserveTuning {
  static constexpr int block = 256;
  static constexpr int64_t split = by_target<16384, 65536>::value;    // least elements of a split
  static constexpr int64_t choices = by_target<block, 16384>::value;  // ranges per block
};

// What an element counts as among the smallest and the largest.
template <class A>
STATOR_FN A counted(A v, A instead, bool finite) {
  const bool is_finite = v - v == A(0);
  return !finite | is_finite ? v : instead;
}

// The extremes of elements begin ... end - 1 of a channel, in rank 0.
template <class T, class A, int Size>
STATOR_FN Extremes<A> extremes_of(const Group<Size>& group, const params::Observation& p, FastDivmod64 of_inner,
                                  int64_t channel, int64_t begin, int64_t end) {
  const bool finite = p.to != nullptr;
  Extremes<A> found{limits<A>::infinity(), -limits<A>::infinity()};
  const T* const base = static_cast<const T*>(p.x) + channel * p.inner;
  const int64_t pitch = p.channels * p.inner, inner = p.inner;
  if constexpr (fast_host) {
    for (int64_t i = begin; i < end;) {
      const int64_t o = i / inner, c = i - o * inner, rest = inner - c < end - i ? inner - c : end - i;
      const T* const x = base + o * pitch + c;
      const Extremes<A> line = finite ? line_extremes<true, A>(x, rest) : line_extremes<false, A>(x, rest);
      found = {Min{}(found.min, line.min), Max{}(found.max, line.max)};
      i += rest;
    }
  } else {
    const auto take = [&](A v) {
      found.min = Min{}(found.min, counted(v, limits<A>::infinity(), finite));
      found.max = Max{}(found.max, counted(v, -limits<A>::infinity(), finite));
    };
    constexpr int width = vector_width<T>;
    const bool whole = inner % width == 0 && begin % width == 0 && is_aligned(p.x);
    const int64_t vectors = whole ? (end - begin) / width : 0;
    group.for_each(vectors, [&](int64_t v) {
      const int64_t i = begin + v * width, o = of_inner.divide(i);
      const Vec<T, width> x = load_vector<width>(base + o * (pitch - inner) + i);
      STATOR_UNROLL()
      for (int k = 0; k < width; ++k) take(convert<A>(x[k]));
    });
    group.for_each(end - begin - vectors * width, [&](int64_t k) {
      const int64_t i = begin + vectors * width + k, o = of_inner.divide(i);
      take(convert<A>(base[o * (pitch - inner) + i]));
    });
    found = {group.reduce(found.min, Min{}), group.reduce(found.max, Max{})};
  }
  return found;
}

STATOR_FN void update_range(const params::Observation& p, int64_t channel, Extremes<double> now) {
  const double min = load_one<double>(p.min, p.state_dtype, channel);
  const double max = load_one<double>(p.max, p.state_dtype, channel);
  Extremes<double> next{Min{}(min, now.min), Max{}(max, now.max)};
  const bool begun = min == min && max == max && !(min > max);
  if (p.averages && begun) next = {min + p.averaging * (now.min - min), max + p.averaging * (now.max - max)};
  if (p.to != nullptr) {
    double* const to = static_cast<double*>(p.to);
    to[0] = next.min;
    to[1] = next.max;
    return;
  }
  store_one(p.min, p.state_dtype, channel, next.min);
  store_one(p.max, p.state_dtype, channel, next.max);
}

template <int Size>
STATOR_KERNEL(Size) void observe_kernel(params::Observation p, FastDivmod64 of_inner) {
  const Group<Size> group;
  const int64_t channel = group.block() / p.splits, split = group.block() % p.splits;
  const int64_t all = p.outer * p.inner, begin = split * p.split_size;
  const int64_t end = begin + p.split_size < all ? begin + p.split_size : all;
  Extremes<double> found;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    const auto e = extremes_of<T, opmath_t<T>>(group, p, of_inner, channel, begin, end);
    found = {double(e.min), double(e.max)};
  });
  if (p.splits == 1) {
    if (group.rank() == 0) update_range(p, channel, found);
    return;
  }
  double* const partials = static_cast<double*>(p.partials) + channel * p.splits * 2;
  if (group.rank() == 0) {
    partials[split * 2] = found.min;
    partials[split * 2 + 1] = found.max;
  }
  if (!group.last_block(p.counters + channel, uint32_t(p.splits))) return;
  const double min = group.template map_reduce<double>(p.splits, Min{}, [=](int64_t k) { return partials[k * 2]; });
  const double max = group.template map_reduce<double>(p.splits, Max{}, [=](int64_t k) { return partials[k * 2 + 1]; });
  if (group.rank() == 0) update_range(p, channel, {min, max});
}

int64_t observe_splits(const params::DeviceLimits& limits, const params::Observation& p) {
  const int64_t worth = ceil_div(p.outer * p.inner, ObserveTuning::split);
  const int64_t most = ceil_div(2 * waves(limits, ObserveTuning::block), p.channels);
  return std::clamp<int64_t>(std::min(worth, most), 1, 65535);
}

void observe(const params::Queue& q, const params::Observation& p) {
  constexpr int block = ObserveTuning::block;
  launch(q, "observe_range", observe_kernel<block>, {p.channels * p.splits, block}, p,
         FastDivmod64(std::max<int64_t>(p.inner, 1)));
}

// The scale and zero point of one range. Steps to the zero point are few, so that floats hold them exactly.
template <class T>
STATOR_FN void choose_run(const params::ParameterChoice& p, const T* min, const T* max, int64_t i) {
  const float low = convert<float>(min[i]), high = convert<float>(max[i]);
  const float from = low > 0.0f ? 0.0f : low, to = high < 0.0f ? 0.0f : high;
  const float least = float(p.low), most = float(p.high);
  // Half of the length, which is finite where the range is.
  const float half = p.symmetric ? (-from > to ? -from : to) : 0.5f * to - 0.5f * from;
  const float exact = half / (most - least) * 2;
  const float scale = exact < p.eps ? p.eps : exact;
  const float steps = least - round_even(from / scale), above = steps > least ? steps : least;
  const float zero = p.symmetric ? float(p.middle) : above < most ? above : most;
  const bool any = !(low > high);
  p.scale[i] = any ? scale : 1.0f;
  p.zero[i] = int32_t(any ? zero : 0.0f);
}

template <int Size>
STATOR_KERNEL(Size) void choose_kernel(params::ParameterChoice p) {
  constexpr int64_t tile = ObserveTuning::choices;
  const Group<Size> group;
  const int64_t first = group.block() * tile, count = p.count - first < tile ? p.count - first : tile;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    const T* const min = static_cast<const T*>(p.min);
    const T* const max = static_cast<const T*>(p.max);
    group.for_each(count, [=](int64_t k) { choose_run(p, min, max, first + k); });
  });
}

void choose(const params::Queue& q, const params::ParameterChoice& p) {
  constexpr int block = ObserveTuning::block;
  launch(q, "quantization_parameters", choose_kernel<block>, {ceil_div(p.count, ObserveTuning::choices), block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, observe_splits)
STATOR_LAUNCHER(quantization, observe)
STATOR_LAUNCHER(quantization, choose)
