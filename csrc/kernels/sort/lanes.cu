// Fast host: sorting and selecting keys with vector instructions.
#include "kernels/sort/lanes.cuh"

#include "device/lane_sort.cuh"

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

}  // namespace

void sort_keys(uint32_t* a, uint32_t* b, int64_t n) { sort_by_lanes<fast_host>(a, b, n); }
void sort_keys(uint64_t* a, uint64_t* b, int64_t n) { sort_by_lanes<fast_host>(a, b, n); }
void select_keys(uint32_t* a, uint32_t* b, int64_t n, int64_t first, int64_t last) {
  select_by_lanes<fast_host>(a, b, n, first, last);
}
void select_keys(uint64_t* a, uint64_t* b, int64_t n, int64_t first, int64_t last) {
  select_by_lanes<fast_host>(a, b, n, first, last);
}

}  // namespace stator::STATOR_TARGET::sort
