// The free lists of a Pool: cached blocks by size class, one FreeList per home stream.
#pragma once

#include "runtime/runtime.hpp"

#include <array>
#include <bit>
#include <map>
#include <vector>

namespace stator {

// Cached memory. Before any stream other than its home stream uses it again, its events must have passed, and so must
// the work that is on the streams of `unmarked` (one bit each) at that time: no event could be recorded on those.
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

// 512, 768, 1024, 1536, ... 1 MiB: class 2k has 512 << k bytes, class 2k + 1 has 768 << k.
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
  // A block of this size class (large blocks: up to 1/8 larger), preferably one that is ready. `ready_only` accepts no
  // other.
  bool pop(size_t bytes, bool ready_only, Block* out);
  bool pop_any(Block* out);  // the largest block of the list
  size_t largest() const;    // bytes of that

 private:
  std::array<std::vector<Block>, small_classes> small_;
  std::multimap<size_t, Block> large_;
};

}  // namespace stator
