// Circular functions and their inverses, and angles.
#pragma once

#include "../math/circular.cuh"
#include "../math/complex_special.cuh"
#include "../math/elementary.cuh"
#include "../math/math.cuh"
#include "math_function.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

struct sin {
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_same_v<C, double> || std::is_same_v<C, complex128>)
      return math::libm::full_sin(x);
    else
      return math::sin(x);
  }
  template <class C, class = std::enable_if_t<std::is_same_v<C, double>>>
  using Usual = math::libm::UsualSin;
};

struct cos {
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_same_v<C, double> || std::is_same_v<C, complex128>)
      return math::libm::full_cos(x);
    else
      return math::cos(x);
  }
  template <class C, class = std::enable_if_t<std::is_same_v<C, double>>>
  using Usual = math::libm::UsualCos;
};

STATOR_MATH_FUNCTION(asin)
STATOR_MATH_FUNCTION(acos)
STATOR_MATH_FUNCTION(atan)

struct tan {
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_same_v<C, double> || std::is_same_v<C, complex128>)
      return math::libm::full_tan(x);
    else
      return math::tan(x);
  }
  template <class C>
  using Usual = math::libm::UsualTan<C>;
};

struct atan2 {
  template <class C>
  STATOR_FN C operator()(C y, C x) const {
    return math::atan2(y, x);
  }
  template <class C>
  using Usual = math::libm::UsualAtan2<C>;
};

// sin(pi x) / (pi x), which is zero at whole numbers: |x| - n is exact for the nearest whole number n, whose parity
// gives the sign.
struct sinc {
  template <class C>
  STATOR_FN C operator()(C x) const {
    constexpr C pi = C(3.14159265358979323846);
    const C a = math::libm::magnitude(x), half = C(0.5) * math::floor(a + C(0.5));
    const C sine = math::sin(pi * (a - (half + half)));
    const C value = math::libm::select(half == math::floor(half), sine, -sine) / (pi * a);
    return math::libm::select(a == C(0), C(1), value);
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    return math::sinc(z);
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
