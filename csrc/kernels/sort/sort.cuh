// What the launchers of the two sorts share.
#pragma once

#include "device/group.cuh"
#include "device/launch.cuh"
#include "kernels/sort/keys.cuh"

namespace stator::STATOR_TARGET::sort {

struct SortTuning {
  static constexpr int block = 256;
  static constexpr int64_t host_line = 16384;   // fast host: longer lines are shared by blocks
  static constexpr int64_t host_tile = 16384;   // elements of a block's lines
  static constexpr int64_t host_share = 32768;  // least elements of a part of a long line
};

// Elements of a tile in shared memory: 48 KiB hold its words, places and counts.
template <class W>
inline constexpr int sort_items = sizeof(W) == 4 ? 16 : 8;

inline bool is_wide(const params::Sort& s) { return s.key.itemsize == 8; }

// Lines that one block sorts in one go.
inline bool is_short(const params::Sort& s) {
  if (fast_host) return s.n <= SortTuning::host_line;
  return s.n <= SortTuning::block * (is_wide(s) ? sort_items<uint64_t> : sort_items<uint32_t>);
}

void sort_short_lines(const params::Queue& q, const params::Sort& s);  // sort_rows.cu

// Fast host, long lines: sort_split.cu.
bool sorts_in_buckets(const params::Sort& s);
int64_t bucket_scratch(const params::DeviceLimits& limits, const params::Sort& s);
void sort_in_buckets(const params::Queue& q, const params::Sort& s, void* scratch);

// Blocks with threads, long lines of which few places are wanted: sort_select.cu.
bool selects(const params::Sort& s);
int64_t select_scratch(const params::DeviceLimits& limits, const params::Sort& s);
void sort_selected(const params::Queue& q, const params::Sort& s, void* scratch);

}  // namespace stator::STATOR_TARGET::sort
