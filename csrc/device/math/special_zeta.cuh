// The Hurwitz zeta function and polygamma, the same code on every target. In double for float too, because the power
// q^-x multiplies the error of log(q) by x, and n! exceeds the range of float at n = 35.
// Euler-Maclaurin summation: DLMF 25.11.5 with the Bernoulli numbers of DLMF 24.2.
#pragma once

#include "device/math/special_gamma.cuh"

namespace stator::STATOR_TARGET {

namespace special {

// The sum of (q + k)^-s over k = 0, 1, ..., for s > 1 and q > 0, to the precision of T.
template <class T>
STATOR_FN double hurwitz(double s, double q) {
  constexpr int terms = sizeof(T) == 4 ? 6 : 12;
  // B_2j / (2j)!.
  constexpr double bernoulli[12] = {8.3333333333333333e-2,   -1.3888888888888889e-3,  3.3068783068783069e-5,
                                    -8.2671957671957672e-7,  2.0876756987868099e-8,   -5.2841901386874932e-10,
                                    1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                                    -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  s = s < 1e300 ? s : 1e300;
  // The terms of the series at a shrink by ((s + 2j) / (2 pi a))^2.
  const double end = s + (sizeof(T) == 4 ? 5.0 : 10.0);
  double a = q, a_rest = 0, sum = 0, sum_rest = 0, root;
  for (int k = 1;; ++k) {
    const bool last = a >= end;
    const double exponent = last ? -0.5 * s : -s;
    root = pow(a, exponent);
    if (!isfinite(root)) return root;
    root += root * (exponent * a_rest / a);
    if (last) break;
    if (!(root > sum * 1e-18)) return sum + sum_rest;
    const double next = sum + root;
    sum_rest += root - (next - sum);
    sum = next;
    a = q + k;
    a_rest = (q - (a - (a - q))) + (k - (a - q));
  }
  if (root == 0) return sum + sum_rest;
  // a^-s may underflow where a^(1 - s) does not.
  const double inverse = 1 / a;
  double factor = s * inverse, rest = 0.5;
  STATOR_UNROLL()
  for (int j = 0; j < terms; ++j) {
    rest += factor * bernoulli[j];
    factor *= (s + (2 * j + 1)) * inverse * ((s + (2 * j + 2)) * inverse);
  }
  return sum + (sum_rest + root * (a * root / (s - 1) + root * rest));
}

// For q < 0 and an integer s, with f = q - floor(q) and g = 1 - f, this is the sum over all f + k with an integer k,
// minus the terms below q: hurwitz(f) + (-1)^s (hurwitz(g) - hurwitz(1 - q)).
template <class T>
STATOR_CALL double zeta_of(double s, double q) {
  if (isnan(s) || isnan(q) || s < 1) return limits<double>::nan();
  const double below = floor(q);
  if (s == 1 || (q <= 0 && q == below)) return limits<double>::infinity();
  if (q < 0 && s != floor(s)) return limits<double>::nan();
  double sum = 0, at = q < 0 ? q - below : q, weight = 1;
  STATOR_UNROLL(1)
  for (int part = 0; part < (q < 0 ? 3 : 1); ++part) {
    sum += weight * hurwitz<T>(s, at);
    at = part == 0 ? ceil(q) - q : 1 - q;
    weight = (s * 0.5 == floor(s * 0.5)) == (part == 0) ? 1 : -1;
  }
  return sum;
}

// (-1)^(n+1) n! zeta(n + 1, x), where the product is compensated for its rounding errors.
template <class T>
STATOR_CALL double polygamma_of(double n, double x) {
  if (!(n > 0) || n != floor(n)) return limits<double>::nan();
  double product = zeta_of<T>(n + 1, x), lost = 0;
  for (double k = 2; k <= n && isfinite(product) && product != 0; k += 1) {
    const double next = product * k;
    lost = lost * k + fma(product, k, -next);
    product = next;
  }
  const double value = isfinite(product) ? product + lost : product;
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
