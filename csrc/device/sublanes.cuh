// Sums over 2^k consecutive lanes of a warp ("sublanes"), for rows that are too short for a whole block.
#pragma once

#include "group.cuh"

namespace stator::STATOR_TARGET {

// The most threads that take part in one sum: a warp.
inline constexpr int most_sublanes = fast_host ? 1 : 32;

// The sum over each `lanes` consecutive threads (a power of two up to most_sublanes) in the first of them; undefined in
// the others. Every thread of the block must call it. The order of additions depends on `lanes` only.
template <class A>
STATOR_FN A sum_sublanes(A value, [[maybe_unused]] int lanes) {
#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
  for (int delta = lanes / 2; delta > 0; delta /= 2)
    value = value + simt::shuffle_down(value, delta, 0xffffffffu, Site::here());
#endif
  return value;
}

// The value of one thread of each most_sublanes consecutive threads, all of which must call it.
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

// The values of each `lanes` consecutive threads, combined by a commutative op; all of them get the result. Every
// thread of the warp must call it.
template <class A, class Op>
STATOR_FN A fold_sublanes(A value, [[maybe_unused]] int lanes, [[maybe_unused]] Op op) {
#if !defined(STATOR_HOST) || defined(STATOR_CHECKED)
  STATOR_UNROLL()
  for (int delta = lanes / 2; delta > 0; delta /= 2)
    value = op(value, simt::exchange(value, delta, 0xffffffffu, Site::here()));
#endif
  return value;
}

}  // namespace stator::STATOR_TARGET
