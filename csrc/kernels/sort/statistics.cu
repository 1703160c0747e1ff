// Statistics of sorted segments: quantiles and the most frequent value.
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/sort/keys.cuh"
#include "params/sort.hpp"

#include <limits>
#include <type_traits>

namespace stator::STATOR_TARGET::sort {
namespace {

constexpr int statistics_block = 256;

// a + (b - a) t, but with no overflow of b - a and no NaN from inf - inf.
STATOR_FN double between(double a, double b, double t) {
  if (a == b || t == 0) return a;
  const double span = b - a;
  if (isinf(span)) return t == 1 ? b : a * (1 - t) + b * t;
  return t < 0.5 ? a + span * t : b - span * (1 - t);
}

template <int Size>
STATOR_KERNEL(Size) void quantile_kernel(params::Quantile p, int64_t tile) {
  const Group<Size> group;
  const int64_t total = p.segments * p.count, first = group.block() * tile;
  group.for_each(total - first < tile ? total - first : tile, [&](int64_t i) {
    const int64_t k = (first + i) / p.segments, segment = first + i - k * p.segments, start = segment * p.n,
                  at = p.index[k];
    const double last = load_one<double>(p.sorted, p.dtype, start + p.n - 1);
    const double a = load_one<double>(p.sorted, p.dtype, start + at);
    const double b = load_one<double>(p.sorted, p.dtype, start + (at + 1 < p.n ? at + 1 : at));
    store_one(p.out, p.out_dtype, first + i, isnan(last) ? last : between(a, b, p.fraction[k]));
  });
}

void quantile(const params::Queue& q, const params::Quantile& p) {
  const int64_t tile = by_target<statistics_block, 4096>::value;
  launch(q, "quantile", quantile_kernel<statistics_block>, {ceil_div(p.segments * p.count, tile), statistics_block}, p,
         tile);
}

struct EqualRun {
  int64_t length, end;  // end: its last element
};
struct LongestRun {
  template <class A>
  STATOR_FN static constexpr A identity() {
    return {0, std::numeric_limits<int64_t>::max()};
  }
  STATOR_FN EqualRun operator()(EqualRun a, EqualRun b) const {
    return a.length > b.length || (a.length == b.length && a.end < b.end) ? a : b;
  }
};

// Fast host: the first of the longest runs of n sorted items. The starts of the runs of a chunk are found in vectors.
template <class K, class Item>
STATOR_CALL EqualRun longest_run(const Codec<K>& codec, const Item* sorted, int64_t n) {
  constexpr int64_t chunk = 512;
  const Codec<K> own = codec;
  uint8_t head[chunk];
  int64_t start = 0;
  EqualRun best{0, 0};
  for (int64_t first = 0; first < n; first += chunk) {
    const int count = int(n - first < chunk ? n - first : chunk);
    const Item* const at = sorted + first;
    head[0] = first == 0 || own.ordinal(own.encode(at[0])) != own.ordinal(own.encode(at[-1]));
    for (int j = 1; j < count; ++j) head[j] = own.ordinal(own.encode(at[j])) != own.ordinal(own.encode(at[j - 1]));
    for (int j = 0; j < count; ++j) {
      start = head[j] ? first + j : start;
      if (first + j - start >= best.length) best = {first + j - start + 1, first + j};
    }
  }
  return best;
}

// Blocks with threads: the same. The thread that finds the end of a run searches for its start.
template <int Size>
STATOR_FN EqualRun longest_run(const Group<Size>& group, const params::Mode& p, const Codec<uint64_t>& codec,
                               int64_t start) {
  const auto key = [=](int64_t i) { return codec.ordinal(codec.load(p.sorted, start + i)); };
  return group.template map_reduce<EqualRun>(p.n, LongestRun{}, [=](int64_t i) {
    const uint64_t own = key(i);
    if (i + 1 < p.n && key(i + 1) == own) return LongestRun::identity<EqualRun>();  // not the end of a run
    int64_t low = i, step = 1;  // exponential search for an element before the run, then binary search
    while (low - step >= 0 && key(low - step) == own) {
      low -= step;
      step *= 2;
    }
    int64_t outside = low - step < -1 ? -1 : low - step;
    while (low - outside > 1) {
      const int64_t middle = outside + (low - outside) / 2;
      (key(middle) == own ? low : outside) = middle;
    }
    return EqualRun{i - low + 1, i};
  });
}

template <int Size>
STATOR_KERNEL(Size) void mode_kernel(params::Mode p) {
  const Group<Size> group;
  const Codec<uint64_t> codec(p.key);
  const int64_t start = group.block() * p.n;
  EqualRun best{};
  if constexpr (fast_host) {
    with_items(p.sorted, codec.itemsize, [&]<class Item>(const Item* items) {
      using K = std::conditional_t<sizeof(Item) == 8, uint64_t, uint32_t>;
      best = longest_run(Codec<K>(p.key), items + start, p.n);
    });
  } else {
    best = longest_run(group, p, codec, start);
  }
  if (group.rank() != 0) return;
  const int64_t first = start + best.end - best.length + 1;
  codec.store(p.values, group.block(), codec.load(p.sorted, first));
  p.counts[group.block()] = best.length;
}

void mode(const params::Queue& q, const params::Mode& p) {
  launch(q, "mode", mode_kernel<statistics_block>, {p.segments, statistics_block}, p);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sort

STATOR_LAUNCHER(sort, quantile)
STATOR_LAUNCHER(sort, mode)
