// MemoryRecord: what a pool gave out and got back, while that is asked for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace stator {

class MemoryRecord {
 public:
  struct Entry {
    int64_t time;   // nanoseconds since the beginning
    int64_t bytes;  // negative where they were freed
    uint16_t op;    // that took them
  };
  bool on() const { return on_.load(std::memory_order_relaxed); }
  void begin(size_t most);  // a new recording, of at most `most` entries; previous ones are dropped
  void end() { on_.store(false, std::memory_order_relaxed); }
  // The number of the recording, which gave_back takes.
  uint32_t took(size_t bytes, uint16_t op) noexcept;
  void gave_back(uint32_t recording, size_t bytes, uint16_t op) noexcept;
  // dropped: how many there was no room for.
  std::vector<Entry> entries(uint64_t* dropped) const;

 private:
  void note(int64_t bytes, uint16_t op) noexcept;

  std::atomic<bool> on_{false};
  mutable std::mutex mutex_;  // guards the rest
  std::vector<Entry> entries_;
  size_t most_ = 0;
  uint64_t dropped_ = 0;
  int64_t began_ = 0;
  uint32_t recording_ = 0;
};

}  // namespace stator
