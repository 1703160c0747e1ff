// The queue of foreign owners: a lock-free stack, linked through the owners, so that pushing never allocates. pop_all
// takes it at once and runs the oldest first.
#include "memory/buffer.hpp"
#include "ownership/process.hpp"
#include "ownership/tracker.hpp"

namespace stator {
namespace {

std::atomic<ForeignOwner*> newest{nullptr};

}  // namespace

ForeignOwner::ForeignOwner(std::function<void()> release)
    : deleter(std::move(release)), generation(process_generation()) {}

void ForeignReleases::push(std::unique_ptr<ForeignOwner> owner) noexcept {
  if (!owner) return;
  ForeignOwner* added = owner.release();
  added->next = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(added->next, added, std::memory_order_release, std::memory_order_relaxed)) {}
}

bool ForeignReleases::pending() noexcept {
  const ForeignOwner* owner = newest.load(std::memory_order_acquire);
  return owner && owner->generation == process_generation() && !ended();
}

void ForeignReleases::drain() {
  if (!pending()) return;
  ForeignOwner* oldest = nullptr;
  for (ForeignOwner* owner = newest.exchange(nullptr, std::memory_order_acquire); owner;) {
    oldest = std::exchange(owner, std::exchange(owner->next, oldest));
  }
  while (oldest) {
    std::unique_ptr<ForeignOwner> owner(std::exchange(oldest, oldest->next));
    if (owner->generation != process_generation()) {
      static_cast<void>(owner.release());  // of the parent of a fork, which releases it
      continue;
    }
    try {
      owner->deleter();
    } catch (const std::exception& error) {
      warn("stator: the deleter of foreign memory failed: %s", error.what());
    }
  }
}

}  // namespace stator
