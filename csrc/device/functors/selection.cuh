// Selection between operands.
#pragma once

#include "../target.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

// x if the condition holds, else y.
struct where {
  static constexpr bool conditional = true;
  template <class C>
  STATOR_FN C operator()(C condition, C x, C y) const {
    return condition != C(0) ? x : y;
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
