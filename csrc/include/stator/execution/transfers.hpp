// Copies of ranges of bytes between arrays and memory of the host, any number at once.
#pragma once

#include <stator/array.hpp>
#include <stator/backend.hpp>

#include <cstdint>
#include <span>

namespace stator {

// `size` bytes of a contiguous array, from `offset` bytes behind its first element on, and as many of the host.
struct ByteRange {
  const Array* array = nullptr;
  int64_t offset = 0;
  void* host = nullptr;
  int64_t size = 0;
};

// All arrays are of one backend; ranges that follow each other in memory of the device become one copy. ValueError
// where a range lies outside its array, or an array is not contiguous or, to be written, read-only.
//
// The host's memory has been read when this returns. On cuda the copies themselves are asynchronous, through
// page-locked memory, of which at most a few MiB are in use at once.
STATOR_API void write_ranges(std::span<const ByteRange> ranges, const Stream& stream = {});
// Blocks until the host's memory is written. HostCopyError inside forbid_host_copies.
STATOR_API void read_ranges(std::span<const ByteRange> ranges, const Stream& stream = {});

}  // namespace stator
