// Checks of operands that families share.
#pragma once

#include "core/op_call.hpp"

namespace stator {

// DTypeError unless x, which the caller calls `what`, is floating.
void check_floating(const OpCall& call, const Array& x, const char* what);

}  // namespace stator
