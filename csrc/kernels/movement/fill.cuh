// The parts of the movement table, a unit each.
#pragma once

#include "device/column.cuh"
#include "params/movement.hpp"

namespace stator::STATOR_COLUMN {

void fill_rows(kernels::MovementTable&);
void fill_concat(kernels::MovementTable&);

}  // namespace stator::STATOR_COLUMN
