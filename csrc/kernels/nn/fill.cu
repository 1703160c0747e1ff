#include "kernels/nn/fill.cuh"

namespace stator::STATOR_COLUMN {

void fill(kernels::NNTable& table) {
  fill_softmax(table);
  fill_cross_entropy(table);
  fill_adam(table);
}

}  // namespace stator::STATOR_COLUMN
