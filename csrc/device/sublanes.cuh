// Sums over aligned runs of a block's threads, for rows too short to keep a whole block busy.
#pragma once

#include "device/group.cuh"

namespace stator::STATOR_TARGET {

// The most threads of a run.
inline constexpr int most_sublanes = fast_host ? 1 : 32;

// The sum over the run of `lanes` threads (a power of two up to most_sublanes) in its first thread; undefined in the
// others. Every thread of the block calls it. The tree is fixed by `lanes`.
template <class A>
STATOR_FN A sum_sublanes(A value, [[maybe_unused]] int lanes) {
#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
  for (int delta = lanes / 2; delta > 0; delta /= 2)
    value = value + simt::shuffle_down(value, delta, 0xffffffffu, Site::here());
#endif
  return value;
}

// The value that one of a run of most_sublanes threads has. Every thread of the run calls it.
template <class A>
STATOR_FN A from_sublane(A value, [[maybe_unused]] int sublane) {
#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
  value = simt::broadcast(value, sublane, 0xffffffffu, Site::here());
#endif
  return value;
}
template <class A>
STATOR_FN A from_first_sublane(A value) {
  return from_sublane(value, 0);
}

}  // namespace stator::STATOR_TARGET
