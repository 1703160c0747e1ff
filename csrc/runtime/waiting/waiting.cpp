#include "runtime/waiting/waiting.hpp"

#include "runtime/op_name.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace stator::runtime {
namespace {

std::atomic<InterruptCheck> interrupt_check{nullptr};
std::atomic<pthread_t> interrupt_thread{};
constinit thread_local int interruptible = 0;

// Of a wait that asks the device instead of letting CUDA wait: how long without sleep, and the sleep.
struct Polling {
  static constexpr auto eager = std::chrono::milliseconds(20);
  static constexpr auto sleep = std::chrono::microseconds(50);
};

}  // namespace

constinit std::atomic<int64_t> long_host_queues{0};

void set_interrupt_check(InterruptCheck check, pthread_t thread) noexcept {
  interrupt_thread.store(thread);
  interrupt_check.store(check);
}

Interruptible::Interruptible() noexcept { ++interruptible; }
Interruptible::~Interruptible() { --interruptible; }

bool Interruptible::here() noexcept {
  return interruptible > 0 && interrupt_check.load(std::memory_order_relaxed) &&
         pthread_equal(interrupt_thread.load(std::memory_order_relaxed), pthread_self());
}

bool Interruptible::ask() noexcept {
  if (!here()) return false;
  const InterruptCheck check = interrupt_check.load();
  return check && check();
}

void poll_interrupt(uint16_t op) {
  const Interruptible may_end;
  if (Interruptible::ask()) throw Interrupted(op);
}

Interrupted::Interrupted(uint16_t op) : Error(std::string(op_name(op)), "the call was interrupted", "Repeat it") {}

Status wait_interruptibly(const Table& table, ContextHandle context, StreamHandle stream, bool emulated) noexcept {
  const Interruptible may_end;
  if (!Interruptible::here() || emulated) return status::success;  // emulated devices work while a thread waits
  if (&table == &host_table()) return table.stream_synchronize(context, stream);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Clock::time_point asked = begin;
  for (;;) {
    if (const Status code = table.stream_query(context, stream); code != status::not_ready) return code;
    const Clock::time_point now = Clock::now();
    if (now - asked > std::chrono::nanoseconds(Interruptible::interval)) {
      if (Interruptible::ask()) return status::interrupted;
      asked = now;
    }
    if (now - begin > Polling::eager) std::this_thread::sleep_for(Polling::sleep);
  }
}

Status before_copy(const Table& table, ContextHandle context, const void* host, StreamHandle stream,
                   bool emulated) noexcept {
  if (!host || emulated) return status::success;
  const Interruptible may_end;
  if (!Interruptible::here() || table.stream_query(context, stream) != status::not_ready || !table.pageable(host))
    return status::success;
  return wait_interruptibly(table, context, stream, emulated);
}

}  // namespace stator::runtime
