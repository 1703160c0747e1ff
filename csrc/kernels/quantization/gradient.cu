// The gradient of quantising and back: of the elements, and sums of those of the numbers, which a second launch adds up
// in a fixed order.
#include "device/functional.cuh"
#include "device/index.cuh"
#include "host/launcher.hpp"
#include "kernels/quantization/lines.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::quantization {
namespace {

struct GradientTuning {
  static constexpr int block = 128;
  static constexpr int64_t piece = by_target<4096, 8192>::value;  // elements of a sum
  static constexpr int64_t lines = 64;                            // of a range, where each column has numbers
  static constexpr int64_t least = by_target<1, 16384>::value;    // elements per block
  static constexpr int64_t columns = by_target<block, 256>::value;
};

template <class A>
struct Slopes {
  A x, scale, zero;
};
// What an element adds to the three gradients.
template <class A>
STATOR_FN Slopes<A> slopes_of(const Step<A>& step, A x, A grad) {
  const A scaled = x * step.inverse, near = round_even(scaled);
  const bool below = near<step.low, above = near> step.high, inside = !below & !above & (scaled == scaled);
  const A quantised = step.steps(x);
  const A by_zero = below | above ? -step.scale * grad : A(0);
  return {inside ? grad : A(0), grad * (inside ? quantised - scaled : quantised), by_zero};
}

// n elements of one step from i on.
template <class T, class A, int Size>
STATOR_FN void gradient_run(const Group<Size>& group, const params::AffineGradient& p, int64_t i, int64_t n,
                            int64_t number, int64_t partial) {
  const Step<A> step(number_at<A>(p.of.scale, number), number_at<A>(p.of.zero, number), p.of.low, p.of.high);
  const T* const x = static_cast<const T*>(p.of.x) + i;
  const T* const grad = static_cast<const T*>(p.grad) + i;
  T* const out = static_cast<T*>(p.of.out) + i;
  A sums[2] = {A(0), A(0)};
  if constexpr (fast_host) {
    group.for_each(n,
                   [=](int64_t k) { out[k] = convert<T>(slopes_of(step, convert<A>(x[k]), convert<A>(grad[k])).x); });
    if (p.partials == nullptr) return;
    sums[0] = group.template map_sum<A>(
        n, [=](int64_t k) { return slopes_of(step, convert<A>(x[k]), convert<A>(grad[k])).scale; });
    sums[1] = group.template map_sum<A>(
        n, [=](int64_t k) { return slopes_of(step, convert<A>(x[k]), convert<A>(grad[k])).zero; });
  } else {
    group.for_each(n, [&](int64_t k) {
      const Slopes<A> s = slopes_of(step, convert<A>(x[k]), convert<A>(grad[k]));
      out[k] = convert<T>(s.x);
      sums[0] += s.scale;
      sums[1] += s.zero;
    });
    if (p.partials == nullptr) return;
    sums[0] = group.reduce(sums[0], Sum{});
    sums[1] = group.reduce(sums[1], Sum{});
  }
  if (group.rank() != 0) return;
  A* const to = static_cast<A*>(p.partials);
  to[partial] = sums[0];
  to[p.partial_count + partial] = sums[1];
}

// One column of a range of lines, or on the fast host some columns.
template <class T, class A>
STATOR_FN void gradient_columns(const params::AffineGradient& p, const LineDivisors& divisors, int64_t range,
                                int64_t first, int64_t columns) {
  constexpr int most = by_target<1, int(GradientTuning::columns)>::value;
  const params::ScaleLines& l = p.of.lines;
  const int64_t per = (p.range_pitch + p.range - 1) / p.range, o = range / per, from = range % per * p.range;
  const int64_t lines = p.range_pitch - from < p.range ? p.range_pitch - from : p.range;
  const int64_t line = o * p.range_pitch + from;
  const int64_t number = line_position(l, divisors, line * l.length).number + first;
  A scale[most], zero[most], scale_sum[most], zero_sum[most];
  for (int64_t k = 0; k < columns; ++k) {
    scale[k] = plain_at<A>(p.of.scale, number + k);
    zero[k] = plain_at<A>(p.of.zero, number + k);
    scale_sum[k] = zero_sum[k] = A(0);
  }
  for (int64_t r = 0; r < lines; ++r) {
    const int64_t at = (line + r) * l.length + first;
    const T* const x = static_cast<const T*>(p.of.x) + at;
    const T* const grad = static_cast<const T*>(p.grad) + at;
    T* const out = static_cast<T*>(p.of.out) + at;
    for (int64_t k = 0; k < columns; ++k) {
      const Step<A> step(scale[k], zero[k], p.of.low, p.of.high);
      const Slopes<A> s = slopes_of(step, convert<A>(x[k]), convert<A>(grad[k]));
      out[k] = convert<T>(s.x);
      scale_sum[k] += s.scale;
      zero_sum[k] += s.zero;
    }
  }
  if (p.partials == nullptr) return;
  A* const to = static_cast<A*>(p.partials) + range * l.length + first;
  for (int64_t k = 0; k < columns; ++k) to[k] = scale_sum[k];
  for (int64_t k = 0; k < columns; ++k) to[p.partial_count + k] = zero_sum[k];
}

template <class T, int Size>
STATOR_KERNEL(Size) void gradient_kernel(params::AffineGradient p, LineDivisors divisors, int64_t units, int64_t each) {
  using A = opmath_t<T>;
  const Group<Size> group;
  const params::ScaleLines& l = p.of.lines;
  const int64_t begin = group.block() * each, end = begin + each < units ? begin + each : units;
  for (int64_t u = begin; u < end; ++u) {
    if (l.varying) {
      constexpr int64_t columns = GradientTuning::columns;
      const int64_t tiles = (l.length + columns - 1) / columns, range = u / tiles, first = u % tiles * columns;
      const int64_t count = l.length - first < columns ? l.length - first : columns;
      if constexpr (fast_host)
        gradient_columns<T, A>(p, divisors, range, first, count);
      else if (group.rank() < count)
        gradient_columns<T, A>(p, divisors, range, first + group.rank(), 1);
    } else {
      const int64_t line = u / p.pieces, at = u % p.pieces * p.piece, o = line / l.per, b = line % l.per;
      const int64_t rest = l.pitch - b * l.length, length = l.length < rest ? l.length : rest;
      const int64_t left = length - at;
      gradient_run<T, A>(group, p, o * l.pitch + b * l.length + at, left < p.piece ? left : p.piece,
                         o * l.outer_step + b / l.group * l.step, u);
    }
  }
}

// A block adds up the sums of one number.
template <int Size>
STATOR_KERNEL(Size) void gradient_sums_kernel(params::AffineGradient p, FastDivmod64 by_pieces, DType dtype) {
  const Group<Size> group;
  const int64_t pieces = p.pieces, numbers = p.numbers, all = p.outer * pieces;
  const char* const scales = static_cast<const char*>(p.partials);
  const char* const zeros = scales + p.partial_count * itemsize(dtype);
  for (int64_t s = group.block(); s < numbers; s += group.blocks()) {
    const auto sum = [=](const void* base) {
      return group.template map_reduce<double>(all, Sum{}, [=](int64_t k) {
        int64_t piece;
        const int64_t o = by_pieces.divmod(k, piece);
        return load_one<double>(base, dtype, (o * numbers + s) * pieces + piece);
      });
    };
    const double scale = sum(scales) * p.factor, zero = sum(zeros) * p.factor;
    if (group.rank() != 0) continue;
    store_one(p.scale_grad, dtype, s, scale);
    store_one(p.zero_grad, dtype, s, zero);
  }
}

int64_t units_of(const params::AffineGradient& p) {
  const params::ScaleLines& l = p.of.lines;
  if (l.varying) return p.ranges * ceil_div(l.length, GradientTuning::columns);
  return l.size / l.pitch * l.per * p.pieces;
}

params::AffineGradient plan_gradient(const params::DeviceLimits&, const params::AffineGradient& given) {
  params::AffineGradient p = given;
  const params::ScaleLines& l = p.of.lines;
  if (l.varying) {
    // Lines have the same numbers as long as their step is 0, or in groups.
    p.range_pitch = l.step == 0 ? l.size / l.length : l.per;
    p.range = l.step == 0 ? GradientTuning::lines : l.group;
    const int64_t stretches = l.size / l.length / p.range_pitch;
    p.ranges = stretches * ceil_div(p.range_pitch, p.range);
    p.pieces = 1;
    p.outer = l.step == 0 ? p.ranges : 1;
    p.partial_count = p.ranges * l.length;
  } else {
    p.piece = GradientTuning::piece;
    p.pieces = ceil_div(l.length, p.piece);
    p.outer = l.outer_step == 0 ? l.size / l.pitch : 1;
    p.partial_count = units_of(p);
  }
  return p;
}

void gradient(const params::Queue& q, const params::AffineGradient& p) {
  constexpr int block = GradientTuning::block;
  const int64_t units = units_of(p), size = p.of.lines.size;
  const int64_t each = std::max({int64_t(1), GradientTuning::least * units / std::max(size, int64_t(1)), units >> 30});
  visit<dtypes::floats>(p.of.dtype, [&]<class T>(type_tag<T>) {
    launch(q, "quantize_gradient", gradient_kernel<T, block>, {ceil_div(units, each), block}, p,
           LineDivisors(p.of.lines), units, each);
  });
  if (p.partials == nullptr) return;
  const DType sums = p.of.dtype == DType::float64 ? DType::float64 : DType::float32;
  launch(q, "quantize_gradient_sums", gradient_sums_kernel<block>, {std::min(p.numbers, int64_t(1) << 20), block}, p,
         FastDivmod64(p.pieces), sums);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, plan_gradient)
STATOR_LAUNCHER(quantization, gradient)
