// Circular functions and their inverses, and angles.
#pragma once

#include "device/math/elementary.cuh"
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
STATOR_WORD(sin)
STATOR_WORD(cos)
STATOR_WORD(tan)
STATOR_WORD(asin)
STATOR_WORD(acos)
STATOR_WORD(atan)
#undef STATOR_WORD

struct atan2 {
  template <class C>
  STATOR_FN C operator()(C y, C x) const {
    return words::atan2(y, x);
  }
};

// sin(pi x) / (pi x), zero at whole numbers: |x| less its nearest whole number n is exact, and n's parity the sign.
struct sinc {
  template <class C>
  STATOR_FN C operator()(C x) const {
    constexpr C pi = C(3.14159265358979323846);
    const C a = words::libm::magnitude(x), half = C(0.5) * words::floor(a + C(0.5));
    const C sine = words::sin(pi * (a - (half + half)));
    const C value = words::libm::select(half == words::floor(half), sine, -sine) / (pi * a);
    return words::libm::select(a == C(0), C(1), value);
  }
};

struct deg2rad {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x * C(0.01745329251994329577);
  }
};

struct rad2deg {
  template <class C>
  STATOR_FN C operator()(C x) const {
    return x * C(57.29577951308232088);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
