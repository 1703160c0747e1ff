#include "kernels/sparse/fill.cuh"

namespace stator::STATOR_COLUMN {

void fill(kernels::SparseTable& table) {
  fill_sparse_product(table);
  fill_sparse_structure(table);
  fill_sparse_sort(table);
  fill_sparse_dense(table);
  fill_sparse_merge(table);
  fill_sparse_times(table);
  fill_sparse_sampled(table);
  fill_sparse_solve(table);
  fill_two_to_four(table);
  fill_packed_product(table);
}

}  // namespace stator::STATOR_COLUMN
