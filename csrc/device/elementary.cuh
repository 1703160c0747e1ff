// exp, log, tanh and their kin for the host columns: branch-free, so that loops over them vectorise; at most 2 ULP;
// right for NaN, infinities, zeros and subnormals.
// Sources: Cody and Waite, Software Manual for the Elementary Functions (1980); Moshier's Cephes; FreeBSD's msun.
#pragma once

#include "device/column.cuh"

#include <bit>
#include <limits>

namespace stator::STATOR_COLUMN::libm {

// a * b + c, fused where the instruction set can.
template <class T>
STATOR_FN T multiply_add(T a, T b, T c) {
#if defined(__FMA__)
  if constexpr (sizeof(T) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Polynomials, lowest power first.
template <class T>
STATOR_FN T polynomial(T, T c) {
  return c;
}
template <class T, class... C>
STATOR_FN T polynomial(T x, T c, C... rest) {
  return multiply_add(x, polynomial(x, rest...), c);
}

template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float tiny = 0x1p-63f;                                  // 2^-(bias / 2)
  static constexpr float round = 0x1.8p23f;                                // added and taken away, rounds to an integer
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;  // hi times an exponent is exact
  static constexpr float exp_low = -104.0f, exp_high = 89.0f, expm1_low = -30.0f;
  static constexpr float exp2_low = -151.0f, exp2_high = 129.0f;
  static constexpr Bits sqrt_half = 0x3f3504f3u;
  // (exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2, minimax
  STATOR_FN static float exp_tail(float r) {
    return polynomial(r, 0.5f, 0.16666573381900846f, 0.041666550110305124f, 0.0083637738744055735f,
                      0.0013926926614021907f);
  }
  // log((1+s)/(1-s)) = 2s + s * log_tail(s^2)
  STATOR_FN static float log_tail(float z) {
    return z * polynomial(z, 0xaaaaaa.0p-24f, 0xccce13.0p-25f, 0x91e9ee.0p-25f, 0xf89e26.0p-26f);
  }
  // (tanh(x) - x) / x on |x| < 0.625, from x^2
  STATOR_FN static float tanh_tail(float z) {
    return z * polynomial(z, -3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f, 2.06390887954e-2f,
                          -5.70498872745e-3f);
  }
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double tiny = 0x1p-511;
  static constexpr double round = 0x1.8p52;
  static constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
  static constexpr double exp_low = -746.0, exp_high = 710.0, expm1_low = -60.0;
  static constexpr double exp2_low = -1076.0, exp2_high = 1025.0;
  static constexpr Bits sqrt_half = 0x3fe6a09e667f3bcdu;
  STATOR_FN static double exp_tail(double r) {
    return polynomial(r, 0.5, 0.16666666666666667534, 0.041666666666620638584, 0.0083333333333297934996,
                      0.0013888888918939167785, 0.00019841269864380513295, 0.000024801518641395993583,
                      2.7557266418612303703e-6, 2.76213386691429238e-7, 2.5101346928350340198e-8);
  }
  STATOR_FN static double log_tail(double z) {
    return z * polynomial(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                          2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                          1.479819860511658591e-01);
  }
  STATOR_FN static double tanh_tail(double z) {
    const double p = polynomial(z, -1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1);
    const double q = polynomial(z, 4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0);
    return z * (p / q);
  }
};

template <class T>
using BitsOf = typename Format<T>::Bits;

template <class T>
STATOR_FN T magnitude(T x) {
  return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(x) & (~BitsOf<T>(0) >> 1));
}
template <class T>
STATOR_FN T with_sign_of(T x, T sign) {
  constexpr BitsOf<T> bit = ~(~BitsOf<T>(0) >> 1);
  return std::bit_cast<T>(std::bit_cast<BitsOf<T>>(x) | (std::bit_cast<BitsOf<T>>(sign) & bit));
}

// condition ? a : b by masks: of the operator the compiler would make paths, and compute each of them for every lane.
template <class T>
STATOR_FN T select(bool condition, T a, T b) {
  const BitsOf<T> mask = BitsOf<T>(0) - BitsOf<T>(condition);
  return std::bit_cast<T>((std::bit_cast<BitsOf<T>>(a) & mask) | (std::bit_cast<BitsOf<T>>(b) & ~mask));
}

// NaN stays NaN.
template <class T>
STATOR_FN T clamp(T x, T low, T high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

// 2^n for an integer n in the range of normal numbers: the low bits of n + round are n, and the shift drops the others.
template <class T>
STATOR_FN T power_of_two(T n) {
  using F = Format<T>;
  return std::bit_cast<T>((std::bit_cast<BitsOf<T>>(n + F::round) + BitsOf<T>(F::bias)) << F::mantissa);
}
// value * 2^n in two steps, as 2^n may be out of range; only the last rounds. `shifted` is n + round.
template <class T>
STATOR_FN T scale(T value, T shifted) {
  using F = Format<T>;
  using B = BitsOf<T>;
  const bool tiny = shifted < F::round - T(F::bias / 2);
  const B bias = B(F::bias - 1) + ((B(0) - B(tiny)) & B(F::bias / 2 + 1));
  const T first = std::bit_cast<T>((std::bit_cast<B>(shifted) + bias) << F::mantissa);
  return value * first * select(tiny, F::tiny, T(2));
}
inline constexpr double log2_e = 1.4426950408889634074, ln_2 = 0.69314718055994530942;

template <class T>
STATOR_FN T own_exp(T x) {
  using F = Format<T>;
  x = clamp(x, F::exp_low, F::exp_high);
  const T shifted = multiply_add(x, T(log2_e), F::round);
  const T n = shifted - F::round;
  const T r = multiply_add(n, -F::ln2_lo, multiply_add(n, -F::ln2_hi, x));
  return scale(T(1) + multiply_add(r * r, F::exp_tail(r), r), shifted);
}

template <class T>
STATOR_FN T own_exp2(T x) {
  using F = Format<T>;
  x = clamp(x, F::exp2_low, F::exp2_high);
  const T shifted = x + F::round;
  const T r = (x - (shifted - F::round)) * T(ln_2);
  return scale(T(1) + multiply_add(r * r, F::exp_tail(r), r), shifted);
}

template <class T>
STATOR_FN T own_expm1(T x) {
  using F = Format<T>;
  const T c = clamp(x, F::expm1_low, F::exp_high);
  const T n = multiply_add(c, T(log2_e), F::round) - F::round;
  const T r = multiply_add(n, -F::ln2_lo, multiply_add(n, -F::ln2_hi, c));
  const T p = multiply_add(r * r, F::exp_tail(r), r);
  const T half = power_of_two(n - T(1));  // 2^n itself may overflow
  const T value = multiply_add(half, p, half - T(0.5)) * T(2);
  return select(n == T(0), with_sign_of(magnitude(p), x), value);
}

template <class T>
STATOR_FN T own_log(T x) {
  using F = Format<T>;
  using B = BitsOf<T>;
  constexpr B mantissa_mask = (B(1) << F::mantissa) - 1;
  constexpr B offset = B(1024) << F::mantissa;  // keeps the exponent field from going below zero; wraps for float
  const bool subnormal = x < std::numeric_limits<T>::min();
  const B bits = std::bit_cast<B>(x * select(subnormal, T(B(1) << F::mantissa), T(1)));
  T k;
  B field;
  if constexpr (sizeof(T) == 4) {
    field = bits - F::sqrt_half;
    k = T(int32_t(field) >> F::mantissa);
  } else {
    field = bits - F::sqrt_half + offset;
    k = std::bit_cast<T>((field >> F::mantissa) | std::bit_cast<B>(0x1p52)) - (0x1p52 + 1024);
  }
  k = k - select(subnormal, T(F::mantissa), T(0));
  const T f = std::bit_cast<T>((field & mantissa_mask) + F::sqrt_half) - T(1);
  const T s = f / (T(2) + f);
  const T half_square = T(0.5) * f * f;
  const T tail = s * (half_square + F::log_tail(s * s));
  const T value = multiply_add(k, F::ln2_hi, f - (half_square - multiply_add(k, F::ln2_lo, tail)));
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T at_end = select(x == T(0), -infinity, select(x == infinity, infinity, std::numeric_limits<T>::quiet_NaN()));
  return select((x > T(0)) & (x < infinity), value, at_end);
}

// log(u) for u = 1 + x rounded, and a first-order correction for what the rounding lost.
template <class T>
STATOR_FN T own_log1p(T x) {
  const T u = T(1) + x;
  const T correction = (x - (u - T(1))) / u;
  const bool finite = (u > T(0)) & (u < std::numeric_limits<T>::infinity());
  const T value = own_log(u) + select(finite, correction, T(0));
  return select(magnitude(x) < std::numeric_limits<T>::epsilon() / 2, x, value);
}

template <class T>
STATOR_FN T own_tanh(T x) {
  const T a = magnitude(x);
  const T small = multiply_add(a, Format<T>::tanh_tail(a * a), a);
  const T large = T(1) - T(2) / (own_exp(a + a) + T(1));
  return with_sign_of(select(a < T(0.625), small, large), x);
}

}  // namespace stator::STATOR_COLUMN::libm
