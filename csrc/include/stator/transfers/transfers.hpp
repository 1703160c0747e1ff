// Copies of ranges of bytes between arrays and memory of the host, any number at once.
#pragma once

#include <stator/array.hpp>
#include <stator/backend.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace stator {

// `size` bytes of a contiguous array, `offset` bytes after its first element, and `size` bytes of host memory.
struct ByteRange {
  const Array* array = nullptr;
  int64_t offset = 0;
  void* host = nullptr;
  int64_t size = 0;
};

// How the copies use memory of the host. copied: a call returns when it has read the memory; on the cpu it copies at
// once. staged: the same, through page-locked memory on every device, so that the call does not wait for the stream.
// lent: the memory must stay valid and unmodified until the copies complete; they use it directly, and are
// asynchronous if it is page-locked.
enum class HostMemory : uint8_t { copied, staged, lent };

// All arrays are of one backend; ranges that follow each other in memory of the device become one copy. ValueError if a
// range lies outside its array, an array is not contiguous, or an array to write is read-only.
//
// Memory that is not lent has been read when this returns. On cuda the copies themselves are asynchronous, through
// page-locked memory, of which at most a few MiB are in use at once.
STATOR_API void write_ranges(std::span<const ByteRange> ranges, const Stream& stream = {},
                             HostMemory memory = HostMemory::copied);
// Blocks until the host's memory is written. HostCopyError inside forbid_host_copies.
STATOR_API void read_ranges(std::span<const ByteRange> ranges, const Stream& stream = {});
// Throws what write_ranges() or read_ranges() would throw for the ranges, and copies nothing.
STATOR_API void check_ranges(std::span<const ByteRange> ranges, bool write);

// Copies to the host that begin() enqueues and finish() completes. Memory that is not lent is written by finish(), from
// page-locked memory; beyond 256 MiB it is written directly, and begin() waits for these copies. The host's memory must
// stay valid until finish() has returned or the stream has been synchronised.
class STATOR_API PendingReads {
 public:
  PendingReads() = default;
  // Throws as read_ranges(). `ranges` may be empty: finish() then waits for the stream's work.
  static PendingReads begin(std::span<const ByteRange> ranges, const Stream& stream, HostMemory memory);
  // Waits for the work enqueued on the stream by the end of begin(), and throws the error in its error slot.
  void finish() const;
  const Event& event() const;  // after the copies

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace stator
