// Functions of complex numbers. NaN and infinity follow C's Annex G where that costs no branch per element.
#pragma once

#include "device/math.cuh"

namespace stator::STATOR_COLUMN {

// Scaled by a power of two of the larger part, so that no square overflows or vanishes.
template <class T>
STATOR_FN T hypot(T a, T b) {
  const T x = abs(a), y = abs(b);
  const T large = x > y ? x : y, small = x > y ? y : x;
  const T ratio = large == T(0) || isinf(small) ? T(0) : small / large;
  const T length = large * sqrt(T(1) + ratio * ratio);
  return isinf(x) || isinf(y) ? limits<T>::infinity() : isnan(a) || isnan(b) ? limits<T>::nan() : length;
}
template <class T>
STATOR_FN T abs(complex<T> z) {
  return hypot(z.re, z.im);
}
template <class T>
STATOR_FN constexpr bool isnan(complex<T> z) {
  return isnan(z.re) || isnan(z.im);
}
template <class T>
STATOR_FN bool isinf(complex<T> z) {
  return isinf(z.re) || isinf(z.im);
}
template <class T>
STATOR_FN bool isfinite(complex<T> z) {
  return isfinite(z.re) && isfinite(z.im);
}

template <class T>
STATOR_FN T copysign(T magnitude, T sign) {
  if constexpr (sizeof(T) == 4)
    return __builtin_copysignf(magnitude, sign);
  else
    return __builtin_copysign(magnitude, sign);
}

template <class T>
STATOR_FN complex<T> exp(complex<T> z) {
  if (z.im == T(0)) return {exp(z.re), z.im};
  if (isinf(z.re) && !isfinite(z.im)) return z.re < T(0) ? complex<T>(T(0), T(0)) : complex<T>(z.re, limits<T>::nan());
  // exp(re) may overflow where its product with a small sine does not: take the half twice.
  const T half = exp(z.re * T(0.5));
  return {half * cos(z.im) * half, half * sin(z.im) * half};
}

template <class T>
STATOR_FN complex<T> log(complex<T> z) {
  const T x = abs(z.re), y = abs(z.im);
  const T large = x > y ? x : y, small = x > y ? y : x;
  T magnitude;
  if (large > T(0.5) && large < T(2)) {
    // near |z| = 1 the logarithm of the absolute value cancels
    magnitude = T(0.5) * log1p((large - T(1)) * (large + T(1)) + small * small);
  } else {
    magnitude = log(hypot(z.re, z.im));
  }
  return {magnitude, atan2(z.im, z.re)};
}

// Kahan, Branch cuts for complex elementary functions (1987): no overflow, right signs of zero.
template <class T>
STATOR_FN complex<T> sqrt(complex<T> z) {
  if (z.re == T(0) && z.im == T(0)) return {T(0), z.im};
  if (isinf(z.im)) return {limits<T>::infinity(), z.im};
  if (isinf(z.re)) {
    const T other = isnan(z.im) ? limits<T>::nan() : copysign(T(0), z.im);
    return z.re > T(0) ? complex<T>(z.re, other)
                       : complex<T>(isnan(z.im) ? z.im : T(0), copysign(limits<T>::infinity(), z.im));
  }
  // Quarter of huge values: |z| + |re| must not overflow.
  const bool huge = abs(z.re) > limits<T>::max() / T(4) || abs(z.im) > limits<T>::max() / T(4);
  const T scale = huge ? T(0.25) : T(1);
  const T re = z.re * scale, im = z.im * scale;
  const T root = sqrt((hypot(re, im) + abs(re)) * T(0.5)) * (huge ? T(2) : T(1));
  const T other = z.im / (T(2) * root);
  return z.re >= T(0) ? complex<T>(root, other) : complex<T>(abs(other), copysign(root, z.im));
}

// Kahan's, from tan(y) and sinh(x): one form without cancellation, and a limit where cosh(x) would overflow.
template <class T>
STATOR_FN complex<T> tanh(complex<T> z) {
  constexpr T flat = sizeof(T) == 4 ? T(11) : T(22);
  constexpr T nan = limits<T>::nan();
  if (!isfinite(z.im) && !isinf(z.re)) return {z.re == T(0) ? z.re : nan, nan};
  if (z.im == T(0)) return {tanh(z.re), z.im};
  if (abs(z.re) > flat) {
    const T e = exp(-abs(z.re));
    const T sign = isfinite(z.im) ? sin(z.im) * cos(z.im) : copysign(T(0), z.im);
    return {copysign(T(1), z.re), T(4) * sign * e * e};
  }
  const T t = sin(z.im) / cos(z.im);
  const T sinh_x = T(0.5) * (expm1(z.re) - expm1(-z.re));
  const T cosh_x = sqrt(T(1) + sinh_x * sinh_x);
  const T beta = T(1) + t * t;
  const T denominator = T(1) + beta * sinh_x * sinh_x;
  if (isinf(t)) return {cosh_x / sinh_x, T(1) / t};
  return {beta * cosh_x * sinh_x / denominator, t / denominator};
}

}  // namespace stator::STATOR_COLUMN
