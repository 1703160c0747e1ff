// STATOR_MATH_FUNCTION(name): the functor of the function of one operand that has this name in device/math.
// STATOR_TURNING_FUNCTION(name): likewise, and of complex numbers the one in device/math/circular.cuh.
#pragma once

#include "../math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

// Inside `struct exp` the name exp means the struct, so functions are called as math::exp.
namespace math = stator::STATOR_TARGET;

#define STATOR_MATH_FUNCTION(name)      \
  struct name {                         \
    template <class C>                  \
    STATOR_FN C operator()(C x) const { \
      return math::name(x);             \
    }                                   \
  };

#define STATOR_TURNING_FUNCTION(name)              \
  struct name {                                    \
    template <class C>                             \
    STATOR_FN C operator()(C x) const {            \
      if constexpr (std::is_same_v<C, complex128>) \
        return math::libm::full_##name(x);         \
      else                                         \
        return math::name(x);                      \
    }                                              \
  };

}  // namespace stator::STATOR_TARGET::elementwise::functors
