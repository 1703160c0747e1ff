// The powers of elements that a generalised mean is of.
#pragma once

#include "device/functional.cuh"
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

// The root of a mean of powers that leave the range of A: that of the elements divided by the largest one, times it.
template <class T, class A>
STATOR_COLD A rescaled_root(const Pool& p, const Position& at, A otherwise) {
  const T* const plane = static_cast<const T*>(p.x) + at.plane * plane_size(p, true);
  const A exponent = A(p.power);
  A largest = A(0), sum = A(0);
  for_window(p, at, [&](int i) { largest = Max{}(largest, abs(convert<A>(plane[i]))); });
  if (!(largest > A(0)) || !isfinite(largest)) return otherwise;
  for_window(p, at, [&](int i) { sum += power_of(convert<A>(plane[i]) / largest, exponent); });
  return largest * root_of(sum / divisor_at<A>(p, at) * A(p.factor), exponent);
}

}  // namespace stator::STATOR_TARGET::pooling
