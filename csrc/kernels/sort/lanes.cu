// Fast host: sorting and selecting keys with vector instructions.
#include "kernels/sort/lanes.cuh"

#include "host/lanes/lane_sort.hpp"

namespace stator::STATOR_TARGET::sort {
namespace {

template <bool Fast, class K>
void sort_by_lanes(K* a, K* b, int64_t n) {
  if constexpr (Fast) LaneSort<K>::sort(a, a, b, n);
}
template <bool Fast, class K>
void select_by_lanes(K* a, K* b, int64_t n, int64_t first, int64_t last) {
  if constexpr (Fast) LaneSort<K>::select(a, a, b, n, first, last);
}
template <bool Fast, class K>
int64_t partition_by_lanes(const K* from, int64_t n, K* low, K* high, K pivot) {
  if constexpr (Fast) return LaneSort<K>::template partition<false>(from, n, low, high, pivot);
  return 0;
}

}  // namespace

void sort_keys(uint32_t* a, uint32_t* b, int64_t n) { sort_by_lanes<fast_host>(a, b, n); }
void sort_keys(uint64_t* a, uint64_t* b, int64_t n) { sort_by_lanes<fast_host>(a, b, n); }
void select_keys(uint32_t* a, uint32_t* b, int64_t n, int64_t first, int64_t last) {
  select_by_lanes<fast_host>(a, b, n, first, last);
}
void select_keys(uint64_t* a, uint64_t* b, int64_t n, int64_t first, int64_t last) {
  select_by_lanes<fast_host>(a, b, n, first, last);
}
int64_t partition_keys(const uint32_t* from, int64_t n, uint32_t* low, uint32_t* high, uint32_t pivot) {
  return partition_by_lanes<fast_host>(from, n, low, high, pivot);
}
int64_t partition_keys(const uint64_t* from, int64_t n, uint64_t* low, uint64_t* high, uint64_t pivot) {
  return partition_by_lanes<fast_host>(from, n, low, high, pivot);
}

}  // namespace stator::STATOR_TARGET::sort
