// Memory of the host target: aligned allocations with a limit on their sum, the registry of page-locked blocks, and the
// quarantine of checked contexts.
#include "runtime/host/context.hpp"

#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <new>

namespace stator::runtime::host {
namespace {

constexpr size_t small_alignment = 64;         // a cache line, and the widest vector
constexpr size_t huge_page = size_t(2) << 20;  // where transparent huge pages start to save page faults
constexpr size_t quarantine_limit = size_t(32) << 20;

std::atomic<size_t> live{0};

// The page-locked blocks: as on a GPU, an asynchronous copy may read them later, whereas pageable memory is read before
// copy returns.
std::mutex pinned_mutex;
std::map<uintptr_t, size_t>& pinned_blocks() {
  static auto* blocks = new std::map<uintptr_t, size_t>;  // outlives every static destructor
  return *blocks;
}
std::atomic<size_t> pinned_count{0};

// Memory that callers registered, with the same lock. Copies of it are those of pageable memory, since its owner may
// change it as soon as a copy has returned.
std::map<uintptr_t, size_t>& registered_blocks() {
  static auto* blocks = new std::map<uintptr_t, size_t>;
  return *blocks;
}

size_t control_group_limit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    size_t limit = 0;
    if (file >> limit) return limit;
  }
  return SIZE_MAX;
}

}  // namespace

size_t total_memory() {
  static const size_t total = [] {
    struct sysinfo info{};
    sysinfo(&info);
    return std::min(size_t(info.totalram) * info.mem_unit, control_group_limit());
  }();
  return total;
}

size_t live_memory() { return live.load(std::memory_order_relaxed); }

Status take_memory(size_t bytes, void** out) {
  *out = nullptr;
  const size_t total = total_memory();
  const size_t before = live.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > total || before > total - bytes) {
    live.fetch_sub(bytes, std::memory_order_relaxed);
    return status::out_of_memory;
  }
  const size_t alignment = bytes >= huge_page ? huge_page : small_alignment;
  const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* pointer = std::aligned_alloc(alignment, rounded);
  if (!pointer) {
    live.fetch_sub(bytes, std::memory_order_relaxed);
    return status::out_of_memory;
  }
  if (alignment == huge_page) madvise(pointer, rounded, MADV_HUGEPAGE);
  *out = pointer;
  return status::success;
}

void give_memory(void* pointer, size_t bytes) {
  live.fetch_sub(bytes, std::memory_order_relaxed);
  std::free(pointer);
}

Status take_pinned(size_t bytes, void** out) {
  if (const Status taken = take_memory(bytes, out)) return taken;
  try {
    const std::lock_guard lock(pinned_mutex);
    pinned_blocks().emplace(uintptr_t(*out), bytes);
  } catch (const std::bad_alloc&) {
    give_memory(*out, bytes);
    return status::out_of_memory;
  }
  pinned_count.fetch_add(1, std::memory_order_release);
  return status::success;
}

Status give_pinned(void* pointer) {
  size_t bytes = 0;
  {
    const std::lock_guard lock(pinned_mutex);
    const auto found = pinned_blocks().find(uintptr_t(pointer));
    if (found == pinned_blocks().end()) return status::invalid_value;
    bytes = found->second;
    pinned_blocks().erase(found);
  }
  pinned_count.fetch_sub(1, std::memory_order_release);
  give_memory(pointer, bytes);
  return status::success;
}

bool is_pinned(const void* pointer) {
  if (pinned_count.load(std::memory_order_acquire) == 0) return false;
  const std::lock_guard lock(pinned_mutex);
  auto after = pinned_blocks().upper_bound(uintptr_t(pointer));
  if (after == pinned_blocks().begin()) return false;
  --after;
  return uintptr_t(pointer) - after->first < after->second;
}

Status note_registered(void* pointer, size_t bytes) {
  const auto begin = uintptr_t(pointer);
  const std::lock_guard lock(pinned_mutex);
  auto& blocks = registered_blocks();
  const auto after = blocks.lower_bound(begin);
  if (after != blocks.end() && after->first - begin < bytes) return status::already_registered;
  if (after != blocks.begin()) {
    const auto before = std::prev(after);
    if (begin - before->first < before->second) return status::already_registered;
  }
  try {
    blocks.emplace(begin, bytes);
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  return status::success;
}

Status forget_registered(void* pointer) {
  const std::lock_guard lock(pinned_mutex);
  return registered_blocks().erase(uintptr_t(pointer)) ? status::success : status::invalid_value;
}

void lock_memory() { pinned_mutex.lock(); }
void unlock_memory() { pinned_mutex.unlock(); }

Quarantine::~Quarantine() {
  for (const Block& block : blocks_) give_memory(block.pointer, block.bytes);
}

bool Quarantine::untouched(const Block& block) {
  const auto* bytes = static_cast<const unsigned char*>(block.pointer);
  return std::all_of(bytes, bytes + block.bytes, [](unsigned char byte) { return byte == poison_byte; });
}

bool Quarantine::add(void* pointer, size_t bytes) {
  std::memset(pointer, poison_byte, bytes);
  const std::lock_guard lock(mutex_);
  try {
    blocks_.push_back({pointer, bytes});
  } catch (const std::bad_alloc&) {
    give_memory(pointer, bytes);  // not kept: only a late write to it goes unseen
    return true;
  }
  bytes_ += bytes;
  bool fine = true;
  while (bytes_ > quarantine_limit) {
    const Block oldest = blocks_.front();
    fine = untouched(oldest) && fine;
    give_memory(oldest.pointer, oldest.bytes);
    bytes_ -= oldest.bytes;
    blocks_.pop_front();
  }
  return fine;
}

bool Quarantine::intact() {
  const std::lock_guard lock(mutex_);
  return std::all_of(blocks_.begin(), blocks_.end(), untouched);
}

}  // namespace stator::runtime::host
