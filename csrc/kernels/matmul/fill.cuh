// The units that fill the table of products.
#pragma once

#include "device/column.cuh"
#include "params/matmul.hpp"

namespace stator::STATOR_COLUMN {

void fill_integer_product(kernels::ProductsTable&);
void fill_small_product(kernels::ProductsTable&);
void fill_inner_product(kernels::ProductsTable&);
void fill_product_epilogue(kernels::ProductsTable&);
void fill_float8(kernels::ProductsTable&);

}  // namespace stator::STATOR_COLUMN
