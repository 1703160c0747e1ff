// Plain data that every target, the runtime layer and the ops share: no functions with linkage, no CUDA headers.
#pragma once

#include <stator/device/params.hpp>
#include <stator/dtype.hpp>

#include <cstddef>
#include <cstdint>

namespace stator::params {

// What an operation touches: `buffer` names an allocation and is never dereferenced.
struct Access {
  const void* buffer;
  int64_t offset, bytes;
  bool write;
};

// What the kernels are compiled for: CUDA devices, three levels of x86-64 hosts, and checks on any host.
enum class Target : int32_t { cuda, host_v2, host_v3, host_v4, host_checked };
inline constexpr int target_count = 5;

// What launchers must know about a device.
struct DeviceLimits {
  int32_t multiprocessors;
  int32_t max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
  int32_t shared_bytes_per_block;
  int32_t l2_bytes;
  Target target = {};  // whose kernels the device runs; the context sets it
};

struct Launch;
// Runs blocks [first, last) of a launch on this thread. Returns null, or the message of the checked target's checker.
using HostEntry = const char* (*)(const Launch&, int64_t first, int64_t last);

struct Launch {
  const char* name;    // of the kernel, for reports
  const void* kernel;  // cuda: the __global__ function; host: the function that `entry` calls
  int64_t blocks;
  int32_t threads;
  int32_t shared_bytes;   // dynamic shared memory
  void** params;          // cuda: addresses of the arguments
  HostEntry entry;        // host
  const void* arguments;  // host: the packed arguments, trivially copyable; the runtime copies them when it queues
  size_t argument_bytes;
  bool whole;  // host: all blocks in one call of entry, on one thread (checked target)
};

// Where a launcher puts its launches. `submit` throws what the runtime reports.
struct Queue {
  void (*submit)(const Queue&, const Launch&);
  void* stream;  // core's
  const DeviceLimits* limits;
  ErrorSlot slot;
  const Access* accesses;
  int32_t access_count;
  uint16_t op;
};

}  // namespace stator::params
