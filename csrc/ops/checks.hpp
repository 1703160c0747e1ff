// Checks of operands that families share.
#pragma once

#include "core/op_call.hpp"

#include <string>

namespace stator {

// DTypeError unless x, which the caller calls `what`, is floating.
void check_floating(const OpCall& call, const Array& x, const char* what);
// The dtypes of a set as errors list them: "float16, bfloat16, float32 or float64".
std::string dtype_names(DTypeSet set);
// A number as errors show it: "0.5", "-1e-09", "inf".
std::string number_text(double number);

}  // namespace stator
