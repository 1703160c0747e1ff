// The parts of the random table, a unit each.
#pragma once

#include "device/column.cuh"
#include "device/philox.cuh"
#include "kernels/random.hpp"

namespace stator::STATOR_COLUMN {

void fill_words(kernels::RandomTable&);
void fill_rejection(kernels::RandomTable&);
void fill_permutation(kernels::RandomTable&);
void fill_dropout(kernels::RandomTable&);

// The high 53 bits of two words, as an integer.
STATOR_FN double from_words(uint32_t high, uint32_t low) {
  return double(int32_t(high >> 5)) * 67108864.0 + double(int32_t(low >> 6));
}

}  // namespace stator::STATOR_COLUMN
