#include "emulator/vendor/common/device.hpp"

#include <atomic>
#include <cstring>

namespace stator::emulator::vendor {

namespace {

uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class Piece>
void each_row(const Range& range, Piece piece) {
  for (uint64_t row = 0; row < range.rows; ++row)
    piece(const_cast<char*>(static_cast<const char*>(range.start)) + row * range.pitch, range.width);
}

bool empty(const Range& range) { return range.width == 0 || range.rows == 0; }

}  // namespace

const Services& services() {
  static const Services* const found = stator_emulator_services();
  return *found;
}

bool reads(const char* what, const Range& range) { return empty(range) || services().check_read(range, what); }
bool writes(const char* what, const Range& range) { return empty(range) || services().check_write(range, what); }

bool reads_triangle(const char* what, const void* start, uint64_t item, bool upper, bool diagonal, int64_t n,
                    int64_t ld) {
  for (int64_t column = 0; column < n; ++column) {
    const int64_t from = upper ? 0 : column + !diagonal, to = upper ? column + diagonal : n;
    const char* const first = static_cast<const char*>(start) + uint64_t(column * ld + from) * item;
    if (to > from && !reads(what, bytes_at(first, uint64_t(to - from) * item))) return false;
  }
  return true;
}

void poison(const Range& range) {
  if (empty(range)) return;
  each_row(range, [](char* start, uint64_t bytes) { std::memset(start, 0xff, bytes); });
  services().mark_garbage(range);
}

void wrote(const Range& range) {
  if (!empty(range)) services().mark_written(range);
}

void scribble(const Range& range) {
  if (empty(range)) return;
  if (seed() == 0) return poison(range);
  uint64_t state = mix(seed());
  each_row(range, [&](char* start, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += 8, state = mix(state))
      std::memcpy(start + i, &state, bytes - i < 8 ? bytes - i : 8);
  });
  services().mark_garbage(range);
}

uint64_t new_mark() {
  static std::atomic<uint64_t> last{0x5354415445440000};
  return ++last;
}

void leave_mark(const Range& workspace, uint64_t mark) {
  constexpr uint64_t most = 65536;  // of a workspace of many megabytes
  scribble({workspace.start, workspace.width < most ? workspace.width : most, 1, 0});
  if (workspace.width >= sizeof(mark)) std::memcpy(const_cast<void*>(workspace.start), &mark, sizeof(mark));
}

bool has_mark(const Range& workspace, uint64_t mark) {
  return workspace.width < sizeof(mark) || std::memcmp(workspace.start, &mark, sizeof(mark)) == 0;
}

bool took_up(const char* name, const Range& workspace, uint64_t mark) {
  if (!services().check_write(workspace, name)) return false;
  const bool found = has_mark(workspace, mark);
  scribble({workspace.start, sizeof(mark), 1, 0});
  if (!found) services().report(name, "Other work wrote there between two kernels of one call", true);
  return found;
}

void complain(const char* what, const char* sentence) { services().report(what, sentence, false); }

uint64_t choose(uint64_t count) {
  static std::atomic<uint64_t> asked{0};
  const uint64_t s = seed();
  return s == 0 || count == 0 ? 0 : mix(s * 0x2545f4914f6cdd1d + asked.fetch_add(1)) % count;
}

bool readable_by_host(const char* what, const void* pointer, uint64_t alignment) {
  if (!pointer) return false;
  if (!aligned(pointer, alignment)) {
    complain(what, "A factor is not aligned as the library's type is.");
    return false;
  }
  if (services().pointer_type(pointer) != PointerType::device) return true;
  complain(what, "A pointer to memory of the device was given where the host reads.");
  return false;
}

}  // namespace stator::emulator::vendor
