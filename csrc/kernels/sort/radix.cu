// Sorting long segments by a least significant digit first radix sort with 8-bit digits. Each pass counts the digits of
// every tile of a segment, scans the counts, and moves the keys. The first pass reads the array, the last one writes
// the results. The passes are those of Satish, Harris and Garland, IPDPS 2009: with no look-back between blocks, so
// that every target runs the same algorithm.
#include "device/atomic.cuh"
#include "device/digit_rank.cuh"
#include "host/launcher.hpp"
#include "kernels/sort/host.cuh"
#include "kernels/sort/sort.cuh"
#include "params/sort.hpp"

#include <utility>

namespace stator::STATOR_TARGET::sort {
namespace {

struct RadixPass {
  params::Sort s;
  const void* from;  // keys [segments, n]; the first pass reads s.x
  void* to;
  const uint32_t* from_index;  // beside the keys; null: none, or packed into the keys
  uint32_t* to_index;
  uint32_t* counts;  // [segments, 256, tiles]: of each digit
  uint32_t* totals;  // [segments, 256]: counts of each digit in the whole segment
  int64_t tile;      // elements of a tile
  int32_t tiles, shift, index_bits;
  bool first, last;
  bool indexed;  // there are indices beside the keys
};

// What one block handles: elements [begin, end) of a segment.
struct Tile {
  int64_t segment, begin, end;
  int32_t number;  // of the tile in its segment
};
STATOR_FN Tile tile_of(const RadixPass& p, int64_t block) {
  const int64_t segment = block / p.tiles;
  const int32_t number = int32_t(block - segment * p.tiles);
  const int64_t begin = number * p.tile, end = begin + p.tile < p.s.n ? begin + p.tile : p.s.n;
  return {segment, begin, end, number};
}

// Packed key i of a segment as the previous pass left it.
template <class K>
STATOR_FN K read_key(const RadixPass& p, const Packing<K>& packing, const SegmentStart& at, int64_t segment,
                     int64_t i) {
  if (!p.first) return static_cast<const K*>(p.from)[segment * p.s.n + i];
  return packing.pack(packing.codec.load(p.s.x, at.x + i * p.s.x_step), i);
}

// Where blocks have threads: the keys of a thread's elements of a chunk, which begins at element `first`; 0 beyond its
// end. The dtype is asked for once and not for each key, which would be most of a kernel's code.
template <class K, int Items>
STATOR_FN void read_keys(const RadixPass& p, const Packing<K>& packing, const SegmentStart& at, int64_t segment,
                         int64_t first, int size, const int (&index)[Items], K (&key)[Items]) {
  if (!p.first) {
    const K* const from = static_cast<const K*>(p.from) + segment * p.s.n + first;
    STATOR_UNROLL()
    for (int k = 0; k < Items; ++k) key[k] = index[k] < size ? from[index[k]] : K(0);
    return;
  }
  with_items(p.s.x, packing.codec.itemsize, [&](const auto* x) {
    if constexpr (sizeof(*x) > sizeof(K)) __builtin_unreachable();
    const auto* const from = x + at.x + first * p.s.x_step;
    STATOR_UNROLL()
    for (int k = 0; k < Items; ++k)
      key[k] =
          index[k] < size ? packing.pack(packing.codec.encode(K(from[index[k] * p.s.x_step])), first + index[k]) : K(0);
  });
}

// Writes what this pass puts at position i of a segment: to the next pass's input, or to the results.
template <class K>
STATOR_FN void write_key(const RadixPass& p, const Packing<K>& packing, const SegmentStart& at, int64_t segment,
                         int64_t i, K key, uint32_t index) {
  if (!p.last) {
    static_cast<K*>(p.to)[segment * p.s.n + i] = key;
    if (p.to_index) p.to_index[segment * p.s.n + i] = index;
    return;
  }
  const int64_t k = output_position(p.s, i);
  if (k < 0) return;
  const int64_t to = at.out + k * p.s.out_step;
  if (p.s.values) packing.codec.store(p.s.values, to, key >> packing.index_bits);
  if (p.s.indices) p.s.indices[to] = packing.index_bits != 0 ? int64_t(uint32_t(key)) : int64_t(index);
}

// Fast host: f(i, key, index) for the elements of a tile, in order. Elements of the array become keys chunk by chunk.
template <bool WithIndices, class K, class F>
STATOR_FN void each_key(const RadixPass& p, const Packing<K>& packing, const SegmentStart& at, const Tile& tile, F f) {
  constexpr int64_t chunk = 1024;
  K loaded[chunk];
  const char* const x = static_cast<const char*>(p.s.x) + at.x * packing.codec.itemsize;
  for (int64_t begin = tile.begin; begin < tile.end; begin += chunk) {
    const int64_t end = begin + chunk < tile.end ? begin + chunk : tile.end;
    const K* key = loaded - begin;
    if (p.first)
      load_keys(packing, x, p.s.x_step, begin, end, {loaded, nullptr});
    else
      key = static_cast<const K*>(p.from) + tile.segment * p.s.n;
    const uint32_t* const index = WithIndices && p.from_index ? p.from_index + tile.segment * p.s.n : nullptr;
    if (WithIndices && index)
      for (int64_t i = begin; i < end; ++i) f(i, key[i], index[i]);
    else
      for (int64_t i = begin; i < end; ++i) f(i, key[i], uint32_t(i));
  }
}

template <class K, int Size>
STATOR_KERNEL(Size) void radix_count_kernel(RadixPass p) {
  const Group<Size> group;
  const Packing<K> packing{Codec<K>(p.s.key), p.index_bits};
  const Tile tile = tile_of(p, group.block());
  const SegmentStart at = segment_start(p.s.segments, tile.segment);
  uint32_t* const counts = p.counts + tile.segment * 256 * p.tiles + tile.number;
  if constexpr (fast_host) {
    uint32_t own[4][256] = {};  // four copies: increments for equal digits in a row do not wait for each other
    const DigitOf<K> digit(packing, p.shift, 8);
    each_key<false>(p, packing, at, tile, [&own, digit](int64_t i, K key, uint32_t) { ++own[i & 3][digit(key)]; });
    for (int d = 0; d < 256; ++d) counts[int64_t(d) * p.tiles] = own[0][d] + own[1][d] + own[2][d] + own[3][d];
  } else {
    struct Counts {
      uint32_t of[4][256];
    };
    // Count the digits of the tile in four copies, to have fewer conflicts, then add the copies up.
    Counts& own = group.template shared<Counts>();
    for (int c = 0; c < 4; ++c) own.of[c][group.rank()] = 0;
    group.sync();
    group.for_each(tile.end - tile.begin, [&](int64_t i) {
      const K key = read_key(p, packing, at, tile.segment, tile.begin + i);
      atomic_add(&own.of[group.rank() & 3][packing.digit(key, p.shift)], uint32_t(1));
    });
    group.sync();
    const int d = group.rank();
    counts[int64_t(d) * p.tiles] = own.of[0][d] + own.of[1][d] + own.of[2][d] + own.of[3][d];
  }
}

// An exclusive scan of each digit's counts over the tiles of a segment, in place. The counts are a matrix of [segments
// * 256, tiles]; each block scans `rows` of its rows.
template <int Size>
STATOR_KERNEL(Size) void radix_scan_kernel(uint32_t* counts, uint32_t* totals, int32_t tiles, int32_t rows) {
  const Group<Size> group;
  for (int64_t row = group.block() * rows; row < (group.block() + 1) * rows; ++row) {
    uint32_t* const count = counts + row * tiles;
    uint32_t before = 0;
    for (int32_t first = 0; first < tiles; first += Group<Size>::size) {
      const int32_t i = first + group.rank();
      const uint32_t own = i < tiles ? count[i] : 0;
      const uint32_t through = group.inclusive_scan(own, Sum{});
      if (i < tiles) count[i] = before + through - own;
      before += group.reduce(own, Sum{});
    }
    if (group.rank() == 0) totals[row] = before;
  }
}

// Fast host: keys are collected until they fill a cache line of their digit. Written one by one they would miss the
// TLB: there are more digits than it has entries for.
template <class K>
struct DigitBuffers {
  static constexpr uint32_t width = 64 / sizeof(K);
  alignas(64) K key[256][width];
  uint32_t index[256][width];
};

// As write_key, for positions [begin, end).
template <bool WithIndices, class K>
STATOR_FN void write_keys(const RadixPass& p, const Packing<K>& packing, const SegmentStart& at, int64_t segment,
                          uint32_t begin, uint32_t end, const K* key, const uint32_t* index) {
  if (!p.last) {
    constexpr uint32_t width = DigitBuffers<K>::width;
    K* const to = static_cast<K*>(p.to) + segment * p.s.n + begin;
    uint32_t* const to_index = WithIndices ? p.to_index + segment * p.s.n + begin : nullptr;
    if (end - begin == width) {  // nearly always; a constant size needs no call
      std::memcpy(to, key, width * sizeof(K));
      if constexpr (WithIndices) std::memcpy(to_index, index, width * sizeof(uint32_t));
      return;
    }
    std::memcpy(to, key, (end - begin) * sizeof(K));
    if constexpr (WithIndices) std::memcpy(to_index, index, (end - begin) * sizeof(uint32_t));
    return;
  }
  store_keys(packing, p.s, at.out, begin, end,
             {const_cast<K*>(key), const_cast<uint32_t*>(WithIndices ? index : nullptr)});
}

// Fast host: moves the keys of a tile to the next positions of their digits, which begin at `start`.
template <bool WithIndices, class K>
STATOR_FN void move_keys(const RadixPass& p, const Packing<K>& packing, const SegmentStart& at, const Tile& tile,
                         const uint32_t (&start)[256]) {
  constexpr uint32_t width = DigitBuffers<K>::width;
  DigitBuffers<K> buffers;
  uint32_t next[256];
  std::memcpy(next, start, sizeof(next));
  const auto flush = [&](int d, uint32_t end) {
    const uint32_t whole = (end - 1) / width * width, begin = whole > start[d] ? whole : start[d];
    write_keys<WithIndices>(p, packing, at, tile.segment, begin, end, buffers.key[d] + begin % width,
                            buffers.index[d] + begin % width);
  };
  const DigitOf<K> digit(packing, p.shift, 8);
  each_key<WithIndices>(p, packing, at, tile, [&, digit](int64_t, K key, uint32_t index) {
    const uint32_t d = digit(key), i = next[d]++, column = i % width;
    buffers.key[d][column] = key;
    if constexpr (WithIndices) buffers.index[d][column] = index;
    if (column == width - 1) flush(int(d), i + 1);
  });
  for (int d = 0; d < 256; ++d)
    if (next[d] > start[d] && next[d] % width != 0) flush(d, next[d]);
}

// Keys of 32 bits have no indices beside them: they are packed with these to 64 bits.
template <class K, int Items>
struct MoveShared {
  K key[Items * 256];
  uint32_t index[sizeof(K) == 8 ? Items * 256 : 1];
  uint32_t next[256];
  DigitCounts counts;
};

template <class K, int Size>
STATOR_KERNEL_RESIDENT(Size, 2) void radix_move_kernel(RadixPass p) {
  const Group<Size> group;
  const Packing<K> packing{Codec<K>(p.s.key), p.index_bits};
  const Tile tile = tile_of(p, group.block());
  const SegmentStart at = segment_start(p.s.segments, tile.segment);
  const uint32_t* const counts = p.counts + tile.segment * 256 * p.tiles + tile.number;
  const uint32_t* const totals = p.totals + tile.segment * 256;
  if constexpr (fast_host) {
    // A digit's first position is after the smaller digits of the segment and the same digit in earlier tiles.
    uint32_t next[256], before = 0;
    for (int d = 0; d < 256; ++d) {
      next[d] = before + counts[int64_t(d) * p.tiles];
      before += totals[d];
    }
    if constexpr (sizeof(K) == 8) {
      if (p.from_index || p.to_index) return move_keys<true>(p, packing, at, tile, next);
    }
    move_keys<false>(p, packing, at, tile, next);
  } else {
    constexpr int items = sort_items<K>, chunk = items * Size;
    MoveShared<K, items>& shared = group.template shared<MoveShared<K, items>>();
    // A digit's first position is after the smaller digits of the segment and the same digit in earlier tiles. Each
    // thread has one digit.
    const int own = group.rank();
    const uint32_t total = totals[own];
    shared.next[own] = group.inclusive_scan(total, Sum{}) - total + counts[int64_t(own) * p.tiles];
    for (int64_t first = tile.begin; first < tile.end; first += chunk) {
      const int size = tile.end - first < chunk ? int(tile.end - first) : chunk;
      // Load the keys of the chunk. What is beyond the end gets the greatest digit and so comes last.
      K key[items];
      int index[items], digit[items], rank[items];
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) index[k] = tile_index<items>(group, k);
      read_keys(p, packing, at, tile.segment, first, size, index, key);
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) digit[k] = index[k] < size ? packing.digit(key[k], p.shift) : 255;
      // Sort them by digit in shared memory.
      rank_digits(group, shared.counts, digit, rank);
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        shared.key[rank[k]] = key[k];
        if (sizeof(K) == 8 && p.indexed)
          shared.index[rank[k]] = p.first           ? uint32_t(first + index[k])
                                  : index[k] < size ? p.from_index[tile.segment * p.s.n + first + index[k]]
                                                    : 0;
      }
      group.sync();
      // Write them: keys of one digit are neighbours now, and go to neighbouring addresses.
      STATOR_UNROLL(2)
      for (int i = own; i < size; i += Size) {
        const K moved = shared.key[i];
        const int d = packing.digit(moved, p.shift);
        write_key(p, packing, at, tile.segment, int64_t(shared.next[d]) + i - shared.counts.before[d], moved,
                  sizeof(K) == 8 && p.indexed ? shared.index[i] : 0);
      }
      group.sync();
      shared.next[own] += shared.counts.before[own + 1] - shared.counts.before[own];
    }
  }
}

struct RadixScratch {
  int64_t keys, indices, counts, totals;  // bytes; keys and indices twice
  int64_t total() const { return 2 * keys + 2 * indices + counts + totals; }
};

struct RadixPlan {
  int32_t tiles, index_bits;
  int64_t tile;
  bool wide_keys, with_indices;
  RadixScratch bytes;
};

RadixPlan plan_radix(const params::DeviceLimits& limits, const params::Sort& s) {
  RadixPlan p{};
  p.with_indices = s.indices && is_wide(s);
  p.index_bits = s.indices && !is_wide(s) ? 32 : 0;
  p.wide_keys = is_wide(s) || s.indices;
  const int64_t least_tile = fast_host
                                 ? SortTuning::host_least_tile
                                 : SortTuning::block * (p.wide_keys ? sort_items<uint64_t> : sort_items<uint32_t>);
  const int64_t wanted = fast_host ? 4 * std::max(1, limits.multiprocessors) : waves(limits, 4 * SortTuning::block);
  const int64_t tiles = std::clamp<int64_t>(ceil_div(wanted, s.segments.count), 1, ceil_div(s.n, least_tile));
  p.tile = ceil_div(ceil_div(s.n, tiles), least_tile) * least_tile;
  p.tiles = int32_t(ceil_div(s.n, p.tile));
  const auto padded = [](int64_t bytes) { return (bytes + 255) & ~int64_t(255); };
  p.bytes.keys = padded(s.segments.count * s.n * (p.wide_keys ? 8 : 4));
  p.bytes.indices = p.with_indices ? padded(s.segments.count * s.n * 4) : 0;
  p.bytes.counts = padded(s.segments.count * 256 * p.tiles * 4);
  p.bytes.totals = padded(s.segments.count * 256 * 4);
  return p;
}

template <class K>
void sort_radix(const params::Queue& q, const params::Sort& s, const RadixPlan& plan, void* scratch) {
  constexpr int block = SortTuning::block;
  unsigned char* memory = static_cast<unsigned char*>(scratch);
  const auto take = [&](int64_t bytes) { return std::exchange(memory, memory + bytes); };
  void* keys[2] = {take(plan.bytes.keys), take(plan.bytes.keys)};
  uint32_t* indices[2] = {};
  if (plan.with_indices)
    for (uint32_t*& p : indices) p = reinterpret_cast<uint32_t*>(take(plan.bytes.indices));
  RadixPass p{};
  p.s = s;
  p.counts = reinterpret_cast<uint32_t*>(take(plan.bytes.counts));
  p.totals = reinterpret_cast<uint32_t*>(take(plan.bytes.totals));
  p.tile = plan.tile;
  p.tiles = plan.tiles;
  p.index_bits = plan.index_bits;
  p.indexed = plan.with_indices;
  const int64_t blocks = s.segments.count * plan.tiles;
  constexpr int rows = by_target<1, 256>::value;
  for (int pass = 0; pass < s.key.itemsize; ++pass) {
    p.shift = 8 * pass;
    p.first = pass == 0;
    p.last = pass == s.key.itemsize - 1;
    p.from = keys[pass & 1];
    p.to = keys[1 - (pass & 1)];
    p.from_index = p.first ? nullptr : indices[pass & 1];
    p.to_index = p.last ? nullptr : indices[1 - (pass & 1)];
    launch(q, "radix_count", radix_count_kernel<K, block>, {blocks, block}, p);
    launch(q, "radix_scan", radix_scan_kernel<block>, {s.segments.count * 256 / rows, block}, p.counts, p.totals,
           p.tiles, rows);
    launch(q, "radix_move", radix_move_kernel<K, block>, {blocks, block}, p);
  }
}

int64_t sort_scratch(const params::DeviceLimits& limits, const params::Sort& s) {
  if (is_short(s)) return 0;
  if (selects(s)) return select_scratch(limits, s);
  return sorts_in_buckets(s) ? bucket_scratch(limits, s) : plan_radix(limits, s).bytes.total();
}

void sort(const params::Queue& q, const params::Sort& s, void* scratch) {
  if (is_short(s)) return sort_short_segments(q, s);
  if (selects(s)) return sort_selected(q, s, scratch);
  if (sorts_in_buckets(s)) return sort_in_buckets(q, s, scratch);
  const RadixPlan plan = plan_radix(*q.limits, s);
  if (plan.wide_keys)
    sort_radix<uint64_t>(q, s, plan, scratch);
  else
    sort_radix<uint32_t>(q, s, plan, scratch);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sort

STATOR_LAUNCHER(sort, sort_scratch)
STATOR_LAUNCHER(sort, sort)
