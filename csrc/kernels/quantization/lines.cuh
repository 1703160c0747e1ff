// Stretches of elements that share a scale and a zero point, and the arithmetic of both.
#pragma once

#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/index.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "params/quantization.hpp"

#include <bit>
#include <type_traits>

namespace stator::STATOR_TARGET::quantization {

// The position of an element: what is left of its line, and its number or that of the line's begin.
struct LinePosition {
  int64_t left, number;
};
STATOR_HD bool have_one_scale(const params::ScaleLines& l) { return l.pitch == l.size && l.per == 1 && !l.varying; }
// What positions are divided by.
struct LineDivisors {
  FastDivmod64 pitch, length, group;

  explicit LineDivisors(const params::ScaleLines& l) : pitch(l.pitch), length(l.length), group(l.group) {}
};
STATOR_FN LinePosition line_position(const params::ScaleLines& l, const LineDivisors& d, int64_t i) {
  int64_t r, c;
  const int64_t o = d.pitch.divmod(i, r), b = d.length.divmod(r, c);
  const int64_t line = l.length - c, stretch = l.pitch - r;
  return {line < stretch ? line : stretch, o * l.outer_step + d.group.divide(b) * l.step + (l.varying ? c : 0)};
}

template <class A>
STATOR_FN A number_at(const params::ScaleNumbers& n, int64_t i) {
  if (n.data == nullptr) return A(n.number);
  return n.dtype == dtype_of_v<A> ? static_cast<const A*>(n.data)[i] : load_one<A>(n.data, n.dtype, i);
}
// The same of numbers that have the dtype of the computation.
template <class A>
STATOR_FN A plain_at(const params::ScaleNumbers& n, int64_t i) {
  return n.data == nullptr ? A(n.number) : static_cast<const A*>(n.data)[i];
}

STATOR_FN float round_even(float v) { return __builtin_rintf(v); }
STATOR_FN double round_even(double v) { return __builtin_rint(v); }

// One scale and one zero point with their limits. A value is limited before it is rounded, which gives the same,
// because the limits are integers.
template <class A>
struct Step {
  A scale, inverse, zero, low, high;  // limits less the zero point

  STATOR_FN Step(A scale_, A zero_, double low_, double high_) : scale(scale_), inverse(A(1) / scale_) {
    zero = zero_ < A(low_) ? A(low_) : zero_ > A(high_) ? A(high_) : zero_;
    zero = round_even(zero);
    low = A(low_) - zero;
    high = A(high_) - zero;
  }
  STATOR_FN A limited(A x) const {
    const A scaled = x * inverse;
    const A v = scaled == scaled ? scaled : A(0);
    const A above = v > low ? v : low;
    return above < high ? above : high;
  }
  // The quantised value less the zero point.
  STATOR_FN A steps(A x) const { return round_even(limited(x)); }
  // A sum with so large an even number is rounded to an integer, which is in its last bits: fewer instructions than to
  // round and to convert.
  STATOR_FN uint8_t byte(A x) const {
    using Bits = std::conditional_t<sizeof(A) == 4, uint32_t, uint64_t>;
    constexpr A large = sizeof(A) == 4 ? A(0x1.8p23) : A(0x1.8p52);
    return uint8_t(uint8_t(std::bit_cast<Bits>(limited(x) + large)) + uint8_t(int32_t(zero)));
  }
  STATOR_FN A value(A x) const { return steps(x) * scale; }
};

// The byte as a number: `flip` is 128 for int8, else 0.
STATOR_FN int32_t of_byte(uint8_t b, int32_t flip) { return int32_t(b ^ flip) - flip; }

}  // namespace stator::STATOR_TARGET::quantization
