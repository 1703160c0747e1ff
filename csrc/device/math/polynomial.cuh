// Horner's rule with fused steps where the instruction set has them.
#pragma once

#include "device/target.cuh"

namespace stator::STATOR_TARGET::libm {

// a * b + c, fused where the instruction set can.
template <class T>
STATOR_FN T multiply_add(T a, T b, T c) {
#if defined(__FMA__) || !defined(STATOR_HOST)
  if constexpr (sizeof(T) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Polynomials, lowest power first.
template <class T>
STATOR_FN T polynomial(T, T c) {
  return c;
}
template <class T, class... C>
STATOR_FN T polynomial(T x, T c, C... rest) {
  return multiply_add(x, polynomial(x, rest...), c);
}

}  // namespace stator::STATOR_TARGET::libm
