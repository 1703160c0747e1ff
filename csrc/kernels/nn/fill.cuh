// The units that fill the neural-network table.
#pragma once

#include "device/column.cuh"
#include "params/nn.hpp"

namespace stator::STATOR_COLUMN {

void fill_softmax(kernels::NNTable&);
void fill_cross_entropy(kernels::NNTable&);
void fill_adam(kernels::NNTable&);

}  // namespace stator::STATOR_COLUMN
