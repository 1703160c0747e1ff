// From arrays to the launch parameters of an elementwise kernel.
#pragma once

#include "kernels/elementwise.hpp"

#include <stator/array.hpp>

#include <initializer_list>

namespace stator {

// The iteration space of `out` over inputs that broadcast to its shape (null: an immediate, which the caller fills
// in): no axis of extent 1, axes in the order of the output's strides, neighbours merged that step together in every
// operand.
abi::Elementwise collapse(const Array& out, std::initializer_list<const Array*> inputs);

}  // namespace stator
