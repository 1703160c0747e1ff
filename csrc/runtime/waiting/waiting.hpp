// Long waits: whether one is to end before what it waits for, and the bound of the queues on the host.
#pragma once

#include "runtime/runtime.hpp"

#include <stator/error.hpp>

#include <pthread.h>
#include <atomic>

namespace stator::runtime {

namespace status {
inline constexpr Status interrupted = -1;  // of this library: the wait was ended, and nothing was enqueued
}

// True where the waiting thread is to stop waiting, as after a signal. Asked a few times per second, without a lock of
// this library, only by the thread that it was set for. It may wait for a lock that other threads hold while they call.
using InterruptCheck = bool (*)();
void set_interrupt_check(InterruptCheck check, pthread_t thread) noexcept;

// While one lives, waits of this thread may end with status::interrupted.
class Interruptible {
 public:
  Interruptible() noexcept;
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  static bool here() noexcept;                     // and there is a check for this thread
  static bool ask() noexcept;                      // the check's answer; false where the wait must not end early
  static constexpr int64_t interval = 50'000'000;  // nanoseconds between two questions
};

// What Runtime throws for status::interrupted.
class Interrupted : public Error {
 public:
  explicit Interrupted(uint16_t op);
};
// Throws where the check says that this thread is to stop: for loops that enqueue much in one call.
void poll_interrupt(uint16_t op);

// Waits for the stream so that the wait may end early. What then waits for the stream again returns at once.
Status wait_interruptibly(const Table& table, ContextHandle context, StreamHandle stream, bool emulated) noexcept;
// Before a copy of the host's memory, null for none: one that uses pageable memory cannot be stopped any more once it
// is enqueued, so that the wait comes before it.
Status before_copy(const Table& table, ContextHandle context, const void* host, StreamHandle stream,
                   bool emulated) noexcept;

// How many checkpoints of queues on the host have not been reached: while there is one, enqueuing may have to wait.
extern std::atomic<int64_t> long_host_queues;
inline bool host_queues_are_long() noexcept { return long_host_queues.load(std::memory_order_relaxed) > 0; }

// Before work is enqueued, on host: waits until the stream's queue has room, as CUDA's launch queue makes callers wait,
// and before synchronous work for what the stream has. Does not wait in work of a stream, nor for room while a host
// function runs, since that may wait for the caller.
Status make_room_on_host(StreamHandle stream, bool synchronous) noexcept;
inline Status before_work(const Table& table, StreamHandle stream, bool synchronous) noexcept {
  if (!synchronous && !host_queues_are_long()) [[likely]]
    return status::success;
  return &table == &host_table() ? make_room_on_host(stream, synchronous) : status::success;
}
bool is_busy_on_host(StreamHandle stream) noexcept;  // whether its queue has anything, also on a context that faulted
// host: what the stream's context has not begun is never done, as after a fault.
void drop_work_on_host(StreamHandle stream) noexcept;

}  // namespace stator::runtime
