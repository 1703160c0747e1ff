// Loops whose counter is a compile-time constant in each iteration, as template arguments and immediate operands
// require.
#pragma once

#include "target.cuh"

namespace stator::STATOR_TARGET {

namespace detail {
template <class F, int... I>
STATOR_FN void for_constants(const F& f, std::integer_sequence<int, I...>) {
  (f(std::integral_constant<int, I>{}), ...);
}
}  // namespace detail

// f(0), ..., f(Count - 1), each with its own std::integral_constant<int, I>.
template <int Count, class F>
STATOR_FN void for_constants(const F& f) {
  detail::for_constants(f, std::make_integer_sequence<int, Count>{});
}

}  // namespace stator::STATOR_TARGET
