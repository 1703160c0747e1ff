// Checked target: every CUDA thread of a block is a fiber with its own guarded stack, and the blocks of a launch run
// one after the other on one OS thread. Barriers count the fibers that have not exited. What CUDA leaves undefined
// (threads that wait at different barriers, a lane in a mask that never arrives, a deadlock) ends the launch with a
// message.
#pragma once

#include "params/launch.hpp"

namespace stator::STATOR_TARGET {

// Where a collective was called from.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// Seed 0 (the default) runs blocks and fibers in order; another seed shuffles both, in the same way every time.
// Process-wide.
void set_block_seed(uint64_t seed);

// Runs blocks [first, last); `run` is the body of one thread. Returns null, or the checker's message, which is valid on
// this OS thread until the next call.
const char* run_range(const params::Launch& launch, int64_t first, int64_t last, void (*run)(const params::Launch&));

namespace fiber {

struct Id {
  int rank;
  int64_t block, blocks;
};
inline constinit thread_local Id id{};

void check_block_size(int size);
void barrier(Site site);
// Waits for the lanes of `mask`, then copies `from` of lane `source` to `to`, or poison if the mask does not have
// `source`.
void exchange(void* to, const void* from, size_t bytes, int source, uint32_t mask, Site site);
// The memory is poisoned at the first call of a block, and each object ends at a heap redzone.
void* shared_object(const void* key, size_t bytes, size_t alignment, Site site);
unsigned char* dynamic_shared(size_t bytes, Site site);

}  // namespace fiber
}  // namespace stator::STATOR_TARGET
