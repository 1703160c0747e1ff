#include "core/memory/any_bytes.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <unordered_set>

namespace stator {
namespace {

// Never destroyed, since buffers may outlive the statics of the process, and not on the heap, which may have no room.
struct Noted {
  std::mutex mutex;
  std::unordered_set<const Buffer*> buffers;
  std::atomic<size_t> count{0};
  bool all = false;  // where there was no memory to note one: every buffer counts as such a one from then on
};
Noted& noted() {
  alignas(Noted) static unsigned char room[sizeof(Noted)];
  static Noted& found = *new (room) Noted;
  return found;
}

}  // namespace

void note_any_bytes(const Buffer& buffer) noexcept {
  Noted& found = noted();
  const std::lock_guard lock(found.mutex);
  try {
    found.buffers.insert(&buffer);
  } catch (const std::bad_alloc&) {
    found.all = true;
  }
  found.count.store(found.buffers.size() + found.all, std::memory_order_release);
}

bool has_any_bytes(const Buffer& buffer) noexcept {
  Noted& found = noted();
  if (found.count.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(found.mutex);
  return found.all || found.buffers.contains(&buffer);
}

void forget_any_bytes(const Buffer& buffer) noexcept {
  Noted& found = noted();
  if (found.count.load(std::memory_order_acquire) == 0) return;
  const std::lock_guard lock(found.mutex);
  found.buffers.erase(&buffer);
  found.count.store(found.buffers.size() + found.all, std::memory_order_release);
}

}  // namespace stator
