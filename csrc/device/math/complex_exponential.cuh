// exp, log and related functions of complex numbers, and powers.
#pragma once

#include "complex_math.cuh"
#include "elementary_core.cuh"

namespace stator::STATOR_TARGET {

template <class T>
STATOR_FN complex<T> exp(complex<T> z) {
  if (z.im == T(0)) return {exp(z.re), z.im};
  if (isinf(z.re) && !isfinite(z.im))
    return z.re < T(0) ? complex<T>(T(0), copysign(T(0), z.im)) : complex<T>(z.re, limits<T>::nan());
  // exp(re) may overflow although its product with a small sine does not, so exp(re / 2) is multiplied twice.
  const T half = libm::polynomial_exp(z.re * T(0.5));
  T sine, cosine;
  sincos(z.im, sine, cosine);
  return {half * cosine * half, half * sine * half};
}

// exp(x) cos(y) - 1 = expm1(x) cos(y) - 2 sin(y/2)^2
template <class T>
STATOR_FN complex<T> expm1(complex<T> z) {
  if (z.im == T(0)) return {expm1(z.re), z.im};
  if (!(abs(z.re) < T(40))) {
    const complex<T> e = exp(z);
    return {e.re - T(1), e.im};
  }
  T sine, cosine;
  sincos(z.im, sine, cosine);
  const T half_sine = sin(z.im * T(0.5));
  return {expm1(z.re) * cosine - T(2) * half_sine * half_sine, libm::polynomial_exp(z.re) * sine};
}

namespace detail {
// a^2 + b^2 - 1 for a >= b, with the rounding errors of the products added back: near zero the sum of the rounded
// values is exact.
template <class T>
STATOR_FN T square_sum_less_one(T a, T b) {
  const T p = a * a, q = b * b, p_low = libm::product_error(a, a, p), q_low = libm::product_error(b, b, q);
  const T high = p < T(0.5) ? (p - T(0.5)) + (q - T(0.5)) : (p - T(1)) + q;
  const T low = p_low + q_low, p_part = low - q_low, lost = (p_low - p_part) + (q_low - (low - p_part));
  return (high + low) + lost;
}
}  // namespace detail

template <class T>
STATOR_FN complex<T> log(complex<T> z) {
  const detail::Extent<T> e = detail::extent(z);
  const T large = e.large, small = e.small, angle = atan2(z.im, z.re);
  if (large > T(0.5) && large < T(2)) return {T(0.5) * log1p(detail::square_sum_less_one(large, small)), angle};
  constexpr T tiny = limits<T>::least_normal() / limits<T>::epsilon();
  if (large > limits<T>::max() / T(2))
    return {log(hypot(large * T(0.25), small * T(0.25))) + T(2 * detail::ln_2), angle};
  if (large < tiny) return {log(hypot(large * T(0x1p64), small * T(0x1p64))) - T(64 * detail::ln_2), angle};
  return {log(hypot(z.re, z.im)), angle};
}

template <class T>
STATOR_FN complex<T> log1p(complex<T> z) {
  const T angle = atan2(z.im, T(1) + z.re);
  if (abs(z.re) < T(0.5) && abs(z.im) < T(0.5)) return {T(0.5) * log1p(z.re * (T(2) + z.re) + z.im * z.im), angle};
  return {log(complex<T>(T(1) + z.re, z.im)).re, angle};
}

template <class T>
STATOR_FN complex<T> log2(complex<T> z) {
  const complex<T> l = log(z);
  return {l.re * T(1 / detail::ln_2), l.im * T(1 / detail::ln_2)};
}
template <class T>
STATOR_FN complex<T> log10(complex<T> z) {
  constexpr T scale = T(0.43429448190325182765);
  const complex<T> l = log(z);
  return {l.re * scale, l.im * scale};
}

namespace detail {
// log|z| - l for l near log|z|, with an error of about epsilon: exp(-l) |z| - 1, with the rounding errors of |z| and of
// the product added back. 0 if squares would overflow or lose digits.
template <class T>
STATOR_FN T log_error(complex<T> z, T l) {
  const T h = hypot(z.re, z.im);
  if (!(h > T(1e-140) && h < T(1e140))) return T(0);
  const T square = h * h, p = z.re * z.re, q = z.im * z.im;
  const T low =
      (libm::product_error(z.re, z.re, p) + libm::product_error(z.im, z.im, q)) - libm::product_error(h, h, square);
  const T difference = abs(z.re) > abs(z.im) ? (p - square) + q : (q - square) + p;
  const T e = libm::polynomial_exp(-l), one = e * h;
  return ((one - T(1)) + libm::product_error(e, h, one)) + T(0.5) * (difference + low) / square;
}

// a + b and the rounding error of the sum.
template <class T>
STATOR_FN T sum_error(T a, T b, T sum) {
  const T part = sum - a;
  return (a - (sum - part)) + (b - part);
}

// exp(b log(a)) with an exponent in two parts, because the errors of the exponent are relative errors of the power.
template <class T>
STATOR_FN complex<T> general_power(complex<T> a, complex<T> b) {
  const complex<T> l = log(a);
  const T p = b.re * l.re, q = -(b.im * l.im), r = b.re * l.im, s = b.im * l.re, re = p + q, im = r + s;
  const complex<T> power = exp(complex<T>(re, im));
  if (!isfinite(power.re) || !isfinite(power.im)) return exp(b * l);
  const T error = log_error(a, l.re);
  const T re_low =
      (libm::product_error(b.re, l.re, p) - libm::product_error(b.im, l.im, -q)) + (sum_error(p, q, re) + b.re * error);
  const T im_low =
      (libm::product_error(b.re, l.im, r) + libm::product_error(b.im, l.re, s)) + (sum_error(r, s, im) + b.im * error);
  return power + power * complex<T>(re_low, im_low);
}
}  // namespace detail

// As numpy.power: a^0 = 1, and 0^b is 0 if re(b) > 0, else NaN. Integers b with |b| < 100 by repeated squaring. Float
// is computed in double.
template <class T>
STATOR_FN complex<T> pow(complex<T> a, complex<T> b) {
  if constexpr (sizeof(T) == 4) {
    const complex<double> w = pow(complex<double>(a.re, a.im), complex<double>(b.re, b.im));
    return {T(w.re), T(w.im)};
  }
  if (b.re == T(0) && b.im == T(0)) return {T(1), T(0)};
  if (a.re == T(0) && a.im == T(0))
    return b.re > T(0) ? complex<T>(T(0), T(0)) : complex<T>(limits<T>::nan(), limits<T>::nan());
  if (b.im == T(0) && abs(b.re) < T(100) && floor(b.re) == b.re) {
    complex<T> power = a, result(T(1), T(0));
    bool first = true;
    for (int n = int(abs(b.re)); n != 0; n >>= 1) {
      if (n & 1) {
        result = first ? power : result * power;
        first = false;
      }
      if (n > 1) power = power * power;
    }
    return b.re < T(0) ? complex<T>(T(1), T(0)) / result : result;
  }
  return detail::general_power(a, b);
}

}  // namespace stator::STATOR_TARGET
