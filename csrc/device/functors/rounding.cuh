// Rounding to whole numbers; integers and bool stay as they are.
#pragma once

#include "../math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

struct ceil {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return x;
    else
      return math::ceil(x);
  }
};

struct floor {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return x;
    else
      return math::floor(x);
  }
};

struct trunc {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return x;
    else if constexpr (sizeof(C) == 4)
      return __builtin_truncf(x);
    else
      return __builtin_trunc(x);
  }
};

// Ties go to the even neighbour; complex numbers are rounded part by part.
struct round {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return x;
    else if constexpr (sizeof(C) == 4)
      return __builtin_rintf(x);
    else
      return __builtin_rint(x);
  }
  template <class T>
  STATOR_FN complex<T> operator()(complex<T> z) const {
    return {(*this)(z.re), (*this)(z.im)};
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
