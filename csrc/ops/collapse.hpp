// From arrays to the launch parameters of an elementwise kernel.
#pragma once

#include "core/op_call.hpp"

#include "params/elementwise.hpp"

#include <stator/array.hpp>

#include <array>
#include <span>

namespace stator {

// The iteration space of `out` over inputs that broadcast to its shape (null: an immediate, which the caller sets). It
// has no axis of extent 1, its axes are in the order of the output's strides, and neighbours that step together in
// every operand are merged.
params::Elementwise collapse(const Array& out, std::span<const Array* const> inputs);

// The inputs of a fill: one immediate.
inline constexpr std::array<const Array*, 1> one_number{nullptr};

// A new array in the memory order of its operands (NumPy's order="K"), so that dense operands of one layout, such as
// transposed ones, are read in memory order. Row-major if the operands disagree or are not dense.
Array empty_like(OpCall& call, const Dims& shape, DType dtype, std::span<const Array* const> inputs);

}  // namespace stator
