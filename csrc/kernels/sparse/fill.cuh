// The parts of the sparse table, by kernel file.
#pragma once

#include "device/column.cuh"
#include "params/sparse.hpp"

namespace stator::STATOR_COLUMN {

void fill_sparse_product(kernels::SparseTable&);
void fill_sparse_structure(kernels::SparseTable&);
void fill_sparse_sort(kernels::SparseTable&);
void fill_sparse_dense(kernels::SparseTable&);
void fill_sparse_merge(kernels::SparseTable&);
void fill_sparse_times(kernels::SparseTable&);
void fill_sparse_sampled(kernels::SparseTable&);
void fill_sparse_solve(kernels::SparseTable&);
void fill_two_to_four(kernels::SparseTable&);
void fill_packed_product(kernels::SparseTable&);

}  // namespace stator::STATOR_COLUMN
