// The queue of deleters of foreign memory: pushed from any thread, run by the thread that calls drain().
#include "core/memory/buffer.hpp"
#include "core/process.hpp"
#include "core/tracker.hpp"

#include <mutex>
#include <vector>

namespace stator {
namespace {

struct Waiting {
  std::mutex mutex;
  std::vector<std::function<void()>> deleters;
  std::atomic<bool> any{false};
  uint32_t generation = process_generation();
};

// One queue per process: a child of fork starts with an empty one, since the owners belong to the parent. It is never
// destroyed.
std::atomic<Waiting*> waiting{nullptr};

Waiting& instance() {
  Waiting* current = waiting.load(std::memory_order_acquire);
  while (!current || current->generation != process_generation()) {
    auto* fresh = new Waiting;
    if (waiting.compare_exchange_strong(current, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
  }
  return *current;
}

}  // namespace

void ForeignReleases::push(std::function<void()> deleter) noexcept {
  if (!deleter) return;
  Waiting& list = instance();
  const std::lock_guard lock(list.mutex);
  list.deleters.push_back(std::move(deleter));
  list.any.store(true, std::memory_order_release);
}

bool ForeignReleases::pending() noexcept {
  const Waiting* list = waiting.load(std::memory_order_acquire);
  return list && list->any.load(std::memory_order_acquire) && list->generation == process_generation() && !ended();
}

void ForeignReleases::drain() {
  if (!pending()) return;
  Waiting& list = instance();
  std::vector<std::function<void()>> deleters;
  {
    const std::lock_guard lock(list.mutex);
    deleters.swap(list.deleters);
    list.any.store(false, std::memory_order_release);
  }
  for (std::function<void()>& deleter : deleters) {
    try {
      deleter();
    } catch (const std::exception& error) {
      warn("stator: the deleter of foreign memory failed: %s", error.what());
    }
  }
}

}  // namespace stator
