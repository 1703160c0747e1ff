#include "kernels/matmul/fill.cuh"

namespace stator::STATOR_COLUMN {

void fill(kernels::ProductsTable& table) {
  fill_integer_product(table);
  fill_small_product(table);
  fill_inner_product(table);
  fill_product_epilogue(table);
  fill_float8(table);
}

}  // namespace stator::STATOR_COLUMN
