// What the cuda table's calls share: each is made on its context's device, and leaves no error in the CUDA
// runtime's per-thread state.
#pragma once

#include "runtime/devices.hpp"

#include <cuda_runtime_api.h>

#include <unordered_set>

namespace stator::runtime {

extern const Table cuda_calls;

struct CudaRecording;

// The captures that were begun and not ended.
struct CudaCaptures {
  CudaCaptures();
  ~CudaCaptures();
  CudaRecording* find(unsigned long long native) const;  // by CUDA's number of what is captured now; null
  std::atomic<int> count{0};
  std::mutex mutex;  // guards what follows
  std::vector<std::unique_ptr<CudaRecording>> all;
};

struct CudaContext {
  explicit CudaContext(int of) : device(of) {}
  int device;
  cudaMemPool_t pool = nullptr;  // not the device's default pool, whose settings and memory other libraries share
  std::mutex mutex;              // guards what follows
  std::unordered_set<const void*> opted_in;  // kernels that may have all the shared memory that a block can have
  std::unordered_set<int> peers;             // devices that were let in to the pool's memory
  CudaCaptures captures;
};

inline CudaContext& context_of(ContextHandle handle) { return *static_cast<CudaContext*>(handle); }
inline cudaStream_t stream_of(StreamHandle handle) { return static_cast<cudaStream_t>(handle); }

// Removes a failure from the runtime's per-thread state, where the next caller of cudaGetLastError would find it.
inline Status done(cudaError_t code) {
  if (code != cudaSuccess) cudaGetLastError();
  return int(code);
}

// At process exit the driver may be unloaded before this library, and has then released everything already.
inline Status released(cudaError_t code) { return code == cudaErrorCudartUnloading ? status::success : done(code); }

template <class F>
Status call(ContextHandle handle, F f) {
  const DeviceScope scope(cuda_calls, context_of(handle).device);
  return scope.status() ? scope.status() : done(f());
}

// Opts the kernel in to all the dynamic shared memory that the device has for a block. A kernel has one limit,
// whichever context launches it: one that followed each launch would be too low for another thread's, and for that of a
// graph.
cudaError_t opt_in(const void* kernel, int device);

extern const ManagedTable cuda_managed;
extern std::atomic<int64_t> cuda_managed_count;  // allocations that were made and not freed
extern const ProgramTable cuda_programs;
extern const GraphTable cuda_graphs;

// The members of CudaRuntime (runtime/cuda.hpp) that are neither here nor in shims.hpp.
Status attributes(int device, Attributes* out);
Status copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle stream);
void share_memory(ContextHandle handle) noexcept;

}  // namespace stator::runtime
