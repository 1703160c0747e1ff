// The state of a Pool: free lists or the arena's region, spare events, figures, and foreign owners whose memory is
// still in use.
#pragma once

#include "core/memory/pool.hpp"
#include "core/memory/pool_lists.hpp"
#include "core/memory/region.hpp"

namespace stator {

struct Pool::Impl {
  mutable std::mutex mutex;  // guards all but the atomics; never held in a foreign call
  std::array<FreeList, managed_home + 1> lists;
  std::vector<runtime::EventHandle> events;
  ForeignOwner* owners = nullptr;  // linked; their deleters are never run here
  std::shared_ptr<Region> region;  // of the policy arena; what it has free counts as cached
  size_t limit = 0, live = 0, cached = 0, peak = 0;
  size_t pinned_limit = 0, pinned_live = 0, pinned_cached = 0;  // of page-locked memory, which the above include
  uint64_t allocations = 0, reuses = 0, deallocations = 0, failures = 0, allocated_bytes = 0;
  std::atomic<size_t> exported{0};
  MemoryHooks hooks;
  Budgets budgets;
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

  void add_live(size_t bytes, int home) {
    live += bytes;
    if (home == pinned_home) pinned_live += bytes;
  }

  void take_live(size_t bytes, int home) {
    live -= bytes;
    if (home == pinned_home) pinned_live -= bytes;
  }

  void add_cached(size_t bytes, int home) {
    cached += bytes;
    if (home == pinned_home) pinned_cached += bytes;
  }

  void take_cached(size_t bytes, int home) {
    cached -= bytes;
    if (home == pinned_home) pinned_cached -= bytes;
  }

  void from_cache(size_t bytes, int home) {
    take_cached(bytes, home);
    add_live(bytes, home);
    peak = std::max(peak, live);
    ++reuses;
  }

  void from_live(size_t bytes, int home) {
    take_live(bytes, home);
    ++deallocations;
  }

  // Free device memory of the arena, of a block whose events have been waited for.
  void to_region(const Block& block) noexcept {
    if (region->give(block)) cached += block.bytes;
  }
  bool in_region(int home) const { return region && home < pinned_home; }

  void failed(size_t bytes) {
    const std::lock_guard lock(mutex);
    ++failures;
    allocated_bytes -= bytes;
  }
};

}  // namespace stator
