// Sorting short lines in one launch: a block sorts a tile of whole lines in shared memory, by bytes of the keys, least
// significant first, and then by line.
#include "device/digit_rank.cuh"
#include "kernels/sort/sort.cuh"
#include "kernels/sort/host.cuh"

namespace stator::STATOR_TARGET::sort {
namespace {

template <class W, int Items>
struct SortShared {
  W word[Items * 256];
  uint32_t place[Items * 256];  // the line in the tile above the place in the line, 16 bits each
  DigitCounts counts;
};

// Fast host: one line, in memory for 3 n words.
template <class W>
STATOR_FN void sort_line(const WordKey<W>& key, const params::Sort& s, const void* x, int64_t out, W* memory) {
  const int64_t n = s.n;
  W* const spare = memory + n;
  if (!s.indices || key.low != 0) {
    if (!sorts_by_lanes(key, n)) {
      load_words<W>(key, x, s.x_step, 0, n, {memory, nullptr});
      return store_words<W>(key, s, out, 0, n, sort_by_digits<8, false>(key, {memory, nullptr}, {spare, nullptr}, n));
    }
    if (key.low != 0)
      load_ordinals(key, x, s.x_step, 0, n, memory);
    else
      load_words<W>(key, x, s.x_step, 0, n, {memory, nullptr});
    sort_wanted(s, 0, memory, spare, n);
    if (key.low != 0) return store_places<W>(key, s, x, out, 0, n, memory, {0xffffffffu, nullptr});
    reorder_zeros(key, s, x, 0, memory, n);
    return store_words<W>(key, s, out, 0, n, {memory, nullptr});
  }
  if constexpr (sizeof(W) == 8) {
    W mask;
    load_words<W>(key, x, s.x_step, 0, n, {memory, nullptr});
    if (sort_packed(key, s, 0, n, memory, spare, spare + n, &mask))
      return store_places<W>(key, s, x, out, 0, n, memory, {mask, nullptr});
    uint32_t* const places = reinterpret_cast<uint32_t*>(memory + 2 * n);
    load_words<W>(key, x, s.x_step, 0, n, {memory, places});
    store_words<W>(key, s, out, 0, n, sort_placed<W>(key, {memory, places}, {spare, places + n}, n));
  }
}

template <class W, int Size>
STATOR_KERNEL STATOR_RESIDENT(Size, 2) void sort_rows_kernel(params::Sort s, int64_t tile) {
  const Group<Size> group;
  const Codec<W> codec(s.key);
  const int64_t first = group.block() * tile;
  const int64_t count = s.lines.count - first < tile ? s.lines.count - first : tile;
  if constexpr (fast_host) {
    const bool placed = s.indices != nullptr;  // never with 32-bit words: places are inside 64-bit ones
    const WordKey<W> key{codec, placed && codec.itemsize < 8 ? 32 : 0};
    W* const memory = group.template dynamic<W>(3 * s.n);
    for (int64_t line = first; line < first + count; ++line) {
      const LineStart at = line_start(s.lines, line);
      sort_line(key, s, static_cast<const char*>(s.x) + at.x * codec.itemsize, at.out, memory);
    }
  } else {
    constexpr int items = sort_items<W>;
    SortShared<W, items>& shared = group.template shared<SortShared<W, items>>();
    const int n = int(s.n), size = int(count) * n;
    W word[items];
    uint32_t place[items];
    int digit[items], rank[items];
    STATOR_UNROLL()
    for (int k = 0; k < items; ++k) {
      const int p = tile_place<items>(group, k);
      word[k] = W(0) - W(1);
      place[k] = 255u << 16;
      if (p >= size) continue;
      const int line = p / n, i = p - line * n;
      word[k] = codec.load(s.x, line_start(s.lines, first + line).x + i * s.x_step);
      place[k] = uint32_t(line) << 16 | uint32_t(i);
    }
    const int passes = codec.itemsize + (tile > 1 ? 1 : 0);
    for (int pass = 0; pass < passes; ++pass) {
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k)
        digit[k] = pass == codec.itemsize ? int(place[k] >> 16) : int(codec.ordinal(word[k]) >> 8 * pass & 255);
      rank_digits(group, shared.counts, digit, rank);
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        shared.word[rank[k]] = word[k];
        shared.place[rank[k]] = place[k];
      }
      group.sync();
      STATOR_UNROLL()
      for (int k = 0; k < items; ++k) {
        const int p = tile_place<items>(group, k);
        word[k] = shared.word[p];
        place[k] = shared.place[p];
      }
    }
    STATOR_UNROLL()
    for (int k = 0; k < items; ++k) {
      const int p = tile_place<items>(group, k);
      if (p >= size) continue;
      const int line = p / n;
      const int64_t i = window_place(s, p - line * n);
      if (i < 0) continue;
      const int64_t to = line_start(s.lines, first + line).out + i * s.out_step;
      if (s.values) codec.store(s.values, to, word[k]);
      const uint32_t stood = place[k] & 0xffff;
      if (s.indices) s.indices[to] = s.places ? s.places[(first + line) * s.n + stood] : stood;
    }
  }
}

template <class W>
void sort_rows(const params::Queue& q, const params::Sort& s) {
  constexpr int block = SortTuning::block;
  const int64_t n = std::max<int64_t>(s.n, 1);
  const int64_t lines = fast_host ? std::max<int64_t>(SortTuning::host_tile / n, 1)
                                  : std::clamp<int64_t>(block * sort_items<W> / n, 1, 256);
  const int64_t tile = std::min(lines, s.lines.count);
  const int bytes = fast_host ? int(n * int64_t(2 * sizeof(W) + 2 * sizeof(uint32_t))) : 0;
  launch(q, "sort_rows", sort_rows_kernel<W, block>, {ceil_div(s.lines.count, tile), block, bytes}, s, tile);
}

}  // namespace

void sort_short_lines(const params::Queue& q, const params::Sort& s) {
  if (is_wide(s) || (fast_host && s.indices))
    sort_rows<uint64_t>(q, s);
  else
    sort_rows<uint32_t>(q, s);
}

}  // namespace stator::STATOR_TARGET::sort
