// Histograms of a range that grows, and the part of the range that is quantised with the least error.
#include "device/atomic.cuh"
#include "device/functional.cuh"
#include "device/math/math.cuh"
#include "host/launcher.hpp"
#include "kernels/quantization/lines.cuh"

#include <algorithm>

namespace stator::STATOR_TARGET::quantization {
namespace {

struct HistogramTuning {
  static constexpr int block = 256;
  static constexpr int64_t tile = by_target<16384, 65536>::value;  // elements per block
  static constexpr int64_t shared_bins = 8192;                     // of a histogram in shared memory
  static constexpr int fine = 16;                                  // parts of a bin that move to other bins
};

// A range of no length reaches one further on both sides. Of one whose product with the number of bins A cannot hold, a
// fraction is taken.
template <class A>
struct Bins {
  A low, high, count, unit;

  STATOR_FN Bins(double min, double max, int64_t bins) : low(A(min)), high(A(max)), count(A(bins)), unit(A(1)) {
    if (low == high) {
      low -= A(1);
      high += A(1);
    }
    if (isfinite((high - low) * count)) return;
    unit = A(0x1p-64);
    low *= unit;
    high *= unit;
  }
  STATOR_FN int64_t of(A v) const {
    const int64_t bin = int64_t((v * unit - low) * count / (high - low)), most = int64_t(count) - 1;
    return bin < 0 ? 0 : bin > most ? most : bin;
  }
};

template <int Size>
STATOR_KERNEL(Size) void histogram_count_kernel(params::HistogramCount p, bool shared) {
  const Group<Size> group;
  uint32_t* const own = shared ? group.template dynamic<uint32_t>(p.bins) : p.counts;
  const int64_t bins = p.bins;
  if (shared) {
    group.for_each(bins, [=](int64_t k) { own[k] = 0; });
    group.sync();
  }
  const int64_t first = group.block() * HistogramTuning::tile;
  const int64_t n = p.n - first < HistogramTuning::tile ? p.n - first : HistogramTuning::tile;
  visit<dtypes::floats>(p.dtype, [&]<class T>(type_tag<T>) {
    using A = opmath_t<T>;
    const T* const x = static_cast<const T*>(p.x) + first;
    const Bins<A> range(p.range[0], p.range[1], bins);
    for (int64_t i = group.rank(); i < n; i += Group<Size>::size) {
      const A v = convert<A>(x[i]);
      if (!(v - v == A(0))) continue;
      uint32_t* const at = own + range.of(v);
      if (fast_host && shared)
        ++*at;
      else
        atomic_add(at, 1u);
    }
  });
  if (!shared) return;
  group.sync();
  uint32_t* const counts = p.counts;
  for (int64_t k = group.rank(); k < bins; k += Group<Size>::size)
    if (own[k] != 0) atomic_add(counts + k, own[k]);
}

void histogram_count(const params::Queue& q, const params::HistogramCount& p) {
  constexpr int block = HistogramTuning::block;
  const bool shared = p.bins <= HistogramTuning::shared_bins;
  launch(q, "histogram_count", histogram_count_kernel<block>,
         {ceil_div(p.n, HistogramTuning::tile), block, shared ? int(p.bins * sizeof(uint32_t)) : 0}, p, shared);
}

// One block: the old counts move to the bins of the new range, and the new ones are added.
template <int Size>
STATOR_KERNEL(Size) void histogram_update_kernel(params::HistogramUpdate p) {
  constexpr int64_t fine = HistogramTuning::fine;
  const Group<Size> group;
  const int64_t bins = p.bins;
  const double min = load_one<double>(p.min, p.state_dtype, 0), max = load_one<double>(p.max, p.state_dtype, 0);
  const double new_min = p.range[0], new_max = p.range[1];
  const bool empty = !(min <= max), same = min == new_min && max == new_max;
  const float* const old = p.histogram;
  float* const next = p.next;
  const Bins<double> range(new_min, new_max, bins);
  const double width = (max - min) / double(bins * fine);
  const double total =
      !empty && min == max ? group.template map_sum<double>(bins, [=](int64_t k) { return double(old[k]); }) : 0.0;
  group.for_each(bins, [=](int64_t j) {
    double value = 0;
    if (empty) {
      value = 0;
    } else if (same) {
      value = double(old[j]);
    } else if (min == max) {
      value = range.of(min) == j ? total : 0.0;
    } else {
      // The parts whose middle is in bin j follow each other: the first one that is not below it.
      int64_t low = 0, high = bins * fine;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (range.of(min + (double(middle) + 0.5) * width) < j)
          low = middle + 1;
        else
          high = middle;
      }
      for (int64_t k = low; k < bins * fine && range.of(min + (double(k) + 0.5) * width) == j; ++k)
        value += double(old[k / fine]) / double(fine);
    }
    next[j] = float(value);
  });
  group.sync();
  float* const to = p.histogram;
  uint32_t* const counts = p.counts;
  group.for_each(bins, [=](int64_t j) {
    to[j] = next[j] + float(counts[j]);
    counts[j] = 0;
  });
  if (group.rank() != 0) return;
  store_one(p.min, p.state_dtype, 0, new_min);
  store_one(p.max, p.state_dtype, 0, new_max);
}

void histogram_update(const params::Queue& q, const params::HistogramUpdate& p) {
  constexpr int block = HistogramTuning::block;
  launch(q, "histogram_update", histogram_update_kernel<block>, {1, block}, p);
}

// The squared error of a histogram whose bins from `start` to `end` are quantised to `levels`.
struct RangeError {
  const float* histogram;
  double width, step;  // of a bin, of a level
  int64_t start, levels;

  STATOR_FN static double cube(double v) { return v * v * v; }
  STATOR_FN double level_of(double v) const {
    const double level = floor(v / step), most = double(levels - 1);
    return level < 0 ? 0.0 : level > most ? most : level;
  }
  STATOR_FN double operator()(int64_t k) const {
    const double density = double(histogram[k]) / width, half = step / 2;
    const double begin = double(k - start) * width, end = begin + width;
    const double first = level_of(begin), last = level_of(end);
    const double before = cube(half) - cube(begin - (first + 0.5) * step);
    const double between = (last - first - 1) * 2 * cube(half);
    const double after = cube(end - (last * step + half)) + cube(half);
    return density * (before + between + after) / 3;
  }
};

// One block. All threads take the same decisions.
template <int Size>
STATOR_KERNEL(Size) void histogram_search_kernel(params::HistogramSearch p) {
  const Group<Size> group;
  const int64_t bins = p.bins;
  double* const sums = p.sums;
  const float* const histogram = p.histogram;
  const double min = load_one<double>(p.min, p.state_dtype, 0), max = load_one<double>(p.max, p.state_dtype, 0);
  const double width = (max - min) / double(bins);
  for (int64_t first = 0; first < bins; first += Group<Size>::size) {
    const int64_t k = first + group.rank();
    const double before = first > 0 ? sums[first - 1] : 0.0;
    const double sum = group.inclusive_scan(k < bins ? double(histogram[k]) : 0.0, Sum{});
    if (k < bins) sums[k] = before + sum;
    group.sync();
  }
  const double total = sums[bins - 1];
  constexpr double step = 1e-5;
  double alpha = 0, beta = 1, least = limits<double>::infinity();
  int64_t start = 0, end = bins - 1;
  while (alpha < beta && total > 0 && width > 0) {
    double next_alpha = alpha + step, next_beta = beta - step;
    // Steps of beta that leave both ends where they are, but for the last of them, at once.
    if (!(sums[start] < next_alpha * total) || start == end) {
      const double reached = sums[end] / total, until = start == end || reached < alpha ? alpha : reached;
      const double jump = floor((beta - until) / step) - 2;
      if (jump > 0) {
        beta -= jump * step;
        next_beta = beta - step;
      }
    }
    int64_t l = start, r = end;
    while (l < end && sums[l] < next_alpha * total) ++l;
    while (r > start && sums[r] > next_beta * total) --r;
    int64_t next_start = start, next_end = end;
    if (l - start > end - r) {
      next_start = l;
      alpha = next_alpha;
    } else {
      next_end = r;
      beta = next_beta;
    }
    if (next_start == start && next_end == end) continue;
    const double level = width * double(next_end - next_start + 1) / double(p.levels);
    const double error =
        group.template map_sum<double>(bins, RangeError{histogram, width, level, next_start, p.levels});
    if (error > least) break;
    least = error;
    start = next_start;
    end = next_end;
  }
  if (group.rank() != 0) return;
  const bool any = min <= max;  // else nothing was observed, and the range is that of no elements
  *p.out_min = float(any ? min + width * double(start) : min);
  *p.out_max = float(any ? min + width * double(end + 1) : max);
}

void histogram_search(const params::Queue& q, const params::HistogramSearch& p) {
  constexpr int block = HistogramTuning::block;
  launch(q, "histogram_search", histogram_search_kernel<block>, {1, block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::quantization

STATOR_LAUNCHER(quantization, histogram_count)
STATOR_LAUNCHER(quantization, histogram_update)
STATOR_LAUNCHER(quantization, histogram_search)
