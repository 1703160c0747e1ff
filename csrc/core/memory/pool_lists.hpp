// The free lists of a Pool: what is cached, by home stream and size class.
#pragma once

#include "core/memory/buffer.hpp"

#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

namespace stator {

// Cached memory. Before anyone but its home stream uses it again, the events have to pass, and so has the work that is
// on the streams of `unmarked` (a bit each) at that time: no event could be recorded there.
struct Block {
  void* memory = nullptr;
  size_t bytes = 0;
  uint32_t unmarked = 0;
  int8_t home = 0;
  std::vector<runtime::EventHandle> events;
  bool ready() const { return events.empty() && unmarked == 0; }
};

inline constexpr size_t smallest_block = 512, small_limit = size_t(1) << 20, large_step = size_t(2) << 20;
inline constexpr int small_classes = 23;

// 512, 768, 1024, 1536, ... 1 MiB: class 2k is 512 << k, class 2k + 1 half as much more.
constexpr int small_class(size_t bytes) {
  if (bytes <= smallest_block) return 0;
  const int power = std::bit_width(bytes - 1) - 1;  // 2^power < bytes <= 2^(power + 1)
  const bool half = bytes <= (size_t(3) << power) / 2;
  return 2 * (power - 9) + (half ? 1 : 2);
}
constexpr size_t small_class_bytes(int index) { return (index % 2 ? size_t(768) : smallest_block) << (index / 2); }
constexpr size_t block_size(size_t bytes) {
  if (bytes <= small_limit) return small_class_bytes(small_class(bytes));
  return (bytes + large_step - 1) / large_step * large_step;
}
static_assert(small_class(512) == 0 && small_class(513) == 1 && small_class(769) == 2 && small_class(1024) == 2);
static_assert(small_class(1025) == 3 && small_class(small_limit) == small_classes - 1 &&
              block_size(small_limit) == small_limit);

// Not thread-safe. push may throw std::bad_alloc.
class FreeList {
 public:
  void push(Block&& block) {
    if (block.bytes <= small_limit)
      small_[small_class(block.bytes)].push_back(std::move(block));
    else
      large_.emplace(block.bytes, std::move(block));
  }
  // A block of the size (large ones: up to 1/8 more), a ready one where there is one. Only ready ones: `ready_only`.
  bool pop(size_t bytes, bool ready_only, Block* out);
  bool pop_any(Block* out);

 private:
  std::array<std::vector<Block>, small_classes> small_;
  std::multimap<size_t, Block> large_;
};

}  // namespace stator
