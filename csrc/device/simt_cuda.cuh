// The primitives that Group is built from, on cuda.
#pragma once

#include "target.cuh"

#if !defined(STATOR_HOST)

namespace stator::STATOR_TARGET {

// Where a collective was called from, which the checked target reports.
struct Site {
  STATOR_FN static constexpr Site here() { return {}; }
};

namespace simt {

STATOR_FN int rank() { return int(threadIdx.x); }
STATOR_FN int64_t block() { return int64_t(blockIdx.x); }
STATOR_FN int64_t blocks() { return int64_t(gridDim.x); }
STATOR_FN void check_block_size(int) {}
STATOR_FN void barrier(Site) { __syncthreads(); }

// Values are exchanged between lanes as 32-bit words.
template <class T, class Move>
STATOR_FN T move_words(T value, Move move) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr int words = (sizeof(T) + 3) / 4;
  uint32_t w[words] = {};
  memcpy(w, &value, sizeof(T));
#pragma unroll
  for (int k = 0; k < words; ++k) w[k] = move(w[k]);
  memcpy(&value, w, sizeof(T));
  return value;
}

// A lane without a source lane gets its own value. `mask` is the set of calling lanes.
template <class T>
STATOR_FN T shuffle_down(T value, int delta, uint32_t mask, Site) {
  return move_words(value, [=](uint32_t w) { return __shfl_down_sync(mask, w, delta); });
}
template <class T>
STATOR_FN T shuffle_up(T value, int delta, uint32_t mask, Site) {
  return move_words(value, [=](uint32_t w) { return __shfl_up_sync(mask, w, delta); });
}
// Lanes whose numbers differ in the bits of `difference` get each other's values.
template <class T>
STATOR_FN T exchange(T value, int difference, uint32_t mask, Site) {
  return move_words(value, [=](uint32_t w) { return __shfl_xor_sync(mask, w, difference); });
}
template <class T>
STATOR_FN T broadcast(T value, int lane, uint32_t mask, Site) {
  return move_words(value, [=](uint32_t w) { return __shfl_sync(mask, w, lane); });
}

template <class S>
STATOR_FN S& shared_object(Site) {
  __shared__ S object;
  return object;
}
STATOR_FN unsigned char* dynamic_shared(size_t, Site) {
  extern __shared__ __align__(128) unsigned char stator_dynamic_shared[];
  return stator_dynamic_shared;
}

}  // namespace simt
}  // namespace stator::STATOR_TARGET

#endif
