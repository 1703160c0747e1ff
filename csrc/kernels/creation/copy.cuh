// The parts of the copy launcher, a unit each.
#pragma once

#include "device/target.cuh"
#include "params/creation.hpp"

namespace stator::STATOR_TARGET::creation {

// Dense to dense with conversion; false when the layout is another.
bool launch_cast(const params::Queue&, const params::Elementwise&);
// A layout that swaps the dense axis, moved in tiles; false when it is another.
bool launch_transpose(const params::Queue&, const params::Elementwise&);

}  // namespace stator::STATOR_TARGET::creation
