// What the process as a whole has come to: a child of fork, or at its end. Every hook and destructor asks first.
#pragma once

#include <atomic>
#include <cstdint>

namespace stator {

class Context;

// Counts forks since the library was loaded: objects made under another count belong to the parent process.
extern std::atomic<uint32_t> fork_count;
inline uint32_t process_generation() { return fork_count.load(std::memory_order_relaxed); }

// After shutdown() nothing is released any more: what is left is leaked on purpose.
extern std::atomic<bool> process_ended;
inline bool ended() { return process_ended.load(std::memory_order_acquire); }

// Allocations that closed backends left to consumers of their exports: expected to be outstanding.
extern std::atomic<int64_t> detached_blocks;

// The open contexts, which shutdown() closes. enlist throws BackendClosedError once the process is ending.
void enlist(Context& context);
void delist(Context& context) noexcept;

}  // namespace stator
