// The first check of every view.
#pragma once

#include <stator/array.hpp>
#include <stator/op_table.hpp>

#include <string>

namespace stator {

// Returns the op's call, for messages. ValueError for an array without memory, BackendClosedError for a closed backend.
std::string require_open(const Array& x, Op op);

}  // namespace stator
