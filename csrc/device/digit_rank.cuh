// Stable ranks of 8-bit digits within a block of 256 threads, for radix sort. For targets whose blocks have threads.
// Lanes with equal digits are matched by ballots (Adinets and Merrill, "Onesweep", 2022, section 4).
#pragma once

#include "bits.cuh"
#include "group.cuh"

namespace stator::STATOR_TARGET {

// What rank_digits needs in shared memory. before[d] is the number of the tile's items whose digit is below d.
struct DigitCounts {
  uint32_t of_warp[8][256];
  uint32_t before[257];
};

#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
namespace simt {

#if !defined(STATOR_HOST)
// A ballot for each bit: __match_any_sync costs as much as 14 of them.
STATOR_FN uint32_t lanes_alike(int digit, Site) {
  uint32_t alike = ~0u;
  STATOR_UNROLL()
  for (int bit = 0; bit < 8; ++bit) {
    const bool set = digit >> bit & 1;
    const uint32_t those = __ballot_sync(~0u, set);
    alike &= set ? those : ~those;
  }
  return alike;
}
STATOR_FN void sync_warp(Site) { __syncwarp(); }
#else
inline uint32_t lanes_alike(int value, Site site) {
  uint32_t alike = 0;
  for (int lane = 0; lane < 32; ++lane) alike |= uint32_t(shuffle(value, lane, ~0u, site) == value) << lane;
  return alike;
}
inline void sync_warp(Site site) { shuffle(0, rank() % 32, ~0u, site); }
#endif

}  // namespace simt

// The index of item k of this thread in the tile of Items * 256 items. Ranks are stable in this order.
template <int Items>
STATOR_FN int tile_index(const Group<256>& group, int k) {
  return (group.rank() / 32 * Items + k) * 32 + group.rank() % 32;
}

// rank[k] is the index of item k when the tile is sorted by digit, stably. Every thread of the block must call it.
template <int Items>
STATOR_FN void rank_digits(const Group<256>& group, DigitCounts& counts, const int (&digit)[Items], int (&rank)[Items],
                           Site site = Site::here()) {
  // Count the digits of each warp, and rank items within it.
  const int warp = group.rank() / 32, lane = group.rank() % 32;
  group.sync(site);  // the previous use of the counts is over
  for (int d = lane; d < 256; d += 32) counts.of_warp[warp][d] = 0;
  simt::sync_warp(site);
  STATOR_UNROLL()
  for (int k = 0; k < Items; ++k) {
    const uint32_t alike = simt::lanes_alike(digit[k], site);
    const int before = count_bits(alike & ((uint32_t(1) << lane) - 1));
    const uint32_t seen = counts.of_warp[warp][digit[k]];
    rank[k] = int(seen) + before;
    simt::sync_warp(site);
    if (before == 0) counts.of_warp[warp][digit[k]] = seen + uint32_t(count_bits(alike));
    simt::sync_warp(site);
  }
  group.sync(site);
  // Scan the counts over warps, then over digits.
  const int own = group.rank();  // one digit per thread
  uint32_t total = 0;
  STATOR_UNROLL()
  for (int w = 0; w < 8; ++w) {
    const uint32_t count = counts.of_warp[w][own];
    counts.of_warp[w][own] = total;
    total += count;
  }
  const uint32_t through = group.inclusive_scan(total, Sum{}, site);
  counts.before[own + 1] = through;
  if (own == 0) counts.before[0] = 0;
  group.sync(site);
  STATOR_UNROLL()
  for (int k = 0; k < Items; ++k) rank[k] += int(counts.of_warp[warp][digit[k]] + counts.before[digit[k]]);
}
#endif

}  // namespace stator::STATOR_TARGET
