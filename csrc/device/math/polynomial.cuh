// Polynomials by Horner's rule, with fused multiply-add if the instruction set has it.
#pragma once

#include "../target.cuh"

namespace stator::STATOR_TARGET::libm {

// a * b + c, fused if the instruction set has it.
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

// A polynomial in x; coefficients lowest power first.
template <class T>
STATOR_FN T polynomial(T, T c) {
  return c;
}
template <class T, class... C>
STATOR_FN T polynomial(T x, T c, C... rest) {
  return multiply_add(x, polynomial(x, rest...), c);
}

}  // namespace stator::STATOR_TARGET::libm
