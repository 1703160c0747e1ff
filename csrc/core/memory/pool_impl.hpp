// The state of a Pool: free lists, spare events, figures, and foreign owners whose memory is still in use.
#pragma once

#include "core/memory/pool.hpp"
#include "core/memory/pool_lists.hpp"

namespace stator {

struct Pool::Impl {
  struct Owner {
    Block block;  // only its events and unmarked streams are used
    std::function<void()> deleter;
  };

  mutable std::mutex mutex;  // guards all but the atomics; never held in a foreign call
  std::array<FreeList, pinned_home + 1> lists;
  std::vector<runtime::EventHandle> events;
  std::vector<Owner> owners;
  size_t live = 0, cached = 0, peak = 0;
  uint64_t allocations = 0, reuses = 0;
  std::atomic<size_t> exported{0};
  std::atomic<bool> has_owners{false};

  void to_live(size_t bytes) {
    live += bytes;
    peak = std::max(peak, live);
  }
};

}  // namespace stator
