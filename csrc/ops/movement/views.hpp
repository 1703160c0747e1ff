// What views check first.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <string>

namespace stator {

// The op's call, for messages. ValueError for an array without memory, BackendClosedError.
std::string require_open(const Array& x, Op op);

}  // namespace stator
