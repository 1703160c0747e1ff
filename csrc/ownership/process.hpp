// The state of the process as a whole: whether it is a forked child, and whether it has ended. Hooks and destructors
// ask before they release anything.
#pragma once

#include <atomic>
#include <cstdint>

namespace stator {

class Context;

// The number of forks since the library was loaded: objects made under another count belong to the parent process.
extern std::atomic<uint32_t> fork_count;
inline uint32_t process_generation() { return fork_count.load(std::memory_order_relaxed); }

// Set by shutdown(). From then on nothing is released: what is left is leaked on purpose.
extern std::atomic<bool> process_ended;
inline bool ended() { return process_ended.load(std::memory_order_acquire); }

// Around a call into the interpreter of a binding. A thread may be stopped in one, when the interpreter ends while it
// waits for the interpreter's lock: it may not leave the call, since the frames above end the process when something
// unwinds them.
struct StopsHere {
  bool returned = false;
  ~StopsHere();
};

// The number of allocations that closed backends left to consumers of their exports; the leak report expects them.
extern std::atomic<int64_t> detached_blocks;

// The open contexts, which shutdown() closes. enlist throws BackendClosedError once the process is ending.
void enlist(Context& context);
void delist(Context& context) noexcept;

}  // namespace stator
