// Binary search of each value among sorted boundaries.
#include "device/fault.cuh"
#include "device/group.cuh"
#include "host/launch.hpp"
#include "host/launcher.hpp"
#include "kernels/sort/keys.cuh"
#include "params/sets.hpp"

namespace stator::STATOR_TARGET::sets {

using sort::Codec;
using sort::segment_start;
using sort::SegmentDivisors;
using sort::SegmentStart;
using sort::with_items;

namespace {

struct SearchTuning {
  static constexpr int block = 256;
  static constexpr int tile = by_target<1024, 4096>::value;
};

// How many of the ascending ordinals at(0), ..., at(n - 1) are below `value`, or not above it with `right`. Has no
// branch but the loop's.
template <class K, class At>
STATOR_FN int64_t bound(int64_t n, K value, bool right, At at) {
  int64_t base = 0;
  while (n > 0) {
    const int64_t half = (n + 1) / 2;
    const K seen = at(base + half - 1);
    base = (seen < value) | (right & (seen == value)) ? base + half : base;
    n -= half;
  }
  return base;
}

template <class K>
// `found`: the ordinal at `position`, if there is one.
STATOR_FN void write_result(const params::Search& p, const Codec<K>& codec, int64_t i, K value, int64_t position,
                            K found) {
  if (p.out) p.out[i] = position;
  if (p.found) p.found[i] = (position < p.n && found == value && !codec.is_nan(value)) != p.invert;
}

struct SearchDivisors {
  SegmentDivisors rows, elements;
  FastDivmod64 per_row;
};

template <class K, int Size>
STATOR_KERNEL(Size) void search_kernel(params::Search p, SearchDivisors divisors, params::ErrorSlot slot, uint16_t op) {
  const Group<Size> group;
  const Codec<K> codec(p.key);
  const int64_t first = group.block() * SearchTuning::tile, rest = p.elements.count - first;
  const int64_t count = rest < SearchTuning::tile ? rest : SearchTuning::tile;
  const bool plain = p.rows.count == 1 && p.step == 1 && !p.sorter && p.elements.ndim <= 1;
  if (fast_host && plain) {
    const int64_t value_step = p.elements.ndim == 1 ? p.elements.x_strides[0] : 0;
    with_items(p.boundaries, codec.itemsize, [&](const auto* boundaries) {
      using Item = std::remove_const_t<std::remove_pointer_t<decltype(boundaries)>>;
      const Item* const values = static_cast<const Item*>(p.values);
      const auto at = [=](int64_t k) { return codec.ordinal(codec.encode(K(boundaries[k]))); };
      for (int64_t i = first; i < first + count; ++i) {
        const K value = codec.ordinal(codec.encode(K(values[i * value_step])));
        const int64_t position = bound(p.n, value, p.right, at);
        write_result(p, codec, i, value, position, p.found && position < p.n ? at(position) : value);
      }
    });
    return;
  }
  group.for_each(count, [&](int64_t j) {
    const int64_t i = first + j;
    const SegmentStart row = segment_start(p.rows, p.rows.count == 1 ? 0 : divisors.per_row.divide(i), divisors.rows);
    const auto at = [&](int64_t k) {
      if (p.sorter) {
        const int64_t wanted = load_one<int64_t>(p.sorter, p.sorter_dtype, row.out + k * p.sorter_step);
        k = wanted < 0 ? wanted + p.n : wanted;
        if (k < 0 || k >= p.n) {
          report(slot, op, params::Fault::index_out_of_range, i, wanted);
          k = 0;
        }
      }
      return codec.ordinal(codec.load(p.boundaries, row.x + k * p.step));
    };
    const K value = codec.ordinal(codec.load(p.values, segment_start(p.elements, i, divisors.elements).x));
    const int64_t position = bound(p.n, value, p.right, at);
    write_result(p, codec, i, value, position, p.found && position < p.n ? at(position) : value);
  });
}

void search(const params::Queue& q, const params::Search& p) {
  using Tune = SearchTuning;
  const auto kernel = p.key.itemsize == 8 ? search_kernel<uint64_t, Tune::block> : search_kernel<uint32_t, Tune::block>;
  const SearchDivisors divisors{SegmentDivisors(p.rows), SegmentDivisors(p.elements),
                                FastDivmod64(std::max<int64_t>(p.per_row, 1))};
  launch(q, "search", kernel, {ceil_div(p.elements.count, Tune::tile), Tune::block}, p, divisors, q.slot, q.op);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sets

STATOR_LAUNCHER(sets, search)
