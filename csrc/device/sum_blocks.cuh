// Sums over all blocks of a launch.
#pragma once

#include "functional.cuh"
#include "group.cuh"

namespace stator::STATOR_TARGET {

// Adds up N values of each block: the last block to finish sums what all blocks stored in `partials`, N values each.
// Returns true in thread 0 of that block, whose `sums` are then the totals.
template <int Size, int N>
STATOR_FN bool sum_blocks(const Group<Size>& group, void* partials, uint32_t* counter, double (&sums)[N]) {
  double* const each = static_cast<double*>(partials);
  if (group.rank() == 0)
    for (int k = 0; k < N; ++k) each[N * group.block() + k] = sums[k];
  if (!group.last_block(counter, uint32_t(group.blocks()))) return false;
  for (int k = 0; k < N; ++k) sums[k] = 0;
  for (int64_t b = group.rank(); b < group.blocks(); b += Group<Size>::size)
    for (int k = 0; k < N; ++k) sums[k] += each[N * b + k];
  for (int k = 0; k < N; ++k) sums[k] = group.reduce(sums[k], Sum{});
  return group.rank() == 0;
}

}  // namespace stator::STATOR_TARGET
