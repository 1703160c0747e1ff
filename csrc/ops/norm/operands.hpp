// What the normalisations check of their operands.
#pragma once

#include "core/op_call.hpp"
#include "params/norm.hpp"

#include <stator/nn/norm.hpp>

#include <cstdint>
#include <string_view>

namespace stator::nn {

// `x` must be floating; eps finite and not negative.
void check_input(const OpCall& call, const Array& x, double eps);
// `a`, called `what`, must have the dtype and, if one is given, the shape of x.
void check_like(const OpCall& call, const Array& a, const char* what, const Array& x);
// A weight or bias, called `what`: of x's dtype and the given shape. Null is none.
void check_weight(const OpCall& call, const Array* a, const char* what, const Dims& shape, const Array& x);
// x (n, channels, ...) with at least two axes.
void check_channels(const OpCall& call, const Array& x);
params::NormActivation activation_of(const OpCall& call, std::string_view text);
// The bias that a gradient reads: only an activation's slope depends on it.
const Array* needed_bias(const FusedNormOptions& o);
// The array itself or a contiguous copy, declared as read; none for null.
std::optional<Array> dense_operand(OpCall& call, const Array* a);
const void* address(const std::optional<Array>& a);

}  // namespace stator::nn
