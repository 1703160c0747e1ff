// The parts of the copy launcher, a unit each.
#pragma once

#include "device/column.cuh"
#include "params/elementwise.hpp"

namespace stator::STATOR_COLUMN {

// Dense to dense with conversion; false when the layout is another.
bool launch_cast(const abi::Queue&, const abi::Elementwise&);
// A layout that swaps the dense axis, moved in tiles; false when it is another.
bool launch_transpose(const abi::Queue&, const abi::Elementwise&);

}  // namespace stator::STATOR_COLUMN
