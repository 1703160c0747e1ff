// The CUDA runtime's functions for managed memory, as shims.cpp has the others.
#include "runtime/cuda/shim.hpp"

#include <climits>

namespace {

// The number by which the emulator knows a location: a device's, -1 for the host, and one that no location has for what
// is neither.
int index_of(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeHost) return -1;
  return location.type == cudaMemLocationTypeDevice && location.id >= 0 ? location.id : INT_MIN;
}

}  // namespace

extern "C" {

STATOR_SHIM(cudaMallocManaged, (void** pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
            api.managed_allocate(pointer, bytes, flags))
STATOR_SHIM(cudaMemPrefetchAsync,
            (const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream),
            (pointer, bytes, location, flags, stream), api.prefetch(pointer, bytes, index_of(location), stream))
STATOR_SHIM(cudaMemAdvise, (const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location),
            (pointer, bytes, advice, location), api.advise(pointer, bytes, advice, index_of(location)))
STATOR_SHIM(cudaMemRangeGetAttribute,
            (void* data, size_t size, cudaMemRangeAttribute attribute, const void* pointer, size_t bytes),
            (data, size, attribute, pointer, bytes), api.range_attribute(data, size, attribute, pointer, bytes))

}  // extern "C"
