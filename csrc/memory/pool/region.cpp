#include "memory/pool/region.hpp"

#include "core/context.hpp"

#include <iterator>
#include <new>

namespace stator {
namespace {

void join(Block& block, const Block& neighbour) {
  block.bytes += neighbour.bytes;
  block.unmarked |= neighbour.unmarked;
  if (neighbour.home != block.home) block.unmarked |= uint32_t(1) << neighbour.home;
}

}  // namespace

Region::Region(Context& context, void* memory, size_t bytes) : context_(context), memory_(memory), bytes_(bytes) {
  give({memory, bytes, 0, 0, {}});
}

Region::~Region() { context_.report("free", context_.memory().free_noexcept(memory_, bytes_, nullptr)); }

// Without an allocation, since the nodes of the lists are used again.
void Region::replace(Blocks::iterator at, const Block& block) noexcept {
  auto size = by_size_.extract({at->second.bytes, at->first});
  auto node = free_.extract(at);
  node.key() = static_cast<char*>(block.memory);
  node.mapped() = block;
  size.value() = {block.bytes, node.key()};
  free_.insert(std::move(node));
  by_size_.insert(std::move(size));
}

void Region::remove(Blocks::iterator at) noexcept {
  by_size_.erase({at->second.bytes, at->first});
  free_.erase(at);
}

bool Region::take(size_t bytes, Block* out) noexcept {
  const auto found = by_size_.lower_bound({bytes, nullptr});
  if (found == by_size_.end()) return false;
  const auto at = free_.find(found->second);
  *out = at->second;
  out->bytes = bytes;
  if (at->second.bytes == bytes) {
    remove(at);
    return true;
  }
  Block rest = at->second;
  rest.memory = at->first + bytes;
  rest.bytes -= bytes;
  replace(at, rest);
  return true;
}

bool Region::give(Block block) noexcept {
  char* const begin = static_cast<char*>(block.memory);
  const auto next = free_.lower_bound(begin);
  const auto before = next == free_.begin() ? free_.end() : std::prev(next);
  const bool joins_next = next != free_.end() && begin + block.bytes == next->first;
  const bool joins_before = before != free_.end() && before->first + before->second.bytes == begin;
  if (joins_next) join(block, next->second);
  if (joins_before) {
    Block whole = before->second;
    join(whole, block);
    if (joins_next) remove(next);
    replace(before, whole);
    return true;
  }
  if (joins_next) {
    replace(next, block);
    return true;
  }
  try {
    const auto at = free_.emplace(begin, block).first;
    try {
      by_size_.emplace(block.bytes, begin);
    } catch (const std::bad_alloc&) {
      free_.erase(at);
      return false;
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace stator
