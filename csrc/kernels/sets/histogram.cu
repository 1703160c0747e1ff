// Counting elements by bin. Each block has private counts where the bins fit in shared memory, and adds them to the
// global ones; the last block writes the results. With weights, the elements are sorted by bin and each bin is summed
// in order.
#include "device/atomic.cuh"
#include "device/fault.cuh"
#include "device/group.cuh"
#include "device/math/math.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/sort/keys.cuh"
#include "params/sets.hpp"

#include <algorithm>

namespace stator::STATOR_TARGET::sets {

using sort::segment_start;
using sort::SegmentDivisors;

namespace {

struct HistogramTuning {
  static constexpr int block = 256;
  static constexpr int64_t least_tile = by_target<4096, 16384>::value;
  static constexpr int chunk = 512;  // fast host: elements that are converted together
  static constexpr int batch = 4;    // elsewhere: elements that a thread loads before it counts any
};

// A number rounded to a floating dtype. A call, since code for all dtypes at every use would be half of the kernel.
STATOR_CALL double rounded_to(DType d, double v) {
  return visit<dtypes::floats>(d, [=]<class T>(type_tag<T>) { return convert<double>(convert<T>(v)); });
}

// The bins of a launch, with the bounds that may be known only on the device.
struct Bins {
  const params::Histogram& p;
  double low, high, unit, span, scale;  // unit: 1, or 1/2 where the span overflows
  double first, last, step;             // first and last: the bounds as edges
  bool own;                             // edges are in edge_dtype's arithmetic
  int64_t bins;
  // A guess in float32, for dtypes whose values that represents. It is right for elements that are more than `near`
  // bins away from an edge.
  float start, pace, near;

  STATOR_FN explicit Bins(const params::Histogram& h) : p(h), low(h.low), high(h.high), bins(h.bins) {
    if (p.bounds[0]) {
      low = load_one<double>(p.bounds[0], p.dtype, 0);
      high = load_one<double>(p.bounds[1], p.dtype, 0);
    }
    if (low == high) {
      low -= p.widen;
      high += p.widen;
    }
    if (!isfinite(low) || !isfinite(high)) low = high = limits<double>::nan();
    unit = isinf(high - low) ? 0.5 : 1;
    span = high * unit - low * unit;
    scale = double(bins) / span;
    first = low;
    last = high;
    own = false;
    step = span / double(bins);
    if (p.binning == params::Binning::even && p.edge_dtype != DType::float64) {
      first = rounded_to(p.edge_dtype, low);
      last = rounded_to(p.edge_dtype, high);
      const double wide = rounded_to(p.edge_dtype, last - first), count = rounded_to(p.edge_dtype, double(bins));
      own = p.bounds[0] && isfinite(wide) && isfinite(count);
      if (own) step = rounded_to(p.edge_dtype, wide / count);
    }
    start = float(low);
    pace = float(scale);
    // Roundings of the bounds, of the difference, of both factors and of edges in float32 are less than 8 of 2^-24 of
    // the largest number there is.
    const double widest = abs(low) > abs(high) ? abs(low) : abs(high);
    const bool holds = in(p.dtype, dtypes::floats) && p.dtype != DType::float64 && span > 0x1p-100 && span < 0x1p100 &&
                       (p.binning == params::Binning::uniform ||
                        (p.binning == params::Binning::even && !in(p.edge_dtype, dtypes::halves)));
    near = holds ? float(0x1p-21 * double(bins) * (1 + widest / span)) : limits<float>::infinity();
  }

  // The bin of v where float32 tells it for certain, else -1.
  STATOR_FN int64_t surely_of(float v) const {
    const float guess = (v - start) * pace;
    if (!(guess > 0 && guess < float(bins))) return -1;
    const int32_t bin = int32_t(guess);
    const float past = guess - float(bin);
    return past > near && past < 1 - near ? bin : -1;
  }

  // Edge i. As numpy.linspace: between elements in their own arithmetic, whose every result is rounded, and between
  // numbers in float64.
  STATOR_FN double edge(int64_t i) const {
    if (i == bins) return last;
    if (!own) {
      const double exact = (low * unit + double(i) * step) / unit;
      return p.edge_dtype == DType::float64 ? exact : rounded_to(p.edge_dtype, exact);
    }
    const double index = rounded_to(p.edge_dtype, double(i));
    const double v = rounded_to(p.edge_dtype, rounded_to(p.edge_dtype, index * step) + first);
    return v < last ? v : last;
  }

  // The last bin of [below, above) whose lower edge is not above v, by binary search; `below` if there is none.
  template <class Edge>
  STATOR_FN static int64_t last_from(double v, int64_t below, int64_t above, Edge lower_edge) {
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      (lower_edge(middle) <= v ? below : above) = middle;
    }
    return below;
  }

  // The bin of v, -1 for none. NaN compares false everywhere.
  STATOR_FN int64_t of(double v) const {
    if (p.binning == params::Binning::edges) {
      if (!(v >= p.edges[0] && v <= p.edges[bins])) return -1;
      return last_from(v, 0, bins, [&](int64_t i) { return p.edges[i]; });
    }
    if (!(v >= first && v <= last)) return -1;
    const bool uniform = p.binning == params::Binning::uniform;
    const double from = v * unit - low * unit, guess = uniform ? from / span * double(bins) : from * scale;
    const int64_t bin = !(guess > 0) ? 0 : guess < double(bins) ? int64_t(guess) : bins - 1;  // NaN where the span is 0
    if (uniform) return bin;
    // Rounding makes the guess wrong: by one bin, or by many where edges are equal in their dtype. An exponential
    // search finds bins on both sides of v.
    int64_t below = bin, above = bin + 1;
    for (int64_t step = 1; below > 0 && v < edge(below); step *= 2) {
      above = below;
      below = below > step ? below - step : 0;
    }
    for (int64_t step = 1; above < bins && v >= edge(above); step *= 2) {
      below = above;
      above = bins - above > step ? above + step : bins;
    }
    return last_from(v, below, above, [&](int64_t i) { return edge(i); });
  }
};

// Fast host: converts elements [first, first + count).
template <class C>
STATOR_CALL void load_elements(C* out, const params::Histogram& p, int64_t first, int64_t count) {
#define STATOR_CASE(name, type)                                                                           \
  case DType::name: {                                                                                     \
    const type* const x = static_cast<const type*>(p.x);                                                  \
    if (p.elements.ndim <= 1) {                                                                           \
      const int64_t step = p.elements.ndim == 1 ? p.elements.x_strides[0] : 0;                            \
      for (int64_t i = 0; i < count; ++i) out[i] = convert<C>(x[(first + i) * step]);                     \
    } else {                                                                                              \
      for (int64_t i = 0; i < count; ++i) out[i] = convert<C>(x[segment_start(p.elements, first + i).x]); \
    }                                                                                                     \
    return;                                                                                               \
  }
  STATOR_DTYPE_SWITCH(p.dtype, STATOR_CASE)
#undef STATOR_CASE
}

// f(i, bin) for elements [first, first + count), divided among the threads of the block. A bin of -1 means none.
template <class Group, class F>
STATOR_FN void each_bin(const Group& group, const Bins& bins, const SegmentDivisors& divisors,
                        const params::ErrorSlot& slot, uint16_t op, int64_t first, int64_t count, F f) {
  const params::Histogram& p = bins.p;
  const bool large = p.dtype == DType::uint64;
  const auto integer = [&](int64_t i, int64_t v) {
    const bool inside = v >= 0 && v < bins.bins;  // uint64 from 2^63 on is negative here
    if (!inside) report_index(slot, op, i, v, large);
    f(i, inside ? v : -1);
  };
  if constexpr (fast_host) {
    constexpr int chunk = HistogramTuning::chunk;
    for (int64_t i = first; i < first + count; i += chunk) {
      const int64_t length = first + count - i < chunk ? first + count - i : chunk;
      if (p.binning == params::Binning::integers) {
        int64_t v[chunk];
        load_elements(v, p, i, length);
        for (int64_t k = 0; k < length; ++k) integer(i + k, v[k]);
      } else {
        double v[chunk];
        load_elements(v, p, i, length);
        for (int64_t k = 0; k < length; ++k) f(i + k, bins.of(v[k]));
      }
    }
  } else {
    constexpr int batch = HistogramTuning::batch;
    const auto at = [&](int64_t i) { return segment_start(p.elements, i, divisors).x; };
    if (p.binning == params::Binning::integers) {
      group.for_each(count, [&](int64_t k) { integer(first + k, load_one<int64_t>(p.x, p.dtype, at(first + k))); });
    } else if (!(bins.near < 0.25f)) {
      group.for_each(count, [&](int64_t k) { f(first + k, bins.of(load_one<double>(p.x, p.dtype, at(first + k)))); });
    } else {
      constexpr DTypeSet together = dtypes::halves | dtype_bit(DType::float32);
      for (int64_t k = group.rank(); k < count; k += batch * Group::size) {
        Items<int64_t, batch> from;
        STATOR_UNROLL()
        for (int j = 0; j < batch; ++j) from[j] = at(first + (k + j * Group::size < count ? k + j * Group::size : k));
        Items<float, batch> v = load_many<float, together>(p.x, p.dtype, from, batch);
        STATOR_UNROLL(1)
        for (int j = 0; j < batch && k + j * Group::size < count; ++j) {
          const int64_t sure = bins.surely_of(v[0]);
          f(first + k + j * Group::size, sure >= 0 ? sure : bins.of(double(v[0])));
          STATOR_UNROLL()
          for (int m = 1; m < batch; ++m) v[m - 1] = v[m];  // not v[j], which would put them in local memory
        }
      }
    }
  }
}

template <int Size>
STATOR_KERNEL(Size) void histogram_kernel(params::Histogram p, SegmentDivisors divisors, int64_t tile, int copies,
                                          params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const Bins bins(p);
  const int64_t first = group.block() * tile;
  const int64_t count = p.elements.count - first < tile ? p.elements.count - first : tile;
  // The returned edges.
  if (p.out_edges && group.block() == 0)
    group.for_each(p.bins + 1, [&](int64_t i) { store_one(p.out_edges, p.edge_dtype, i, bins.edge(i)); });
  // The bins of the elements, instead of counts.
  if (p.bin_ids) {
    each_bin(group, bins, divisors, slot, op, first, count,
             [&](int64_t i, int64_t bin) { p.bin_ids[i] = uint32_t(bin < 0 ? p.bins : bin); });
    return;
  }
  if (copies > 0) {
    // Count in shared memory, in several copies to have fewer conflicts, then add the copies to the global counts.
    uint32_t* const own = group.template dynamic<uint32_t>(p.bins * copies);
    group.for_each(p.bins * copies, [=](int64_t i) { own[i] = 0; });
    group.sync();
    uint32_t* const copy = own + group.rank() % copies * p.bins;
    each_bin(group, bins, divisors, slot, op, first, count, [&](int64_t, int64_t bin) {
      if (bin < 0) return;
      if constexpr (fast_host)
        ++copy[bin];
      else
        atomic_add(copy + bin, uint32_t(1));
    });
    group.sync();
    for (int64_t bin = group.rank(); bin < p.bins; bin += Group<Size>::size) {
      int64_t sum = 0;
      for (int c = 0; c < copies; ++c) sum += own[c * p.bins + bin];
      if (sum > 0) atomic_add(p.counts + bin, sum);
    }
  } else {
    each_bin(group, bins, divisors, slot, op, first, count, [&](int64_t, int64_t bin) {
      if (bin >= 0) atomic_add(p.counts + bin, int64_t(1));
    });
  }
  // The last block writes the results and clears the counts for the next launch.
  if (!p.out || !group.last_block(p.counter, uint32_t(group.blocks()))) return;
  for (int64_t bin = group.rank(); bin < p.bins; bin += Group<Size>::size) {
    const volatile int64_t* const counted = p.counts + bin;
    store_one(p.out, p.out_dtype, bin, int64_t(*counted));
    p.counts[bin] = 0;
  }
}

void histogram(const params::Queue& q, const params::Histogram& p) {
  using Tune = HistogramTuning;
  const int64_t n = p.elements.count;
  const int64_t wanted = std::clamp<int64_t>(ceil_div(n, Tune::least_tile), 1, waves(*q.limits, Tune::block));
  const int64_t tile = std::max<int64_t>(ceil_div(n, wanted), 1);
  const bool own = !p.bin_ids && p.bins <= params::Histogram::most_private;
  const int copies = !own ? 0 : fast_host ? 1 : int(std::clamp<int64_t>(2048 / std::max<int64_t>(p.bins, 1), 1, 8));
  launch(q, "histogram", histogram_kernel<Tune::block>,
         {std::max<int64_t>(ceil_div(n, tile), 1), Tune::block, int(copies * p.bins * int64_t(sizeof(uint32_t)))}, p,
         SegmentDivisors(p.elements), tile, copies, q.slot, q.op);
}

// The position of the first of n sorted ids that is not below `id`.
STATOR_FN int64_t first_of(const uint32_t* ids, int64_t n, int64_t id) {
  int64_t base = 0;
  while (n > 0) {
    const int64_t half = (n + 1) / 2;
    base = int64_t(ids[base + half - 1]) < id ? base + half : base;
    n -= half;
  }
  return base;
}

template <class A, int Size>
STATOR_KERNEL(Size) void bin_sums_kernel(params::BinSums p, SegmentDivisors divisors) {
  const Group<Size> group;
  const int64_t bin = group.block(), first = first_of(p.ids, p.n, bin);
  const int64_t count = first_of(p.ids + first, p.n - first, bin + 1);
  const A sum = group.template map_sum<A>(count, [&](int64_t i) {
    return load_one<A>(p.weights, p.weight_dtype, segment_start(p.elements, p.order[first + i], divisors).x);
  });
  if (group.rank() == 0) static_cast<A*>(p.out)[bin] = sum;
}

void bin_sums(const params::Queue& q, const params::BinSums& p) {
  constexpr int block = 64;
  const SegmentDivisors divisors(p.elements);
  if (p.floating)
    launch(q, "bin_sums", bin_sums_kernel<double, block>, {p.bins, block}, p, divisors);
  else
    launch(q, "bin_sums", bin_sums_kernel<int64_t, block>, {p.bins, block}, p, divisors);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sets

STATOR_LAUNCHER(sets, histogram)
STATOR_LAUNCHER(sets, bin_sums)
