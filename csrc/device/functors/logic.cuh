// Logical functors: everything but zero is true, NaN too.
#pragma once

#include "../target.cuh"

namespace stator::STATOR_TARGET::elementwise::functors {

namespace logic {

template <class C>
STATOR_FN bool truth(C x) {
  if constexpr (std::is_same_v<C, bool>)
    return x;
  else
    return !(x == C(0));
}

// Not `!x`, because g++ 12 does not vectorise the complement of a bool.
STATOR_FN bool complement(bool x) { return bool(uint8_t(uint8_t(x) - 1) >> 7); }

}  // namespace logic

struct logical_not {
  static constexpr DTypeSet dense_dtypes = dtypes::boolean;
  template <class C>
  STATOR_FN bool operator()(C x) const {
    if constexpr (std::is_same_v<C, bool>)
      return logic::complement(x);
    else
      return x == C(0);
  }
};

struct logical_and {
  static constexpr DTypeSet dense_dtypes = dtypes::boolean;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return logic::truth(a) & logic::truth(b);
  }
};

struct logical_or {
  static constexpr DTypeSet dense_dtypes = dtypes::boolean;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return logic::truth(a) | logic::truth(b);
  }
};

struct logical_xor {
  static constexpr DTypeSet dense_dtypes = dtypes::boolean;
  template <class C>
  STATOR_FN bool operator()(C a, C b) const {
    return logic::truth(a) != logic::truth(b);
  }
};

}  // namespace stator::STATOR_TARGET::elementwise::functors
