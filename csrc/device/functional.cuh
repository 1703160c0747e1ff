// Operations of reductions and scans: associative and commutative, with an identity. NaN propagates; integers wrap.
#pragma once

#include "math/math.cuh"

namespace stator::STATOR_TARGET {

// Signed overflow is undefined in C++, so integers are added and multiplied as unsigned ones of the same width.
template <class A>
STATOR_FN constexpr A wrapping_add(A a, A b) {
  if constexpr (std::is_integral_v<A> && !std::is_same_v<A, bool>) {
    using U = std::make_unsigned_t<A>;
    return A(U(U(a) + U(b)));
  } else {
    return A(a + b);
  }
}
template <class A>
STATOR_FN constexpr A wrapping_multiply(A a, A b) {
  if constexpr (std::is_integral_v<A> && !std::is_same_v<A, bool>) {
    using U = std::make_unsigned_t<A>;
    return A(U(uint64_t(U(a)) * uint64_t(U(b))));
  } else {
    return A(a * b);
  }
}

struct Sum {
  template <class A>
  STATOR_FN static constexpr A identity() {
    return A(0);
  }
  template <class A>
  STATOR_FN constexpr A operator()(A a, A b) const {
    return wrapping_add(a, b);
  }
};

struct Product {
  template <class A>
  STATOR_FN static constexpr A identity() {
    return A(1);
  }
  template <class A>
  STATOR_FN constexpr A operator()(A a, A b) const {
    return wrapping_multiply(a, b);
  }
};

struct Max {
  template <class A>
  STATOR_FN static constexpr A identity() {
    if constexpr (std::is_floating_point_v<A>)
      return -limits<A>::infinity();
    else
      return limits<A>::lowest();
  }
  template <class A>
  STATOR_FN constexpr A operator()(A a, A b) const {
    return ((a > b) | (a != a)) ? a : b;
  }
};

struct Min {
  template <class A>
  STATOR_FN static constexpr A identity() {
    if constexpr (std::is_floating_point_v<A>)
      return limits<A>::infinity();
    else
      return limits<A>::max();
  }
  template <class A>
  STATOR_FN constexpr A operator()(A a, A b) const {
    return ((a < b) | (a != a)) ? a : b;
  }
};

}  // namespace stator::STATOR_TARGET
