// Tracker: the registry of the Boxes of one context, and its memory figures.
#pragma once

#include "core/box.hpp"

#include <stator/backend.hpp>

#include <mutex>
#include <vector>

namespace stator {

class Tracker {
 public:
  std::vector<Resource> resources() const;  // oldest first; not the context and its pool
  size_t count() const;

 private:
  friend class Box;
  mutable std::mutex mutex_;  // guards the child lists; never held in a foreign call
  Box* root_ = nullptr;
};

// Reports a failure that cannot be thrown (a destructor, the exit hook). Never throws.
void warn(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace stator
