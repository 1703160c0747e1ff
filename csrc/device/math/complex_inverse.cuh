// asin, acos, atanh of complex numbers, and asinh, acosh, atan from them. Kahan's formulas (1987), whose sums have
// terms of one sign, except where cancellation is small relative to the absolute value of the result.
#pragma once

#include "complex_math.cuh"

namespace stator::STATOR_TARGET {

namespace detail {
// sqrt(1 - z), sqrt(1 + z) and re(z) for a z that is scaled if it is huge, and the correction of asinh for the scale:
// asinh of a large number is a logarithm, and angles do not change.
template <class T>
struct Roots {
  complex<T> minus, plus;
  T re, correction;
};
template <class T>
STATOR_FN Roots<T> roots(complex<T> z) {
  const bool huge = extent(z).large > limits<T>::max() / T(16);
  const T scale = huge ? T(1.0 / 16) : T(1);
  const T x = z.re * scale, y = z.im * scale;
  return {sqrt(complex<T>(T(1) - x, -y)), sqrt(complex<T>(T(1) + x, y)), x, huge ? T(4 * ln_2) : T(0)};
}
template <class T>
STATOR_FN T asinh_corrected(T x, T correction) {
  const T value = asinh(x);
  return value + copysign(correction, value);
}
}  // namespace detail

template <class T>
STATOR_FN complex<T> asin(complex<T> z) {
  if (isinf(z)) return {atan2(z.re, abs(z.im)), copysign(limits<T>::infinity(), z.im)};
  if (z.re == T(0) && isnan(z.im)) return z;
  const detail::Roots<T> r = detail::roots(z);
  const T product = r.minus.re * r.plus.re - r.minus.im * r.plus.im;
  return {atan2(r.re, product), detail::asinh_corrected(r.minus.re * r.plus.im - r.minus.im * r.plus.re, r.correction)};
}

template <class T>
STATOR_FN complex<T> acos(complex<T> z) {
  if (isinf(z)) return {atan2(abs(z.im), z.re), copysign(limits<T>::infinity(), -z.im)};
  if (z.re == T(0) && isnan(z.im)) return {T(detail::half_pi), z.im};
  const detail::Roots<T> r = detail::roots(z);
  return {T(2) * atan2(r.minus.re, r.plus.re),
          detail::asinh_corrected(r.plus.re * r.minus.im - r.plus.im * r.minus.re, r.correction)};
}

template <class T>
STATOR_FN complex<T> acosh(complex<T> z) {
  const complex<T> w = acos(z);
  return {abs(w.im), copysign(w.re, z.im)};
}
template <class T>
STATOR_FN complex<T> asinh(complex<T> z) {
  return detail::over_i(asin(detail::times_i(z)));
}

template <class T>
STATOR_FN complex<T> atanh(complex<T> z) {
  const T x = z.re, y = z.im, a = abs(x), b = abs(y);
  if (x == T(0)) return {x, atan(y)};
  if (y == T(0) && a <= T(1)) return {atanh(x), y};
  if (isinf(z)) return {copysign(T(0), x), isnan(y) ? y : copysign(T(detail::half_pi), y)};
  if (isnan(z)) return {limits<T>::nan(), limits<T>::nan()};
  constexpr T epsilon = limits<T>::epsilon();
  if (a > T(1) / epsilon || b > T(1) / epsilon) {
    // re(1 / z), in steps that do not overflow or underflow before the result does.
    const T half_a = T(0.5) * a, half_b = T(0.5) * b;
    const T re = a > b ? T(0.5) / (half_a + half_b * (b / a)) : T(0.5) * (a / b) / (half_b + half_a * (a / b));
    return {copysign(re, x), copysign(T(detail::half_pi), y)};
  }
  const T re = a == T(1) && b < epsilon ? (T(detail::ln_2) - log(b)) * T(0.5)
                                        : T(0.25) * log1p(T(4) * a / ((T(1) - a) * (T(1) - a) + b * b));
  return {copysign(re, x), T(0.5) * atan2(y + y, (T(1) - a) * (T(1) + a) - b * b)};
}

template <class T>
STATOR_FN complex<T> atan(complex<T> z) {
  return detail::over_i(atanh(detail::times_i(z)));
}

}  // namespace stator::STATOR_TARGET
