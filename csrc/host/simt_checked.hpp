// The primitives that Group is built from, on the checked target.
#pragma once

#include "host/fiber.hpp"

#include <type_traits>

namespace stator::STATOR_TARGET::simt {

inline int rank() { return fiber::id.rank; }
inline int64_t block() { return fiber::id.block; }
inline int64_t blocks() { return fiber::id.blocks; }
inline void check_block_size(int size) { fiber::check_block_size(size); }
inline void barrier(Site site) { fiber::barrier(site); }

template <class T>
T shuffle(T value, int source, uint32_t mask, Site site) {
  static_assert(std::is_trivially_copyable_v<T>);
  T result = value;
  fiber::exchange(&result, &value, sizeof(T), source, mask, site);
  return result;
}

// A lane without a source gets its own value.
template <class T>
T shuffle_down(T value, int delta, uint32_t mask, Site site) {
  const int lane = rank() % 32;
  return shuffle(value, lane + delta < 32 ? lane + delta : lane, mask, site);
}
template <class T>
T shuffle_up(T value, int delta, uint32_t mask, Site site) {
  const int lane = rank() % 32;
  return shuffle(value, lane >= delta ? lane - delta : lane, mask, site);
}
template <class T>
T exchange(T value, int difference, uint32_t mask, Site site) {
  return shuffle(value, (rank() % 32) ^ difference, mask, site);
}
template <class T>
T broadcast(T value, int lane, uint32_t mask, Site site) {
  return shuffle(value, lane, mask, site);
}

template <class S>
inline constexpr char key_of = 0;
template <class S>
S& shared_object(Site site) {
  return *static_cast<S*>(fiber::shared_object(&key_of<S>, sizeof(S), alignof(S), site));
}
inline unsigned char* dynamic_shared(size_t bytes, Site site) { return fiber::dynamic_shared(bytes, site); }

}  // namespace stator::STATOR_TARGET::simt

#include "device/group_simt.cuh"  // needs the primitives above
