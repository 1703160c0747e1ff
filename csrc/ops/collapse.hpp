// From arrays to the launch parameters of an elementwise kernel.
#pragma once

#include "core/op_call.hpp"

#include "kernels/elementwise.hpp"

#include <stator/array.hpp>

#include <initializer_list>

namespace stator {

// The iteration space of `out` over inputs that broadcast to its shape (null: an immediate, which the caller fills
// in): no axis of extent 1, axes in the order of the output's strides, neighbours merged that step together in every
// operand.
abi::Elementwise collapse(const Array& out, std::initializer_list<const Array*> inputs);

// A new array in the memory order of its operands (NumPy's order="K"): dense operands of one layout, transposed ones
// too, are then walked as they lie. Row-major when they disagree or are not dense.
Array empty_like(OpCall& call, const Dims& shape, DType dtype, std::initializer_list<const Array*> inputs);

}  // namespace stator
