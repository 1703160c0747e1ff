// The services of the emulated device in the words of the doubles.
#pragma once

#include "emulator/services.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace stator::emulator::vendor {

using emulator::PointerType;
using emulator::Range;
using emulator::Services;

const Services& services();

// Runs the work in stream order; 0, or the cudaError_t that refused it. The work is called as often as the stream says.
template <class Work>
int enqueue(void* stream, const char* what, Work work) {
  Work* const owned = new Work(std::move(work));
  return services().enqueue(
      stream, what, [](void* argument) { (*static_cast<Work*>(argument))(); },
      [](void* argument) { delete static_cast<Work*>(argument); }, owned);
}

// A pattern in a workspace that other work must not change, and whether it is still there; in 8 bytes or more.
uint64_t new_mark();
void leave_mark(const Range& workspace, uint64_t mark);
bool has_mark(const Range& workspace, uint64_t mark);

// For a call of two kernels, of which the second one takes up what the first one left in the workspace: other work that
// writes there in between, whatever its order, is a fault. Without a workspace there is one kernel.
bool took_up(const char* name, const Range& workspace, uint64_t mark);
template <class Work>
int enqueue(void* stream, const char* what, const char* name, const Range& workspace, Work work) {
  if (workspace.width < sizeof(uint64_t)) return enqueue(stream, what, std::move(work));
  const uint64_t mark = new_mark();
  const auto first = [=] {
    if (services().check_write(workspace, name)) leave_mark(workspace, mark);
  };
  if (const int error = enqueue(stream, what, first)) return error;
  return enqueue(stream, what, [=, work = std::move(work)] {
    if (took_up(name, workspace, mark)) work();
  });
}

inline Range bytes_at(const void* start, uint64_t bytes) { return {start, bytes, 1, 0}; }
// A column-major matrix: the bytes between its columns do not belong to it.
inline Range matrix_at(const void* start, uint64_t item, int64_t rows, int64_t columns, int64_t ld) {
  if (rows <= 0 || columns <= 0) return {start, 0, 0, 0};
  return {start, uint64_t(rows) * item, uint64_t(columns), uint64_t(ld) * item};
}

// For work: whether all bytes may be read or written. A fault is reported.
bool reads(const char* what, const Range& range);
bool writes(const char* what, const Range& range);
// One triangle of a square column-major matrix, with its diagonal or without.
bool reads_triangle(const char* what, const void* start, uint64_t item, bool upper, bool diagonal, int64_t n,
                    int64_t ld);

// Bytes that are NaN in every floating type and not initialised for readers: what an output holds before it is written,
// and what is left where a library says nothing.
void poison(const Range& range);
void wrote(const Range& range);
// Contents that change with the seed, as a library leaves them in a workspace.
void scribble(const Range& range);

// A deviation from a contract that the real library would not notice.
void complain(const char* what, const char* sentence);
// A number below `count` that depends on the seed and on how often this was asked; 0 for the seed 0.
uint64_t choose(uint64_t count);
inline uint64_t seed() { return services().seed(); }

inline bool aligned(const void* pointer, uint64_t to) { return reinterpret_cast<uintptr_t>(pointer) % to == 0; }
// Whether a host's pointer may be read at once: not null, not memory that only the device reaches, and aligned as the
// libraries' own types are. Tells if not.
bool readable_by_host(const char* what, const void* pointer, uint64_t alignment = 1);

}  // namespace stator::emulator::vendor
