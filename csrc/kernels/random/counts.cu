// Multinomial counts, as one binomial number per outcome.
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/math.cuh"
#include "kernels/random/unit.cuh"

namespace stator::STATOR_TARGET::random {
namespace {

struct CountsTuning {
  static constexpr int block = 256;
  static constexpr int experiments = by_target<256, 64>::value;  // of a block
};

// log(1 - p), corrected for the rounding of 1 - p (Goldberg: What every computer scientist should know about
// floating-point arithmetic, ACM Computing Surveys 23, 1991, theorem 4).
STATOR_FN double log_rest(double p) {
  const double rest = 1.0 - p, lost = 1.0 - rest;
  return lost == 0 ? -p : portable_log(rest) * (p / lost);
}

// log(a! / b!). For large numbers by the difference of the two Stirling series, whose terms are proportional to a - b;
// the difference of the logarithms would have no correct digits.
STATOR_FN double log_factorial_ratio(double a, double b) {
  if (a < 0x1p20 || b < 0x1p20) return log_factorial(a) - log_factorial(b);
  return (b + 0.5) * log_rest((b - a) / b) + (a - b) * (portable_log(a) - 1);
}

// A binomial number of n trials, n up to 2^53. Means below 10 by summing the distribution function, others by
// Hoermann's BTRS (The generation of binomial random variates, Journal of Statistical Computation and Simulation 46,
// 1993).
STATOR_FN double binomial(double n, double chance, uint64_t seed, uint64_t counter) {
  const bool flip = chance > 0.5;
  const double p = flip ? 1 - chance : chance;
  double k = 0;
  if (n * p < 10) {
    const Philox4 x = philox4x32_10(seed, counter, 0);
    const double u = unit(x.x[0], x.x[1]), odds = p / (1 - p);
    double term = portable_exp(n * log_rest(p)), sum = term;
    for (; u >= sum && k < n && k < 200; sum += term) {
      term *= odds * (n - k) / (k + 1);
      k += 1;
    }
    return flip ? n - k : k;
  }
  const double width = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * width, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double sure = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * width, mode = floor((n + 1) * p);
  for (uint64_t attempt = 0;; ++attempt) {
    const Philox4 x = philox4x32_10(seed, counter, attempt);
    const double u = unit(x.x[0], x.x[1]) - 0.5, v = open_unit(x.x[2], x.x[3]), edge = 0.5 - (u < 0 ? -u : u);
    k = floor((2 * a / edge + b) * u + n * p + 0.5);
    if (edge >= 0.07 && v <= sure) break;
    if (!(edge > 0) || k < 0 || k > n) continue;
    if (portable_log(v * alpha / (a / (edge * edge) + b)) <=
        log_factorial_ratio(mode, k) + log_factorial_ratio(n - mode, n - k) + (k - mode) * portable_log(p / (1 - p)))
      break;
  }
  return flip ? n - k : k;
}

// One experiment per thread: outcome after outcome, each a binomial number of the trials that are left.
template <int Size>
STATOR_KERNEL(Size) void multinomial_kernel(params::Multinomial p) {
  const auto [seed, offset] = start_of(p.from);
  const Group<Size> group;
  const int64_t tile = CountsTuning::experiments, first = group.block() * tile, left = p.experiments - first;
  const uint64_t total = p.cdf[p.n - 1];
  group.for_each(left < tile ? left : tile, [=](int64_t i) {
    int64_t* const counts = p.counts + (first + i) * p.n;
    const uint64_t counter = offset + uint64_t(first + i) * uint64_t(p.n);
    int64_t rest = total == 0 ? 0 : p.trials;
    uint64_t before = 0;
    for (int64_t k = 0; k < p.n; ++k) {
      const uint64_t weight = p.cdf[k] - before, remaining = total - before;
      const int64_t count =
          rest == 0 || weight == 0 ? 0
          : weight == remaining
              ? rest
              : int64_t(binomial(double(rest), double(weight) / double(remaining), seed, counter + uint64_t(k)));
      counts[k] = count;
      rest -= count;
      before = p.cdf[k];
    }
  });
}

void multinomial(const params::Queue& q, const params::Multinomial& p) {
  using Tune = CountsTuning;
  launch(q, "multinomial", multinomial_kernel<Tune::block>, {ceil_div(p.experiments, Tune::experiments), Tune::block},
         p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, multinomial)
