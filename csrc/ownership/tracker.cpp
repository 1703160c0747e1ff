#include "ownership/tracker.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <ctime>
#include <map>

namespace stator {
namespace {

// "matmul", and of what the library keeps for it "workspace of matmul".
std::string owner_text(BoxKind kind, uint16_t origin) {
  const std::string op = op_text(origin);
  return kind == BoxKind::library && !op.empty() ? "workspace of " + op : op;
}

}  // namespace

// Visits the live boxes. A box without a native handle is not open yet or already closed, and counts only while a
// consumer still holds its storage.
template <class Visit>
void Tracker::for_each(Visit&& visit) const {
  const std::lock_guard lock(mutex_);
  const auto descend = [&](const auto& self, const Box& box) -> void {
    const bool listed = box.kind_ != BoxKind::context && box.kind_ != BoxKind::pool;
    if (listed && (!box.closed() || box.exported())) visit(box);
    for (const Box* child = box.newest_child_; child; child = child->older_) self(self, *child);
  };
  if (root_) descend(descend, *root_);
}

std::vector<Resource> Tracker::resources() const {
  struct Entry {
    int64_t born;
    Resource resource;
  };
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  const int64_t now = time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
  std::vector<Entry> entries;
  for_each([&](const Box& box) {
    entries.push_back(
        {box.born_,
         {name(box.kind_), box.bytes(), double(now - box.born_) * 1e-9, op_text(box.origin_), box.exported()}});
  });
  std::reverse(entries.begin(), entries.end());  // the lists run from new to old; equal ticks keep their order
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.born < b.born; });
  std::vector<Resource> result;
  for (Entry& entry : entries) result.push_back(std::move(entry.resource));
  return result;
}

size_t Tracker::count() const {
  size_t count = 0;
  for_each([&](const Box&) { ++count; });
  return count;
}

std::vector<Ref<Box>> Tracker::of_scope(uint32_t scope) const {
  std::vector<Ref<Box>> boxes;
  for_each([&](const Box& box) {
    const bool owned = box.kind_ == BoxKind::buffer || box.kind_ == BoxKind::pinned || box.kind_ == BoxKind::managed ||
                       box.kind_ == BoxKind::event || box.kind_ == BoxKind::graph;
    if (!owned || box.part_ || box.closed() || box.scope() != scope) return;
    boxes.emplace_back();  // which may throw, and then nothing was retained
    if (box.try_retain()) {
      boxes.back() = Ref<Box>(const_cast<Box*>(&box));
      release(&box);  // of the two references
    } else {
      boxes.pop_back();  // another thread is destroying it
    }
  });
  return boxes;
}

std::vector<MemoryOwner> Tracker::owners(size_t most, const std::vector<uint32_t>* scopes) const {
  std::map<std::pair<std::string, size_t>, size_t> counts;
  for_each([&](const Box& box) {
    const bool counted = box.kind_ == BoxKind::buffer || box.kind_ == BoxKind::pinned ||
                         box.kind_ == BoxKind::managed || box.kind_ == BoxKind::library;
    if (!counted || box.bytes() == 0) return;
    if (scopes && std::find(scopes->begin(), scopes->end(), box.scope()) == scopes->end()) return;
    ++counts[{owner_text(box.kind_, box.origin_), box.bytes()}];
  });
  std::vector<MemoryOwner> owners;
  for (const auto& [of, count] : counts) owners.push_back({of.first, of.second, count});
  std::stable_sort(owners.begin(), owners.end(),
                   [](const MemoryOwner& a, const MemoryOwner& b) { return a.bytes * a.count > b.bytes * b.count; });
  if (owners.size() > most) owners.resize(most);
  return owners;
}

std::string Tracker::largest_owner() const {
  size_t bytes = 0;
  uint16_t origin = no_op;
  BoxKind kind = BoxKind::buffer;
  for_each([&](const Box& box) {
    const bool memory = box.kind_ == BoxKind::buffer || box.kind_ == BoxKind::managed || box.kind_ == BoxKind::library;
    if (memory && box.bytes() > bytes) bytes = box.bytes(), origin = box.origin_, kind = box.kind_;
  });
  if (!bytes) return {};
  const std::string op = owner_text(kind, origin);
  return op.empty() ? size_text(bytes) : size_text(bytes) + " " + op;
}

}  // namespace stator
