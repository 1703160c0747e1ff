#include "memory/pool/pool_lists.hpp"

#include <utility>

namespace stator {

bool FreeList::pop(size_t bytes, bool ready_only, Block* out) {
  if (bytes > small_limit) {
    const auto last = large_.upper_bound(bytes + bytes / 8);
    auto found = large_.lower_bound(bytes);
    if (found == last) return false;
    auto ready = found;
    while (ready != last && !ready->second.ready()) ++ready;
    if (ready != last)
      found = ready;
    else if (ready_only)
      return false;
    *out = std::move(found->second);
    large_.erase(found);
    return true;
  }
  std::vector<Block>& list = small_[small_class(bytes)];
  if (list.empty()) return false;
  if (list.back().ready()) [[likely]] {
    *out = std::move(list.back());
    list.pop_back();
    return true;
  }
  size_t at = list.size() - 1;
  while (at > 0 && !list[at - 1].ready()) --at;
  if (at == 0) {
    if (ready_only) return false;
    *out = std::move(list.front());  // the oldest, whose work is most likely done
    list.erase(list.begin());
    return true;
  }
  std::swap(list[at - 1], list.back());
  *out = std::move(list.back());
  list.pop_back();
  return true;
}

size_t FreeList::largest() const {
  if (!large_.empty()) return large_.rbegin()->first;
  int i = small_classes - 1;
  while (i >= 0 && small_[i].empty()) --i;
  return i < 0 ? 0 : small_class_bytes(i);
}

bool FreeList::pop_any(Block* out) {
  if (!large_.empty()) {
    const auto largest = std::prev(large_.end());
    *out = std::move(largest->second);
    large_.erase(largest);
    return true;
  }
  for (int i = small_classes - 1; i >= 0; --i) {
    if (small_[i].empty()) continue;
    *out = std::move(small_[i].back());
    small_[i].pop_back();
    return true;
  }
  return false;
}

}  // namespace stator
