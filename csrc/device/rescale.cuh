// Powers of two that scale elements to near 1, if the sum of their squares leaves the range of its type or loses digits
// at its lower end.
#pragma once

#include "math/math.cuh"

namespace stator::STATOR_TARGET {

template <class A>
struct SquareRange {
  static_assert(std::is_same_v<A, float> || std::is_same_v<A, double>);
  using Bits = std::conditional_t<sizeof(A) == 4, uint32_t, uint64_t>;
  static constexpr int mantissa = sizeof(A) == 4 ? 23 : 52, bias = sizeof(A) == 4 ? 127 : 1023;
  static constexpr int most =
      sizeof(A) == 4 ? 100 : 900;  // exponent of a factor, so that its square fits beside others

  STATOR_FN static A power(int exponent) { return bit_cast<A>(Bits(Bits(exponent + bias) << mantissa)); }
  // Whether a sum of squares is finite and has lost no square that matters.
  STATOR_FN static bool has(A sum) { return sum >= power(-most) && isfinite(sum); }
  // The power of two that scales a magnitude to near 1; 1 for 0, infinity and NaN.
  STATOR_FN static A factor(A largest) {
    if (!(largest > A(0)) || !isfinite(largest)) return A(1);
    const int exponent = bias - int(bit_cast<Bits>(largest) >> mantissa);
    return power(exponent < 1 - bias ? 1 - bias : exponent > most ? most : exponent);
  }
};

}  // namespace stator::STATOR_TARGET
