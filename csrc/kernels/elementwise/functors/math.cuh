// Exponentials and logarithms: functors named after their entries of ops.def, for the functions of
// device/math/math.cuh.
#pragma once

#include "device/math/elementary.cuh"
#include "device/math/math.cuh"

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
STATOR_MATH_FUNCTION(exp)
STATOR_MATH_FUNCTION(exp2)
STATOR_MATH_FUNCTION(expm1)
STATOR_MATH_FUNCTION(log)
STATOR_MATH_FUNCTION(log2)
STATOR_MATH_FUNCTION(log10)
STATOR_MATH_FUNCTION(log1p)
#undef STATOR_MATH_FUNCTION

// log(exp(a) + exp(b)). The difference of equal infinities would be NaN, hence the last selection; NaN in an operand
// propagates through the sum.
struct logaddexp {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    const C distance = math::libm::magnitude(a - b);
    const C rest = math::log1p(math::exp(-distance));
    return math::libm::select(a > b, a, b) + math::libm::select(a == b, C(0.69314718055994530942), rest);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
