// Bitwise functors. Shifts past the width are defined: the result is zero, or copies of the sign bit for a right shift
// of a signed integer; a negative amount counts as past the width. Narrow integers give the same result in their own
// type and widened to int64_t. The op launches logical_not for the complement of bool.
#pragma once

#include "arithmetic.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

struct bitwise_and {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return C(a & b);
  }
};

struct bitwise_or {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return C(a | b);
  }
};

struct bitwise_xor {
  static constexpr bool modular = true, light = true;
  template <class C>
  STATOR_FN C operator()(C a, C b) const {
    return C(a ^ b);
  }
};

struct bitwise_invert {
  static constexpr bool modular = true;
  static constexpr DTypeSet dense_dtypes = dtypes::integers;
  template <class C>
  STATOR_FN C operator()(C a) const {
    return C(~a);
  }
};

struct bitwise_left_shift {
  static constexpr DTypeSet dense_dtypes = dtype_bit(DType::int32) | dtype_bit(DType::uint32);
  template <class C>
  STATOR_FN C operator()(C a, C n) const {
    using U = wrapping_t<C>;
    constexpr U width = 8 * sizeof(U);
    return U(n) < width ? C(U(a) << (U(n) & (width - 1))) : C(0);
  }
};

struct bitwise_right_shift {
  static constexpr DTypeSet dense_dtypes = bitwise_left_shift::dense_dtypes;
  template <class C>
  STATOR_FN C operator()(C a, C n) const {
    using U = wrapping_t<C>;
    using W = std::conditional_t<std::is_signed_v<C>, std::make_signed_t<U>, U>;
    constexpr U width = 8 * sizeof(U);
    if constexpr (std::is_signed_v<C>)
      return C(W(a) >> (U(n) < width ? U(n) : width - 1));
    else
      return U(n) < width ? C(W(a) >> (U(n) & (width - 1))) : C(0);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
