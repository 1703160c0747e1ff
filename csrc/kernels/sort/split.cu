// Fast host: sorting long segments of keys of 32 and 64 bits. Splitters sampled from a segment divide its elements
// among buckets, and then each block sorts one bucket (Frazer and McKellar, "Samplesort", 1970).
//
// Where keys are all there is and most are wanted, this takes two launches: blocks partition pieces of the segment,
// each as long as caches keep it, about all splitters, with the vectorised partition of the quicksort; and a block
// collects the parts of its bucket from all pieces. Otherwise it takes three: the indices of 64-bit elements go to the
// buckets beside the keys, and buckets around a narrow window of wanted positions keep the keys of one only.
#include "device/group.cuh"
#include "kernels/sort/counting.cuh"
#include "kernels/sort/host.cuh"
#include "kernels/sort/sort.cuh"
#include "params/sort.hpp"

#include <utility>

namespace stator::STATOR_TARGET::sort {
namespace sample_sort {  // not anonymous, as other targets use nothing of it and compilers would warn

inline constexpr int most_buckets = 64, bucket_samples = 32;  // samples per bucket
inline constexpr int64_t many = 1 << 20;                      // elements that are worth most_buckets
inline constexpr int64_t piece_bytes = 128 << 10;             // of keys that a block partitions at a time
inline constexpr int64_t chunk = 1024;
// If the wanted positions are a narrow window, three splitters go around it: some standard deviations of the window's
// rank in the sample away from it (Floyd and Rivest, "Expected time bounds for selection", 1975).
inline constexpr int narrow_buckets = 4, narrow_samples = 1024, narrow_margin = 48;
inline constexpr int64_t narrow_fraction = 16;  // a window of up to n / narrow_fraction positions is narrow

struct Split {
  params::Sort s;
  void *keys, *spare, *ordinals;      // [segments, n]; ordinals: only with indices
  uint32_t* indices;                  // [segments, n], beside the keys; null: none, or packed into the keys
  uint8_t* buckets;                   // [segments, n]: of each element
  int64_t* counts;                    // [segments, tiles, buckets]
  int64_t tile;                       // elements of a tile
  int32_t tiles, count, index_bits;   // count: of buckets
  bool by_pieces;                     // two launches; tiles are pieces, several to a block
  int32_t pieces;                     // of a block
  void* room;                         // [segments, n]: where a block sorts, with by_pieces
  int64_t narrow_first, narrow_last;  // the wanted positions if they are a narrow window; else 0
};

// What one block handles: elements [begin, end) of a segment.
struct SplitTile {
  int64_t segment, begin, end;
};
STATOR_FN SplitTile split_tile(const Split& p, int64_t block) {
  const int64_t segment = block / p.tiles, begin = (block - segment * p.tiles) * p.tile;
  return {segment, begin, begin + p.tile < p.s.n ? begin + p.tile : p.s.n};
}

// f(begin, count, keys) for the chunks of a tile.
template <class K, class F>
STATOR_FN void each_chunk(const Split& p, const Packing<K>& packing, const void* x, const SplitTile& tile, F f) {
  K keys[chunk];
  for (int64_t begin = tile.begin; begin < tile.end; begin += chunk) {
    const int64_t end = begin + chunk < tile.end ? begin + chunk : tile.end;
    if (p.index_bits != 0)
      load_ordinals(packing, x, p.s.x_step, begin, end, keys);
    else
      load_keys<K>(packing, x, p.s.x_step, begin, end, {keys, nullptr});
    f(begin, int(end - begin), keys);
  }
}

// The least keys of all buckets but the first. All blocks of a segment draw the same ones.
template <class K>
STATOR_CALL void draw_splitters(const Split& p, const Packing<K>& packing, const void* x, K* splitters) {
  K sample[2 * most_buckets * bucket_samples];
  const bool narrow = p.narrow_last > 0;
  const int per_bucket = p.by_pieces && p.count == most_buckets ? bucket_samples / 2 : bucket_samples;
  const int count = narrow ? narrow_samples : p.count * per_bucket;
  const int64_t step = p.s.n / count;
  uint32_t state = uint32_t(p.s.n);
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const int64_t at = i * step + int64_t(uint64_t(state) * uint64_t(step) >> 32);
    K key = packing.codec.ordinal(packing.codec.load(x, at * p.s.x_step));
    sample[i] = p.index_bits == 0 ? key : K(key << p.index_bits | K(uint32_t(at)));
  }
  sort_keys(sample, sample + count, count);
  if (!narrow) {
    for (int b = 1; b < p.count; ++b) splitters[b - 1] = sample[b * per_bucket];
    return;
  }
  const int64_t first = p.narrow_first / step - narrow_margin, last = p.narrow_last / step + narrow_margin;
  splitters[0] = first < 0 ? K(0) : sample[std::min<int64_t>(first, count - 1)];
  splitters[1] = splitters[2] = last < count ? sample[last] : ~K(0);
}

// out[i]: the bucket of key i. With `ties`, keys of -0 and +0 go to the same bucket.
template <class K>
STATOR_CALL void find_buckets(const Codec<K>& codec, bool ties, const K* keys, int n, const K* splitters, int count,
                              uint8_t* out) {
  constexpr int step = 3;  // divides every count - 1
  K ordinal[chunk], bucket[chunk];
  const K alias = codec.alias, canonical = codec.canonical;
  for (int i = 0; i < n; ++i) ordinal[i] = ties && keys[i] == alias ? canonical : keys[i];
  for (int i = 0; i < n; ++i) bucket[i] = 0;
  for (int b = 0; b < count - 1; b += step) {
    const K one = splitters[b], two = splitters[b + 1], three = splitters[b + 2];
    for (int i = 0; i < n; ++i) bucket[i] += K(ordinal[i] >= one) + K(ordinal[i] >= two) + K(ordinal[i] >= three);
  }
  for (int i = 0; i < n; ++i) out[i] = uint8_t(bucket[i]);
}

// Finds the bucket of each element, and counts the elements of each bucket in each tile.
template <class K, int Size>
STATOR_KERNEL(Size) void split_count_kernel(Split p) {
  const Group<Size> group;
  const Packing<K> packing{Codec<K>(p.s.key), p.index_bits};
  const SplitTile tile = split_tile(p, group.block());
  const char* const x =
      static_cast<const char*>(p.s.x) + segment_start(p.s.segments, tile.segment).x * packing.codec.itemsize;
  K splitters[most_buckets];
  draw_splitters(p, packing, x, splitters);
  uint32_t counts[4][most_buckets] = {};
  uint8_t* const buckets = p.buckets + tile.segment * p.s.n;
  each_chunk(p, packing, x, tile, [&](int64_t begin, int n, const K* keys) {
    uint8_t* const bucket = buckets + begin;
    find_buckets(packing.codec, p.index_bits == 0, keys, n, splitters, p.count, bucket);
    for (int i = 0; i < n; ++i) ++counts[i & 3][bucket[i]];
  });
  int64_t* const out = p.counts + group.block() * p.count;
  for (int b = 0; b < p.count; ++b) out[b] = int64_t(counts[0][b]) + counts[1][b] + counts[2][b] + counts[3][b];
}

// Where bucket b starts in a segment.
STATOR_FN int64_t bucket_start(const Split& p, int64_t segment, int b) {
  const int64_t* const counts = p.counts + segment * p.tiles * p.count;
  int64_t before = 0;
  for (int32_t t = 0; t < p.tiles; ++t)
    for (int k = 0; k < b; ++k) before += counts[t * p.count + k];
  return before;
}

// Moves the keys to their buckets.
template <class K, int Size>
STATOR_KERNEL(Size) void split_move_kernel(Split p) {
  const Group<Size> group;
  const Packing<K> packing{Codec<K>(p.s.key), p.index_bits};
  const SplitTile tile = split_tile(p, group.block());
  const char* const x =
      static_cast<const char*>(p.s.x) + segment_start(p.s.segments, tile.segment).x * packing.codec.itemsize;
  const int64_t* const counts = p.counts + tile.segment * p.tiles * p.count;
  const int32_t own = int32_t(group.block() - tile.segment * p.tiles);
  K* const keys = static_cast<K*>(p.keys) + tile.segment * p.s.n;
  uint32_t* const indices = p.indices ? p.indices + tile.segment * p.s.n : nullptr;
  // The next position of each bucket: after smaller buckets, and after the same bucket in earlier tiles. Buckets that
  // are not wanted have step 0: their elements overwrite each other.
  int64_t next[most_buckets], step[most_buckets], start = 0;
  for (int b = 0; b < p.count; ++b) {
    int64_t end = start;
    next[b] = start;
    for (int32_t k = 0; k < p.tiles; ++k) {
      if (k < own) next[b] += counts[k * p.count + b];
      end += counts[k * p.count + b];
    }
    step[b] = is_wanted(p.s, start, end);
    start = end;
  }
  const uint8_t* const buckets = p.buckets + tile.segment * p.s.n;
  each_chunk(p, packing, x, tile, [&](int64_t begin, int n, const K* key) {
    const uint8_t* const bucket = buckets + begin;
    for (int i = 0; i < n; ++i) {
      const int64_t to = next[bucket[i]];
      keys[to] = key[i];
      if (indices) indices[to] = uint32_t(begin + i);
      next[bucket[i]] = to + step[bucket[i]];
    }
  });
}

// Sorts elements [begin, end) of a segment, whose indices are beside the keys, and writes them.
template <class K>
STATOR_CALL void sort_bucket_with_indices(const Split& p, const Packing<K>& packing, int64_t segment,
                                          const SegmentStart& at, const char* x, int64_t begin, int64_t end) {
  const int64_t n = end - begin, start = segment * p.s.n + begin;
  K* const key = static_cast<K*>(p.keys) + start;
  K* const spare = static_cast<K*>(p.spare) + start;
  K* const ordinal = static_cast<K*>(p.ordinals) + start;
  uint32_t* const index = p.indices + start;
  K mask;
  if (sort_packed(packing, p.s, begin, n, key, spare, ordinal, &mask))
    return store_by_index<K>(packing, p.s, x, at.out, begin, end, key, {mask, index});
  for (int64_t i = 0; i < n; ++i) key[i] = packing.codec.load(x, int64_t(index[i]) * p.s.x_step);
  uint32_t* const spare_index = reinterpret_cast<uint32_t*>(ordinal);
  store_keys<K>(packing, p.s, at.out, begin, end, sort_with_indices<K>(packing, {key, index}, {spare, spare_index}, n));
}

// Partitions n keys, those of buckets [first, last), so that each bucket lies side by side in a; counts[b] gets its
// size. `from` is a or b, which both have room for n.
template <class K>
STATOR_CALL void divide(const K* from, K* a, K* b, int64_t n, const K* splitters, int first, int last,
                        int64_t* counts) {
  if (last - first == 1) {
    counts[first] = n;
    if (from != a) std::memcpy(a, from, size_t(n) * sizeof(K));
    return;
  }
  const int middle = (first + last) / 2;
  const int64_t lows = partition_keys(from, n, a, b, splitters[middle - 1]);
  divide(static_cast<const K*>(a), a, b + (n - lows), lows, splitters, first, middle, counts);
  divide(static_cast<const K*>(b), a + lows, b, n - lows, splitters, middle, last, counts);
}

// Divides the pieces of a block among the buckets, each piece by itself.
template <class K, int Size>
STATOR_KERNEL(Size) void split_pieces_kernel(Split p) {
  const Group<Size> group;
  const Packing<K> packing{Codec<K>(p.s.key), p.index_bits};
  const int64_t blocks = ceil_div(p.tiles, p.pieces), segment = group.block() / blocks;
  const int32_t begin = int32_t(group.block() - segment * blocks) * p.pieces, end = std::min(begin + p.pieces, p.tiles);
  const char* const x =
      static_cast<const char*>(p.s.x) + segment_start(p.s.segments, segment).x * packing.codec.itemsize;
  K splitters[most_buckets];
  draw_splitters(p, packing, x, splitters);
  // Keys of -0 and +0, which are neighbours, go to the same bucket.
  const K one = packing.codec.alias, other = packing.codec.canonical, low = one < other ? one : other;
  if (p.index_bits == 0)
    for (int b = 0; b < p.count - 1; ++b)
      if (splitters[b] == one || splitters[b] == other) splitters[b] = low;
  for (int32_t t = begin; t < end; ++t) {
    const SplitTile tile = split_tile(p, segment * p.tiles + t);
    K* const keys = static_cast<K*>(p.keys) + segment * p.s.n + tile.begin;
    K* const spare = static_cast<K*>(p.spare) + segment * p.s.n + tile.begin;
    if (p.index_bits != 0)
      load_ordinals(packing, x, p.s.x_step, tile.begin, tile.end, keys);
    else
      load_keys<K>(packing, x, p.s.x_step, tile.begin, tile.end, {keys, nullptr});
    divide(static_cast<const K*>(keys), keys, spare, tile.end - tile.begin, splitters, 0, p.count,
           p.counts + (segment * p.tiles + t) * p.count);
  }
}

// Collects the keys of a bucket of n from all pieces.
template <class K>
STATOR_CALL void collect_bucket(const Split& p, int64_t segment, int bucket, K* to) {
  const K* const keys = static_cast<const K*>(p.keys) + segment * p.s.n;
  const int64_t* count = p.counts + segment * p.tiles * p.count;
  for (int32_t t = 0; t < p.tiles; ++t, count += p.count) {
    int64_t before = 0;
    for (int b = 0; b < bucket; ++b) before += count[b];
    std::memcpy(to, keys + t * p.tile + before, size_t(count[bucket]) * sizeof(K));
    to += count[bucket];
  }
}

template <class K, int Size>
STATOR_KERNEL(Size) void sort_buckets_kernel(Split p) {
  const Group<Size> group;
  const Packing<K> packing{Codec<K>(p.s.key), p.index_bits};
  const int64_t segment = group.block() / p.count;
  const int bucket = int(group.block() - segment * p.count);
  const SegmentStart at = segment_start(p.s.segments, segment);
  const char* const x = static_cast<const char*>(p.s.x) + at.x * packing.codec.itemsize;
  const int64_t begin = bucket_start(p, segment, bucket), end = bucket_start(p, segment, bucket + 1);
  if (!is_wanted(p.s, begin, end)) return;
  if constexpr (sizeof(K) == 8)
    if (p.indices) return sort_bucket_with_indices(p, packing, segment, at, x, begin, end);
  K* keys = static_cast<K*>(p.keys) + segment * p.s.n;
  K* spare = static_cast<K*>(p.spare) + segment * p.s.n;
  if (p.by_pieces) {
    keys = std::exchange(spare, static_cast<K*>(p.room) + segment * p.s.n);
    collect_bucket(p, segment, bucket, keys + begin);
  }
  sort_wanted(p.s, begin, keys + begin, spare + begin, end - begin);
  if (p.index_bits != 0)
    return store_by_index<K>(packing, p.s, x, at.out, begin, end, keys + begin, {0xffffffffu, nullptr});
  reorder_zeros(packing, p.s, x, begin, keys + begin, end - begin);
  store_keys<K>(packing, p.s, at.out, begin, end, {keys + begin, nullptr});
}

struct SplitPlan {
  Split pass;
  bool wide;
  int64_t keys, room, ordinals, indices, buckets, counts;  // bytes; keys twice
  int64_t total() const { return 2 * keys + room + ordinals + indices + buckets + counts; }
};

// Sets the window of the wanted positions if it is narrow. The last position of a segment does not count: its element
// is found without sorting.
inline void find_narrow_window(Split& p) {
  const params::Sort& s = p.s;
  int64_t first = s.first, last = s.first + s.count;
  if (s.rank_count > 0) {
    const bool has_last = s.rank[s.rank_count - 1] == s.n - 1 && s.rank_count > 1;
    first = s.rank[0];
    last = s.rank[s.rank_count - 1 - int(has_last)] + 1;
  }
  if (last - first > s.n / narrow_fraction) return;
  p.count = narrow_buckets;
  p.narrow_first = first;
  p.narrow_last = last;
}

inline SplitPlan plan_split(const params::DeviceLimits& limits, const params::Sort& s) {
  const auto padded = [](int64_t bytes) { return (bytes + 255) & ~int64_t(255); };
  const int workers = std::max(1, limits.multiprocessors);
  SplitPlan plan{};
  Split& p = plan.pass;
  p.s = s;
  const bool with_indices = s.indices && is_wide(s);
  p.index_bits = s.indices && !with_indices ? 32 : 0;
  p.count = workers <= 4 ? 16 : most_buckets;
  find_narrow_window(p);
  const int64_t tiles =
      std::clamp<int64_t>(ceil_div(4 * workers, s.segments.count), 1, ceil_div(s.n, SortTuning::host_least_tile));
  plan.wide = is_wide(s) || s.indices;
  p.tile = ceil_div(ceil_div(s.n, tiles), chunk) * chunk;
  p.by_pieces = !with_indices && p.narrow_last == 0;
  if (p.by_pieces) {
    if (s.n >= many) p.count = most_buckets;
    const int64_t piece = piece_bytes / (plan.wide ? 8 : 4);
    p.pieces = int32_t(ceil_div(p.tile, piece));
    p.tile = std::min(p.tile, piece);
  }
  p.tiles = int32_t(ceil_div(s.n, p.tile));
  plan.keys = padded(s.segments.count * s.n * (plan.wide ? 8 : 4));
  plan.ordinals = with_indices ? plan.keys : 0;
  plan.indices = with_indices ? padded(s.segments.count * s.n * int64_t(sizeof(uint32_t))) : 0;
  plan.room = p.by_pieces ? plan.keys : 0;
  plan.buckets = p.by_pieces ? 0 : padded(s.segments.count * s.n);
  plan.counts = padded(s.segments.count * p.tiles * p.count * int64_t(sizeof(int64_t)));
  return plan;
}

template <class K>
void sort_split(const params::Queue& q, const Split& p) {
  constexpr int block = SortTuning::block;
  if (p.by_pieces) {
    launch(q, "split_pieces", split_pieces_kernel<K, block>, {p.s.segments.count * ceil_div(p.tiles, p.pieces), block},
           p);
    launch(q, "sort_buckets", sort_buckets_kernel<K, block>, {p.s.segments.count * p.count, block}, p);
    return;
  }
  launch(q, "split_count", split_count_kernel<K, block>, {p.s.segments.count * p.tiles, block}, p);
  launch(q, "split_move", split_move_kernel<K, block>, {p.s.segments.count * p.tiles, block}, p);
  launch(q, "sort_buckets", sort_buckets_kernel<K, block>, {p.s.segments.count * p.count, block}, p);
}

template <bool Fast>
void sort_buckets(const params::Queue& q, const params::Sort& s, void* scratch) {
  if constexpr (Fast) {
    SplitPlan plan = plan_split(*q.limits, s);
    unsigned char* memory = static_cast<unsigned char*>(scratch);
    const auto take = [&](int64_t bytes) { return bytes == 0 ? nullptr : std::exchange(memory, memory + bytes); };
    Split& p = plan.pass;
    p.keys = take(plan.keys);
    p.spare = take(plan.keys);
    p.room = take(plan.room);
    p.ordinals = take(plan.ordinals);
    p.indices = reinterpret_cast<uint32_t*>(take(plan.indices));
    p.buckets = take(plan.buckets);
    p.counts = reinterpret_cast<int64_t*>(take(plan.counts));
    if (plan.wide)
      sort_split<uint64_t>(q, p);
    else
      sort_split<uint32_t>(q, p);
  }
}

}  // namespace sample_sort

bool sorts_in_buckets(const params::Sort& s) {
  return fast_host && (s.key.itemsize >= 4 || counting::sorts_counted(s));
}

int64_t bucket_scratch(const params::DeviceLimits& limits, const params::Sort& s) {
  if (counting::sorts_counted(s)) return counting::plan_counting(limits, s).bytes();
  return sample_sort::plan_split(limits, s).total();
}

void sort_in_buckets(const params::Queue& q, const params::Sort& s, void* scratch) {
  if (counting::sorts_counted(s)) return counting::sort_counted<fast_host>(q, s, scratch);
  sample_sort::sort_buckets<fast_host>(q, s, scratch);
}

}  // namespace stator::STATOR_TARGET::sort
