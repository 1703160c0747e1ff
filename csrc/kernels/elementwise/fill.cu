#include "device/column.cuh"
#include "params/elementwise.hpp"

#include <type_traits>

namespace stator::STATOR_COLUMN {

void fill_elementwise_shard(std::integral_constant<int, 0>, kernels::ElementwiseTable&);
void fill_copy(kernels::ElementwiseTable&);
void fill_arange(kernels::ElementwiseTable&);

void fill(kernels::ElementwiseTable& table) {
  fill_elementwise_shard({}, table);
  fill_copy(table);
  fill_arange(table);
}

}  // namespace stator::STATOR_COLUMN
