// Checked host: every CUDA thread of a block is a fiber on a guarded stack of its own, and the blocks of a launch run
// one after the other on one OS thread. Barriers count the fibers that are alive; what CUDA leaves undefined (a barrier
// that threads reach at different places, a lane that a mask names and that never comes, a deadlock) ends the launch
// with a message.
#pragma once

#include "params/launch.hpp"

namespace stator::STATOR_TARGET {

// Where a collective was called from.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// 0 (the default) runs blocks and fibers in order; another seed shuffles both, the same way every time. Process-wide.
void set_block_seed(uint64_t seed);

// Runs blocks [first, last); `run` is the body of one thread. Null, or what the checker saw, valid on this OS thread
// until the next call.
const char* run_range(const params::Launch& launch, int64_t first, int64_t last, void (*run)(const params::Launch&));

namespace fiber {

struct Id {
  int rank;
  int64_t block, blocks;
};
inline constinit thread_local Id id{};

void check_block_size(int size);
void barrier(Site site);
// Waits for the lanes of `mask`, then fills `to` from the `from` of lane `source`; poison where the mask leaves it out.
void exchange(void* to, const void* from, size_t bytes, int source, uint32_t mask, Site site);
// Poisoned when a block first asks; each object ends at a heap redzone.
void* shared_object(const void* key, size_t bytes, size_t alignment, Site site);
unsigned char* dynamic_shared(size_t bytes, Site site);

}  // namespace fiber
}  // namespace stator::STATOR_TARGET
