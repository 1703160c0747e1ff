// Arithmetic functors, named as their rows of ops.def. Storage is converted to C before and back after the call.
#pragma once

#include "device/math.cuh"

#include <type_traits>

namespace stator::STATOR_COLUMN::functors {

// Integers wrap: go through an unsigned type that is not promoted to a signed one. Everything else stays as it is.
template <class C>
struct wrapping {
  using type = C;
};
template <class C>
  requires(std::is_integral_v<C> && !std::is_same_v<C, bool>)
struct wrapping<C> {
  using type = std::conditional_t<(sizeof(C) > 4), uint64_t, uint32_t>;
};
template <class C>
using wrapping_t = typename wrapping<C>::type;

// `modular`: the bits of the result do not depend on the signedness of integers, so one instance serves both.
struct add {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>)
      return a | b;
    else
      return C(wrapping_t<C>(a) + wrapping_t<C>(b));
  }
};

struct subtract {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return C(wrapping_t<C>(a) - wrapping_t<C>(b));
  }
};

struct multiply {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    if constexpr (std::is_same_v<C, bool>)
      return a & b;
    else
      return C(wrapping_t<C>(a) * wrapping_t<C>(b));
  }
};

struct divide {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return a / b;
  }
};

struct negative {
  static constexpr bool modular = true;
  template <class C>
  STATOR_FN C operator()(C a) const {
    if constexpr (std::is_integral_v<C>)
      return C(wrapping_t<C>(0) - wrapping_t<C>(a));
    else
      return -a;
  }
};

// NaN propagates.
struct maximum {
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};

}  // namespace stator::STATOR_COLUMN::functors
