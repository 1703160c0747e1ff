// sinh, cosh, tanh of complex numbers, and sin, cos, tan from them.
#pragma once

#include "complex_math.cuh"

namespace stator::STATOR_TARGET {

namespace detail {
// Above this x, sinh(x) = cosh(x) = exp(x) / 2 and tanh(x) = 1 in T.
template <class T>
inline constexpr T hyperbolic_flat = sizeof(T) == 4 ? T(11) : T(22);

// exp(|x|) / 2 (a + i b), as two factors exp(|x| / 2), because exp may overflow although the product does not.
template <class T>
STATOR_FN complex<T> large_hyperbolic(T x, T a, T b) {
  const T half = libm::polynomial_exp(abs(x) * T(0.5));
  return {half * a * T(0.5) * half, half * b * T(0.5) * half};
}
}  // namespace detail

template <class T>
STATOR_FN complex<T> sinh(complex<T> z) {
  const T x = z.re, y = z.im;
  if (y == T(0)) return {sinh(x), y};
  if (!isfinite(y)) return {x == T(0) || isinf(x) ? x : limits<T>::nan(), limits<T>::nan()};
  T sine, cosine;
  sincos(y, sine, cosine);
  if (abs(x) > detail::hyperbolic_flat<T>) return detail::large_hyperbolic(x, x < T(0) ? -cosine : cosine, sine);
  return {sinh(x) * cosine, cosh(x) * sine};
}

template <class T>
STATOR_FN complex<T> cosh(complex<T> z) {
  const T x = z.re, y = z.im;
  if (y == T(0)) return {cosh(x), copysign(T(0), x) * y};
  if (!isfinite(y)) return {isinf(x) ? abs(x) : limits<T>::nan(), x == T(0) ? T(0) : limits<T>::nan()};
  T sine, cosine;
  sincos(y, sine, cosine);
  if (abs(x) > detail::hyperbolic_flat<T>) return detail::large_hyperbolic(x, cosine, x < T(0) ? -sine : sine);
  return {cosh(x) * cosine, sinh(x) * sine};
}

// Kahan's formula from tan(y) and sinh(x), which has no cancellation, and its limit for large x, where cosh(x) would
// overflow. In double for float too, because the errors of four functions and four products add up.
template <class T>
STATOR_FN complex<T> tanh(complex<T> z) {
  if constexpr (sizeof(T) == 4) {
    const complex<double> w = tanh(complex<double>(z.re, z.im));
    return {T(w.re), T(w.im)};
  }
  const T x = z.re, y = z.im;
  if (!isfinite(y) && !isinf(x)) return {x == T(0) ? x : limits<T>::nan(), limits<T>::nan()};
  if (y == T(0)) return {tanh(x), y};
  T sine = copysign(T(1), y), cosine = T(0);
  if (isfinite(y)) sincos(y, sine, cosine);
  if (abs(x) > detail::hyperbolic_flat<T>) {
    const T e = exp(-abs(x));
    return {copysign(T(1), x), T(4) * sine * cosine * e * e};
  }
  const T t = sine / cosine, s = sinh(x), beta = T(1) + t * t;
  const T denominator = T(1) + beta * s * s;
  return {beta * cosh(x) * s / denominator, t / denominator};
}

template <class T>
STATOR_FN complex<T> sin(complex<T> z) {
  return detail::over_i(sinh(detail::times_i(z)));
}
template <class T>
STATOR_FN complex<T> cos(complex<T> z) {
  return cosh(detail::times_i(z));
}
template <class T>
STATOR_FN complex<T> tan(complex<T> z) {
  return detail::over_i(tanh(detail::times_i(z)));
}

}  // namespace stator::STATOR_TARGET
