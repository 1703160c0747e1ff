// Each file fills in what it launches.
#pragma once

#include "device/column.cuh"
#include "params/sort.hpp"

namespace stator::STATOR_COLUMN {

void fill_sort(kernels::OrderTable&);
void fill_sorted_lines(kernels::OrderTable&);
void fill_complex(kernels::OrderTable&);

}  // namespace stator::STATOR_COLUMN
