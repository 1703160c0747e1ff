// Numbers of two doubles, an unevaluated sum with about 106 bits (Dekker, Numerische Mathematik 18, 1971), for
// exponents: a power multiplies the rounding error of its exponent by the size of the exponent.
#pragma once

#include "elementary_power.cuh"
#include "scaled.cuh"

namespace stator::STATOR_TARGET {

struct Pair {
  double hi, lo;  // |lo| is at most half a unit in the last place of hi
};

// Requires |a| >= |b| or a == 0. A low part that is NaN, such as that of an infinite product, counts as 0.
STATOR_FN Pair pair_of(double a, double b) {
  b = b == b ? b : 0.0;
  const double hi = a + b, lo = b - (hi - a);
  return {hi, lo == lo ? lo : 0.0};
}
STATOR_FN Pair exact_sum(double a, double b) {
  const double hi = a + b, part = hi - a;
  return {hi, (a - (hi - part)) + (b - part)};
}
STATOR_FN Pair operator+(Pair a, Pair b) {
  const Pair s = exact_sum(a.hi, b.hi);
  return pair_of(s.hi, s.lo + (a.lo + b.lo));
}
STATOR_FN Pair operator-(Pair a) { return {-a.hi, -a.lo}; }
STATOR_FN Pair operator*(Pair a, Pair b) {
  const double p = detail::rounded(a.hi * b.hi);
  return pair_of(p, libm::product_error(a.hi, b.hi, p) + (a.hi * b.lo + a.lo * b.hi));
}
STATOR_FN Pair operator*(Pair a, double b) { return a * Pair{b, 0.0}; }
STATOR_FN Pair operator/(Pair a, Pair b) {
  const double q = a.hi / b.hi, p = detail::rounded(q * b.hi);
  return pair_of(q, (((a.hi - p) - libm::product_error(q, b.hi, p)) + (a.lo - q * b.lo)) / b.hi);
}

inline constexpr Pair pair_log2_e{1.4426950408889634, 2.0355273740931033e-17};

// log2 of a positive normal number.
STATOR_FN Pair log2(Pair x) {
  const libm::Log2<double> l(x.hi);
  return pair_of(l.high, l.low) + Pair{x.lo / x.hi * libm::log2_e, 0.0};
}

// factor * 2^e, which overflows or underflows only if the product does.
STATOR_FN double times_power_of_two(double factor, Pair e) {
  if (abs(e.hi) > 1e5) e = {e.hi < 0 ? -1e5 : 1e5, 0.0};
  const double whole = floor(e.hi + 0.5);
  return scale_by(factor * exp2((e.hi - whole) + e.lo), int64_t(whole));
}

}  // namespace stator::STATOR_TARGET
