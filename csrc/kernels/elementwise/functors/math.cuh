// Exponentials and logarithms: the words of device/math/math.cuh under the names of their rows.
#pragma once

#include "device/math/elementary.cuh"
#include "device/math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

// Inside `struct exp` the name exp is the struct.
namespace words = stator::STATOR_TARGET;

#define STATOR_WORD(name)               \
  struct name {                         \
    template <class C>                  \
    STATOR_FN C operator()(C x) const { \
      return words::name(x);            \
    }                                   \
  };
STATOR_WORD(exp)
STATOR_WORD(exp2)
STATOR_WORD(expm1)
STATOR_WORD(log)
STATOR_WORD(log2)
STATOR_WORD(log10)
STATOR_WORD(log1p)
#undef STATOR_WORD

// log(exp(a) + exp(b)). Equal infinities have no difference; NaN comes through the sum.
struct logaddexp {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    const C distance = words::libm::magnitude(a - b);
    const C rest = words::log1p(words::exp(-distance));
    return words::libm::select(a > b, a, b) + words::libm::select(a == b, C(0.69314718055994530942), rest);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
