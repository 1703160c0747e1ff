#include "memory/record.hpp"

#include <chrono>
#include <new>

namespace stator {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void MemoryRecord::begin(size_t most) {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  most_ = most;
  dropped_ = 0;
  began_ = now();
  ++recording_;
  on_.store(true, std::memory_order_relaxed);
}

void MemoryRecord::note(int64_t bytes, uint16_t op) noexcept {
  if (entries_.size() < most_) {
    try {
      entries_.push_back({now() - began_, bytes, op});
      return;
    } catch (const std::bad_alloc&) {
      // Counted below.
    }
  }
  ++dropped_;
}

uint32_t MemoryRecord::took(size_t bytes, uint16_t op) noexcept {
  const std::lock_guard lock(mutex_);
  note(int64_t(bytes), op);
  return recording_;
}

void MemoryRecord::gave_back(uint32_t recording, size_t bytes, uint16_t op) noexcept {
  const std::lock_guard lock(mutex_);
  if (on() && recording == recording_) note(-int64_t(bytes), op);
}

std::vector<MemoryRecord::Entry> MemoryRecord::entries(uint64_t* dropped) const {
  const std::lock_guard lock(mutex_);
  *dropped = dropped_;
  return entries_;
}

}  // namespace stator
