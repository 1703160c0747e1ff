// The beta function, the same code on every target. In double for float too, because the terms of its exponent cancel.
// From 8 on by Stirling's series (DLMF 5.11), whose powers have exponents of two parts; below 8 by the recurrence
// (DLMF 5.5) down to [1, 2]; reflected (DLMF 5.5.3) if an operand is negative.
#pragma once

#include "pair.cuh"
#include "special_gamma.cuh"

namespace stator::STATOR_TARGET {

namespace special {

// gammaln(1 + y) for 0 <= y <= 2.
STATOR_FN double gammaln_1p(double y) { return y * (y - 1) * (0.5 + GammaFormat<double>::gammaln_middle(y)); }

// gamma(1 + x) for 0 <= x <= 16: x (x - 1) ... times the function at a number below 1. The differences are exact.
STATOR_FN double gamma_1p(double x) {
  double product = 1;
  STATOR_UNROLL(1)
  for (; x > 1; x -= 1) product *= x;
  return product * exp(gammaln_1p(x));
}

// gammaln(x) less Stirling's formula, for x >= 8.
STATOR_FN double stirling_tail(double x) {
  const double inverse = 1 / x;
  return inverse * GammaFormat<double>::gammaln_tail(inverse * inverse);
}

// sin(pi x); `low` is a small part of x.
STATOR_FN double sine_of_pi(double x, double low = 0) {
  const double whole = floor(x + 0.5), r = (x - whole) + low, value = r * GammaFormat<double>::sine(r * r);
  return whole * 0.5 == floor(whole * 0.5) ? value : -value;
}

// factor * 2^exponent.
struct BetaParts {
  double factor;
  Pair exponent = {0.0, 0.0};
};
STATOR_FN BetaParts inverse(BetaParts b, double numerator) { return {numerator / b.factor, -b.exponent}; }
STATOR_FN BetaParts times(BetaParts b, double factor) { return {b.factor * factor, b.exponent}; }

// For 0 < a <= b.
STATOR_CALL BetaParts beta_right(double a, double b) {
  if (isinf(b)) return {isinf(a) ? limits<double>::nan() : 0.0};
  // Times a power of two if 1 / a would overflow.
  const double lift = a < 0x1p-1000 ? 128 : 0, divisor = lift > 0 ? a * 0x1p128 : a;
  if (b < 8) {
    // gamma(1 + a + b) for the sum with its rounding error; the derivative of its logarithm is about log(a + b + 1/2).
    const Pair sum = exact_sum(a, b);
    const double lost = sum.lo * log(sum.hi + 0.5);
    return {sum.hi / b / divisor * (gamma_1p(a) * gamma_1p(b) / gamma_1p(sum.hi)) * (1 - lost), {lift, 0.0}};
  }
  // A quarter of the operands, whose sum does not overflow.
  const Pair quarter = exact_sum(0.25 * b, 0.25 * a);
  const Pair share = Pair{0.25 * b, 0.0} / quarter;
  const double ratio = quarter.hi / (0.25 * b), end = stirling_tail(b) - stirling_tail(4 * quarter.hi);
  const Pair power = log2(share) * b;
  if (a < 8) {
    const Pair sum = log2(quarter) + Pair{2.0, 0.0};
    const Pair exponent = ((power + pair_log2_e * a) + sum * -a) + Pair{lift, 0.0};
    return {gamma_1p(a) / divisor * sqrt(ratio) * exp(end), exponent};
  }
  constexpr double root_of_turn = 2.5066282746310005024;  // sqrt(2 pi)
  return {root_of_turn * sqrt(ratio / a) * exp(end + stirling_tail(a)),
          power + log2(Pair{0.25 * a, 0.0} / quarter) * a};
}

// For all a and b. Infinity at its poles, as in SciPy, unless the pole of an integer a <= 0 cancels that of a + b.
STATOR_CALL BetaParts beta_parts(double a, double b) {
  constexpr double pi = 3.14159265358979323846, infinity = limits<double>::infinity();
  if (isnan(a) || isnan(b)) return {limits<double>::nan()};
  if (a > b) {
    const double larger = a;
    a = b;
    b = larger;
  }
  if (a > 0) return beta_right(a, b);
  const Pair sum = exact_sum(a, b);
  const bool whole_a = a == floor(a), whole_b = b == floor(b);
  if (isinf(a) || isinf(b) || (whole_b && b <= 0) || (whole_a && !(whole_b && sum.hi <= 0))) return {infinity};
  if (b < 0) {
    const double sines = sine_of_pi(sum.hi, sum.lo) / (sine_of_pi(a) * sine_of_pi(b));
    return inverse(beta_right(1 - b, 1 - a), pi * sines / (1 - sum.hi));
  }
  if (sum.hi > 0) {
    const double x = 1 - a, y = sum.hi;
    return inverse(x < y ? beta_right(x, y) : beta_right(y, x), pi / (b * sine_of_pi(a)));
  }
  if (sum.hi == 0 && !whole_b) return {0.0};
  const double sign = b * 0.5 == floor(b * 0.5) ? 1.0 : -1.0;
  const double sines = whole_b ? sign : sine_of_pi(sum.hi, sum.lo) / sine_of_pi(a), y = (1 - sum.hi) - sum.lo;
  return times(b < y ? beta_right(b, y) : beta_right(y, b), sines);
}

}  // namespace special

// gamma(a) gamma(b) / gamma(a + b). For negative operands the error is that of a reflection: it grows with the operands
// and near zeros.
template <class T>
STATOR_FN T beta(T a, T b) {
  const special::BetaParts parts = special::beta_parts(a, b);
  return T(times_power_of_two(parts.factor, parts.exponent));
}

// log|beta(a, b)|; near its zeros errors are relative to 1.
template <class T>
STATOR_FN T betaln(T a, T b) {
  const special::BetaParts parts = special::beta_parts(a, b);
  const double size = abs(parts.factor), e = parts.exponent.hi;
  return T(abs(e) < 900 && size > 1e-30 && size < 1e30 ? log(times_power_of_two(size, parts.exponent))
                                                       : log(size) + e * detail::ln_2);
}

}  // namespace stator::STATOR_TARGET
