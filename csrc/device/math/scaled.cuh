// Products without intermediate overflow, underflow or loss of precision: a mantissa of two parts (Dekker, Numerische
// Mathematik 18, 1971) and an exponent of 64 bits.
#pragma once

#include "../cascade.cuh"
#include "math.cuh"

namespace stator::STATOR_TARGET {

template <class T>
STATOR_FN T power_of_two(int e) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
  return bit_cast<T>(Bits(Bits(e + bias) << mantissa));
}

// v * 2^e for any e, in two steps, so that neither factor overflows and a subnormal result is rounded once.
template <class T>
STATOR_FN T scale_by(T v, int64_t e) {
  constexpr int most = sizeof(T) == 4 ? 250 : 2040;
  const int bounded = e > most ? most : e < -most ? -most : int(e);
  return v * power_of_two<T>(bounded / 2) * power_of_two<T>(bounded - bounded / 2);
}
template <class T>
STATOR_FN complex<T> scale_by(complex<T> v, int64_t e) {
  return {scale_by(v.re, e), scale_by(v.im, e)};
}

// Returns the mantissa, with absolute value in [1, 2), and sets the exponent. Zero, infinity and NaN are returned with
// exponent 0.
STATOR_FN double split_exponent(double v, int64_t& exponent) {
  const bool tiny = abs(v) < 0x1p-1022;
  const uint64_t bits = bit_cast<uint64_t>(tiny ? v * 0x1p64 : v);
  const int64_t field = int64_t(bits >> 52 & 0x7ff);
  const bool special = (field == 0x7ff) | (field == 0);
  exponent = special ? 0 : field - (tiny ? 1087 : 1023);
  return special ? v : bit_cast<double>((bits & ~(uint64_t(0x7ff) << 52)) | uint64_t(1023) << 52);
}
STATOR_FN complex128 split_exponent(complex128 v, int64_t& exponent) {
  const double x = abs(v.re), y = abs(v.im);
  split_exponent(x > y ? x : y, exponent);
  return scale_by(v, -exponent);
}

// The rounding error of p = a * b, if none of them is near the ends of the range.
STATOR_FN double product_error(double a, double b, double p) {
#if defined(STATOR_HOST) && !defined(__FMA__)
  constexpr double splitter = 0x1p27 + 1;
  const double ah = splitter * a - (splitter * a - a), al = a - ah;
  const double bh = splitter * b - (splitter * b - b), bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#else
  return fma(a, b, -p);
#endif
}

template <class V>
struct Scaled {
  V hi, lo;  // |hi|, or its larger part, is in [1, 2)
  int64_t exponent;
};

template <class V>
STATOR_FN Scaled<V> scaled(V v) {
  Scaled<V> s;
  s.hi = split_exponent(v, s.exponent);
  s.lo = V(0);
  return s;
}
template <class V>
STATOR_FN V value_of(const Scaled<V>& s) {
  return scale_by(compensated(s.hi, s.lo), s.exponent);
}

namespace detail {
// Keeps a product from being fused: g++ 12 fuses a product with an addition next to a subtraction (vfmaddsub) even with
// -ffp-contract=off.
STATOR_FN double rounded(double v) {
#if defined(STATOR_HOST)
  return __builtin_assoc_barrier(v);
#else
  return v;
#endif
}
STATOR_FN double exact_product(double a, double b, double& error) {
  const double p = rounded(a * b);
  error = product_error(a, b, p);
  return p;
}
STATOR_FN complex128 exact_product(complex128 a, complex128 b, complex128& error) {
  double e1, e2, e3, e4;
  complex128 p(exact_product(a.re, b.re, e1), exact_product(a.re, b.im, e2));
  const double q = exact_product(a.im, b.im, e3), r = exact_product(a.im, b.re, e4);
  error = {e1 - e3, e2 + e4};
  add_exactly(p.re, error.re, -q);
  add_exactly(p.im, error.im, r);
  return p;
}
STATOR_FN double larger_part(double v) { return abs(v); }
STATOR_FN double larger_part(complex128 v) {
  const double x = abs(v.re), y = abs(v.im);
  return x > y ? x : y;
}
STATOR_FN double times(double v, double factor) { return v * factor; }
STATOR_FN complex128 times(complex128 v, double factor) { return {v.re * factor, v.im * factor}; }
}  // namespace detail

template <class V>
STATOR_FN Scaled<V> multiply(const Scaled<V>& a, const Scaled<V>& b) {
  Scaled<V> s;
  const V hi = detail::exact_product(a.hi, b.hi, s.lo);
  s.lo = s.lo + (a.hi * b.lo + a.lo * b.hi);
  // The larger part is in [0.7, 8) now.
  const double size = detail::larger_part(hi);
  const int up = size >= 4 ? 2 : size >= 2 ? 1 : (size < 1) & (size > 0) ? -1 : 0;
  s.hi = detail::times(hi, power_of_two<double>(-up));
  s.lo = detail::times(s.lo, power_of_two<double>(-up));
  s.exponent = a.exponent + b.exponent + up;
  return s;
}

}  // namespace stator::STATOR_TARGET
