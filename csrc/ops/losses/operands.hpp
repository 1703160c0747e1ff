// What the losses check of their operands.
#pragma once

#include "core/op_call.hpp"

#include <stator/nn/losses.hpp>

namespace stator::nn {

// `x` must be floating.
void check_floating(const OpCall& call, const Array& x);
// `a`, called `what`, must have the dtype of the input, or its shape too.
void check_dtype(const OpCall& call, const Array& a, const char* what, const Array& input);
void check_same(const OpCall& call, const Array& a, const char* what, const Array& input);
// The gradient of a result of that shape and the input's dtype.
void check_grad(const OpCall& call, const Array& grad, const Dims& result, const Array& input);
enum class Reduction { none, mean, sum, batchmean };
Reduction reduction_of(const OpCall& call, std::string_view text, bool batches = false);

}  // namespace stator::nn
