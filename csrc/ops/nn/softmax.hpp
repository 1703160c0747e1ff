// What the functions of the softmax family check.
#pragma once

#include "core/op_call.hpp"

#include <stator/nn/nn.hpp>

#include <optional>

namespace stator::nn {

// `x`, and the result's dtype if one is given, must be floating.
void require_floating(const OpCall& call, const Array& x, std::optional<DType> dtype);
// Two arrays, called `what`, must have one shape and dtype.
void require_same(const OpCall& call, const Array& a, const Array& b, const char* what);
// 1 / tau, which must be positive and finite.
double factor_of_temperature(Op op, double tau);

// softmax, log_softmax and softmin with a mask, and the gradient of log_softmax with one.
Array masked_softmax(Op op, const Array& x, int64_t axis, std::optional<DType> dtype, const SoftmaxMask& masking,
                     const Stream& stream);
Array masked_log_softmax_backward(const Array& grad, const Array& y, int64_t axis, const SoftmaxMask& masking,
                                  const Stream& stream);

}  // namespace stator::nn
