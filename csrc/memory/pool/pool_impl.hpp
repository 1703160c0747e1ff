// The state of a Pool: free lists or the arena's region, spare events, figures, and foreign owners whose memory is
// still in use.
#pragma once

#include "memory/pool/pool.hpp"
#include "memory/pool/pool_lists.hpp"
#include "memory/pool/region.hpp"

namespace stator {

// Cached device memory by the size of its blocks, and when that size was last asked for.
class CachedSizes {
 public:
  void asked(size_t bytes, uint64_t time) { slots_[slot_of(bytes)].asked = time; }
  void add(size_t bytes) { ++slots_[slot_of(bytes)].blocks; }
  void take(size_t bytes) { --slots_[slot_of(bytes)].blocks; }
  void take_asked(size_t bytes, uint64_t time) {
    Slot& slot = slots_[slot_of(bytes)];
    --slot.blocks;
    slot.asked = time;
  }
  static constexpr size_t beyond = SIZE_MAX;  // sizes that have no slot of their own
  // The size that was requested least recently, or `beyond`; 0 where nothing is cached.
  size_t stalest() const {
    int found = -1;
    for (int i = 0; i < int(slots_.size()); ++i)
      if (slots_[i].blocks > 0 && (found < 0 || slots_[i].asked < slots_[found].asked)) found = i;
    if (found < 0) return 0;
    if (found == int(slots_.size()) - 1) return beyond;
    return found < small_classes ? small_class_bytes(found) : size_t(found - small_classes + 1) * large_step;
  }

 private:
  static constexpr int large_slots = 512;  // the last one is for all sizes beyond
  static int slot_of(size_t bytes) {
    if (bytes <= small_limit) return small_class(bytes);
    return small_classes + int(std::min<size_t>(bytes / large_step, large_slots)) - 1;
  }
  struct Slot {
    uint64_t asked = 0;
    int64_t blocks = 0;
  };
  std::array<Slot, small_classes + large_slots> slots_{};
};

struct Pool::Impl {
  // So much memory is had from the runtime before blocks of unused sizes are freed: as a
  // multiple of the most that was live at once, in eighths, and at least.
  static constexpr size_t limit_eighths = 13, least_limit = size_t(256) << 20;
  mutable std::mutex mutex;  // guards all but the atomics; never held in a foreign call
  std::array<FreeList, managed_home + 1> lists;
  std::vector<runtime::EventHandle> events;
  ForeignOwner* owners = nullptr;  // linked; their deleters are never run here
  std::shared_ptr<Region> region;  // of the policy arena; what it has free counts as cached
  CachedSizes sizes;
  size_t limit = 0, live = 0, cached = 0, peak = 0, most_live = 0;
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
    if (home < pinned_home && !region) sizes.add(bytes);
    if (home == pinned_home) pinned_cached += bytes;
  }

  void take_cached(size_t bytes, int home) {
    cached -= bytes;
    if (home < pinned_home && !region) sizes.take(bytes);
    if (home == pinned_home) pinned_cached -= bytes;
  }

  void from_cache(size_t bytes, int home) {
    cached -= bytes;
    if (home < pinned_home) {
      if (!region) sizes.take_asked(bytes, allocations);
    } else if (home == pinned_home) {
      pinned_cached -= bytes;
    }
    add_live(bytes, home);
    note_peak();
    ++reuses;
  }

  void note_peak() {
    peak = std::max(peak, live);
    most_live = std::max(most_live, live);
  }

  // Before memory is had from the runtime: frees what fits nothing that is asked for.
  void give_back_unasked(Pool& pool) noexcept;

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
