// The regularised incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), the same code on every target. In
// double for float too. The smaller of the two is computed and the other is its complement, with the methods of Gil,
// Segura and Temme, Efficient and accurate algorithms for the computation and inversion of the incomplete gamma
// function ratios (2012): the series of P (DLMF 8.7.1), the continued fraction of Q (DLMF 8.9.2), the series of Q for
// small a and x, and for large a Temme's expansion about x = a, which is uniform (DLMF 8.12).
#pragma once

#include "pair.cuh"
#include "special_beta.cuh"
#include "special_error.cuh"

namespace stator::STATOR_TARGET {

namespace special {

// log2 of (x / a)^a exp(a - x), which is not positive; the exponent of all powers in P and Q for large a. With
// d = x - a, r = d / (x + a) and t = 2 a / (x + a), its negative is log2(e) d r (1 - t (r / 3 + r^3 / 5 + ...)) near
// a, where the logarithm of x / a would cancel.
STATOR_FN Pair log2_of_power(double a, double x) {
  const Pair difference = exact_sum(x, -a), sum = exact_sum(x, a), r = difference / sum;
  if (abs(r.hi) > 0.1) return log2(Pair{x, 0.0} / Pair{a, 0.0}) * a + difference * -pair_log2_e;
  constexpr Pair third{0.33333333333333331, 1.850371707708594e-17};
  const double z = r.hi * r.hi;
  const double rest = z * libm::polynomial(z, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17);
  const Pair t = Pair{2 * a, 0.0} / sum, correction = t * r * (third + Pair{rest, 0.0});
  return -(difference * r * (Pair{1.0, 0.0} + -correction) * pair_log2_e);
}

// x^a exp(-x) / gamma(1 + a).
STATOR_FN double poisson(double a, double x) {
  if (a < 8) {
    if (x > 2000) return 0;  // where x^a may overflow
    const double half = exp(-0.5 * x);
    return pow(x, a) * half / gamma_1p(a) * half;
  }
  constexpr double root_of_turn = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  return times_power_of_two(root_of_turn / sqrt(a) * exp(-stirling_tail(a)), log2_of_power(a, x));
}

// The series of P(a, x).
STATOR_FN double lower_series(double a, double x) {
  double sum = 1, term = 1, n = a;
  do {
    n += 1;
    term *= x / n;
    sum += term;
  } while (term > 1e-17 * sum);
  return sum * poisson(a, x);
}

// The series of Q(a, x) for x <= 1: 1 - x^a / gamma(1 + a), and the terms of an alternating sum.
STATOR_FN double upper_series(double a, double x) {
  const double e = expm1(a * log(x) - gammaln_1p(a));
  double sum = 0, power = 1;
  STATOR_UNROLL(1)
  for (int n = 1; n < 20; ++n) {
    power *= -x / n;
    sum += power / (a + n);
  }
  return -e - a * (1 + e) * sum;
}

// The continued fraction of Q(a, x) for x > 1, as a series (Gautschi, ACM Transactions on Mathematical Software 5,
// 1979).
STATOR_FN double upper_fraction(double a, double x) {
  const double first = x + 1 - a;
  double p = 0, q = (x - 1 - a) * first, r = 4 * first, s = 1 - a, ratio = 0, term = 1, sum = 1;
  STATOR_UNROLL(1)
  for (int n = 0; n < 1000 && abs(term) > 1e-17 * sum; ++n) {
    p += s;
    q += r;
    r += 8;
    s += 2;
    const double tau = p * (1 + ratio);
    ratio = tau / (q - tau);
    term *= ratio;
    sum += term;
  }
  return a / first * sum * poisson(a, x);
}

// P(a, x) for x < a, else Q(a, x), for a >= 20 and eta^2 / 2 = `half_square` < 1/2: half of erfc(|eta| sqrt(a / 2)),
// and a power series in eta (Temme, SIAM Journal on Mathematical Analysis 18, 1987). `power` is log2 of
// exp(-a eta^2 / 2). The coefficients are those of eta / (x / a - 1).
STATOR_FN double uniform_expansion(double a, double x, Pair power, double half_square) {
  constexpr int count = 29;
  static constexpr double coefficients[count] = {1.0,
                                                 -0.3333333333333333,
                                                 0.08333333333333333,
                                                 -0.014814814814814815,
                                                 0.0011574074074074073,
                                                 0.0003527336860670194,
                                                 -0.0001787551440329218,
                                                 3.919263178522438e-05,
                                                 -2.185448510679992e-06,
                                                 -1.85406221071516e-06,
                                                 8.296711340953087e-07,
                                                 -1.7665952736826078e-07,
                                                 6.707853543401498e-09,
                                                 1.0261809784240309e-08,
                                                 -4.382036018453353e-09,
                                                 9.14769958223679e-10,
                                                 -2.5514193994946248e-11,
                                                 -5.830772132550426e-11,
                                                 2.4361948020667415e-11,
                                                 -5.0276692801141755e-12,
                                                 1.1004392031956135e-13,
                                                 3.371763262400985e-13,
                                                 -1.392388722418162e-13,
                                                 2.8534893807047445e-14,
                                                 -5.139111834242572e-16,
                                                 -1.9752288294349442e-15,
                                                 8.099521156704561e-16,
                                                 -1.6522531216398162e-16,
                                                 2.5305430097478883e-18};
  const double eta = copysign(sqrt(2 * half_square), x - a), inverse = 1 / a;
  // b(m - 1) = c(m) + (m + 1) b(m + 1) / a for m downwards, and the sum of b(m) eta^m by Horner's rule.
  double above = 0, here = 0, sum = 0;
  STATOR_UNROLL(1)
  for (int m = count - 1; m > 0; --m) {
    const double below = coefficients[m] + (m + 1) * inverse * above;
    sum = sum * eta + below;
    above = here;
    here = below;
  }
  constexpr double root_of_turn = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  const double rest = root_of_turn * sum / (1 + above * inverse) / sqrt(a);
  const double tail = 0.5 * STATOR_TARGET::erfcx(sqrt(a * half_square));
  return times_power_of_two(x < a ? tail - rest : tail + rest, power);
}

// P(a, x) or Q(a, x).
struct Incomplete {
  double value;
  bool upper;
};

STATOR_CALL Incomplete incomplete_gamma(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return {limits<double>::nan(), false};
  if (a == 0 || isinf(x)) return {0, true};
  if (x == 0 || isinf(a)) return {0, false};
  constexpr double huge = 1e300;  // where sums of a and x may overflow
  if (a > huge || x > huge) return {x == a ? 0.5 : 0.0, x >= a};
  if (a >= 8 && x < 1e-100 * a) return {0, false};  // (x / a)^a is smaller than the smallest number
  if (a >= 20) {
    const Pair power = log2_of_power(a, x);
    const double half_square = -power.hi / a * detail::ln_2;
    if (half_square < 0.5) return {uniform_expansion(a, x, power, half_square), x >= a};
  }
  // About where P = Q = 1/2.
  const double middle = x >= 0.25 ? x + 0.25 : -detail::ln_2 / log(x);
  if (a > middle) return {lower_series(a, x), false};
  return {x <= 1 ? upper_series(a, x) : upper_fraction(a, x), true};
}

}  // namespace special

// P(a, x), the lower incomplete gamma function over gamma(a); NaN for negative operands and where no limit exists.
template <class T>
STATOR_FN T gammainc(T a, T x) {
  const special::Incomplete found = special::incomplete_gamma(a, x);
  return T(found.upper ? 1 - found.value : found.value);
}

// Q(a, x), the upper one.
template <class T>
STATOR_FN T gammaincc(T a, T x) {
  const special::Incomplete found = special::incomplete_gamma(a, x);
  return T(found.upper ? found.value : 1 - found.value);
}

}  // namespace stator::STATOR_TARGET
