// Fast host: reductions of a line in vector registers, for code outside of a group. The other targets, which do not use
// them, know their names, so that such code needs no condition.
#pragma once

#include "device/functional.cuh"

#if defined(STATOR_HOST) && !defined(STATOR_CHECKED)
#include "host/lanes/lanes_fast.hpp"
#else

namespace stator::STATOR_TARGET {

// op over f(0), ..., f(n - 1).
template <class A, class Op, class F>
STATOR_FN A reduce_lanes(int64_t n, Op op, const F& f);
// The compensated sum.
template <class A, class F>
STATOR_FN A sum_lanes(int64_t n, const F& f);

}  // namespace stator::STATOR_TARGET

#endif
