// Building blocks of the host targets' elementary functions: formats, selection by masks, polynomials, powers of two.
// Branch-free, so that loops vectorise: both sides of a selection are computed, and special values are selected last,
// off the critical path.
#pragma once

#include "../limits.cuh"
#include "polynomial.cuh"

namespace stator::STATOR_TARGET::libm {

template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float round = 0x1.8p23f;  // x + round - round is x rounded to an integer
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;  // hi times an exponent is exact
  static constexpr Bits sqrt_half = 0x3f3504f3u;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double round = 0x1.8p52;
  static constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
  static constexpr Bits sqrt_half = 0x3fe6a09e667f3bcdu;
};

inline constexpr double log2_e = 1.4426950408889634074, ln_2 = 0.69314718055994530942;

template <class T>
using BitsOf = typename Format<T>::Bits;
template <class T>
STATOR_FN BitsOf<T> bits(T x) {
  return bit_cast<BitsOf<T>>(x);
}
template <class T>
STATOR_FN T from_bits(BitsOf<T> b) {
  return bit_cast<T>(b);
}

// All ones or all zeros.
template <class T>
STATOR_FN BitsOf<T> mask(bool condition) {
  return BitsOf<T>(0) - BitsOf<T>(condition);
}
template <class T>
inline constexpr BitsOf<T> sign_bit = ~(~BitsOf<T>(0) >> 1);
template <class T>
inline constexpr T infinite = limits<T>::infinity();

template <class T>
STATOR_FN T magnitude(T x) {
  return from_bits<T>(bits(x) & ~sign_bit<T>);
}
// x must not be negative, or must have that sign already.
template <class T>
STATOR_FN T with_sign_of(T x, T sign) {
  return from_bits<T>(bits(x) | (bits(sign) & sign_bit<T>));
}

// condition ? a : b; on the host by masks, because the compiler would turn the operator into branches and compute both
// sides for every lane.
template <class T>
STATOR_FN T select(bool condition, T a, T b) {
#if defined(STATOR_HOST)
  const BitsOf<T> m = mask<T>(condition);
  return from_bits<T>((bits(a) & m) | (bits(b) & ~m));
#else
  return condition ? a : b;
#endif
}

// NaN stays NaN.
template <class T>
STATOR_FN T clamp(T x, T low, T high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

template <class T>
STATOR_FN T zero_if(bool condition, T x) {
  return select(condition, T(0), x);
}
template <class T>
STATOR_FN T nan_if(bool condition, T x) {
  return from_bits<T>(bits(x) | mask<T>(condition));
}

STATOR_FN float square_root(float x) { return __builtin_sqrtf(x); }
STATOR_FN double square_root(double x) { return __builtin_sqrt(x); }

namespace detail {
template <int Begin, int Count, class T, int N>
STATOR_FN T estrin(const T (&c)[N], T x, T x2, T x4, T x8) {
  if constexpr (Count == 1) {
    return c[Begin];
  } else {
    constexpr int low = Count > 8 ? 8 : Count > 4 ? 4 : Count > 2 ? 2 : 1;
    const T power = low == 8 ? x8 : low == 4 ? x4 : low == 2 ? x2 : x;
    return multiply_add(power, estrin<Begin + low, Count - low>(c, x, x2, x4, x8),
                        estrin<Begin, low>(c, x, x2, x4, x8));
  }
}
}  // namespace detail

// A polynomial of up to 16 coefficients, lowest power first, as a tree of pairs (Estrin 1960). Horner's rule is one
// dependent chain, whose latency leaves the arithmetic units idle.
template <class T, class... C>
STATOR_FN T estrin(T x, C... c) {
  const T coefficients[] = {c...};
  const T x2 = x * x, x4 = x2 * x2;
  return detail::estrin<0, int(sizeof...(c))>(coefficients, x, x2, x4, x4 * x4);
}

// 2^n for `shifted` = n + round, with n in the range of normal exponents: the low bits are n, and the shift drops the
// others.
template <class T>
STATOR_FN T power_of_two(T shifted) {
  using F = Format<T>;
  return from_bits<T>((bits(shifted) + BitsOf<T>(F::bias)) << F::mantissa);
}

// The rounding error of a product: a * b = product + product_error(a, b, product).
template <class T>
STATOR_FN T product_error(T a, T b, T product) {
#if defined(__FMA__) || !defined(STATOR_HOST)
  return multiply_add(a, b, -product);
#else
  // Dekker, A floating-point technique for extending the available precision (1971).
  constexpr T splitter = sizeof(T) == 4 ? T(0x1p12 + 1) : T(0x1p27 + 1);
  const T wide_a = a * splitter, wide_b = b * splitter;
  const T a_hi = wide_a - (wide_a - a), b_hi = wide_b - (wide_b - b);
  const T a_lo = a - a_hi, b_lo = b - b_hi;
  return ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
#endif
}

}  // namespace stator::STATOR_TARGET::libm
