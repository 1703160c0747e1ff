// exp, exp2, expm1, sinh, cosh, tanh for the host targets, and in single precision most of them for cuda: x = n ln(2) +
// r, a polynomial for exp(r) - 1 on |r| <= ln(2)/2, and 2^n by its exponent (Cody and Waite, Software Manual for the
// Elementary Functions, 1980).
#pragma once

#include "elementary_core.cuh"

namespace stator::STATOR_TARGET::libm {

// infinite_above is between the largest argument with a finite result and the first whose n is out of range.
template <class T>
struct ExpFormat;
template <>
struct ExpFormat<float> {
  static constexpr float less_one = Format<float>::round - 1;
  static constexpr float zero_below = -104.0f, subnormal_below = -85.5f;
  static constexpr float infinite_above = 89.0f, cosh_infinite_above = 89.6f;
  static constexpr float exp2_zero_below = -151.0f, exp2_subnormal_below = -124.0f, exp2_infinite_above = 128.25f;
  static constexpr float expm1_flat = -18.0f, tanh_flat = 10.0f;
  // (exp(r) - 1 - r) / r^2, minimax
  STATOR_FN static float tail(float r) {
    return estrin(r, 0.5f, 0.16666573381900846f, 0.041666550110305124f, 0.0083637738744055735f, 0.0013926926614021907f);
  }
};
template <>
struct ExpFormat<double> {
  static constexpr double less_one = Format<double>::round - 1;
  static constexpr double zero_below = -746.0, subnormal_below = -707.0;
  static constexpr double infinite_above = 710.0, cosh_infinite_above = 710.6;
  static constexpr double exp2_zero_below = -1076.0, exp2_subnormal_below = -1020.0, exp2_infinite_above = 1024.25;
  static constexpr double expm1_flat = -38.0, tanh_flat = 20.0;
  STATOR_FN static double tail(double r) {
    return estrin(r, 0.5, 0.16666666666666667534, 0.041666666666620638584, 0.0083333333333297934996,
                  0.0013888888918939167785, 0.00019841269864380513295, 0.000024801518641395993583,
                  2.7557266418612303703e-6, 2.76213386691429238e-7, 2.5101346928350340198e-8);
  }
};

// exp(x) = (1 + p) 2^n, with shifted = n + round. Meaningless if |x| is too large for 2^n; callers replace the result.
template <class T>
struct ExpParts {
  T p, shifted;
};
template <class T>
STATOR_FN ExpParts<T> exp_parts(T x, T round = Format<T>::round) {
  using F = Format<T>;
  const T shifted = multiply_add(x, T(log2_e), round);
  const T n = shifted - round;
  const T r = multiply_add(n, -F::ln2_lo, multiply_add(n, -F::ln2_hi, x));
  return {multiply_add(r * r, ExpFormat<T>::tail(r), r), shifted};
}
// The same for 2^x, where r = x - n.
template <class T>
STATOR_FN ExpParts<T> exp2_parts(T r, T shifted) {
  r = r * T(ln_2);
  return {multiply_add(r * r, ExpFormat<T>::tail(r), r), shifted};
}

// 2 (1 + p) 2^n by adding n to the exponent; callers pass n less by one, because 2^n itself may overflow. A subnormal
// result is computed times 2^64, and the last multiplication scales it down, so that it is rounded once. The result for
// NaN is arbitrary.
template <class T>
STATOR_FN T exp_scaled(ExpParts<T> e, bool subnormal) {
  constexpr int mantissa = Format<T>::mantissa;
  const BitsOf<T> lift = mask<T>(subnormal) & (BitsOf<T>(64) << mantissa);
  return from_bits<T>(bits(T(1) + e.p) + (bits(e.shifted) << mantissa) + lift) * from_bits<T>(bits(T(2)) - lift);
}

template <class T>
STATOR_FN T own_exp(T x) {
  using E = ExpFormat<T>;
  const ExpParts<T> e = exp_parts(x, E::less_one);
  const T y = zero_if(x < E::zero_below, exp_scaled(e, x < E::subnormal_below));
  return select(x <= E::infinite_above, y, x + infinite<T>);
}

// exp(x) if it is a normal number, 0 if it is smaller. Meaningless for x far above 0.
template <class T>
STATOR_FN T normal_exp(T x) {
  const ExpParts<T> e = exp_parts(x);
  return zero_if(x < ExpFormat<T>::subnormal_below, (T(1) + e.p) * power_of_two(e.shifted));
}

template <class T>
STATOR_FN T own_exp2(T x) {
  using E = ExpFormat<T>;
  const T shifted = x + E::less_one;
  const T value = exp_scaled(exp2_parts(x - (shifted - E::less_one), shifted), x < E::exp2_subnormal_below);
  return select(x <= E::exp2_infinite_above, zero_if(x < E::exp2_zero_below, value), x + infinite<T>);
}

template <class T>
STATOR_FN T own_expm1(T x) {
  using E = ExpFormat<T>;
  const ExpParts<T> e = exp_parts(x, E::less_one);
  const T half = power_of_two(e.shifted);  // half of 2^n, which may overflow although the result does not
  const T y = select(x > E::infinite_above, infinite<T>, multiply_add(half, e.p, half - T(0.5)) * T(2));
  return select(magnitude(x) < limits<T>::epsilon() / 2, x, select(x < E::expm1_flat, T(-1), y));
}

// With t = (exp(|x|) - 1) / 4, which is finite if the result is: 2 t + (t / (t + 1/4)) / 2.
template <class T>
STATOR_FN T own_sinh(T x) {
  const T a = magnitude(x);
  const ExpParts<T> e = exp_parts(a, Format<T>::round - T(2));
  const T power = power_of_two(e.shifted);
  const T t = multiply_add(power, e.p, power - T(0.25));
  const T y = multiply_add(T(2), t, T(0.5) * (t / (t + T(0.25))));
  const T bounded = select(a <= ExpFormat<T>::cosh_infinite_above, y, a + infinite<T>);
  return with_sign_of(select(a < limits<T>::epsilon() / 2, a, bounded), x);
}

// With q = exp(|x|) / 4: 2 q + 1 / (8 q).
template <class T>
STATOR_FN T own_cosh(T x) {
  const T a = magnitude(x);
  const ExpParts<T> e = exp_parts(a, Format<T>::round - T(2));
  const T quarter = from_bits<T>(bits(T(1) + e.p) + (bits(e.shifted) << Format<T>::mantissa));
  const T y = multiply_add(T(2), quarter, T(0.125) / quarter);
  return select(a <= ExpFormat<T>::cosh_infinite_above, y, a + infinite<T>);
}

// With m = exp(2 |x|) - 1: m / (m + 2).
template <class T>
STATOR_FN T own_tanh(T x) {
  const T a = magnitude(x);
  const ExpParts<T> e = exp_parts(a + a);
  const T power = power_of_two(e.shifted);
  const T m = multiply_add(power, e.p, power - T(1));
  return with_sign_of(select(a > ExpFormat<T>::tanh_flat, T(1), m / (m + T(2))), x);
}

}  // namespace stator::STATOR_TARGET::libm
