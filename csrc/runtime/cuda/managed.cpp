// Managed memory by the CUDA runtime.
#include "runtime/cuda/call.hpp"

namespace stator::runtime {

std::atomic<int64_t> cuda_managed_count{0};

namespace {

// Without concurrent access, under Windows and WSL, the host must not touch any managed memory while a kernel runs,
// also one that does not use it: no order of streams keeps to that, so that page-locked memory stands in.
ManagedKind kind(int device) {
  int concurrent = 0;
  done(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
  return concurrent ? ManagedKind::migrating : ManagedKind::pinned;
}

bool migrates(ContextHandle handle) { return kind(context_of(handle).device) == ManagedKind::migrating; }

Status allocate(ContextHandle handle, size_t bytes, void** out) {
  const Status code = call(handle, [=] {
    return migrates(handle) ? cudaMallocManaged(out, bytes, cudaMemAttachGlobal)
                            : cudaHostAlloc(out, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  });
  if (!code) cuda_managed_count.fetch_add(1);
  return code;
}

Status free_memory(int device, void* pointer, size_t) {
  cuda_managed_count.fetch_sub(1);
  const DeviceScope scope(cuda_calls, device);
  return released(kind(device) == ManagedKind::migrating ? cudaFree(pointer) : cudaFreeHost(pointer));
}

cudaMemLocation location_of(int location) {
  cudaMemLocation out{};
  out.type = location == location::host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  out.id = std::max(location, 0);
  return out;
}

Status prefetch(ContextHandle handle, const void* pointer, size_t bytes, int to, StreamHandle stream) {
  if (!migrates(handle)) return status::success;
  return call(handle, [=] { return cudaMemPrefetchAsync(pointer, bytes, location_of(to), 0, stream_of(stream)); });
}

Status advise(ContextHandle handle, const void* pointer, size_t bytes, Advice advice, int location) {
  if (!migrates(handle)) return status::success;
  return call(handle, [=] {
    return cudaMemAdvise(pointer, bytes, static_cast<cudaMemoryAdvise>(advice), location_of(location));
  });
}

Status range(ContextHandle handle, const void* pointer, size_t bytes, RangeAdvice* out) {
  const auto ask = [=](void* data, size_t size, cudaMemRangeAttribute attribute) {
    return cudaMemRangeGetAttribute(data, size, attribute, pointer, bytes);
  };
  return call(handle, [=] {
    cudaError_t code = ask(&out->read_mostly, sizeof(int), cudaMemRangeAttributeReadMostly);
    if (code == cudaSuccess) code = ask(&out->preferred, sizeof(int), cudaMemRangeAttributePreferredLocation);
    if (code == cudaSuccess)
      code = ask(out->accessed_by.data(), sizeof out->accessed_by, cudaMemRangeAttributeAccessedBy);
    return code;
  });
}

}  // namespace

const ManagedTable cuda_managed = {
    .kind = kind, .allocate = allocate, .free = free_memory, .prefetch = prefetch, .advise = advise, .range = range};

}  // namespace stator::runtime
