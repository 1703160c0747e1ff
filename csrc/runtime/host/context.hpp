// The host target's context: its sticky fault, its quarantine of freed memory, and the process that made it. Also the
// host's allocation functions.
#pragma once

#include "runtime/runtime.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <set>
#include <string>

namespace stator::runtime::host {

struct Stream;

// Freed memory of a checked context: filled with the poison byte and kept for a while, so that a late write is seen.
class Quarantine {
 public:
  Quarantine() = default;
  Quarantine(const Quarantine&) = delete;
  ~Quarantine();
  // Takes the block over, and may release the oldest ones. False when one of those had been written to.
  bool add(void* pointer, size_t bytes);
  bool intact();

 private:
  struct Block {
    void* pointer;
    size_t bytes;
  };
  static bool untouched(const Block& block);
  std::mutex mutex_;
  std::deque<Block> blocks_;
  size_t bytes_ = 0;
};

struct Context {
  Context(bool is_checked, int process) : checked(is_checked), epoch(process) {}

  const bool checked;
  const int epoch;  // process_epoch() at creation; another value means that this process is a forked child
  std::atomic<bool> faulted{false}, fault_next{false};
  std::atomic<bool> dropped{false};  // what has not begun is not done any more
  Quarantine quarantine;
  std::set<Stream*> streams;  // guarded by the scheduler's mutex

  void fault(const std::string& message) noexcept;  // the first fault stays
  std::string fault_message();

 private:
  std::mutex mutex_;
  std::string message_;
};

// The number of forks: in a child, contexts of the parent have no workers and must neither wait nor lock.
int process_epoch();

// Host memory. No call throws. Sizes beyond the machine's memory are refused, so that the process is not killed later.
inline constexpr unsigned char poison_byte = 0xCB;
size_t total_memory();
size_t live_memory();
Status take_memory(size_t bytes, void** out);
void give_memory(void* pointer, size_t bytes);
Status take_pinned(size_t bytes, void** out);
Status give_pinned(void* pointer);
bool is_pinned(const void* pointer);
Status note_registered(void* pointer, size_t bytes);
Status forget_registered(void* pointer);
void lock_memory();  // around a fork, so that the child does not inherit a lock that no thread holds
void unlock_memory();

}  // namespace stator::runtime::host
