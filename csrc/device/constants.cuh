// Loops whose counter is a constant of each turn, as a template argument or an instruction's immediate operand wants
// it.
#pragma once

#include "device/target.cuh"

#include <type_traits>
#include <utility>

namespace stator::STATOR_TARGET {

// f(0), ..., f(Count - 1), each with its own std::integral_constant<int, I>.
template <int Count, class F>
STATOR_FN void for_constants(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, Count>{});
}

}  // namespace stator::STATOR_TARGET
