// Hyperbolic functions and their inverses.
#pragma once

#include "device/math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

#define STATOR_MATH_FUNCTION(name)      \
  struct name {                         \
    template <class C>                  \
    STATOR_FN C operator()(C x) const { \
      return math::name(x);             \
    }                                   \
  };
STATOR_MATH_FUNCTION(sinh)
STATOR_MATH_FUNCTION(cosh)
STATOR_MATH_FUNCTION(tanh)
STATOR_MATH_FUNCTION(asinh)
STATOR_MATH_FUNCTION(acosh)
STATOR_MATH_FUNCTION(atanh)
#undef STATOR_MATH_FUNCTION

}  // namespace stator::STATOR_TARGET::elementwise::functors
