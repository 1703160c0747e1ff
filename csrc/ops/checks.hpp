// Checks of operands that families share.
#pragma once

#include "core/op_call.hpp"

#include <string>

namespace stator {

// DTypeError unless x, which the caller calls `what`, is floating.
void check_floating(const OpCall& call, const Array& x, const char* what);
// A number as errors show it: "0.5", "-1e-09", "inf".
std::string number_text(double number);

}  // namespace stator
