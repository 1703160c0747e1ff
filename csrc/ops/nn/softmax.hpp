// What the functions of the softmax family check.
#pragma once

#include "core/op_call.hpp"

#include <optional>

namespace stator::nn {

// `x`, and the result's dtype if one is given, must be floating.
void require_floating(const OpCall& call, const Array& x, std::optional<DType> dtype);
// 1 / tau, which must be positive and finite.
double factor_of_temperature(Op op, double tau);

}  // namespace stator::nn
