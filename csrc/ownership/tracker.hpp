// Tracker: walks the tree of Boxes of one context, to report what is alive.
#pragma once

#include "ownership/box.hpp"
#include "runtime/warning.hpp"

#include <stator/backend.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace stator {

class Tracker {
 public:
  std::vector<Resource> resources() const;  // oldest first, without the context and its pool
  size_t count() const;
  // The open buffers, page-locked and managed memory, events and graphs of a scope, newest first of each kind.
  std::vector<Ref<Box>> of_scope(uint32_t scope) const;
  // Sums of live buffers by op and size, those with the most bytes first, at most `most`; of all, or of those scopes.
  std::vector<MemoryOwner> owners(size_t most, const std::vector<uint32_t>* scopes = nullptr) const;
  std::string largest_owner() const;  // "4.0 MiB matmul", empty when nothing is live

 private:
  friend class Box;
  template <class Visit>
  void for_each(Visit&& visit) const;

  mutable std::mutex mutex_;  // guards the child lists; never held in a foreign call
  std::condition_variable changed_;
  Box* root_ = nullptr;
};

}  // namespace stator
