// How far a draw moves the counter.
#pragma once

#include <cstdint>

namespace stator::random {

// Blocks of four words for `draws`, each block good for `each` of them.
inline int64_t blocks_of(int64_t draws, int64_t each) { return draws == 0 ? 0 : (draws - 1) / each + 1; }

}  // namespace stator::random
