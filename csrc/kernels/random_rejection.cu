// Gamma and Poisson: draws that are accepted or rejected. Element i has the blocks (offset + i, 0), (offset + i, 1),
// ... of the counter. In double; the result is rounded once.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/launch.cuh"
#include "device/math.cuh"
#include "kernels/random_fill.cuh"

#include <cmath>

namespace stator::STATOR_COLUMN {
namespace {

struct RejectionTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_column<1024, 4096>::value;  // elements a block
  static constexpr int experiments = by_column<256, 64>::value;
};

// (0, 1] and [0, 1).
STATOR_FN double open_unit(uint32_t high, uint32_t low) { return (from_words(high, low) + 1.0) * 0x1p-53; }
STATOR_FN double unit(uint32_t high, uint32_t low) { return from_words(high, low) * 0x1p-53; }

// Marsaglia and Tsang: A simple method for generating gamma variables, ACM TOMS 26, 2000; its remark for shapes
// below 1.
struct Gamma {
  double d, c, boost, scale;  // boost: 1 / shape for shapes below 1, else 0

  STATOR_FN double operator()(uint64_t seed, uint64_t counter) const {
    for (uint64_t attempt = 0;; ++attempt) {
      const Philox4 w = philox4x32_10(seed, counter, attempt);
      double sine, cosine;
      sincos_turn(double(w.x[2]) * 0x1p-32, sine, cosine);
      const double x = sqrt(-2.0 * log(open_unit(w.x[0], w.x[1]))) * cosine;
      const double root = 1.0 + c * x, v = root * root * root, u = (double(w.x[3]) + 0.5) * 0x1p-32;
      if (v <= 0) continue;
      const bool surely = u < 1.0 - 0.0331 * (x * x) * (x * x);
      if (!surely && log(u) > 0.5 * x * x + d * (1.0 - v + log(v))) continue;
      const double value = d * v * scale;
      if (boost == 0) return value;
      const Philox4 b = philox4x32_10(seed, counter, attempt | uint64_t(1) << 63);
      return value * exp(log(open_unit(b.x[0], b.x[1])) * boost);
    }
  }
};

// log(k!), for whole k: Stirling's series, shifted up where it is short.
STATOR_FN double log_factorial(double k) {
  double x = k + 1, shifted = 1;
  for (; x < 10; x += 1) shifted *= x;
  const double z = 1 / (x * x);
  const double series = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680)))) / x;
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + series - log(shifted);
}

// Means below 10: the inverse of the distribution function by summing. Others: Hoermann's PTRS (The transformed
// rejection method for generating Poisson random variables, Insurance: Mathematics and Economics 12, 1993).
struct Poisson {
  double mean, none;  // none: exp(-mean)
  double a, b, inverse_alpha, sure, log_mean;

  STATOR_FN double operator()(uint64_t seed, uint64_t counter) const {
    if (mean < 10) {
      const Philox4 x = philox4x32_10(seed, counter, 0);
      const double u = unit(x.x[0], x.x[1]);
      double k = 0, term = none, sum = none;
      while (u >= sum && k < 200) {
        k += 1;
        term *= mean / k;
        sum += term;
      }
      return k;
    }
    for (uint64_t attempt = 0;; ++attempt) {
      const Philox4 x = philox4x32_10(seed, counter, attempt);
      const double u = unit(x.x[0], x.x[1]) - 0.5, v = open_unit(x.x[2], x.x[3]), edge = 0.5 - (u < 0 ? -u : u);
      const double k = floor((2 * a / edge + b) * u + mean + 0.43);
      if (edge >= 0.07 && v <= sure) return k;
      if (k < 0 || !(edge > 0) || (edge < 0.013 && v > edge)) continue;
      if (log(v * inverse_alpha / (a / (edge * edge) + b)) <= k * log_mean - mean - log_factorial(k)) return k;
    }
  }
};

// Binomial numbers of n trials. Means below 10 as Poisson's; others by Hoermann's BTRS (The generation of binomial
// random variates, Journal of Statistical Computation and Simulation 46, 1993).
STATOR_FN double binomial(double n, double chance, uint64_t seed, uint64_t counter) {
  const bool flip = chance > 0.5;
  const double p = flip ? 1 - chance : chance;
  double k = 0;
  if (n * p < 10) {
    const Philox4 x = philox4x32_10(seed, counter, 0);
    const double u = unit(x.x[0], x.x[1]), odds = p / (1 - p);
    double term = exp(n * log1p(-p)), sum = term;
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
    if (log(v * alpha / (a / (edge * edge) + b)) <= log_factorial(mode) + log_factorial(n - mode) - log_factorial(k) -
                                                        log_factorial(n - k) + (k - mode) * log(p / (1 - p)))
      break;
  }
  return flip ? n - k : k;
}

// Outcome after outcome, each of what the ones before it left.
template <int Size>
STATOR_KERNEL void multinomial_kernel(abi::Multinomial p) {
  const Group<Size> group;
  const int64_t tile = RejectionTuning::experiments, first = group.block() * tile, left = p.experiments - first;
  group.for_each(left < tile ? left : tile, [=](int64_t i) {
    int64_t* const counts = p.counts + (first + i) * p.n;
    const uint64_t counter = p.offset + uint64_t(first + i) * uint64_t(p.n);
    int64_t rest = p.trials;
    for (int64_t k = 0; k < p.n; ++k) {
      const double chance = p.chances[k];
      const int64_t count = rest == 0 || chance <= 0 ? 0
                            : chance >= 1 ? rest
                                          : int64_t(binomial(double(rest), chance, p.seed, counter + uint64_t(k)));
      counts[k] = count;
      rest -= count;
    }
  });
}

void multinomial(const abi::Queue& q, const abi::Multinomial& p) {
  using Tune = RejectionTuning;
  launch(q, "multinomial", multinomial_kernel<Tune::block>, {ceil_div(p.experiments, Tune::experiments), Tune::block},
         p);
}

template <class Draw, int Size>
STATOR_KERNEL void rejection_kernel(void* out, DType dtype, int64_t n, uint64_t seed, uint64_t offset, Draw draw) {
  const Group<Size> group;
  const int64_t first = group.block() * RejectionTuning::tile, left = n - first;
  group.for_each(left < RejectionTuning::tile ? left : RejectionTuning::tile, [=](int64_t i) {
    store_one<double>(out, dtype, first + i, draw(seed, offset + uint64_t(first + i)));
  });
}

template <class Draw>
void submit(const abi::Queue& q, const char* name, const abi::Random& p, Draw draw) {
  using Tune = RejectionTuning;
  launch(q, name, rejection_kernel<Draw, Tune::block>, {ceil_div(p.size, Tune::tile), Tune::block}, p.out, p.dtype,
         p.size, p.seed, p.offset, draw);
}

void gamma(const abi::Queue& q, const abi::Random& p) {
  const double d = (p.a < 1 ? p.a + 1 : p.a) - 1.0 / 3;
  submit(q, "gamma", p, Gamma{d, 1 / std::sqrt(9 * d), p.a < 1 ? 1 / p.a : 0, p.b});
}

void poisson(const abi::Queue& q, const abi::Random& p) {
  const double b = 0.931 + 2.53 * std::sqrt(p.a);
  submit(q, "poisson", p,
         Poisson{p.a, std::exp(-p.a), -0.059 + 0.02483 * b, b, 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2),
                 std::log(p.a)});
}

}  // namespace

void fill_rejection(kernels::RandomTable& table) {
  table.gamma = gamma;
  table.poisson = poisson;
  table.multinomial = multinomial;
}

}  // namespace stator::STATOR_COLUMN
