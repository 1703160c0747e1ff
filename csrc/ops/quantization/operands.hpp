// Checks that quantisation ops share, and their numbers in the form that kernels take.
#pragma once

#include "core/op_call.hpp"
#include "ops/checks.hpp"
#include "params/quantization.hpp"

#include <stator/nn/quantization.hpp>

#include <optional>
#include <string>
#include <vector>

namespace stator::nn {

struct Limits {
  int64_t low, high;
};
// The limits of int8 or uint8, narrowed as the caller says. DTypeError, ValueError.
Limits byte_limits(const OpCall& call, DType dtype, std::optional<int64_t> low, std::optional<int64_t> high);

void check_byte(const OpCall& call, const Array& q, const char* what);

// DTypeError unless a scale is floating, and a zero point an integer or, if `floating`, a number. ValueError for a
// number that is not a positive scale, or no zero point within the limits.
void check_scale(const OpCall& call, const QuantizationNumber& scale, const char* what);
void check_zero(const OpCall& call, const QuantizationNumber& zero, const char* what, Limits limits,
                bool floating = false);

// x as dense memory that the call reads; kept in `held`.
const void* dense(OpCall& call, const Array& x, std::vector<Array>& operands);

}  // namespace stator::nn
