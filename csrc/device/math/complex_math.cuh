// Functions of complex numbers: predicates, absolute value, square root; the others are in complex_*.cuh. Special
// values follow C's Annex G; branch cuts and signs of zero follow Kahan, Branch cuts for complex elementary functions
// (1987).
#pragma once

#include "hypot.cuh"
#include "math.cuh"

namespace stator::STATOR_TARGET {

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

namespace detail {
inline constexpr double half_pi = 1.57079632679489661923, ln_2 = 0.69314718055994530942;

// The larger and the smaller absolute value of the two parts. If one part is NaN, `large` is NaN or the other part.
template <class T>
struct Extent {
  T large, small;
};
template <class T>
STATOR_FN Extent<T> extent(complex<T> z) {
  const T x = abs(z.re), y = abs(z.im);
  return x > y ? Extent<T>{x, y} : Extent<T>{y, x};
}

// i z and -i z: trigonometric functions are -i f(i z) of the hyperbolic ones, and the other way round.
template <class T>
STATOR_FN complex<T> times_i(complex<T> z) {
  return {-z.im, z.re};
}
template <class T>
STATOR_FN complex<T> over_i(complex<T> z) {
  return {z.im, -z.re};
}
}  // namespace detail

template <class T>
STATOR_FN complex<T> sqrt(complex<T> z) {
  if (z.re == T(0) && z.im == T(0)) return {T(0), z.im};
  if (isinf(z.im)) return {limits<T>::infinity(), z.im};
  if (isinf(z.re)) {
    if (z.re > T(0)) return {z.re, isnan(z.im) ? z.im : copysign(T(0), z.im)};
    return {isnan(z.im) ? z.im : T(0), copysign(limits<T>::infinity(), z.im)};
  }
  // Scaled by an even power of two, so that |z| + |re| neither overflows nor is subnormal.
  constexpr T tiny = limits<T>::least_normal() / limits<T>::epsilon();
  const T large = detail::extent(z).large;
  const T scale = large > limits<T>::max() / T(4) ? T(0.25) : large < tiny ? T(0x1p64) : T(1);
  const T back = scale == T(1) ? T(1) : scale == T(0.25) ? T(2) : T(0x1p-32);
  const T re = z.re * scale, im = z.im * scale;
  const T root = sqrt((hypot(re, im) + abs(re)) * T(0.5));
  const T other = im / (root + root);
  if (z.re >= T(0)) return {root * back, other * back};
  return {abs(other) * back, copysign(root * back, z.im)};
}

}  // namespace stator::STATOR_TARGET

#include "complex_exponential.cuh"
#include "complex_hyperbolic.cuh"
#include "complex_inverse.cuh"
