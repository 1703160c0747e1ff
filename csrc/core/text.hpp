// Text helpers for error messages.
#pragma once

#include "runtime/op_name.hpp"

#include <cstdio>
#include <string>

namespace stator {

std::string size_text(size_t bytes);  // "4.0 MiB"

inline std::string op_text(uint16_t op) { return std::string(op_name(op)); }

}  // namespace stator
