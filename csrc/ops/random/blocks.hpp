// By how many Philox blocks a draw advances the counter.
#pragma once

#include <cstdint>

namespace stator::random {

// Blocks for `draws` elements, `each` per block.
inline int64_t blocks_of(int64_t draws, int64_t each) { return draws == 0 ? 0 : (draws - 1) / each + 1; }

}  // namespace stator::random
