// Gamma and Poisson numbers, by rejection sampling. Element i has the Philox blocks of counters (offset + i, 0),
// (offset + i, 1), ..., for every launch shape. Computed in double; the result is rounded once.
#include "device/convert.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/math.cuh"
#include "kernels/random/unit.cuh"

#include <cmath>

namespace stator::STATOR_TARGET::random {
namespace {

struct RejectionTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 4096>::value;  // elements of a block
  static constexpr int chunk = 128;                          // elements at a time on the fast host
};

// Stores n neighbouring results in an integer or floating dtype.
STATOR_CALL void store_run(const double* value, void* out, DType d, int64_t first, int n) {
#define STATOR_CASE(name, type)                                    \
  case DType::name:                                                \
    if constexpr (in(DType::name, dtypes::reals)) {                \
      type* const to = static_cast<type*>(out) + first;            \
      for (int k = 0; k < n; ++k) to[k] = convert<type>(value[k]); \
    }                                                              \
    return;
  STATOR_DTYPE_SWITCH(d, STATOR_CASE)
#undef STATOR_CASE
}

// A distribution proposes candidates: `sure` says that a cheap test accepts one already, doubtful() is the full test
// for the others. finish() is applied to accepted values; plain() says that it changes nothing. All are branch-free.

// Marsaglia and Tsang: A simple method for generating gamma variables, ACM TOMS 26, 2000; shapes below 1 by its remark.
struct Gamma {
  double d, c, scale, boost;  // boost is 1 / shape for shapes below 1, else 0

  struct Try {
    double value, x, v, u;
    bool sure;
  };
  STATOR_FN Try candidate(const Philox4& w) const {
    double sine, cosine;
    sincos_turn(from_32_bits(w.x[2]) * 0x1p-32, sine, cosine);
    const double x = sqrt(-2.0 * portable_log(open_unit(w.x[0], w.x[1]))) * cosine;
    const double root = 1.0 + c * x, v = root * root * root, u = (from_32_bits(w.x[3]) + 0.5) * 0x1p-32;
    return {d * v * scale, x, v, u, bool((v > 0) & (u < 1.0 - 0.0331 * (x * x) * (x * x)))};
  }
  STATOR_FN bool doubtful(const Try& t) const {
    const double v = t.v > 0 ? t.v : 1.0;
    return (t.v > 0) & (portable_log(t.u) <= 0.5 * t.x * t.x + d * (1.0 - v + portable_log(v)));
  }
  STATOR_FN bool plain() const { return boost == 0; }
  STATOR_FN double finish(double value, uint64_t seed, uint64_t counter) const {
    const Philox4 b = philox4x32_10(seed, counter, uint64_t(1) << 63);
    return value * portable_exp(portable_log(open_unit(b.x[0], b.x[1])) * boost);
  }
};

// Hoermann's PTRS (The transformed rejection method for generating Poisson random variables, Insurance: Mathematics and
// Economics 12, 1993), for means from 10.
struct Poisson {
  double mean, a, b, inverse_alpha, certain, log_mean;

  struct Try {
    double value, v, edge;
    bool sure;
  };
  STATOR_FN Try candidate(const Philox4& x) const {
    const double u = unit(x.x[0], x.x[1]) - 0.5, v = open_unit(x.x[2], x.x[3]), edge = 0.5 - (u < 0 ? -u : u);
    const double k = floor((2 * a / edge + b) * u + mean + 0.43);
    return {k, v, edge, bool((edge >= 0.07) & (v <= certain))};
  }
  STATOR_FN bool doubtful(const Try& t) const {
    const bool possible = (t.value >= 0) & (t.edge > 0) & ((t.edge >= 0.013) | (t.v <= t.edge));
    const double k = possible ? t.value : 0.0, edge = possible ? t.edge : 0.5;
    const double chance = k * log_mean - mean - log_factorial(k);
    return possible & (portable_log(t.v * inverse_alpha / (a / (edge * edge) + b)) <= chance);
  }
  STATOR_FN bool plain() const { return true; }
  STATOR_FN double finish(double value, uint64_t, uint64_t) const { return value; }
};

// Fast host: a chunk of elements in loops that vectorise. First a candidate for each element with the cheap test; those
// that it does not accept are packed, and then tested and drawn again together until none is left.
template <class Draw>
STATOR_FN void draw_chunk(double (&value)[RejectionTuning::chunk], int n, uint64_t seed, uint64_t counter,
                          const Draw& draw) {
  constexpr int C = RejectionTuning::chunk;
  uint32_t bits[4][C];
  int32_t index[C], taken[C];
  const auto draw_bits = [&](int count, uint64_t attempt, auto at) {
    for (int k = 0; k < count; ++k) {
      const Philox4 x = philox4x32_10(seed, counter + uint64_t(at(k)), attempt);
      for (int j = 0; j < 4; ++j) bits[j][k] = x.x[j];
    }
  };
  draw_bits(C, 0, [](int k) { return k; });
  for (int k = 0; k < C; ++k) {
    const auto t = draw.candidate(Philox4{{bits[0][k], bits[1][k], bits[2][k], bits[3][k]}});
    value[k] = t.value;
    taken[k] = t.sure;
  }
  int left = 0;
  for (int k = 0; k < n; ++k) {
    index[left] = k;
    left += !taken[k];
  }
  for (uint64_t attempt = 0; left > 0; ++attempt) {
    double again[C];
    draw_bits(left, attempt, [&](int k) { return index[k]; });
    for (int k = 0; k < left; ++k) {
      const auto t = draw.candidate(Philox4{{bits[0][k], bits[1][k], bits[2][k], bits[3][k]}});
      again[k] = t.value;
      taken[k] = int32_t(t.sure) | int32_t(draw.doubtful(t));
    }
    int still = 0;
    for (int k = 0; k < left; ++k) {
      const int at = index[k];
      if (taken[k]) value[at] = again[k];
      index[still] = at;
      still += !taken[k];
    }
    left = still;
  }
  if (draw.plain()) return;
  for (int k = 0; k < C; ++k) value[k] = draw.finish(value[k], seed, counter + uint64_t(k));
}

template <class Draw, int Size>
STATOR_KERNEL(Size) void rejection_kernel(void* out, DType dtype, int64_t size, params::Draws from, Draw draw) {
  const auto [seed, offset] = start_of(from);
  const Group<Size> group;
  const int64_t first = group.block() * RejectionTuning::tile, left = size - first;
  const int64_t n = left < RejectionTuning::tile ? left : RejectionTuning::tile;
  if constexpr (fast_host) {
    for (int64_t i = 0; i < n; i += RejectionTuning::chunk) {
      double value[RejectionTuning::chunk];
      const int count = n - i < RejectionTuning::chunk ? int(n - i) : RejectionTuning::chunk;
      draw_chunk(value, count, seed, offset + uint64_t(first + i), draw);
      store_run(value, out, dtype, first + i, count);
    }
  } else {
    group.for_each(n, [=](int64_t i) {
      const uint64_t counter = offset + uint64_t(first + i);
      double value = 0;
      for (uint64_t attempt = 0;; ++attempt) {
        const auto t = draw.candidate(philox4x32_10(seed, counter, attempt));
        value = t.value;
        if (t.sure || draw.doubtful(t)) break;
      }
      if (!draw.plain()) value = draw.finish(value, seed, counter);
      store_one<double>(out, dtype, first + i, value);
    });
  }
}

// Poisson numbers of means below 10, by inversion: how many values of the distribution function are not above a uniform
// number.
struct FewEvents {
  static constexpr int most = 64;
  double cdf[most];  // ascending; 2 from where the terms are below the rounding error
};

template <int Size>
STATOR_KERNEL(Size) void few_events_kernel(void* out, DType dtype, int64_t size, params::Draws from, FewEvents law) {
  const auto [seed, offset] = start_of(from);
  const Group<Size> group;
  const int64_t first = group.block() * RejectionTuning::tile, left = size - first;
  const int64_t n = left < RejectionTuning::tile ? left : RejectionTuning::tile;
  if constexpr (fast_host) {
    constexpr int C = RejectionTuning::chunk;
    const double* const cdf = law.cdf;
    for (int64_t i = 0; i < n; i += C) {
      double u[C], value[C];
      int64_t below[C];
      for (int k = 0; k < C; ++k) {
        const Philox4 x = philox4x32_10(seed, offset + uint64_t(first + i + k), 0);
        u[k] = unit(x.x[0], x.x[1]);
        below[k] = 0;
      }
      for (int half = FewEvents::most / 2; half > 0; half /= 2)
        for (int k = 0; k < C; ++k) below[k] += cdf[below[k] + half - 1] <= u[k] ? half : 0;
      for (int k = 0; k < C; ++k) value[k] = double(below[k]);
      store_run(value, out, dtype, first + i, n - i < C ? int(n - i) : C);
    }
  } else {
    // In shared memory, because parameters that threads index differently would be copied to local memory.
    struct Shared {
      double cdf[FewEvents::most];
    };
    Shared& shared = group.template shared<Shared>();
    if (group.rank() == 0) {
      STATOR_UNROLL()
      for (int k = 0; k < FewEvents::most; ++k) shared.cdf[k] = law.cdf[k];
    }
    group.sync();
    group.for_each(n, [&](int64_t i) {
      const Philox4 x = philox4x32_10(seed, offset + uint64_t(first + i), 0);
      const double u = unit(x.x[0], x.x[1]);
      int below = 0;
      for (int half = FewEvents::most / 2; half > 0; half /= 2) below += shared.cdf[below + half - 1] <= u ? half : 0;
      store_one<double>(out, dtype, first + i, double(below));
    });
  }
}

template <class Kernel, class Draw>
void submit_rejection(const params::Queue& q, const char* name, const params::Random& p, Kernel kernel, Draw draw) {
  using Tune = RejectionTuning;
  launch(q, name, kernel, {ceil_div(p.size, Tune::tile), Tune::block}, p.out, p.dtype, p.size, p.from, draw);
}

void gamma(const params::Queue& q, const params::Random& p) {
  const double d = (p.a < 1 ? p.a + 1 : p.a) - 1.0 / 3;
  submit_rejection(q, "gamma", p, rejection_kernel<Gamma, RejectionTuning::block>,
                   Gamma{d, 1 / std::sqrt(9 * d), p.b, p.a < 1 ? 1 / p.a : 0});
}

void poisson(const params::Queue& q, const params::Random& p) {
  if (p.a < 10) {
    FewEvents law;
    double term = std::exp(-p.a), sum = term;
    for (int k = 0; k < FewEvents::most; ++k) {
      law.cdf[k] = term < 0x1p-60 && k > p.a ? 2 : sum;
      term *= p.a / (k + 1);
      sum += term;
    }
    return submit_rejection(q, "poisson", p, few_events_kernel<RejectionTuning::block>, law);
  }
  const double b = 0.931 + 2.53 * std::sqrt(p.a);
  submit_rejection(q, "poisson", p, rejection_kernel<Poisson, RejectionTuning::block>,
                   Poisson{.mean = p.a,
                           .a = -0.059 + 0.02483 * b,
                           .b = b,
                           .inverse_alpha = 1.1239 + 1.1328 / (b - 3.4),
                           .certain = 0.9277 - 3.6224 / (b - 2),
                           .log_mean = std::log(p.a)});
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, gamma)
STATOR_LAUNCHER(random, poisson)
