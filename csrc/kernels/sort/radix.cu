// Sorting long lines: a radix sort by bytes, least significant first. Each pass counts the digits of every part of a
// line, scans the counts, and moves the words; the first reads the array, the last writes the results. Sources: Satish,
// Harris and Garland, IPDPS 2009, for the passes; no look-back between blocks, so that every target runs the same.
#include "device/atomic.cuh"
#include "device/digit_rank.cuh"
#include "device/launcher.cuh"
#include "params/sort.hpp"
#include "kernels/sort/host.cuh"
#include "kernels/sort/sort.cuh"

#include <utility>

namespace stator::STATOR_TARGET::sort {
namespace {

struct RadixPass {
  params::Sort s;
  const void* from;  // words [lines, n]; the first pass reads s.x
  void* to;
  const uint32_t* from_place;  // beside the words; null: none, or inside
  uint32_t* to_place;
  uint32_t* counts;  // [lines, 256, parts], then the digits' totals [lines, 256]
  uint32_t* totals;
  int64_t share;  // elements of a part
  int32_t parts, shift, low;
  bool first, last;
};

struct Part {
  int64_t line, begin, end;
  int32_t index;
};
STATOR_FN Part part_of(const RadixPass& p, int64_t block) {
  const int64_t line = block / p.parts;
  const int32_t index = int32_t(block - line * p.parts);
  const int64_t begin = index * p.share, end = begin + p.share < p.s.n ? begin + p.share : p.s.n;
  return {line, begin, end, index};
}

template <class W>
STATOR_FN W radix_word(const RadixPass& p, const WordKey<W>& key, const LineStart& at, int64_t line, int64_t i) {
  if (!p.first) return static_cast<const W*>(p.from)[line * p.s.n + i];
  return key.make(key.codec.load(p.s.x, at.x + i * p.s.x_step), i);
}

template <class W>
STATOR_FN void put_word(const RadixPass& p, const WordKey<W>& key, const LineStart& at, int64_t line, int64_t i, W word,
                        uint32_t place) {
  if (!p.last) {
    static_cast<W*>(p.to)[line * p.s.n + i] = word;
    if (p.to_place) p.to_place[line * p.s.n + i] = place;
    return;
  }
  const int64_t k = window_place(p.s, i);
  if (k < 0) return;
  const int64_t to = at.out + k * p.s.out_step;
  if (p.s.values) key.codec.store(p.s.values, to, word >> key.low);
  if (p.s.indices) p.s.indices[to] = key.low != 0 ? int64_t(uint32_t(word)) : int64_t(place);
}

// Fast host: f(i, word, place) for the elements of a part, in order; those of the array are made words by the chunk.
template <bool Placed, class W, class F>
STATOR_FN void each_word(const RadixPass& p, const WordKey<W>& key, const LineStart& at, const Part& part, F f) {
  constexpr int64_t chunk = 1024;
  W made[chunk];
  const char* const x = static_cast<const char*>(p.s.x) + at.x * key.codec.itemsize;
  for (int64_t begin = part.begin; begin < part.end; begin += chunk) {
    const int64_t end = begin + chunk < part.end ? begin + chunk : part.end;
    const W* word = made - begin;
    if (p.first)
      load_words(key, x, p.s.x_step, begin, end, {made, nullptr});
    else
      word = static_cast<const W*>(p.from) + part.line * p.s.n;
    const uint32_t* const place = Placed && p.from_place ? p.from_place + part.line * p.s.n : nullptr;
    if (Placed && place)
      for (int64_t i = begin; i < end; ++i) f(i, word[i], place[i]);
    else
      for (int64_t i = begin; i < end; ++i) f(i, word[i], uint32_t(i));
  }
}

template <class W, int Size>
STATOR_KERNEL void radix_count_kernel(RadixPass p) {
  const Group<Size> group;
  const WordKey<W> key{Codec<W>(p.s.key), p.low};
  const Part part = part_of(p, group.block());
  const LineStart at = line_start(p.s.lines, part.line);
  uint32_t* const counts = p.counts + part.line * 256 * p.parts + part.index;
  if constexpr (fast_host) {
    uint32_t own[4][256] = {};  // four, so that a run of equal digits does not wait for itself
    const DigitOf<W> digit(key, p.shift, 8);
    each_word<false>(p, key, at, part, [&own, digit](int64_t i, W word, uint32_t) { ++own[i & 3][digit(word)]; });
    for (int d = 0; d < 256; ++d) counts[int64_t(d) * p.parts] = own[0][d] + own[1][d] + own[2][d] + own[3][d];
  } else {
    struct Counts {
      uint32_t of[4][256];
    };
    Counts& own = group.template shared<Counts>();
    for (int c = 0; c < 4; ++c) own.of[c][group.rank()] = 0;
    group.sync();
    group.for_each(part.end - part.begin, [&](int64_t i) {
      const W word = radix_word(p, key, at, part.line, part.begin + i);
      atomic_add(&own.of[group.rank() & 3][key.digit(word, p.shift)], uint32_t(1));
    });
    group.sync();
    const int d = group.rank();
    counts[int64_t(d) * p.parts] = own.of[0][d] + own.of[1][d] + own.of[2][d] + own.of[3][d];
  }
}

// Counts become what stands before them in the same digit; `rows` digits of a line a block.
template <int Size>
STATOR_KERNEL void radix_scan_kernel(uint32_t* counts, uint32_t* totals, int32_t parts, int32_t rows) {
  const Group<Size> group;
  for (int64_t row = group.block() * rows; row < (group.block() + 1) * rows; ++row) {
    uint32_t* const count = counts + row * parts;
    uint32_t before = 0;
    for (int32_t first = 0; first < parts; first += Group<Size>::size) {
      const int32_t i = first + group.rank();
      const uint32_t own = i < parts ? count[i] : 0;
      const uint32_t through = group.inclusive_scan(own, Sum{});
      if (i < parts) count[i] = before + through - own;
      before += group.reduce(own, Sum{});
    }
    if (group.rank() == 0) totals[row] = before;
  }
}

// Fast host: words wait until they fill a cache line of their digit: the memory that all digits go to is more than the
// address translation of the nearest caches covers.
template <class W>
struct DigitLines {
  static constexpr uint32_t width = 64 / sizeof(W);
  alignas(64) W word[256][width];
  uint32_t place[256][width];
};

// Words of the places [begin, end) of a sorted line go where they belong.
template <bool Placed, class W>
STATOR_FN void put_words(const RadixPass& p, const WordKey<W>& key, const LineStart& at, int64_t line, uint32_t begin,
                         uint32_t end, const W* word, const uint32_t* place) {
  if (!p.last) {
    constexpr uint32_t width = DigitLines<W>::width;
    W* const to = static_cast<W*>(p.to) + line * p.s.n + begin;
    uint32_t* const to_place = Placed ? p.to_place + line * p.s.n + begin : nullptr;
    if (end - begin == width) {  // nearly always: no call
      std::memcpy(to, word, width * sizeof(W));
      if constexpr (Placed) std::memcpy(to_place, place, width * sizeof(uint32_t));
      return;
    }
    std::memcpy(to, word, (end - begin) * sizeof(W));
    if constexpr (Placed) std::memcpy(to_place, place, (end - begin) * sizeof(uint32_t));
    return;
  }
  store_words(key, p.s, at.out, begin, end, {const_cast<W*>(word), const_cast<uint32_t*>(Placed ? place : nullptr)});
}

// Fast host: moves the words of a part to their digits' next places.
template <bool Placed, class W>
STATOR_FN void move_words(const RadixPass& p, const WordKey<W>& key, const LineStart& at, const Part& part,
                          const uint32_t (&start)[256]) {
  constexpr uint32_t width = DigitLines<W>::width;
  DigitLines<W> lines;
  uint32_t next[256];
  std::memcpy(next, start, sizeof(next));
  const auto flush = [&](int d, uint32_t end) {
    const uint32_t whole = (end - 1) / width * width, begin = whole > start[d] ? whole : start[d];
    put_words<Placed>(p, key, at, part.line, begin, end, lines.word[d] + begin % width, lines.place[d] + begin % width);
  };
  const DigitOf<W> digit(key, p.shift, 8);
  each_word<Placed>(p, key, at, part, [&, digit](int64_t, W word, uint32_t place) {
    const uint32_t d = digit(word), i = next[d]++, column = i % width;
    lines.word[d][column] = word;
    if constexpr (Placed) lines.place[d][column] = place;
    if (column == width - 1) flush(int(d), i + 1);
  });
  for (int d = 0; d < 256; ++d)
    if (next[d] > start[d] && next[d] % width != 0) flush(d, next[d]);
}

template <class W, int Items>
struct MoveShared {
  W word[Items * 256];
  uint32_t place[Items * 256];
  uint32_t next[256];
  DigitCounts counts;
};

template <class W, int Size>
STATOR_KERNEL STATOR_RESIDENT(Size, 2) void radix_move_kernel(RadixPass p) {
  const Group<Size> group;
  const WordKey<W> key{Codec<W>(p.s.key), p.low};
  const Part part = part_of(p, group.block());
  const LineStart at = line_start(p.s.lines, part.line);
  const uint32_t* const counts = p.counts + part.line * 256 * p.parts + part.index;
  const uint32_t* const totals = p.totals + part.line * 256;
  if constexpr (fast_host) {
    uint32_t next[256], before = 0;
    for (int d = 0; d < 256; ++d) {
      next[d] = before + counts[int64_t(d) * p.parts];
      before += totals[d];
    }
    if constexpr (sizeof(W) == 8) {
      if (p.from_place || p.to_place) return move_words<true>(p, key, at, part, next);
    }
    move_words<false>(p, key, at, part, next);
  } else {
    constexpr int items = sort_items<W>, tile = items * Size;
    MoveShared<W, items>& shared = group.template shared<MoveShared<W, items>>();
    const int own = group.rank();
    const uint32_t total = totals[own];
    shared.next[own] = group.inclusive_scan(total, Sum{}) - total + counts[int64_t(own) * p.parts];
    for (int64_t first = part.begin; first < part.end; first += tile) {
      const int size = part.end - first < tile ? int(part.end - first) : tile;
      W word[items];
      int digit[items], rank[items];
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        const int i = tile_place<items>(group, k);
        word[k] = i < size ? radix_word(p, key, at, part.line, first + i) : W(0);
        digit[k] = i < size ? key.digit(word[k], p.shift) : 255;
      }
      rank_digits(group, shared.counts, digit, rank);
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        const int i = tile_place<items>(group, k);
        shared.word[rank[k]] = word[k];
        if (p.from_place || p.first)
          shared.place[rank[k]] = p.first    ? uint32_t(first + i)
                                  : i < size ? p.from_place[part.line * p.s.n + first + i]
                                             : 0;
      }
      group.sync();
      for (int i = own; i < size; i += Size) {
        const W moved = shared.word[i];
        const int d = key.digit(moved, p.shift);
        put_word(p, key, at, part.line, int64_t(shared.next[d]) + i - shared.counts.before[d], moved,
                 p.from_place || p.first ? shared.place[i] : 0);
      }
      group.sync();
      shared.next[own] += shared.counts.before[own + 1] - shared.counts.before[own];
    }
  }
}

struct Memory {
  int64_t words, places, counts, totals;  // bytes; words and places twice
  int64_t total() const { return 2 * words + 2 * places + counts + totals; }
};

struct Plan {
  int32_t parts, low;
  int64_t share;
  bool wide_words, places;
  Memory bytes;
};

Plan plan_radix(const params::DeviceLimits& limits, const params::Sort& s) {
  Plan p{};
  p.places = s.indices && is_wide(s);
  p.low = s.indices && !is_wide(s) ? 32 : 0;
  p.wide_words = is_wide(s) || s.indices;
  const int64_t tile = fast_host ? SortTuning::host_share
                                 : SortTuning::block * (p.wide_words ? sort_items<uint64_t> : sort_items<uint32_t>);
  const int64_t wanted = fast_host ? 4 * std::max(1, limits.multiprocessors) : waves(limits, 4 * SortTuning::block);
  const int64_t parts = std::clamp<int64_t>(ceil_div(wanted, s.lines.count), 1, ceil_div(s.n, tile));
  p.share = ceil_div(ceil_div(s.n, parts), tile) * tile;
  p.parts = int32_t(ceil_div(s.n, p.share));
  const auto padded = [](int64_t bytes) { return (bytes + 255) & ~int64_t(255); };
  p.bytes.words = padded(s.lines.count * s.n * (p.wide_words ? 8 : 4));
  p.bytes.places = p.places ? padded(s.lines.count * s.n * 4) : 0;
  p.bytes.counts = padded(s.lines.count * 256 * p.parts * 4);
  p.bytes.totals = padded(s.lines.count * 256 * 4);
  return p;
}

template <class W>
void sort_radix(const params::Queue& q, const params::Sort& s, const Plan& plan, void* scratch) {
  constexpr int block = SortTuning::block;
  unsigned char* memory = static_cast<unsigned char*>(scratch);
  const auto take = [&](int64_t bytes) { return std::exchange(memory, memory + bytes); };
  void* words[2] = {take(plan.bytes.words), take(plan.bytes.words)};
  uint32_t* places[2] = {};
  if (plan.places)
    for (uint32_t*& p : places) p = reinterpret_cast<uint32_t*>(take(plan.bytes.places));
  RadixPass p{};
  p.s = s;
  p.counts = reinterpret_cast<uint32_t*>(take(plan.bytes.counts));
  p.totals = reinterpret_cast<uint32_t*>(take(plan.bytes.totals));
  p.share = plan.share;
  p.parts = plan.parts;
  p.low = plan.low;
  const int64_t blocks = s.lines.count * plan.parts;
  constexpr int rows = by_target<1, 256>::value;
  for (int pass = 0; pass < s.key.itemsize; ++pass) {
    p.shift = 8 * pass;
    p.first = pass == 0;
    p.last = pass == s.key.itemsize - 1;
    p.from = words[pass & 1];
    p.to = words[1 - (pass & 1)];
    p.from_place = p.first ? nullptr : places[pass & 1];
    p.to_place = p.last ? nullptr : places[1 - (pass & 1)];
    launch(q, "radix_count", radix_count_kernel<W, block>, {blocks, block}, p);
    launch(q, "radix_scan", radix_scan_kernel<block>, {s.lines.count * 256 / rows, block}, p.counts, p.totals, p.parts,
           rows);
    launch(q, "radix_move", radix_move_kernel<W, block>, {blocks, block}, p);
  }
}

int64_t sort_scratch(const params::DeviceLimits& limits, const params::Sort& s) {
  if (is_short(s)) return 0;
  if (selects(s)) return select_scratch(limits, s);
  return sorts_in_buckets(s) ? bucket_scratch(limits, s) : plan_radix(limits, s).bytes.total();
}

void sort(const params::Queue& q, const params::Sort& s, void* scratch) {
  if (is_short(s)) return sort_short_lines(q, s);
  if (selects(s)) return sort_selected(q, s, scratch);
  if (sorts_in_buckets(s)) return sort_in_buckets(q, s, scratch);
  const Plan plan = plan_radix(*q.limits, s);
  if (plan.wide_words)
    sort_radix<uint64_t>(q, s, plan, scratch);
  else
    sort_radix<uint32_t>(q, s, plan, scratch);
}

}  // namespace

}  // namespace stator::STATOR_TARGET::sort

STATOR_LAUNCHER(sort, sort_scratch)
STATOR_LAUNCHER(sort, sort)
