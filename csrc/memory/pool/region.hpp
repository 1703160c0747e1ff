// Region: the one allocation of a pool with the policy arena, and what of it is free.
#pragma once

#include "memory/pool/pool_lists.hpp"

#include <map>
#include <set>
#include <utility>

namespace stator {

class Context;

// Takes the smallest free block that holds the bytes, of several the first in memory, and joins free neighbours. Its
// blocks have no events, so that they can be divided: what may still use one is the work on its home stream and on the
// streams of `unmarked`. Guarded by the pool's mutex. Freed when the pool has closed and the last consumer of exported
// memory has let go.
class Region {
 public:
  static constexpr size_t step = 512;
  static constexpr size_t rounded(size_t bytes) { return bytes < step ? step : (bytes + step - 1) / step * step; }

  Region(Context& context, void* memory, size_t bytes);
  ~Region();
  Region(const Region&) = delete;

  bool take(size_t bytes, Block* out) noexcept;
  // Where there is no memory for the list, the block is lost until the region ends: false.
  bool give(Block block) noexcept;
  size_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  using Blocks = std::map<char*, Block>;
  void replace(Blocks::iterator at, const Block& block) noexcept;
  void remove(Blocks::iterator at) noexcept;
  Context& context_;
  void* const memory_;
  const size_t bytes_;
  Blocks free_;
  std::set<std::pair<size_t, char*>> by_size_;
};

}  // namespace stator
