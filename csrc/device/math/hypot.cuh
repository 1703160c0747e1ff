// The hypotenuse, with an error of at most 2 ULP and the same bits on all targets, in vectorised loops too: CUDA's,
// glibc's and libmvec's functions differ from each other.
#pragma once

#include "math.cuh"

namespace stator::STATOR_TARGET {

// sqrt(x^2 + y^2), infinite if x or y is. Both are scaled by the power of two below the larger one, so that its square
// neither overflows nor loses bits; what the smaller one loses then is negligible.
template <class T>
STATOR_FN T hypot(T x, T y) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52;
  constexpr Bits one = Bits(1) << mantissa, top = sizeof(T) == 4 ? 254 : 2046;
  const T a = abs(x), b = abs(y);
  const T large = a > b ? a : b, small = a > b ? b : a;
  // The exponents from 1 to top - 1, whose reciprocals are normal numbers.
  Bits exponent = bit_cast<Bits>(large) & ~(one - 1);
  exponent = exponent < one ? one : exponent;
  exponent = exponent > (top - 1) * one ? (top - 1) * one : exponent;
  const T down = bit_cast<T>(top * one - exponent), up = bit_cast<T>(exponent);
  const T p = large * down, q = small * down;
  const T root = sqrt(p * p + q * q) * up;
  return a == limits<T>::infinity() || b == limits<T>::infinity() ? limits<T>::infinity() : root;
}

}  // namespace stator::STATOR_TARGET
