// Exponentials and logarithms: functors named after their entries of ops.def, for the functions of
// device/math/math.cuh.
#pragma once

#include "../math/circular.cuh"
#include "../math/complex_special.cuh"
#include "../math/elementary.cuh"
#include "../math/math.cuh"
#include "math_function.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

STATOR_TURNING_FUNCTION(exp)
STATOR_MATH_FUNCTION(exp2)
STATOR_TURNING_FUNCTION(expm1)
STATOR_MATH_FUNCTION(log1p)

#define STATOR_LOGARITHM(name, base)                                  \
  struct name {                                                       \
    template <class C>                                                \
    STATOR_FN C operator()(C x) const {                               \
      return math::name(x);                                           \
    }                                                                 \
    template <class C>                                                \
    using Usual = math::libm::UsualLog<math::libm::LogBase::base, C>; \
  };
STATOR_LOGARITHM(log, e)
STATOR_LOGARITHM(log2, two)
STATOR_LOGARITHM(log10, ten)
#undef STATOR_LOGARITHM

// log(exp(a) + exp(b)). The difference of equal infinities would be NaN, hence the last selection; NaN in an operand
// propagates through the sum.
struct logaddexp {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    const C distance = math::libm::magnitude(a - b);
    const C rest = math::log1p(math::exp(-distance));
    return math::libm::select(a > b, a, b) + math::libm::select(a == b, C(0.69314718055994530942), rest);
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> a, complex<T> b) const {
    return math::logaddexp(a, b);
  }
};

// log2(2^a + 2^b), likewise.
struct logaddexp2 {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    const C distance = math::libm::magnitude(a - b);
    const C rest = math::log1p(math::exp2(-distance)) * C(math::libm::log2_e);
    return math::libm::select(a > b, a, b) + math::libm::select(a == b, C(1), rest);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
