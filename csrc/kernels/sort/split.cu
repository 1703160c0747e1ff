// Fast host: long lines of keys of 32 and 64 bits. Blocks share a line out among buckets between splitters drawn from
// it, and sort a bucket each (Frazer and McKellar, "Samplesort", 1970): three launches. Where elements of 64 bits stood
// goes beside them into the buckets.
#include "device/group.cuh"
#include "params/sort.hpp"
#include "kernels/sort/sort.cuh"
#include "kernels/sort/host.cuh"

#include <utility>

namespace stator::STATOR_TARGET::sort {
namespace sample_sort {  // has a name: other targets use none of it

inline constexpr int most_buckets = 64, drawn = 32;  // so many samples a bucket
inline constexpr int64_t chunk = 1024;
// Few neighbouring places are wanted: three splitters around them, some standard deviations of their rank in a sample
// (Floyd and Rivest, "Expected time bounds for selection", 1975).
inline constexpr int close_buckets = 4, close_drawn = 1024, close_margin = 48;
inline constexpr int64_t close_share = 16;  // of a line: so many of them are few

struct Split {
  params::Sort s;
  void *words, *spare, *ordinals;  // [lines, n]; ordinals: with places
  uint32_t* places;                // [lines, n] beside the words; null: none, or inside
  uint8_t* buckets;                // [lines, n]: of each element
  int64_t* counts;                 // [lines, parts, buckets]
  int64_t share;                   // elements of a part
  int32_t parts, count, low;
  int64_t close_first, close_last;  // the places wanted, if few; else 0
};

struct SplitPart {
  int64_t line, begin, end;
};
STATOR_FN SplitPart split_part(const Split& p, int64_t block) {
  const int64_t line = block / p.parts, begin = (block - line * p.parts) * p.share;
  return {line, begin, begin + p.share < p.s.n ? begin + p.share : p.s.n};
}

// f(begin, words) for the chunks of a part.
template <class W, class F>
STATOR_FN void each_chunk(const Split& p, const WordKey<W>& key, const void* x, const SplitPart& part, F f) {
  W words[chunk];
  for (int64_t begin = part.begin; begin < part.end; begin += chunk) {
    const int64_t end = begin + chunk < part.end ? begin + chunk : part.end;
    if (p.low != 0)
      load_ordinals(key, x, p.s.x_step, begin, end, words);
    else
      load_words<W>(key, x, p.s.x_step, begin, end, {words, nullptr});
    f(begin, int(end - begin), words);
  }
}

// The least words of all buckets but the first; the same in every block of a line.
template <class W>
STATOR_CALL void draw_splitters(const Split& p, const WordKey<W>& key, const void* x, W* splitters) {
  W sample[2 * most_buckets * drawn];
  const bool close = p.close_last > 0;
  const int count = close ? close_drawn : p.count * drawn;
  const int64_t step = p.s.n / count;
  uint32_t state = uint32_t(p.s.n);
  for (int i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const int64_t at = i * step + int64_t(uint64_t(state) * uint64_t(step) >> 32);
    W word = key.codec.ordinal(key.codec.load(x, at * p.s.x_step));
    sample[i] = p.low == 0 ? word : W(word << p.low | W(uint32_t(at)));
  }
  sort_keys(sample, sample + count, count);
  if (!close) {
    for (int b = 1; b < p.count; ++b) splitters[b - 1] = sample[b * drawn];
    return;
  }
  const int64_t first = p.close_first / step - close_margin, last = p.close_last / step + close_margin;
  splitters[0] = first < 0 ? W(0) : sample[std::min<int64_t>(first, count - 1)];
  splitters[1] = splitters[2] = last < count ? sample[last] : ~W(0);
}

// Keys of -0 and +0 go to the same bucket.
template <class W>
STATOR_CALL void find_buckets(const Codec<W>& codec, bool ties, const W* words, int n, const W* splitters, int count,
                              uint8_t* out) {
  constexpr int step = 3;  // most_buckets - 1 and the least number are multiples
  W ordinal[chunk], bucket[chunk];
  const W alias = codec.alias, canonical = codec.canonical;
  for (int i = 0; i < n; ++i) ordinal[i] = ties && words[i] == alias ? canonical : words[i];
  for (int i = 0; i < n; ++i) bucket[i] = 0;
  for (int b = 0; b < count - 1; b += step) {
    const W one = splitters[b], two = splitters[b + 1], three = splitters[b + 2];
    for (int i = 0; i < n; ++i) bucket[i] += W(ordinal[i] >= one) + W(ordinal[i] >= two) + W(ordinal[i] >= three);
  }
  for (int i = 0; i < n; ++i) out[i] = uint8_t(bucket[i]);
}

template <class W, int Size>
STATOR_KERNEL void split_count_kernel(Split p) {
  const Group<Size> group;
  const WordKey<W> key{Codec<W>(p.s.key), p.low};
  const SplitPart part = split_part(p, group.block());
  const char* const x = static_cast<const char*>(p.s.x) + line_start(p.s.lines, part.line).x * key.codec.itemsize;
  W splitters[most_buckets];
  draw_splitters(p, key, x, splitters);
  uint32_t counts[4][most_buckets] = {};
  uint8_t* const buckets = p.buckets + part.line * p.s.n;
  each_chunk(p, key, x, part, [&](int64_t begin, int n, const W* words) {
    uint8_t* const bucket = buckets + begin;
    find_buckets(key.codec, p.low == 0, words, n, splitters, p.count, bucket);
    for (int i = 0; i < n; ++i) ++counts[i & 3][bucket[i]];
  });
  int64_t* const out = p.counts + group.block() * p.count;
  for (int b = 0; b < p.count; ++b) out[b] = int64_t(counts[0][b]) + counts[1][b] + counts[2][b] + counts[3][b];
}

// Where bucket b starts in a line.
STATOR_FN int64_t bucket_start(const Split& p, int64_t line, int b) {
  const int64_t* const counts = p.counts + line * p.parts * p.count;
  int64_t before = 0;
  for (int32_t part = 0; part < p.parts; ++part)
    for (int k = 0; k < b; ++k) before += counts[part * p.count + k];
  return before;
}

template <class W, int Size>
STATOR_KERNEL void split_move_kernel(Split p) {
  const Group<Size> group;
  const WordKey<W> key{Codec<W>(p.s.key), p.low};
  const SplitPart part = split_part(p, group.block());
  const char* const x = static_cast<const char*>(p.s.x) + line_start(p.s.lines, part.line).x * key.codec.itemsize;
  const int64_t* const counts = p.counts + part.line * p.parts * p.count;
  const int32_t own = int32_t(group.block() - part.line * p.parts);
  W* const words = static_cast<W*>(p.words) + part.line * p.s.n;
  uint32_t* const places = p.places ? p.places + part.line * p.s.n : nullptr;
  int64_t next[most_buckets], step[most_buckets], start = 0;  // step 0: what no one wants is dropped in one place
  for (int b = 0; b < p.count; ++b) {
    int64_t end = start;
    next[b] = start;
    for (int32_t k = 0; k < p.parts; ++k) {
      if (k < own) next[b] += counts[k * p.count + b];
      end += counts[k * p.count + b];
    }
    step[b] = is_wanted(p.s, start, end);
    start = end;
  }
  const uint8_t* const buckets = p.buckets + part.line * p.s.n;
  each_chunk(p, key, x, part, [&](int64_t begin, int n, const W* word) {
    const uint8_t* const bucket = buckets + begin;
    for (int i = 0; i < n; ++i) {
      const int64_t to = next[bucket[i]];
      words[to] = word[i];
      if (places) places[to] = uint32_t(begin + i);
      next[bucket[i]] = to + step[bucket[i]];
    }
  });
}

// Sorts elements [begin, end) of a line, whose places are beside them.
template <class W>
STATOR_CALL void sort_placed_bucket(const Split& p, const WordKey<W>& key, int64_t line, const LineStart& at,
                                    const char* x, int64_t begin, int64_t end) {
  const int64_t n = end - begin, start = line * p.s.n + begin;
  W* const word = static_cast<W*>(p.words) + start;
  W* const spare = static_cast<W*>(p.spare) + start;
  W* const ordinal = static_cast<W*>(p.ordinals) + start;
  uint32_t* const place = p.places + start;
  W mask;
  if (sort_packed(key, p.s, begin, n, word, spare, ordinal, &mask))
    return store_places<W>(key, p.s, x, at.out, begin, end, word, {mask, place});
  for (int64_t i = 0; i < n; ++i) word[i] = key.codec.load(x, int64_t(place[i]) * p.s.x_step);
  uint32_t* const spare_place = reinterpret_cast<uint32_t*>(ordinal);
  store_words<W>(key, p.s, at.out, begin, end, sort_placed<W>(key, {word, place}, {spare, spare_place}, n));
}

template <class W, int Size>
STATOR_KERNEL void sort_buckets_kernel(Split p) {
  const Group<Size> group;
  const WordKey<W> key{Codec<W>(p.s.key), p.low};
  const int64_t line = group.block() / p.count;
  const int bucket = int(group.block() - line * p.count);
  const LineStart at = line_start(p.s.lines, line);
  const char* const x = static_cast<const char*>(p.s.x) + at.x * key.codec.itemsize;
  const int64_t begin = bucket_start(p, line, bucket), end = bucket_start(p, line, bucket + 1);
  if (!is_wanted(p.s, begin, end)) return;
  if constexpr (sizeof(W) == 8)
    if (p.places) return sort_placed_bucket(p, key, line, at, x, begin, end);
  W* const words = static_cast<W*>(p.words) + line * p.s.n;
  W* const spare = static_cast<W*>(p.spare) + line * p.s.n;
  sort_wanted(p.s, begin, words + begin, spare + begin, end - begin);
  if (p.low != 0) return store_places<W>(key, p.s, x, at.out, begin, end, words + begin, {0xffffffffu, nullptr});
  reorder_zeros(key, p.s, x, begin, words + begin, end - begin);
  store_words<W>(key, p.s, at.out, begin, end, {words + begin, nullptr});
}

struct SplitPlan {
  Split pass;
  bool wide;
  int64_t words, ordinals, places, buckets, counts;  // bytes; words twice
  int64_t total() const { return 2 * words + ordinals + places + buckets + counts; }
};

// Sets the range of the wanted places if it is small; the last place of a line does not count, its element is found
// without sorting.
inline void look_close(Split& p) {
  const params::Sort& s = p.s;
  int64_t first = s.first, last = s.first + s.count;
  if (s.rank_count > 0) {
    const bool has_last = s.rank[s.rank_count - 1] == s.n - 1 && s.rank_count > 1;
    first = s.rank[0];
    last = s.rank[s.rank_count - 1 - int(has_last)] + 1;
  }
  if (last - first > s.n / close_share) return;
  p.count = close_buckets;
  p.close_first = first;
  p.close_last = last;
}

inline SplitPlan plan_split(const params::DeviceLimits& limits, const params::Sort& s) {
  const auto padded = [](int64_t bytes) { return (bytes + 255) & ~int64_t(255); };
  const int workers = std::max(1, limits.multiprocessors);
  SplitPlan plan{};
  Split& p = plan.pass;
  p.s = s;
  const bool placed = s.indices && is_wide(s);
  p.low = s.indices && !placed ? 32 : 0;
  p.count = workers <= 4 ? 16 : most_buckets;
  look_close(p);
  const int64_t parts =
      std::clamp<int64_t>(ceil_div(4 * workers, s.lines.count), 1, ceil_div(s.n, SortTuning::host_share));
  p.share = ceil_div(ceil_div(s.n, parts), chunk) * chunk;
  p.parts = int32_t(ceil_div(s.n, p.share));
  plan.wide = is_wide(s) || s.indices;
  plan.words = padded(s.lines.count * s.n * (plan.wide ? 8 : 4));
  plan.ordinals = placed ? plan.words : 0;
  plan.places = placed ? padded(s.lines.count * s.n * int64_t(sizeof(uint32_t))) : 0;
  plan.buckets = padded(s.lines.count * s.n);
  plan.counts = padded(s.lines.count * p.parts * p.count * int64_t(sizeof(int64_t)));
  return plan;
}

template <class W>
void sort_split(const params::Queue& q, const Split& p) {
  constexpr int block = SortTuning::block;
  launch(q, "split_count", split_count_kernel<W, block>, {p.s.lines.count * p.parts, block}, p);
  launch(q, "split_move", split_move_kernel<W, block>, {p.s.lines.count * p.parts, block}, p);
  launch(q, "sort_buckets", sort_buckets_kernel<W, block>, {p.s.lines.count * p.count, block}, p);
}

template <bool Fast>
void sort_buckets(const params::Queue& q, const params::Sort& s, void* scratch) {
  if constexpr (Fast) {
    SplitPlan plan = plan_split(*q.limits, s);
    unsigned char* memory = static_cast<unsigned char*>(scratch);
    const auto take = [&](int64_t bytes) { return bytes == 0 ? nullptr : std::exchange(memory, memory + bytes); };
    Split& p = plan.pass;
    p.words = take(plan.words);
    p.spare = take(plan.words);
    p.ordinals = take(plan.ordinals);
    p.places = reinterpret_cast<uint32_t*>(take(plan.places));
    p.buckets = take(plan.buckets);
    p.counts = reinterpret_cast<int64_t*>(take(plan.counts));
    if (plan.wide)
      sort_split<uint64_t>(q, p);
    else
      sort_split<uint32_t>(q, p);
  }
}

}  // namespace sample_sort

bool sorts_in_buckets(const params::Sort& s) { return fast_host && s.key.itemsize >= 4; }

int64_t bucket_scratch(const params::DeviceLimits& limits, const params::Sort& s) {
  return sample_sort::plan_split(limits, s).total();
}

void sort_in_buckets(const params::Queue& q, const params::Sort& s, void* scratch) {
  sample_sort::sort_buckets<fast_host>(q, s, scratch);
}

}  // namespace stator::STATOR_TARGET::sort
