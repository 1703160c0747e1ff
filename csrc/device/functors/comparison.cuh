// Comparisons, in which NaN is neither equal to nor less than any number, and predicates of one number. Without && and
// ||, so that loops vectorise.
#pragma once

#include "../math/math.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace math = stator::STATOR_TARGET;

// BesideUnsigned<K>: the comparison of an int64 (operand K) with a uint64, which is passed as the int64 of its bits and
// is negative if the number exceeds the largest int64.

struct equal {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return a == b;
  }
  template <int K>
  struct BesideUnsigned {
    STATOR_FN bool operator()(int64_t a, int64_t b) const { return (a == b) & (a >= 0); }
  };
};

struct not_equal {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return !(a == b);
  }
  template <int K>
  struct BesideUnsigned {
    STATOR_FN bool operator()(int64_t a, int64_t b) const { return (a != b) | (a < 0); }
  };
};

struct less {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return a < b;
  }
  template <int K>
  struct BesideUnsigned {
    STATOR_FN bool operator()(int64_t a, int64_t b) const { return K == 0 ? (b < 0) | (a < b) : (a >= 0) & (a < b); }
  };
};

struct less_equal {
  static constexpr bool light = true;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return a <= b;
  }
  template <int K>
  struct BesideUnsigned {
    STATOR_FN bool operator()(int64_t a, int64_t b) const { return K == 0 ? (b < 0) | (a <= b) : (a >= 0) & (a <= b); }
  };
};

// The caller swaps the operands.
using greater = less;

// The caller swaps the operands.
using greater_equal = less_equal;

struct isnan {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN bool operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return false;
    else
      return math::isnan(x);
  }
};

struct isinf {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN bool operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return false;
    else
      return math::isinf(x);
  }
  template <class T>
  STATOR_FN bool operator()(complex<T> z) const {
    return math::isinf(z.re) | math::isinf(z.im);
  }
};

struct isfinite {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN bool operator()(C x) const {
    if constexpr (std::is_integral_v<C>)
      return true;
    else
      return math::isfinite(x);
  }
  template <class T>
  STATOR_FN bool operator()(complex<T> z) const {
    return math::isfinite(z.re) & math::isfinite(z.im);
  }
};

// For -0 and NaN this is their sign bit.
struct signbit {
  template <class C>
  STATOR_FN bool operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>)
      return bit_cast<std::conditional_t<sizeof(C) == 4, int32_t, int64_t>>(x) < 0;
    else if constexpr (std::is_signed_v<C>)
      return x < C(0);
    else
      return false;
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
