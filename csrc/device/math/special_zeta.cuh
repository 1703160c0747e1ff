// The Hurwitz zeta function and polygamma, the same code on every target. In double for float too, because the power
// q^-x multiplies the error of log(q) by x, and n! exceeds the range of float at n = 35.
// Euler-Maclaurin summation: DLMF 25.11.5 with the Bernoulli numbers of DLMF 24.2. The first term q^-s, which may
// overflow or underflow, is a separate factor: the sums are of (q / (q + k))^s.
#pragma once

#include "scaled.cuh"
#include "special_gamma.cuh"

namespace stator::STATOR_TARGET {

namespace special {

// (q / (q + k))^s for q > 0 and k >= 0. The error of the exponent matters little, since a large exponent makes a small
// power, unless a small s - 1 divides the power.
STATOR_FN double relative_power(double s, double q, double k) {
  return s < 1.5 ? pow(q / (q + k), s) : exp(-s * log1p(k / q));
}

// The sum of (q / (q + k))^s over k = 0, 1, ..., for s > 1 and q > 0, to the precision of T. In units of 2^60, because
// it is about q / (s - 1) if that is large.
inline constexpr double sum_unit = 0x1p60;
template <class T>
STATOR_FN double hurwitz(double s, double q) {
  constexpr int terms = sizeof(T) == 4 ? 6 : 12;
  // B_2j / (2j)!.
  constexpr double bernoulli[12] = {8.3333333333333333e-2,   -1.3888888888888889e-3,  3.3068783068783069e-5,
                                    -8.2671957671957672e-7,  2.0876756987868099e-8,   -5.2841901386874932e-10,
                                    1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                                    -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  // The terms of the series at a shrink by ((s + 2j) / (2 pi a))^2.
  const double end = s + (sizeof(T) == 4 ? 5.0 : 10.0);
  double k = 0, power = 1;
  Cascade<double> sum;
  for (; !(q + k >= end); k += 1) {
    if (!(power > sum.sum * 1e-18)) return sum.value() / sum_unit;
    sum.add(power);
    power = relative_power(s, q, k + 1);
  }
  const double a = q + k, inverse = 1 / a;
  double factor = s * inverse, rest = 0.5;
  STATOR_UNROLL()
  for (int j = 0; j < terms; ++j) {
    rest += factor * bernoulli[j];
    factor *= (s + (2 * j + 1)) * inverse * ((s + (2 * j + 2)) * inverse);
  }
  sum.add(power * rest);
  return sum.value() / sum_unit + power * (a / sum_unit / (s - 1));
}

// zeta(s, q) = sum * sum_unit * q^-s with another q > 0, which is 1 if the value is a limit.
struct HurwitzParts {
  double sum, q;
};

// For q < 0 and an integer s, with f = q - floor(q) and g = 1 - f, this is the sum over all f + k with an integer k,
// minus the terms below q: hurwitz(f) + (-1)^s (hurwitz(g) - hurwitz(1 - q)). All in units of the largest power.
template <class T>
STATOR_CALL HurwitzParts zeta_parts(double s, double q) {
  if (isnan(s) || isnan(q) || s < 1) return {limits<double>::nan(), 1};
  s = s < 1e300 ? s : 1e300;
  const double below = floor(q);
  if (s == 1 || (q <= 0 && q == below)) return {limits<double>::infinity(), 1};
  if (q < 0 && s != floor(s)) return {limits<double>::nan(), 1};
  if (isinf(q)) return {0, 1};
  if (q > 0) return {hurwitz<T>(s, q), q};
  const double from_below = q - below, to_above = ceil(q) - q;
  const double least = from_below < to_above ? from_below : to_above;
  double sum = 0, at = from_below, weight = 1;
  STATOR_UNROLL(1)
  for (int part = 0; part < 3; ++part) {
    sum += weight * relative_power(s, least, at - least) * hurwitz<T>(s, at);
    at = part == 0 ? to_above : 1 - q;
    weight = (s * 0.5 == floor(s * 0.5)) == (part == 0) ? 1 : -1;
  }
  return {sum, least};
}

template <class T>
STATOR_FN double zeta_of(double s, double q) {
  const HurwitzParts parts = zeta_parts<T>(s, q);
  const double root = pow(parts.q, -0.5 * s);  // q^-s may underflow although its product does not
  return isinf(root) ? parts.sum * root : root * sum_unit * parts.sum * root;
}

// base^n for an integer n >= 1. Squaring doubles the low part, so it is normalised again; exponents far beyond the
// range of double are clamped.
STATOR_FN Scaled<double> whole_power(Scaled<double> base, double n) {
  constexpr int64_t far = int64_t(1) << 32;
  Scaled<double> power = scaled(1.0);
  for (;;) {
    const double half = floor(0.5 * n);
    if (half + half != n) power = multiply(power, base);
    if (half == 0) return power;
    base = multiply(base, base);
    const double high = base.hi + base.lo;
    base.lo -= high - base.hi;
    base.hi = high;
    base.exponent = base.exponent > far ? far : base.exponent < -far ? -far : base.exponent;
    n = half;
  }
}

// (-1)^(n+1) n! zeta(n + 1, x), with a separate exponent, since n! may overflow when x^-n underflows. From n = 8 on
// n! is sqrt(2 pi n) (n / e)^n times the exponential of Stirling's series.
template <class T>
STATOR_CALL double polygamma_of(double n, double x) {
  if (!(n > 0) || n != floor(n) || isinf(n)) return limits<double>::nan();
  const HurwitzParts parts = zeta_parts<T>(n + 1, x);
  static constexpr double factorials[8] = {1, 1, 2, 6, 24, 120, 720, 5040};
  Scaled<double> inverse = scaled(parts.q), base;
  const double reciprocal = 1 / inverse.hi;
  inverse = {reciprocal + reciprocal, 2 * product_error(-reciprocal, inverse.hi, -1) * reciprocal,
             -inverse.exponent - 1};
  double factor;
  if (n < 8) {
    base = inverse;
    factor = factorials[int(n)];
  } else {
    const Scaled<double> per_e{1.4715177646857693, -4.971501469115345e-17, -2};  // 1 / e
    base = multiply(multiply(scaled(n), per_e), inverse);
    const double w = 1 / n;
    factor = sqrt(6.2831853071795865 * n) * exp(w * GammaFormat<double>::gammaln_tail(w * w));
  }
  const Scaled<double> product = multiply(multiply(whole_power(base, n), inverse), scaled(factor));
  const double value = value_of(multiply(product, scaled(parts.sum * sum_unit)));
  return n * 0.5 == floor(n * 0.5) ? -value : value;
}

}  // namespace special

// As scipy.special.zeta(x, q): NaN for x < 1, and for q < 0 unless x is an integer; infinite at its poles. For odd x
// and q < 0 the terms cancel, and the error is relative to the largest.
template <class T>
STATOR_FN T zeta(T x, T q) {
  return T(special::zeta_of<T>(x, q));
}

// The n-th derivative of digamma; NaN unless n is an integer and not negative.
template <class T>
STATOR_FN T polygamma(T n, T x) {
  return n == T(0) ? digamma(x) : T(special::polygamma_of<T>(n, x));
}

}  // namespace stator::STATOR_TARGET
