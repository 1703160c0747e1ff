#include "emulator/memory/memory.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace stator::emulator {
namespace {

using memory::Allocation;

constexpr uint64_t alignment = 256;
constexpr uint64_t commit_step = uint64_t(64) << 20;
constexpr size_t most_dead = 2048;   // in the quarantine: what is known of a small allocation takes more than it does
constexpr uint64_t poisoned = 4096;  // bytes of what is handed back; checks find the rest

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Space after an allocation: wide enough that an index which is off by a row meets it rather than a neighbour.
uint64_t guard_of(uint64_t bytes) { return std::clamp<uint64_t>(bytes / 4, 512, 1 << 20); }
uint64_t range_of(uint64_t bytes) { return round_up(bytes + guard_of(bytes), alignment); }

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

void fill_in(Report& report, const Allocation& a) {
  report.allocation = a.base;
  report.allocation_bytes = a.bytes;
  report.allocation_label = a.label;
}

std::string named(const Allocation& a) {
  return "the allocation of " + std::to_string(a.bytes) + " bytes" + (a.label.empty() ? "" : " (" + a.label + ")");
}

}  // namespace

Memory::Memory(uint64_t capacity, uint64_t quarantine) : capacity_(capacity), quarantine_(quarantine) {
  // Only address space: pages are committed as they are allocated.
  arena_bytes_ = round_up(capacity * 2 + quarantine * 2 + commit_step, commit_step);
  void* const arena = mmap(nullptr, arena_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED)
    arena_bytes_ = 0;
  else
    arena_ = number(arena);
  used_ = committed_ = arena_;
}

Memory::~Memory() {
  if (arena_bytes_) munmap(pointer_to(arena_), arena_bytes_);
}

bool Memory::commit(uint64_t end) {
  if (end <= committed_) return true;
  const uint64_t wanted = std::min(round_up(end - arena_, commit_step), arena_bytes_) + arena_;
  if (mprotect(pointer_to(committed_), wanted - committed_, PROT_READ | PROT_WRITE) != 0) return false;
  committed_ = wanted;
  return true;
}

uint64_t Memory::take_range(uint64_t bytes) {
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < bytes) continue;
    const auto [base, size] = *hole;
    holes_.erase(hole);
    if (size > bytes) holes_.emplace(base + bytes, size - bytes);
    return base;
  }
  if (used_ + alignment + bytes > arena_ + arena_bytes_ || !commit(used_ + alignment + bytes)) return 0;
  const uint64_t base = used_ + (used_ == arena_ ? alignment : 0);  // the first has guard space before it too
  used_ = base + bytes;
  return base;
}

void* Memory::allocate(uint64_t bytes, MemoryKind kind, std::string label) {
  const std::unique_lock lock(mutex_);
  const bool counted = kind != MemoryKind::pinned;
  if (bytes > arena_bytes_ || (counted && live_bytes_ + bytes > capacity_)) return nullptr;
  uint64_t base = take_range(range_of(bytes));
  if (base == 0) {
    release_quarantine(0);
    base = take_range(range_of(bytes));
  }
  if (base == 0) return nullptr;
  auto allocation = std::make_unique<Allocation>();
  allocation->base = base;
  allocation->capacity = allocation->bytes = bytes;
  allocation->kind = kind;
  allocation->label = std::move(label);
  allocation->initialised = memory::Bits(bytes);
  std::memset(pointer_to(base), 0xff, bytes);
  allocations_[base] = std::move(allocation);
  if (counted) {
    live_bytes_ += bytes;
    peak_bytes_ = std::max<uint64_t>(peak_bytes_, live_bytes_);
  }
  return pointer_to(base);
}

Report Memory::adopt(void* pointer, uint64_t bytes, std::string label) {
  const std::unique_lock lock(mutex_);
  auto next = allocations_.lower_bound(number(pointer));
  const bool before = next != allocations_.begin() && std::prev(next)->second->end() > number(pointer);
  if (before || (next != allocations_.end() && next->first < number(pointer) + bytes)) {
    Report report;
    report.fault = Fault::out_of_bounds;
    report.address = number(pointer);
    report.sentence = "The memory to register overlaps memory that is registered or allocated already.";
    return report;
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->base = number(pointer);
  allocation->capacity = allocation->bytes = bytes;
  allocation->kind = MemoryKind::pinned;
  allocation->label = std::move(label);
  allocation->whole = true;
  allocations_[number(pointer)] = std::move(allocation);
  return {};
}

Report Memory::free(void* pointer) {
  if (!pointer) return {};
  const std::unique_lock lock(mutex_);
  const auto entry = allocations_.find(number(pointer));
  if (entry == allocations_.end() || !entry->second->live) {
    Report report;
    report.fault = Fault::invalid_free;
    report.address = number(pointer);
    if (const Allocation* a = find_locked(number(pointer))) {
      fill_in(report, *a);
      report.sentence =
          a->live ? "The address is inside " + named(*a) + ", not at its start." : named(*a) + " was freed before.";
      report.sentence[0] = char(std::toupper(report.sentence[0]));
    } else {
      report.sentence = "The address is of no allocation.";
    }
    return report;
  }
  Allocation& a = *entry->second;
  a.live = false;
  if (a.kind != MemoryKind::pinned) live_bytes_ -= a.capacity;
  if (!in_arena(a.base)) {
    forgotten_.push_back(std::move(entry->second));
    allocations_.erase(entry);
    return {};
  }
  std::memset(pointer_to(a.base), 0xff, std::min(a.capacity, poisoned));
  dead_.push_back(a.base);
  dead_bytes_ += a.capacity;
  release_quarantine(quarantine_);
  return {};
}

Report Memory::lend(void* pointer, uint64_t bytes) {
  const std::shared_lock lock(mutex_);
  Allocation* const a = find_locked(number(pointer));
  if (!a || !a->live || a->base != number(pointer) || bytes > a->capacity) {
    Report report;
    report.fault = Fault::invalid_free;
    report.address = number(pointer);
    report.sentence = "Not the start of an allocation of " + std::to_string(bytes) + " bytes.";
    return report;
  }
  a->whole = false;
  memory::clear_bits(a->initialised.words(), 0, a->capacity);
  std::memset(pointer_to(a->base), 0xff, std::min(a->capacity, poisoned));
  a->bytes = bytes;
  return {};
}

void Memory::release_quarantine(uint64_t limit) {
  while (!dead_.empty() && (dead_bytes_ > limit || dead_.size() > most_dead)) {
    const auto entry = allocations_.find(dead_.front());
    dead_.pop_front();
    uint64_t base = entry->first, bytes = range_of(entry->second->capacity);
    dead_bytes_ -= entry->second->capacity;
    const uint64_t first_page = round_up(base, 4096), last_page = (base + entry->second->capacity) / 4096 * 4096;
    if (last_page > first_page) madvise(pointer_to(first_page), last_page - first_page, MADV_DONTNEED);
    forgotten_.push_back(std::move(entry->second));
    allocations_.erase(entry);
    auto next = holes_.lower_bound(base);
    if (next != holes_.end() && base + bytes == next->first) {
      bytes += next->second;
      next = holes_.erase(next);
    }
    if (next != holes_.begin() && std::prev(next)->first + std::prev(next)->second == base)
      std::prev(next)->second += bytes;
    else
      holes_.emplace(base, bytes);
  }
  if (launches_ == 0) forgotten_.clear();
}

void Memory::end_launch() {
  const std::unique_lock lock(mutex_);
  if (--launches_ == 0) forgotten_.clear();
}

void Memory::set_label(const void* pointer, std::string label) {
  const std::unique_lock lock(mutex_);
  if (Allocation* a = find_locked(number(pointer))) a->label = std::move(label);
}

Allocation* Memory::find_locked(uint64_t address) const {
  auto entry = allocations_.upper_bound(address);
  if (entry == allocations_.begin()) return nullptr;
  Allocation* const a = std::prev(entry)->second.get();
  return address < a->base + a->capacity || address == a->base ? a : nullptr;
}

Allocation* Memory::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  return find_locked(address);
}

bool Memory::lookup(const void* pointer, uint64_t& base, uint64_t& bytes, MemoryKind& kind, std::string* label) const {
  const std::shared_lock lock(mutex_);
  const Allocation* a = find_locked(number(pointer));
  if (!a || !a->live) return false;
  base = a->base;
  bytes = a->capacity;
  kind = a->kind;
  if (label) *label = a->label;
  return true;
}

Report Memory::describe(uint64_t address, uint64_t bytes, bool write) const {
  const std::shared_lock lock(mutex_);
  Report report;
  report.fault = Fault::out_of_bounds;
  report.address = address;
  const std::string what = std::string(write ? "A write of " : "A read of ") + std::to_string(bytes) + " bytes ";
  auto entry = allocations_.upper_bound(address);
  const Allocation* below = entry == allocations_.begin() ? nullptr : std::prev(entry)->second.get();
  const Allocation* above = entry == allocations_.end() ? nullptr : entry->second.get();
  // The nearest allocation, if the address is in the guard space of one.
  const auto guard = [](const Allocation& a) { return std::max<uint64_t>(guard_of(a.capacity), 4096); };
  const uint64_t over = below && address > below->end() ? address - below->end() : 0;
  const uint64_t under = above && above->base > address + bytes ? above->base - address - bytes : 0;
  const bool near_above = above && in_arena(address) && under < guard(*above);
  const bool near_below = below && address < below->base + below->capacity + guard(*below);
  if (below && address < below->base + below->capacity && !below->live) {
    report.fault = Fault::use_after_free;
    fill_in(report, *below);
    report.sentence =
        what + "at offset " + std::to_string(address - below->base) + " of " + named(*below) + ", which was freed.";
  } else if (near_below && (!near_above || over <= under)) {
    fill_in(report, *below);
    report.sentence = what + "at offset " + std::to_string(address - below->base) + " of " + named(*below) +
                      (below->live ? "." : ", which was freed.");
  } else if (near_above) {
    fill_in(report, *above);
    report.sentence = what + std::to_string(above->base - address) + " bytes before " + named(*above) + ".";
  } else if (address < 4096) {
    report.sentence = what + "through a null pointer.";
  } else if (!in_arena(address) && address < (uint64_t(1) << 47)) {
    report.fault = Fault::host_memory;
    report.sentence = what + "at an address that is not the device's: memory of the host must be pinned or managed.";
  } else {
    report.sentence = what + "outside every allocation.";
  }
  return report;
}

}  // namespace stator::emulator
