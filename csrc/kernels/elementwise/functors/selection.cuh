// One operand or another.
#pragma once

#include "device/target.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

// x where the condition holds, y elsewhere.
struct where {
  template <class C>
  STATOR_FN C operator()(C condition, C x, C y) const {
    return condition != C(0) ? x : y;
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
