// Fast host: sorting long segments of values of 8 and 16 bits by counting how often each key occurs, in two launches.
#pragma once

#include "device/group.cuh"
#include "kernels/sort/sort.cuh"
#include "params/sort.hpp"

#include <algorithm>
#include <cstring>

namespace stator::STATOR_TARGET::sort {
namespace counting {  // not anonymous, as other targets use nothing of it and compilers would warn

inline constexpr int ways = 4;  // of counting 8-bit keys: equal neighbours would wait for each other's counters

struct Counting {
  params::Sort s;
  uint32_t* counts;      // [segments, tiles, values]
  int64_t tile;          // elements of a tile
  int32_t tiles, parts;  // parts: blocks that write a segment
  int32_t values;        // number of keys

  int64_t bytes() const { return s.segments.count * tiles * values * int64_t(sizeof(uint32_t)); }
};

inline bool sorts_counted(const params::Sort& s) {
  return fast_host && s.key.itemsize <= 2 && s.indices == nullptr && s.rank_count == 0 && s.first == 0 &&
         s.count == s.n;
}

inline Counting plan_counting(const params::DeviceLimits& limits, const params::Sort& s) {
  const int64_t workers = std::max(1, limits.multiprocessors);
  Counting p{};
  p.s = s;
  p.values = s.key.itemsize == 1 ? 1 << 8 : 1 << 16;
  const int64_t tiles = std::clamp<int64_t>(ceil_div(workers, s.segments.count), 1, ceil_div(s.n, int64_t(1) << 18));
  p.tile = ceil_div(s.n, tiles);
  p.tiles = int32_t(ceil_div(s.n, p.tile));
  p.parts = s.segments.count >= workers ? 1 : int32_t(4 * workers);
  return p;
}

// Counts the keys of a tile.
template <int Size>
STATOR_KERNEL(Size) void count_kernel(Counting p) {
  const Group<Size> group;
  const Codec<uint32_t> codec(p.s.key);
  const int64_t segment = group.block() / p.tiles, begin = (group.block() - segment * p.tiles) * p.tile;
  const int64_t n = std::min(p.tile, p.s.n - begin), step = p.s.x_step;
  const int64_t first = segment_start(p.s.segments, segment).x + begin * step;
  uint32_t* const counts = p.counts + group.block() * p.values;
  std::memset(counts, 0, size_t(p.values) * sizeof(uint32_t));
  if (codec.itemsize == 2) {
    const uint16_t* const from = static_cast<const uint16_t*>(p.s.x) + first;
    for (int64_t i = 0; i < n; ++i) ++counts[codec.encode(from[i * step])];
    return;
  }
  const uint8_t* const from = static_cast<const uint8_t*>(p.s.x) + first;
  uint32_t apart[ways][256] = {};
  for (int64_t i = 0; i < n; ++i) ++apart[i % ways][from[i * step]];
  for (uint32_t item = 0; item < 256; ++item)
    for (int way = 0; way < ways; ++way) counts[codec.encode(item)] += apart[way][item];
}

// How often a key occurs in a segment.
STATOR_FN int64_t count_of(const Counting& p, const uint32_t* counts, int64_t key) {
  int64_t sum = 0;
  for (int32_t t = 0; t < p.tiles; ++t) sum += counts[int64_t(t) * p.values + key];
  return sum;
}

template <class Item>
STATOR_FN void write_run(Item* to, int64_t step, int64_t n, Item item) {
  if (step != 1) {
    for (int64_t i = 0; i < n; ++i) to[i * step] = item;
  } else if (n * sizeof(Item) > 64) {
    std::fill_n(to, n, item);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = item;
  }
}

// Gives the zeros at [at, at + n) the signs in the order of the segment, so that the sort is stable.
template <class Item>
STATOR_CALL void write_zeros(const Counting& p, const Codec<uint32_t>& codec, const Item* from, Item* to, int64_t n) {
  for (int64_t i = 0, written = 0; written < n; ++i) {
    const uint32_t key = codec.encode(from[i * p.s.x_step]);
    if (key == codec.alias || key == codec.canonical) to[written++ * p.s.out_step] = Item(codec.decode(key));
  }
}

// Writes the elements of a part of the keys.
template <class Item>
STATOR_CALL void write_part(const Counting& p, int64_t segment, int32_t part) {
  const Codec<uint32_t> codec(p.s.key);
  const SegmentStart at = segment_start(p.s.segments, segment);
  const Item* const from = static_cast<const Item*>(p.s.x) + at.x;
  Item* const to = static_cast<Item*>(p.s.values) + at.out;
  const uint32_t* const counts = p.counts + segment * p.tiles * p.values;
  const int32_t begin = int32_t(int64_t(p.values) * part / p.parts),
                end = int32_t(int64_t(p.values) * (part + 1) / p.parts);
  const uint32_t zero = std::min(codec.alias, codec.canonical);
  const bool signs = codec.alias != codec.canonical;
  int64_t position = 0;
  for (int32_t t = 0; t < p.tiles; ++t)
    for (int32_t key = 0; key < begin; ++key) position += counts[int64_t(t) * p.values + key];
  for (int32_t key = begin; key < end; ++key) {
    int64_t n = count_of(p, counts, key);
    const bool first = signs && uint32_t(key) == zero, second = signs && uint32_t(key) == zero + 1;
    if (first || second) {  // both zeros are written with the first one
      const int64_t other = count_of(p, counts, first ? key + 1 : key - 1);
      if (n > 0 && other > 0) {
        if (first) write_zeros(p, codec, from, to + position * p.s.out_step, n + other);
        position += n;
        continue;
      }
    }
    write_run(to + position * p.s.out_step, p.s.out_step, n, Item(codec.decode(uint32_t(key))));
    position += n;
  }
}

template <int Size>
STATOR_KERNEL(Size) void write_kernel(Counting p) {
  const Group<Size> group;
  const int64_t segment = group.block() / p.parts;
  const int32_t part = int32_t(group.block() - segment * p.parts);
  if (p.s.key.itemsize == 1)
    write_part<uint8_t>(p, segment, part);
  else
    write_part<uint16_t>(p, segment, part);
}

template <bool Fast>
void sort_counted(const params::Queue& q, const params::Sort& s, void* scratch) {
  if constexpr (Fast) {
    constexpr int block = SortTuning::block;
    Counting p = plan_counting(*q.limits, s);
    p.counts = static_cast<uint32_t*>(scratch);
    launch(q, "count_keys", count_kernel<block>, {s.segments.count * p.tiles, block}, p);
    launch(q, "write_counted", write_kernel<block>, {s.segments.count * p.parts, block}, p);
  }
}

}  // namespace counting
}  // namespace stator::STATOR_TARGET::sort
