// Managed: what a Buffer in managed memory keeps beside it.
#pragma once

#include <stator/memory/managed.hpp>

#include <atomic>
#include <mutex>

namespace stator {

class Managed {
 public:
  void note_prefetch(int to, size_t bytes) {
    const std::lock_guard lock(mutex_);
    (to == location::host ? asked_.to_host : asked_.to_device) += 1;
    (to == location::host ? asked_.to_host_bytes : asked_.to_device_bytes) += bytes;
    asked_.last = to;
  }
  Migrations asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  // Advice holds for the pages, so that they are not allocated again.
  void note_advice() { advised_.store(true, std::memory_order_relaxed); }
  bool advised() const { return advised_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  Migrations asked_;
  std::atomic<bool> advised_{false};
};

}  // namespace stator
