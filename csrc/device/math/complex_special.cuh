// exp2, rsqrt, sinc, expit and logaddexp of complex numbers. complex64 is computed in double, because the errors of
// several functions and products add up.
#pragma once

#include "circular.cuh"
#include "complex_math.cuh"

namespace stator::STATOR_TARGET {

namespace detail {
// Sine and cosine of angle + low, where |low| is a rounding error of the angle.
template <class T>
STATOR_FN void sincos_of_sum(T angle, T low, T& sine, T& cosine) {
  T s, c, s_low = low, c_low = T(1);
  libm::full_sincos(angle, s, c);
  if (abs(low) > T(0x1p-27)) libm::full_sincos(low, s_low, c_low);  // of a huge angle
  sine = s * c_low + c * s_low;
  cosine = c * c_low + (-s) * s_low;
}
inline constexpr double ln_2_low = 2.3190468138462996e-17, pi = 3.14159265358979323846, pi_low = 1.2246467991473532e-16;
}  // namespace detail

template <class T>
STATOR_FN complex<T> exp2(complex<T> z) {
  if constexpr (sizeof(T) == 4) {
    return complex<T>(exp2(complex<double>(z)));
  } else {
    if (z.im == T(0)) return {exp2(z.re), z.im};
    if (isinf(z.re) && !isfinite(z.im))
      return z.re < T(0) ? complex<T>(T(0), copysign(T(0), z.im)) : complex<T>(z.re, limits<T>::nan());
    const T angle = z.im * T(detail::ln_2);
    const T low = libm::product_error(z.im, T(detail::ln_2), angle) + z.im * T(detail::ln_2_low);
    T sine, cosine;
    detail::sincos_of_sum(angle, low, sine, cosine);
    const T half = exp2(z.re * T(0.5));  // as in exp
    return {half * cosine * half, half * sine * half};
  }
}

// 1 / sqrt(z), by Smith's method (Algorithm 116, CACM 1962).
template <class T>
STATOR_FN complex<T> rsqrt(complex<T> z) {
  if constexpr (sizeof(T) == 4) {
    return complex<T>(rsqrt(complex<double>(z)));
  } else {
    const complex<T> root = sqrt(z);
    if (abs(root.im) <= abs(root.re)) {
      const T ratio = root.im / root.re, scale = root.re + root.im * ratio;
      return {T(1) / scale, -ratio / scale};
    }
    const T ratio = root.re / root.im, scale = root.re * ratio + root.im;
    return {ratio / scale, T(-1) / scale};
  }
}

// sin(pi z) / (pi z) for z = x + iy from sin(pi x) cosh(pi y) + i cos(pi x) sinh(pi y), where x is reduced to the
// nearest whole number, exactly, and the rounding errors of the products with pi are corrected.
template <class T>
STATOR_FN complex<T> sinc(complex<T> z) {
  if constexpr (sizeof(T) == 4) {
    return complex<T>(sinc(complex<double>(z)));
  } else {
    constexpr T pi = T(detail::pi), pi_low = T(detail::pi_low);
    if (z.re == T(0) && z.im == T(0)) return {T(1), T(0)};
    const T half_whole = T(0.5) * floor(z.re + T(0.5)), r = z.re - (half_whole + half_whole);
    const T angle = pi * r, height = pi * z.im;
    T sine, cosine;
    detail::sincos_of_sum(angle, libm::product_error(pi, r, angle) + pi_low * r, sine, cosine);
    if (half_whole != floor(half_whole)) sine = -sine, cosine = -cosine;
    if (z.im == T(0)) return {sine / (pi * z.re), T(0)};
    const T low = libm::product_error(pi, z.im, height) + pi_low * z.im, size = abs(height);
    const complex<T> below(pi * z.re, height);
    if (!(size > detail::hyperbolic_flat<T>)) {
      const T s = sinh(height), c = cosh(height);
      return complex<T>(sine * (c + low * s), cosine * (s + low * c)) / below;
    }
    // exp(size) may overflow although the quotient does not.
    const T half = libm::polynomial_exp(T(0.5) * size) * (T(1) + T(0.5) * copysign(low, low * height));
    const complex<T> turn = complex<T>(sine, copysign(T(1), height) * cosine) / below;
    return {half * turn.re * T(0.5) * half, half * turn.im * T(0.5) * half};
  }
}

namespace detail {
// e = exp(z) and 1 + e, of z + low, whose real part must not be positive. Near odd multiples of i pi, 1 + e^x cos(y) is
// (e^x - 1) cos(y) + 2 cos(y / 2)^2, whose terms have one sign.
template <class T>
struct OnePlusExp {
  complex<T> e, sum;

  STATOR_FN OnePlusExp(complex<T> z, complex<T> low) {
    const T size = libm::polynomial_exp(z.re), lost = size * low.re;
    T sine, cosine, half_sine, half_cosine;
    sincos_of_sum(z.im, low.im, sine, cosine);
    sincos_of_sum(T(0.5) * z.im, T(0.5) * low.im, half_sine, half_cosine);
    e = {(size + lost) * cosine, (size + lost) * sine};
    const T near = (expm1(z.re) + lost) * cosine + T(2) * half_cosine * half_cosine;
    sum = {cosine < T(0) ? near : T(1) + e.re, e.im};
  }
};
}  // namespace detail

// 1 / (1 + exp(-z)), from exp(z) or exp(-z), whichever has a magnitude of at most 1.
template <class T>
STATOR_FN complex<T> expit(complex<T> z) {
  if constexpr (sizeof(T) == 4) {
    return complex<T>(expit(complex<double>(z)));
  } else {
    const bool left = z.re < T(0);
    const detail::OnePlusExp<T> found(left ? z : -z, complex<T>(T(0)));
    if (libm::polynomial_exp(left ? z.re : -z.re) == T(0)) return {left ? T(0) : T(1), T(0)};
    return (left ? found.e : complex<T>(T(1))) / found.sum;
  }
}

// log(exp(a) + exp(b)), the principal value, as log(exp(a) (1 + exp(b - a))) if a has the larger real part. This is
// accurate when the terms cancel, because the rounding error of b - a is passed on.
template <class T>
STATOR_FN complex<T> logaddexp(complex<T> a, complex<T> b) {
  if constexpr (sizeof(T) == 4) {
    return complex<T>(logaddexp(complex<double>(a), complex<double>(b)));
  } else {
    if (b.re > a.re) {
      const complex<T> larger = b;
      b = a;
      a = larger;
    }
    const T shift = isfinite(a.re) ? a.re : T(0);
    const complex<T> unit = libm::full_exp(complex<T>(a.re - shift, a.im)), difference = b - a;
    complex<T> sum = unit;
    if (!isfinite(a.re) || !isfinite(difference)) {
      sum = unit + libm::full_exp(complex<T>(b.re - shift, b.im));
    } else {
      const complex<T> low(detail::sum_error(b.re, -a.re, difference.re),
                           detail::sum_error(b.im, -a.im, difference.im));
      sum = unit * detail::OnePlusExp<T>(difference, low).sum;
    }
    const complex<T> l = log(sum);
    return {l.re + shift, l.im};
  }
}

}  // namespace stator::STATOR_TARGET
