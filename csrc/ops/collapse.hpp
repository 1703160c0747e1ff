// From arrays to the launch parameters of an elementwise kernel.
#pragma once

#include "core/op_call.hpp"

#include "params/elementwise.hpp"

#include <stator/array.hpp>

#include <array>
#include <span>

namespace stator {

// The iteration space of `out` over inputs that broadcast to its shape (null: an immediate, which the caller fills
// in): no axis of extent 1, axes in the order of the output's strides, neighbours merged that step together in every
// operand.
params::Elementwise collapse(const Array& out, std::span<const Array* const> inputs);

// The inputs of a fill.
inline constexpr std::array<const Array*, 1> one_number{nullptr};

// A new array in the memory order of its operands (NumPy's order="K"): dense operands of one layout, transposed ones
// too, are then walked as they lie. Row-major when they disagree or are not dense.
Array empty_like(OpCall& call, const Dims& shape, DType dtype, std::span<const Array* const> inputs);

}  // namespace stator
