// Weighted draws: the cumulative distribution function in fixed point, indices with replacement by bisection, and keys
// whose order gives indices without replacement.
#include "device/convert.cuh"
#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/random/math.cuh"
#include "kernels/random/unit.cuh"

#include <bit>

namespace stator::STATOR_TARGET::random {
namespace {

struct WeightsTuning {
  static constexpr int block = 256;
  static constexpr int scan_block = 1024, scan_items = by_target<8, 1>::value;  // of a thread
  static constexpr int tile = by_target<1024, 8192>::value;
  static constexpr int chunk = 128;  // elements at a time on the fast host
};

// Sums that saturate at the greatest value; wrapped sums of bad probabilities could seem to be 1.
struct SaturatingSum {
  static constexpr uint64_t greatest = ~uint64_t(0) >> 1;
  template <class A>
  STATOR_FN constexpr A identity() const {
    return A(0);
  }
  template <class A>
  STATOR_FN constexpr A operator()(A a, A b) const {
    const A sum = a + b;
    return sum < greatest ? sum : greatest;
  }
};

STATOR_FN uint64_t fixed_point(double p) {
  return p > 0 ? p < 1 ? uint64_t(int64_t(p * 0x1p62)) : uint64_t(1) << 62 : 0;
}

// What is known of the probabilities: their sum, how many are positive, how many are bad.
struct Tally {
  uint64_t sum, positive, bad;
};

STATOR_FN void check_probability(int64_t i, double value, Tally& t, const params::ErrorSlot& slot, uint16_t op) {
  t.positive += value > 0;
  if (value >= 0 && value < limits<double>::infinity()) return;
  ++t.bad;
  report(slot, op, params::Fault::bad_probability, i, std::bit_cast<int64_t>(value));
}

STATOR_FN void check_total(const params::BuildCdf& p, const Tally& t, const params::ErrorSlot& slot, uint16_t op) {
  const double total = double(t.sum) * 0x1p-62, off = total < 1 ? 1 - total : total - 1;
  if (t.bad == 0 && off <= p.tolerance && int64_t(t.positive) >= p.least) return;
  if (t.bad == 0 && off > p.tolerance)
    report(slot, op, params::Fault::bad_probability, params::sum_of_probabilities, std::bit_cast<int64_t>(total));
  else if (t.bad == 0)
    report(slot, op, params::Fault::bad_probability, params::few_probabilities, int64_t(t.positive));
  p.cdf[p.n - 1] = 0;
}

// One block, which scans tile after tile.
template <int Size>
STATOR_KERNEL(Size) void build_cdf_kernel(params::BuildCdf p, params::ErrorSlot slot, uint16_t op) {
  constexpr int Items = WeightsTuning::scan_items;
  const Group<Size> group;
  Tally mine{0, 0, 0};
  if constexpr (fast_host) {
    for (int64_t i = 0; i < p.n; ++i) {
      const double value = load_one<double>(p.p, p.dtype, i * p.step);
      check_probability(i, value, mine, slot, op);
      mine.sum = SaturatingSum{}(mine.sum, fixed_point(value));
      p.cdf[i] = mine.sum;
    }
    return check_total(p, mine, slot, op);
  } else {
    struct Carry {
      uint64_t value;
    };
    Carry& carry = group.template shared<Carry>();
    uint64_t before = 0;
    for (int64_t first = 0; first < p.n; first += int64_t(Size) * Items) {
      const int64_t begin = first + int64_t(group.rank()) * Items;
      // Thread sums.
      uint64_t partial[Items];
      STATOR_UNROLL()
      for (int k = 0; k < Items; ++k) {
        partial[k] = k > 0 ? partial[k - 1] : 0;
        if (begin + k >= p.n) continue;
        const double value = load_one<double>(p.p, p.dtype, (begin + k) * p.step);
        check_probability(begin + k, value, mine, slot, op);
        partial[k] = SaturatingSum{}(partial[k], fixed_point(value));
      }
      // Block scan.
      const uint64_t through = group.inclusive_scan(partial[Items - 1], SaturatingSum{});
      if (group.rank() == Size - 1) carry.value = SaturatingSum{}(before, through);
      // Wrong if sums saturate, but then the probabilities are refused.
      const uint64_t base = SaturatingSum{}(before, through - partial[Items - 1]);
      STATOR_UNROLL()
      for (int k = 0; k < Items; ++k)
        if (begin + k < p.n) p.cdf[begin + k] = SaturatingSum{}(base, partial[k]);
      group.sync();
      before = carry.value;
      group.sync();
    }
    mine.positive = group.reduce(mine.positive, Sum{});
    mine.bad = group.reduce(mine.bad, Sum{});
    mine.sum = before;
    if (group.rank() == 0) check_total(p, mine, slot, op);
  }
}

void build_cdf(const params::Queue& q, const params::BuildCdf& p) {
  using Tune = WeightsTuning;
  launch(q, "build_cdf", build_cdf_kernel<Tune::scan_block>, {p.n > 0, Tune::scan_block}, p, q.slot, q.op);
}

// An exponential number of rate `weight` divided by 2^60, so that it is finite for every positive weight.
STATOR_FN double exponential_key(uint32_t high, uint32_t low, double weight) {
  return weight > 0 ? 0.0 - portable_log(open_unit(high, low)) * 0x1p-60 / weight : limits<double>::infinity();
}

template <int Size>
STATOR_KERNEL(Size) void exponential_keys_kernel(params::ExponentialKeys p) {
  const auto [seed, offset] = start_of(p.from);
  const Group<Size> group;
  const int64_t first = group.block() * WeightsTuning::tile, left = p.n - first;
  const int64_t n = left < WeightsTuning::tile ? left : WeightsTuning::tile;
  if constexpr (fast_host) {
    constexpr int C = WeightsTuning::chunk;
    uint32_t high[C], low[C];
    double weight[C], key[C];
    for (int64_t i = first; i < first + n; i += C) {
      const int count = first + n - i < C ? int(first + n - i) : C;
      for (int k = 0; k < C / 2; ++k) {
        const Philox4 x = philox4x32_10(seed, offset + uint64_t(i / 2 + k), 0);
        high[k] = x.x[0];
        low[k] = x.x[1];
        high[C / 2 + k] = x.x[2];
        low[C / 2 + k] = x.x[3];
      }
      // Even elements, then odd ones.
      for (int k = 0; k < C; ++k) weight[k] = 0;
      for (int k = 0; k < count; ++k)
        weight[k / 2 + (k & 1) * (C / 2)] = load_one<double>(p.p, p.dtype, (i + k) * p.step);
      for (int k = 0; k < C; ++k) key[k] = exponential_key(high[k], low[k], weight[k]);
      for (int k = 0; k < count; ++k) p.keys[i + k] = key[k / 2 + (k & 1) * (C / 2)];
    }
  } else {
    group.for_each(n, [=](int64_t k) {
      const int64_t i = first + k;
      const Philox4 x = philox4x32_10(seed, offset + uint64_t(i / 2), 0);
      const double weight = load_one<double>(p.p, p.dtype, i * p.step);
      p.keys[i] = i & 1 ? exponential_key(x.x[2], x.x[3], weight) : exponential_key(x.x[0], x.x[1], weight);
    });
  }
}

void exponential_keys(const params::Queue& q, const params::ExponentialKeys& p) {
  using Tune = WeightsTuning;
  launch(q, "exponential_keys", exponential_keys_kernel<Tune::block>, {ceil_div(p.n, Tune::tile), Tune::block}, p);
}

// 53 random bits as a number below `total`.
STATOR_FN uint64_t below_total(uint32_t high, uint32_t low, uint64_t total) {
  const uint64_t bits = uint64_t(high >> 5) << 26 | low >> 6;
  return uint64_t(((unsigned __int128)bits * total) >> 53);
}

// The halvings of a branch-free bisection in n - 1 ascending entries.
struct Bisection {
  int64_t n;
  template <class F>
  STATOR_FN void for_each_step(const F& f) const {
    for (int64_t rest = n - 1; rest > 0;) {
      const int64_t half = (rest + 1) / 2;
      f(half);
      rest -= half;
    }
  }
};

template <int Size>
STATOR_KERNEL(Size) void categorical_kernel(params::Categorical p) {
  const auto [seed, offset] = start_of(p.from);
  const Group<Size> group;
  const int64_t first = group.block() * WeightsTuning::tile, left = p.size - first;
  const int64_t n = left < WeightsTuning::tile ? left : WeightsTuning::tile;
  const uint64_t* const cdf = p.cdf;
  const uint64_t total = cdf[p.n - 1];
  if (total == 0) return group.for_each(n, [=](int64_t k) { p.out[first + k] = 0; });
  const Bisection search{p.n};
  if constexpr (fast_host) {
    constexpr int C = WeightsTuning::chunk;
    uint32_t bits[4][C / 2];
    uint64_t value[C];
    int64_t index[C];
    for (int64_t i = 0; i < n; i += C) {
      for (int k = 0; k < C / 2; ++k) {
        const Philox4 x = philox4x32_10(seed, offset + uint64_t((first + i) / 2 + k), 0);
        for (int j = 0; j < 4; ++j) bits[j][k] = x.x[j];
      }
      for (int k = 0; k < C; ++k) {
        value[k] = below_total(bits[2 * (k & 1)][k / 2], bits[2 * (k & 1) + 1][k / 2], total);
        index[k] = 0;
      }
      search.for_each_step([&](int64_t half) {
        for (int k = 0; k < C; ++k) index[k] += cdf[index[k] + half - 1] <= value[k] ? half : 0;
      });
      const int64_t count = n - i < C ? n - i : C;
      for (int64_t k = 0; k < count; ++k) p.out[first + i + k] = index[k];
    }
  } else {
    group.for_each(n, [=](int64_t k) {
      const int64_t i = first + k;
      const Philox4 x = philox4x32_10(seed, offset + uint64_t(i / 2), 0);
      const uint64_t value = i & 1 ? below_total(x.x[2], x.x[3], total) : below_total(x.x[0], x.x[1], total);
      int64_t index = 0;
      search.for_each_step([&](int64_t half) { index += cdf[index + half - 1] <= value ? half : 0; });
      p.out[i] = index;
    });
  }
}

void categorical(const params::Queue& q, const params::Categorical& p) {
  using Tune = WeightsTuning;
  launch(q, "categorical", categorical_kernel<Tune::block>, {ceil_div(p.size, Tune::tile), Tune::block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::random

STATOR_LAUNCHER(random, build_cdf)
STATOR_LAUNCHER(random, exponential_keys)
STATOR_LAUNCHER(random, categorical)
