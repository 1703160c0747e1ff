// Each file fills in what it launches.
#pragma once

#include "device/column.cuh"
#include "params/sets.hpp"

namespace stator::STATOR_COLUMN {

void fill_search(kernels::SetsTable&);
void fill_runs(kernels::SetsTable&);
void fill_histogram(kernels::SetsTable&);

}  // namespace stator::STATOR_COLUMN
