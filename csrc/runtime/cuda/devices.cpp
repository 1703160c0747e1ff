// Attributes of CUDA devices, and copies between them.
#include "runtime/devices.hpp"
#include "runtime/cuda/call.hpp"
#include "runtime/cuda/shims.hpp"

#include <dlfcn.h>
#include <new>

namespace stator::runtime {
namespace {

struct Attribute {
  const char* name;
  cudaDeviceAttr number;
};

constexpr Attribute known[] = {
    {"max_threads_per_block", cudaDevAttrMaxThreadsPerBlock},
    {"max_block_dim_x", cudaDevAttrMaxBlockDimX},
    {"max_block_dim_y", cudaDevAttrMaxBlockDimY},
    {"max_block_dim_z", cudaDevAttrMaxBlockDimZ},
    {"max_grid_dim_x", cudaDevAttrMaxGridDimX},
    {"max_grid_dim_y", cudaDevAttrMaxGridDimY},
    {"max_grid_dim_z", cudaDevAttrMaxGridDimZ},
    {"max_shared_memory_per_block", cudaDevAttrMaxSharedMemoryPerBlock},
    {"max_shared_memory_per_block_optin", cudaDevAttrMaxSharedMemoryPerBlockOptin},
    {"max_shared_memory_per_multiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
    {"reserved_shared_memory_per_block", cudaDevAttrReservedSharedMemoryPerBlock},
    {"total_constant_memory", cudaDevAttrTotalConstantMemory},
    {"warp_size", cudaDevAttrWarpSize},
    {"max_registers_per_block", cudaDevAttrMaxRegistersPerBlock},
    {"max_registers_per_multiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor},
    {"clock_rate", cudaDevAttrClockRate},
    {"texture_alignment", cudaDevAttrTextureAlignment},
    {"multiprocessor_count", cudaDevAttrMultiProcessorCount},
    {"max_threads_per_multiprocessor", cudaDevAttrMaxThreadsPerMultiProcessor},
    {"max_blocks_per_multiprocessor", cudaDevAttrMaxBlocksPerMultiprocessor},
    {"kernel_exec_timeout", cudaDevAttrKernelExecTimeout},
    {"integrated", cudaDevAttrIntegrated},
    {"can_map_host_memory", cudaDevAttrCanMapHostMemory},
    {"compute_mode", cudaDevAttrComputeMode},
    {"concurrent_kernels", cudaDevAttrConcurrentKernels},
    {"ecc_enabled", cudaDevAttrEccEnabled},
    {"pci_bus_id", cudaDevAttrPciBusId},
    {"pci_device_id", cudaDevAttrPciDeviceId},
    {"pci_domain_id", cudaDevAttrPciDomainId},
    {"memory_clock_rate", cudaDevAttrMemoryClockRate},
    {"global_memory_bus_width", cudaDevAttrGlobalMemoryBusWidth},
    {"l2_cache_size", cudaDevAttrL2CacheSize},
    {"max_persisting_l2_cache_size", cudaDevAttrMaxPersistingL2CacheSize},
    {"global_l1_cache_supported", cudaDevAttrGlobalL1CacheSupported},
    {"local_l1_cache_supported", cudaDevAttrLocalL1CacheSupported},
    {"async_engine_count", cudaDevAttrAsyncEngineCount},
    {"unified_addressing", cudaDevAttrUnifiedAddressing},
    {"compute_capability_major", cudaDevAttrComputeCapabilityMajor},
    {"compute_capability_minor", cudaDevAttrComputeCapabilityMinor},
    {"stream_priorities_supported", cudaDevAttrStreamPrioritiesSupported},
    {"managed_memory", cudaDevAttrManagedMemory},
    {"concurrent_managed_access", cudaDevAttrConcurrentManagedAccess},
    {"direct_managed_mem_access_from_host", cudaDevAttrDirectManagedMemAccessFromHost},
    {"pageable_memory_access", cudaDevAttrPageableMemoryAccess},
    {"pageable_memory_access_uses_host_page_tables", cudaDevAttrPageableMemoryAccessUsesHostPageTables},
    {"host_native_atomic_supported", cudaDevAttrHostNativeAtomicSupported},
    {"host_register_supported", cudaDevAttrHostRegisterSupported},
    {"can_use_host_pointer_for_registered_mem", cudaDevAttrCanUseHostPointerForRegisteredMem},
    {"is_multi_gpu_board", cudaDevAttrIsMultiGpuBoard},
    {"single_to_double_precision_perf_ratio", cudaDevAttrSingleToDoublePrecisionPerfRatio},
    {"compute_preemption_supported", cudaDevAttrComputePreemptionSupported},
    {"cooperative_launch", cudaDevAttrCooperativeLaunch},
    {"cluster_launch", cudaDevAttrClusterLaunch},
    {"memory_pools_supported", cudaDevAttrMemoryPoolsSupported},
    {"gpu_direct_rdma_supported", cudaDevAttrGPUDirectRDMASupported},
    {"ipc_event_support", cudaDevAttrIpcEventSupport},
    {"mps_enabled", cudaDevAttrMpsEnabled},
    {"host_numa_id", cudaDevAttrHostNumaId},
};

// Whether the device's primary context exists, which cudaMemGetInfo would make. The CUDA runtime has no such question,
// and has the driver's library open already. Emulated devices have no contexts to make.
bool has_context(int device) {
  if (emulates()) return true;
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) return false;
  const auto get_device = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  const auto get_state = reinterpret_cast<int (*)(int, unsigned*, int*)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  int handle = 0, active = 0;
  unsigned flags = 0;
  const bool known_state =
      get_device && get_state && get_device(&handle, device) == 0 && get_state(handle, &flags, &active) == 0;
  dlclose(driver);
  return known_state && active;
}

void add(Attributes* out, std::string name, int64_t value) { out->emplace_back(std::move(name), value); }

Status gather(int device, Attributes* out) {
  int count = 0;
  if (const Status code = done(cudaGetDeviceCount(&count))) return code;
  if (device < 0 || device >= count) return status::invalid_device;
  for (const Attribute& each : known) {
    int value = 0;
    if (done(cudaDeviceGetAttribute(&value, each.number, device)) == status::success) add(out, each.name, value);
  }
  for (int other = 0; other < count; ++other) {
    int can = 0;
    if (other != device && done(cudaDeviceCanAccessPeer(&can, device, other)) == status::success)
      add(out, "peer_access_" + std::to_string(other), can);
  }
  if (!has_context(device)) return status::success;
  const DeviceScope scope(cuda_calls, device);
  size_t free = 0, total = 0;
  if (scope.status() == status::success && done(cudaMemGetInfo(&free, &total)) == status::success)
    add(out, "memory_free", int64_t(free));
  return status::success;
}

}  // namespace

Status attributes(int device, Attributes* out) {
  try {
    return gather(device, out);
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

// Only its own device can access a pool's memory until others are let in, whatever access between devices was enabled
// for other memory. Where a device cannot be let in, the driver stages copies, and other uses fail as they did.
void share_memory(ContextHandle handle) noexcept {
  CudaContext& context = context_of(handle);
  int count = 0;
  if (done(cudaGetDeviceCount(&count)) || count < 2) return;
  const std::lock_guard lock(context.mutex);
  for (int peer = 0; peer < count; ++peer) {
    int can = 0;
    if (peer == context.device || context.peers.contains(peer) || !has_context(peer)) continue;
    if (done(cudaDeviceCanAccessPeer(&can, peer, context.device)) || !can) continue;
    const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, peer}, cudaMemAccessFlagsProtReadWrite};
    if (call(handle, [&] { return cudaMemPoolSetAccess(context.pool, &access, 1); })) continue;
    try {
      context.peers.insert(peer);
    } catch (const std::bad_alloc&) {  // then the next call lets it in again
    }
  }
}

Status copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle stream) {
  return done(cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream_of(stream)));
}

}  // namespace stator::runtime
