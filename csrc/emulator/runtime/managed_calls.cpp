// Hints about managed memory: prefetches, advice, and what was advised. Pages are where both sides reach them, so that
// a hint changes nothing but the answers about it.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

#include <algorithm>
#include <span>

namespace stator::emulator::runtime {
namespace {

// The pages that hold the bytes; none where these are not all of one managed allocation.
std::span<Page> pages_of(System& s, const void* pointer, size_t bytes) {
  uint64_t base, size;
  MemoryKind kind;
  for (const auto& device : s.devices) {
    if (!device->memory.lookup(pointer, base, size, kind) || kind != MemoryKind::managed) continue;
    const uint64_t first = reinterpret_cast<uint64_t>(pointer) - base;
    const auto entry = s.allocations.find(reinterpret_cast<void*>(base));
    if (bytes == 0 || first + bytes > size || entry == s.allocations.end()) return {};
    const size_t begin = first / Page::bytes, end = (first + bytes + Page::bytes - 1) / Page::bytes;
    return std::span(entry->second.pages).subspan(begin, end - begin);
  }
  return {};
}

// The host, or a device that uses managed memory while the host does.
bool is_location(System& s, int index) {
  const Device* const device = device_at(s, index);
  return index == Page::cpu || (device && device->profile.concurrent_managed_access);
}

int prefetch(const void* pointer, size_t bytes, int index, void* stream_handle) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, stream_handle);
    if (!stream) return error::invalid_resource_handle;
    if (!is_location(s, index) || !stream->device->profile.concurrent_managed_access) return error::invalid_device;
    const std::span<Page> pages = pages_of(s, pointer, bytes);
    if (pages.empty()) return error::invalid_value;
    if (const auto capture = capture_across(s, *stream)) return invalidated(capture, error::capture_implicit);
    if (stream->capture) return invalidated(stream->capture, error::capture_unsupported);
    submit(s, lock, stream, {.what = "cudaMemPrefetchAsync", .run = {}, .after = {}});
    for (Page& page : pages) page.prefetched = index;
    return error::success;
  });
}

int advise(const void* pointer, size_t bytes, int advice, int index) {
  enum { set_read_mostly = 1, unset_read_mostly, set_preferred, unset_preferred, set_accessed, unset_accessed };
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const std::span<Page> pages = pages_of(s, pointer, bytes);
    if (advice < set_read_mostly || advice > unset_accessed || pages.empty()) return error::invalid_value;
    const bool placed = advice == set_preferred || advice >= set_accessed;
    if (placed && !is_location(s, index)) return error::invalid_device;
    for (Page& page : pages) {
      if (advice <= unset_read_mostly) page.read_mostly = advice == set_read_mostly;
      if (advice == set_preferred || advice == unset_preferred)
        page.preferred = advice == set_preferred ? index : Page::nowhere;
      if (advice >= set_accessed) std::erase(page.accessed_by, index);
      if (advice == set_accessed) page.accessed_by.push_back(index);
    }
    return error::success;
  });
}

// Of all pages; where they differ, as if nothing had been asked for.
int range_attribute(void* data, size_t size, int attribute, const void* pointer, size_t bytes) {
  enum { read_mostly = 1, preferred, accessed_by, last_prefetch };
  return device_call([&](System& s, Device&, Scheduler::Lock&) {
    const std::span<Page> pages = pages_of(s, pointer, bytes);
    const size_t count = size / sizeof(int);
    if (pages.empty() || !data || !count || size % sizeof(int)) return error::invalid_value;
    if (attribute != accessed_by && count != 1) return error::invalid_value;
    int* const out = static_cast<int*>(data);
    const auto common = [&](int Page::* member) {
      const auto same = [&](const Page& page) { return page.*member == pages.front().*member; };
      return std::ranges::all_of(pages, same) ? pages.front().*member : Page::nowhere;
    };
    switch (attribute) {
      case read_mostly: *out = std::ranges::all_of(pages, &Page::read_mostly); return error::success;
      case preferred: *out = common(&Page::preferred); return error::success;
      case last_prefetch: *out = common(&Page::prefetched); return error::success;
      case accessed_by: break;
      default: return error::invalid_value;
    }
    std::fill_n(out, count, Page::nowhere);
    size_t found = 0;
    for (const int location : pages.front().accessed_by) {
      const auto has = [&](const Page& page) { return std::ranges::count(page.accessed_by, location) > 0; };
      if (found < count && std::ranges::all_of(pages, has)) out[found++] = location;
    }
    return error::success;
  });
}

}  // namespace

void add_managed_calls(Api& api) {
  api.prefetch = prefetch;
  api.advise = advise;
  api.range_attribute = range_attribute;
}

}  // namespace stator::emulator::runtime
