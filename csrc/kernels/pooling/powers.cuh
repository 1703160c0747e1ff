// The powers of elements that a generalised mean is of.
#pragma once

#include "kernels/pooling/windows.cuh"

namespace stator::STATOR_TARGET::pooling {

template <class A>
STATOR_FN A power_of(A v, A exponent) {
  if (exponent == A(1)) return v;
  if (exponent == A(2)) return v * v;
  return pow(v, exponent);
}

template <class A>
STATOR_FN A root_of(A v, A exponent) {
  if (exponent == A(1)) return v;
  if (exponent == A(2)) return sqrt(v);
  return pow(v, A(1) / exponent);
}

}  // namespace stator::STATOR_TARGET::pooling
