// Hyperbolic functions and their inverses.
#pragma once

#include "device/math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace words = stator::STATOR_TARGET;

#define STATOR_WORD(name)               \
  struct name {                         \
    template <class C>                  \
    STATOR_FN C operator()(C x) const { \
      return words::name(x);            \
    }                                   \
  };
STATOR_WORD(sinh)
STATOR_WORD(cosh)
STATOR_WORD(tanh)
STATOR_WORD(asinh)
STATOR_WORD(acosh)
STATOR_WORD(atanh)
#undef STATOR_WORD

}  // namespace stator::STATOR_TARGET::elementwise::functors
