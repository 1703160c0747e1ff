// The state of a Pool: free lists, spare events, figures, and foreign owners whose memory is still in use.
#pragma once

#include "core/memory/pool.hpp"
#include "core/memory/pool_lists.hpp"

namespace stator {

struct Pool::Impl {
  mutable std::mutex mutex;  // guards all but the atomics; never held in a foreign call
  std::array<FreeList, managed_home + 1> lists;
  std::vector<runtime::EventHandle> events;
  ForeignOwner* owners = nullptr;  // linked; their deleters are never run here
  size_t limit = 0, live = 0, cached = 0, peak = 0;
  uint64_t allocations = 0, reuses = 0, deallocations = 0, failures = 0, allocated_bytes = 0;
  std::atomic<size_t> exported{0};
  std::atomic<bool> has_owners{false};

  ~Impl() {
    while (owners) delete std::exchange(owners, owners->next);
  }

  void add_owner(std::unique_ptr<ForeignOwner> owner) noexcept {
    const std::lock_guard lock(mutex);
    owner->next = owners;
    owners = owner.release();
    has_owners.store(true, std::memory_order_relaxed);
  }

  void to_live(size_t bytes) {
    live += bytes;
    peak = std::max(peak, live);
  }

  void from_live(size_t bytes) {
    live -= bytes;
    ++deallocations;
  }

  void failed(size_t bytes) {
    ++failures;
    allocated_bytes -= bytes;
  }
};

}  // namespace stator
