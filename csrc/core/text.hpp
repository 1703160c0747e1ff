// Small texts that error messages share.
#pragma once

#include <stator/op_table.hpp>

#include <cstdio>
#include <string>

namespace stator {

inline constexpr uint16_t no_op = 0xffff;

std::string size_text(size_t bytes);  // "4.0 MiB"

// The call of a stator::Op as Python spells it, empty for no_op.
inline std::string op_text(uint16_t op) { return op < op_count ? std::string(op_info(Op(op)).call) : std::string(); }

}  // namespace stator
