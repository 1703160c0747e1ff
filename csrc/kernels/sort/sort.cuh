// Tuning that the sorts share, and the entry points of rows.cu, split.cu and select.cu, which radix.cu chooses from.
#pragma once

#include "device/group.cuh"
#include "host/launch.hpp"
#include "kernels/sort/keys.cuh"

namespace stator::STATOR_TARGET::sort {

struct SortTuning {
  static constexpr int block = 256;
  // Fast host.
  static constexpr int64_t host_segment = 16384;     // longest segment that one block sorts
  static constexpr int64_t host_tile = 16384;        // elements of the short segments of a block
  static constexpr int64_t host_least_tile = 32768;  // elements of a long segment that make a block worthwhile
};

// Items of a thread: 48 KiB of shared memory hold the keys, indices and digit counts of a block's items.
template <class K>
inline constexpr int sort_items = sizeof(K) == 4 ? 16 : 8;

inline bool is_wide(const params::Sort& s) { return s.key.itemsize == 8; }

// Whether one block sorts whole segments, in one launch.
inline bool is_short(const params::Sort& s) {
  if (fast_host) return s.n <= SortTuning::host_segment;
  return s.n <= SortTuning::block * (is_wide(s) ? sort_items<uint64_t> : sort_items<uint32_t>);
}

void sort_short_segments(const params::Queue& q, const params::Sort& s);  // rows.cu

// Fast host, long segments: split.cu.
bool sorts_in_buckets(const params::Sort& s);
int64_t bucket_scratch(const params::DeviceLimits& limits, const params::Sort& s);
void sort_in_buckets(const params::Queue& q, const params::Sort& s, void* scratch);

// Blocks with threads, long segments of which few positions are wanted: select.cu.
bool selects(const params::Sort& s);
int64_t select_scratch(const params::DeviceLimits& limits, const params::Sort& s);
void sort_selected(const params::Queue& q, const params::Sort& s, void* scratch);

}  // namespace stator::STATOR_TARGET::sort
