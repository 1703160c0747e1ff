// What devices say of themselves, by name, without a context; and copies from one to another.
#pragma once

#include "runtime/runtime.hpp"

#include <utility>

namespace stator::runtime {

using Attributes = std::vector<std::pair<std::string, int64_t>>;

// The attributes that the CUDA runtime knows of the device, by the names of cudaDeviceAttr in lower case;
// "peer_access_N" for every other device; and "memory_free", in bytes, where the driver tells it without making a
// context. What the device does not say is left out.
Status cuda_attributes(int device, Attributes* out);
// "workers", the CPUs that the process may use, and "memory_free".
Status host_attributes(int device, Attributes* out);
// Nanoseconds of one read that waits for the one before it, in a cycle through `bytes` of memory in random order;
// 0 where the memory is not available. Takes some 0.1 s.
double host_read_latency(size_t bytes);

// See Runtime::share_memory.
void cuda_share_memory(ContextHandle) noexcept;

// Enqueues a copy from memory of one CUDA device to memory of another, on a stream of the current one. The driver
// stages it where neither device reaches the other, also for memory of pools, which a plain copy does not reach then.
Status cuda_copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle);

}  // namespace stator::runtime
