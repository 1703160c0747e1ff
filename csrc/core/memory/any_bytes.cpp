#include "core/memory/any_bytes.hpp"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace stator {
namespace {

// Never destroyed, since buffers may outlive the statics of the process.
struct Noted {
  std::mutex mutex;
  std::unordered_set<const Buffer*> buffers;
  std::atomic<size_t> count{0};
};
Noted& noted() {
  static Noted& found = *new Noted;
  return found;
}

}  // namespace

void note_any_bytes(const Buffer& buffer) {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  all.buffers.insert(&buffer);
  all.count.store(all.buffers.size(), std::memory_order_release);
}

bool has_any_bytes(const Buffer& buffer) noexcept {
  Noted& all = noted();
  if (all.count.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(all.mutex);
  return all.buffers.contains(&buffer);
}

void forget_any_bytes(const Buffer& buffer) noexcept {
  Noted& all = noted();
  if (all.count.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(all.mutex);
  all.buffers.erase(&buffer);
  all.count.store(all.buffers.size(), std::memory_order_release);
}

}  // namespace stator
