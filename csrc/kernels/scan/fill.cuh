// The units that fill the table of scans.
#pragma once

#include "device/column.cuh"
#include "params/scan.hpp"

namespace stator::STATOR_COLUMN {

void fill_scan_products(kernels::ScanTable&);
void fill_difference(kernels::ScanTable&);
void fill_product_backward(kernels::ScanTable&);

}  // namespace stator::STATOR_COLUMN
