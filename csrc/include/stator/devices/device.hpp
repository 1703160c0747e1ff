// Properties of devices that are not opened.
#pragma once

#include <stator/backend.hpp>

#include <utility>

namespace stator {

struct DeviceReport {
  DeviceInfo info;
  // On cuda the attributes that the runtime knows, by the names of cudaDeviceAttr in lower case; "peer_access_N" for
  // each other device; and "memory_free", where a context exists already. On cpu "workers" and "memory_free". In bytes
  // and kHz. What a device does not say is not there.
  std::vector<std::pair<std::string, int64_t>> attributes;
};

// Creates no context. DeviceUnavailableError if there is no such device, CudaError if the driver fails.
STATOR_API DeviceReport device_report(const Device& device);

// Nanoseconds of a dependent read of the host, in a cycle through `bytes` in random order; 0 if the memory is not
// available. Takes some 0.1 s.
STATOR_API double host_read_latency(size_t bytes);

}  // namespace stator
