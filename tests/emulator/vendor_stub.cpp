#include "vendor_stub.hpp"

#include "emulator/vendor/common/call.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>

namespace stator::test {

Stub stub;

namespace {

using emulator::PointerType;
using emulator::Range;

struct Memory {
  uint64_t bytes;
  std::vector<char> written;
};
struct Work {
  void (*run)(void*);
  void (*destroy)(void*);
  void* argument;
};
std::map<const char*, Memory> memory;
std::deque<Work> queue;

// The allocation that holds all of the range, or null.
std::pair<const char* const, Memory>* holder(const void* start, uint64_t bytes) {
  const char* const first = static_cast<const char*>(start);
  auto found = memory.upper_bound(first);
  if (found == memory.begin()) return nullptr;
  --found;
  return first + bytes <= found->first + found->second.bytes ? &*found : nullptr;
}

bool access(const Range& range, const char* what, bool read) {
  for (uint64_t row = 0; row < range.rows; ++row) {
    const char* const start = static_cast<const char*>(range.start) + row * range.pitch;
    if (!holder(start, range.width)) {
      stub.reports.push_back(std::string(what) + (read ? ": reads" : ": writes") + " outside");
      return false;
    }
    if (read && !stub_initialised(start, range.width)) {
      stub.reports.push_back(std::string(what) + ": reads what nothing wrote");
      return false;
    }
  }
  return true;
}

void mark(const Range& range, bool written) {
  for (uint64_t row = 0; row < range.rows; ++row) {
    const char* const start = static_cast<const char*>(range.start) + row * range.pitch;
    auto* const found = holder(start, range.width);
    if (found)
      std::fill_n(found->second.written.begin() + (start - found->first), range.width, char(written));
    else
      stub.reports.push_back("marks memory that is not the device's");
  }
}

const emulator::Services services{
    .bytes = sizeof(emulator::Services),
    .enqueue =
        [](void*, const char*, void (*run)(void*), void (*destroy)(void*), void* argument) {
          if (stub.refusal) {
            destroy(argument);
            return stub.refusal;
          }
          queue.push_back({run, destroy, argument});
          return 0;
        },
    .is_capturing = [](void*) { return stub.capturing; },
    .is_stream = [](void* stream) { return uintptr_t(stream) <= 2 || stream == some_stream; },
    .synchronize =
        [](void*) {
          finish();
          return 0;
        },
    .current_device = [] { return stub.device; },
    .compute_capability = [](int) { return stub.capability; },
    .check_read = [](const Range& range, const char* what) { return access(range, what, true); },
    .check_write = [](const Range& range, const char* what) { return access(range, what, false); },
    .mark_written = [](const Range& range) { mark(range, true); },
    .mark_garbage = [](const Range& range) { mark(range, false); },
    .pointer_type = [](const void* pointer) { return holder(pointer, 1) ? PointerType::device : PointerType::host; },
    .allocate = [](uint64_t bytes, const char*) { return stub_allocate(bytes); },
    .release = [](void* pointer) { stub_free(pointer); },
    .report = [](const char* what, const char* sentence,
                 bool) { stub.reports.push_back(std::string(what) + ": " + sentence); },
    .seed = [] { return stub.seed; },
};

}  // namespace

void* stub_allocate(uint64_t bytes) {
  char* const made = static_cast<char*>(std::aligned_alloc(256, (bytes / 256 + 1) * 256));
  std::memset(made, 0xff, bytes);
  memory[made] = {bytes, std::vector<char>(bytes, 0)};
  return made;
}

void stub_free(void* pointer) {
  memory.erase(static_cast<const char*>(pointer));
  std::free(pointer);
}

uint64_t stub_live_bytes() {
  uint64_t sum = 0;
  for (const auto& [start, each] : memory) sum += each.bytes;
  return sum;
}

void stub_write(void* to, const void* from, uint64_t bytes) {
  std::memcpy(to, from, bytes);
  mark({to, bytes, 1, 0}, true);
}

bool stub_initialised(const void* from, uint64_t bytes) {
  const auto* const found = holder(from, bytes);
  if (!found) return false;
  const auto first = found->second.written.begin() + (static_cast<const char*>(from) - found->first);
  return std::all_of(first, first + int64_t(bytes), [](char written) { return written != 0; });
}

void finish() {
  while (!queue.empty()) {
    const Work work = queue.front();
    queue.pop_front();
    work.run(work.argument);
    work.destroy(work.argument);
    ++stub.ran;
  }
}

std::string reported() {
  finish();
  std::string all;
  for (const std::string& each : stub.reports) all += (all.empty() ? "" : "; ") + each;
  stub.reports.clear();
  return all;
}

void assert_clean() {
  const std::string left = reported();
  check(left.empty(), "a report is left: " + left);
  check(stub_live_bytes() == 0, "memory of the device is left");
  stator_vendor_objects(
      [](void*, const char* kind, uint64_t alive) { check(alive == 0, std::string("is still alive: ") + kind); },
      nullptr);
  stub = Stub();
}

}  // namespace stator::test

const stator::emulator::Services* stator_emulator_services() { return &stator::test::services; }
