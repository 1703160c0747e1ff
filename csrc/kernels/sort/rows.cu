// Sorting short segments in one launch. A block sorts a tile of whole segments in shared memory: by the bytes of their
// keys, least significant first, and then by segment.
#include "device/digit_rank.cuh"
#include "kernels/sort/host.cuh"
#include "kernels/sort/sort.cuh"

namespace stator::STATOR_TARGET::sort {
namespace {

template <class K, int Items>
struct SortShared {
  K key[Items * 256];
  uint32_t position[Items * 256];  // the segment of the tile above the index in the segment, 16 bits each
  DigitCounts counts;
};

// Fast host: sorts one segment. `memory` has room for 3 n keys.
template <class K>
STATOR_FN void sort_segment(const Packing<K>& packing, const params::Sort& s, const void* x, int64_t out, K* memory) {
  const int64_t n = s.n;
  K* const spare = memory + n;
  if (!s.indices || packing.index_bits != 0) {
    if (!sorts_by_lanes(packing, n)) {
      load_keys<K>(packing, x, s.x_step, 0, n, {memory, nullptr});
      return store_keys<K>(packing, s, out, 0, n,
                           sort_by_digits<8, false>(packing, {memory, nullptr}, {spare, nullptr}, n));
    }
    if (packing.index_bits != 0)
      load_ordinals(packing, x, s.x_step, 0, n, memory);
    else
      load_keys<K>(packing, x, s.x_step, 0, n, {memory, nullptr});
    sort_wanted(s, 0, memory, spare, n);
    if (packing.index_bits != 0) return store_by_index<K>(packing, s, x, out, 0, n, memory, {0xffffffffu, nullptr});
    reorder_zeros(packing, s, x, 0, memory, n);
    return store_keys<K>(packing, s, out, 0, n, {memory, nullptr});
  }
  if constexpr (sizeof(K) == 8) {
    K mask;
    load_keys<K>(packing, x, s.x_step, 0, n, {memory, nullptr});
    if (sort_packed(packing, s, 0, n, memory, spare, spare + n, &mask))
      return store_by_index<K>(packing, s, x, out, 0, n, memory, {mask, nullptr});
    uint32_t* const indices = reinterpret_cast<uint32_t*>(memory + 2 * n);
    load_keys<K>(packing, x, s.x_step, 0, n, {memory, indices});
    store_keys<K>(packing, s, out, 0, n, sort_with_indices<K>(packing, {memory, indices}, {spare, indices + n}, n));
  }
}

template <class K, int Size>
STATOR_KERNEL_RESIDENT(Size, 2) void sort_rows_kernel(params::Sort s, SegmentDivisors divisors, int64_t tile) {
  const Group<Size> group;
  const Codec<K> codec(s.key);
  const int64_t first = group.block() * tile;
  const int64_t count = s.segments.count - first < tile ? s.segments.count - first : tile;
  if constexpr (fast_host) {
    const bool with_indices = s.indices != nullptr;  // never with 32-bit K: indices need packed keys of 64 bits
    const Packing<K> packing{codec, with_indices && codec.itemsize < 8 ? 32 : 0};
    K* const memory = group.template dynamic<K>(3 * s.n);
    for (int64_t segment = first; segment < first + count; ++segment) {
      const SegmentStart at = segment_start(s.segments, segment, divisors);
      sort_segment(packing, s, static_cast<const char*>(s.x) + at.x * codec.itemsize, at.out, memory);
    }
  } else {
    constexpr int items = sort_items<K>;
    SortShared<K, items>& shared = group.template shared<SortShared<K, items>>();
    const int n = int(s.n), size = int(count) * n;
    // Load. Items beyond the end of the tile have the greatest key and segment, so that they come last.
    K key[items];
    uint32_t position[items];
    int digit[items], rank[items];
    STATOR_UNROLL()
    for (int k = 0; k < items; ++k) {
      const int p = tile_index<items>(group, k);
      key[k] = K(0) - K(1);
      position[k] = 255u << 16;
      if (p >= size) continue;
      const int segment = p / n, i = p - segment * n;
      key[k] = codec.load(s.x, segment_start(s.segments, first + segment, divisors).x + i * s.x_step);
      position[k] = uint32_t(segment) << 16 | uint32_t(i);
    }
    // Sort by each byte of the keys, then by segment.
    const int passes = codec.itemsize + (tile > 1 ? 1 : 0);
    for (int pass = 0; pass < passes; ++pass) {
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k)
        digit[k] = pass == codec.itemsize ? int(position[k] >> 16) : int(codec.ordinal(key[k]) >> 8 * pass & 255);
      rank_digits(group, shared.counts, digit, rank);
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        shared.key[rank[k]] = key[k];
        shared.position[rank[k]] = position[k];
      }
      group.sync();
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        const int p = tile_index<items>(group, k);
        key[k] = shared.key[p];
        position[k] = shared.position[p];
      }
    }
    // Write what is wanted.
    STATOR_UNROLL()
    for (int k = 0; k < items; ++k) {
      const int p = tile_index<items>(group, k);
      if (p >= size) continue;
      const int segment = p / n;
      const int64_t i = output_position(s, p - segment * n);
      if (i < 0) continue;
      const int64_t to = segment_start(s.segments, first + segment, divisors).out + i * s.out_step;
      if (s.values) codec.store(s.values, to, key[k]);
      const uint32_t index = position[k] & 0xffff;
      if (s.indices) s.indices[to] = s.source_indices ? s.source_indices[(first + segment) * s.n + index] : index;
    }
  }
}

template <class K>
void sort_rows(const params::Queue& q, const params::Sort& s) {
  constexpr int block = SortTuning::block;
  const int64_t n = std::max<int64_t>(s.n, 1);
  const int64_t count = fast_host ? std::max<int64_t>(SortTuning::host_tile / n, 1)
                                  : std::clamp<int64_t>(block * sort_items<K> / n, 1, 256);
  const int64_t tile = std::min(count, s.segments.count);
  const int bytes = fast_host ? int(n * int64_t(2 * sizeof(K) + 2 * sizeof(uint32_t))) : 0;
  launch(q, "sort_rows", sort_rows_kernel<K, block>, {ceil_div(s.segments.count, tile), block, bytes}, s,
         SegmentDivisors(s.segments), tile);
}

}  // namespace

void sort_short_segments(const params::Queue& q, const params::Sort& s) {
  if (is_wide(s) || (fast_host && s.indices))
    sort_rows<uint64_t>(q, s);
  else
    sort_rows<uint32_t>(q, s);
}

}  // namespace stator::STATOR_TARGET::sort
