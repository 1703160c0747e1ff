// The parts of the copy launcher that are in files of their own.
#pragma once

#include "device/target.cuh"
#include "params/creation.hpp"

namespace stator::STATOR_TARGET::creation {

// Copies from dense to dense with conversion; false if the layout is another.
bool launch_cast(const params::Queue&, const params::Elementwise&);
// Copies in tiles where input and output are dense along different axes; false if the layout is another.
bool launch_transpose(const params::Queue&, const params::Elementwise&);

}  // namespace stator::STATOR_TARGET::creation
