// The cuda table: each call is one of the CUDA runtime, on the device of its context, and leaves no error in the
// runtime's per-thread state.
#include "runtime/cuda.hpp"
#include "runtime/cuda/call.hpp"
#include "runtime/cuda/graph.hpp"
#include "runtime/cuda/shims.hpp"

#include <unistd.h>
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

namespace stator::runtime {
namespace {

constexpr int default_shared_bytes = 48 << 10;  // kernels with more dynamic shared memory must opt in

struct Counts {
  std::atomic<int64_t> memory{0}, pinned{0}, streams{0}, events{0}, contexts{0};
};
Counts counts;

cudaEvent_t event_of(EventHandle handle) { return static_cast<cudaEvent_t>(handle); }

Status set_device(int device, int* before) {
  int now = device;
  *before = -1;
  if (const Status code = done(cudaGetDevice(&now)); code || now == device) return code;
  *before = now;
  return done(cudaSetDevice(device));
}

// The release is attempted even where its device cannot be made current.
template <class F>
Status release(ContextHandle handle, std::atomic<int64_t>& count, F f) {
  count.fetch_sub(1);
  if (!handle) return released(f());
  const DeviceScope scope(cuda_calls, context_of(handle).device);
  return released(f());
}

Status counted(Status code, std::atomic<int64_t>& count) {
  if (code == status::success) count.fetch_add(1);
  return code;
}

Status device_count(int* count) {
  *count = 0;
  return done(cudaGetDeviceCount(count));
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  done(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

Status properties(int device, Properties* out) {
  const auto native = std::unique_ptr<cudaDeviceProp>(new (std::nothrow) cudaDeviceProp);
  if (!native) return status::out_of_memory;
  if (const Status code = done(cudaGetDeviceProperties(native.get(), device))) return code;
  *out = Properties{};
  try {
    out->name = native->name;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  out->compute_major = native->major;
  out->compute_minor = native->minor;
  out->total_memory = native->totalGlobalMem;
  out->cooperative = attribute(cudaDevAttrCooperativeLaunch, device) != 0;
  out->limits = {native->multiProcessorCount, native->maxThreadsPerMultiProcessor, native->maxBlocksPerMultiProcessor,
                 int32_t(native->sharedMemPerBlockOptin), native->l2CacheSize};
  if (const Status code = done(cudaDriverGetVersion(&out->driver_version))) return code;
  return done(cudaRuntimeGetVersion(&out->runtime_version));
}

const char* error_name(Status code) { return cudaGetErrorName(cudaError_t(code)); }

Status context_create(int device, bool, ContextHandle* out) {
  auto context = std::unique_ptr<CudaContext>(new (std::nothrow) CudaContext(device));
  if (!context) return status::out_of_memory;
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, device};
  const Status code = call(context.get(), [&] { return cudaMemPoolCreate(&context->pool, &props); });
  if (code) return code;
  // core's Pool caches what it may reuse, so what it frees goes back to the driver: release threshold 0, the default.
  *out = context.release();
  return counted(code, counts.contexts);
}

// Never resets the device, since its primary context is shared with all other libraries of the process.
Status context_destroy(ContextHandle handle) {
  const std::unique_ptr<CudaContext> context(&context_of(handle));
  return release(handle, counts.contexts, [&] { return cudaMemPoolDestroy(context->pool); });
}

Status device_synchronize(int device) {
  const DeviceScope scope(cuda_calls, device);
  return scope.status() ? scope.status() : released(cudaDeviceSynchronize());
}

Status memory_device(ContextHandle handle, const void* pointer, int* device) {
  const int own = context_of(handle).device;
  return call(handle, [=] {
    cudaPointerAttributes attributes{};
    const cudaError_t code = cudaPointerGetAttributes(&attributes, pointer);
    if (code != cudaSuccess) return code;
    const bool ordinary = attributes.type == cudaMemoryTypeUnregistered;
    if (attributes.type == cudaMemoryTypeDevice)
      *device = attributes.device;
    else
      *device = ordinary && attribute(cudaDevAttrPageableMemoryAccess, own) == 0 ? -1 : own;
    return cudaSuccess;
  });
}

Status memory_info(ContextHandle handle, size_t* free, size_t* total) {
  return call(handle, [=] { return cudaMemGetInfo(free, total); });
}

// What is freed beyond the threshold goes back to the driver; an allocation of that size fills the pool. Other streams
// may use the memory when its free has run.
Status reserve(ContextHandle handle, size_t bytes) {
  const cudaMemPool_t pool = context_of(handle).pool;
  return call(handle, [=] {
    uint64_t threshold = bytes;
    cudaStream_t stream = nullptr;
    void* memory = nullptr;
    cudaError_t code = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    if (code == cudaSuccess) code = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0);
    if (code != cudaSuccess) return code;
    code = cudaMallocFromPoolAsync(&memory, bytes, pool, stream);
    if (code == cudaSuccess) code = cudaFreeAsync(memory, stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
    const cudaError_t ended = cudaStreamDestroy(stream);
    return code == cudaSuccess ? ended : code;
  });
}

Status pool_keep(ContextHandle handle, size_t most) {
  return call(handle, [=] {
    uint64_t threshold = most;
    return cudaMemPoolSetAttribute(context_of(handle).pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  });
}

Status pool_trim(ContextHandle handle, size_t least, size_t keep) {
  const cudaMemPool_t pool = context_of(handle).pool;
  return call(handle, [=] {
    uint64_t used = 0;
    const cudaError_t code = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    return code == cudaSuccess ? cudaMemPoolTrimTo(pool, std::max(least, size_t(used) + keep)) : code;
  });
}

Status pool_free_bytes(ContextHandle handle, size_t* bytes) {
  const cudaMemPool_t pool = context_of(handle).pool;
  return call(handle, [=] {
    uint64_t reserved = 0, used = 0;
    cudaError_t code = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
    if (code == cudaSuccess) code = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    *bytes = size_t(reserved - std::min(reserved, used));
    return code;
  });
}

Status allocate(ContextHandle handle, size_t bytes, StreamHandle stream, void** out) {
  const cudaMemPool_t pool = context_of(handle).pool;
  const size_t asked = bytes ? bytes : 1;
  const auto take = [=] { return cudaMallocFromPoolAsync(out, asked, pool, stream_of(stream)); };
  return counted(call(handle, take), counts.memory);
}

// cudaFree does not wait for uses of memory from a pool.
Status free_memory(ContextHandle handle, void* pointer, size_t, StreamHandle stream) {
  const auto give = [=] { return stream ? cudaFreeAsync(pointer, stream_of(stream)) : cudaFree(pointer); };
  return release(handle, counts.memory, give);
}

Status allocate_pinned(ContextHandle handle, size_t bytes, void** out) {
  const unsigned flags = cudaHostAllocPortable | cudaHostAllocMapped;
  return counted(call(handle, [=] { return cudaHostAlloc(out, bytes ? bytes : 1, flags); }), counts.pinned);
}

Status free_pinned(ContextHandle handle, void* pointer) {
  return release(handle, counts.pinned, [=] { return cudaFreeHost(pointer); });
}

Status register_host(ContextHandle handle, void* pointer, size_t bytes) {
  const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  return counted(call(handle, [=] { return cudaHostRegister(pointer, bytes, flags); }), counts.pinned);
}

Status unregister_host(ContextHandle handle, void* pointer) {
  return release(handle, counts.pinned, [=] { return cudaHostUnregister(pointer); });
}

bool is_pageable(const void* host) {
  cudaPointerAttributes attributes{};
  return done(cudaPointerGetAttributes(&attributes, host)) || attributes.type == cudaMemoryTypeUnregistered;
}

// CUDA may read or write pageable memory after a copy's call returned, so that the stream is waited for.
Status copy(ContextHandle handle, void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) {
  const cudaMemcpyKind native = kind == CopyKind::host_to_device   ? cudaMemcpyHostToDevice
                                : kind == CopyKind::device_to_host ? cudaMemcpyDeviceToHost
                                                                   : cudaMemcpyDeviceToDevice;
  const void* const host = kind == CopyKind::host_to_device ? from : kind == CopyKind::device_to_host ? to : nullptr;
  const Status code = call(handle, [=] {
    const cudaError_t code = cudaMemcpyAsync(to, from, bytes, native, stream_of(stream));
    return code == cudaSuccess && host && is_pageable(host) ? cudaStreamSynchronize(stream_of(stream)) : code;
  });
  return code || host ? code : note_other_call(handle, stream);
}

Status fill(ContextHandle handle, void* pointer, int byte, size_t bytes, StreamHandle stream) {
  const Status code = call(handle, [=] { return cudaMemsetAsync(pointer, byte, bytes, stream_of(stream)); });
  return code ? code : note_other_call(handle, stream);
}

Status stream_create(ContextHandle handle, int priority, StreamHandle* out) {
  cudaStream_t stream = nullptr;
  const Status code =
      call(handle, [&] { return cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority); });
  *out = stream;
  return counted(code, counts.streams);
}

Status stream_priorities(ContextHandle handle, PriorityRange* out) {
  return call(handle, [=] { return cudaDeviceGetStreamPriorityRange(&out->least, &out->greatest); });
}

Status stream_properties(ContextHandle handle, StreamHandle stream, StreamProperties* out) {
  return call(handle, [=] {
    const cudaError_t code = cudaStreamGetDevice(stream_of(stream), &out->device);
    return code == cudaSuccess ? cudaStreamGetPriority(stream_of(stream), &out->priority) : code;
  });
}

Status stream_destroy(ContextHandle handle, StreamHandle stream) {
  return release(handle, counts.streams, [=] { return cudaStreamDestroy(stream_of(stream)); });
}

Status stream_synchronize(ContextHandle handle, StreamHandle stream) {
  return call(handle, [=] { return cudaStreamSynchronize(stream_of(stream)); });
}

Status stream_query(ContextHandle handle, StreamHandle stream) {
  return call(handle, [=] { return cudaStreamQuery(stream_of(stream)); });
}

// Of the legacy default stream CUDA says that another one, which waits for it, is being captured.
Status stream_capturing(ContextHandle handle, StreamHandle stream, bool* out) {
  return call(handle, [=] {
    cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
    const cudaError_t code = cudaStreamIsCapturing(stream_of(stream), &state);
    *out = code == cudaErrorStreamCaptureImplicit || state != cudaStreamCaptureStatusNone;
    if (code != cudaErrorStreamCaptureImplicit) return code;
    cudaGetLastError();
    return cudaSuccess;
  });
}

Status stream_wait(ContextHandle handle, StreamHandle stream, EventHandle event) {
  return call(handle, [=] { return cudaStreamWaitEvent(stream_of(stream), event_of(event), 0); });
}

Status host_function(ContextHandle handle, HostFunction function, void* data, StreamHandle stream) {
  return call(handle, [=] { return cudaLaunchHostFunc(stream_of(stream), function, data); });
}

Status event_create(ContextHandle handle, EventHandle* out) {
  cudaEvent_t event = nullptr;
  const Status code = call(handle, [&] { return cudaEventCreateWithFlags(&event, cudaEventDefault); });
  *out = event;
  return counted(code, counts.events);
}

Status event_destroy(ContextHandle handle, EventHandle event) {
  return release(handle, counts.events, [=] { return cudaEventDestroy(event_of(event)); });
}

Status event_record(ContextHandle handle, EventHandle event, StreamHandle stream) {
  return call(handle, [=] { return cudaEventRecord(event_of(event), stream_of(stream)); });
}

Status event_query(ContextHandle handle, EventHandle event) {
  return call(handle, [=] { return cudaEventQuery(event_of(event)); });
}

Status event_synchronize(ContextHandle handle, EventHandle event) {
  return call(handle, [=] { return cudaEventSynchronize(event_of(event)); });
}

Status event_elapsed(ContextHandle handle, EventHandle from, EventHandle to, float* milliseconds) {
  return call(handle, [=] { return cudaEventElapsedTime(milliseconds, event_of(from), event_of(to)); });
}

// The lock is held meanwhile, so that no other thread launches before the limit is there.
cudaError_t opt_in_once(CudaContext& context, const void* kernel) {
  const std::lock_guard lock(context.mutex);
  if (context.opted_in.contains(kernel)) return cudaSuccess;
  const cudaError_t code = opt_in(kernel, context.device);
  if (code != cudaSuccess) return code;
  try {
    context.opted_in.insert(kernel);
  } catch (const std::bad_alloc&) {  // then the next launch asks again
  }
  return cudaSuccess;
}

Status launch(ContextHandle handle, const params::Launch& launch, int64_t, bool, StreamHandle stream) {
  if (launch.blocks <= 0 || launch.blocks > INT_MAX || !launch.kernel) return status::invalid_value;
  const Status code = call(handle, [&] {
    if (launch.shared_bytes > default_shared_bytes) {
      const cudaError_t code = opt_in_once(context_of(handle), launch.kernel);
      if (code != cudaSuccess) return code;
    }
    return cudaLaunchKernel(launch.kernel, dim3(unsigned(launch.blocks)), dim3(unsigned(launch.threads)), launch.params,
                            size_t(launch.shared_bytes), stream_of(stream));
  });
  return code ? code
              : note_kernel(handle, launch.kernel, dim3(unsigned(launch.blocks)), dim3(unsigned(launch.threads)),
                            size_t(launch.shared_bytes), launch.params, stream);
}

// Asking for the attributes of a kernel loads it, where the driver loads kernels lazily.
Status prepare(ContextHandle handle, const std::string_view* families, size_t count) {
  const auto named = [=](std::string_view mangled) {
    constexpr std::string_view space = "_ZN6stator4cuda";
    if (!mangled.starts_with(space)) return false;
    mangled.remove_prefix(space.size());
    return std::any_of(families, families + count, [=](std::string_view family) {
      char length[24];
      const size_t digits = size_t(std::snprintf(length, sizeof length, "%zu", family.size()));
      return mangled.starts_with(length) && mangled.substr(digits).starts_with(family);
    });
  };
  return call(handle, [&] {
    cudaError_t code = cudaSuccess;
    for (const RegisteredKernel& kernel : registered_kernels()) {
      cudaFuncAttributes attributes{};
      if (named(kernel.name)) code = cudaFuncGetAttributes(&attributes, kernel.function);
      if (code != cudaSuccess) break;
    }
    return code;
  });
}

Status library(ContextHandle handle, const std::function<void()>& now, StreamHandle stream) {
  const Status code = call(handle, [&] {
    now();
    return cudaSuccess;
  });
  return code || !stream ? code : note_other_call(handle, stream);
}
Status inject_fault(ContextHandle) { return status::not_supported; }
std::string fault_message(ContextHandle handle) { return emulated_fault(context_of(handle).device); }

std::array<int64_t, 6> outstanding() {
  return {counts.memory.load() + cuda_managed_count.load(),
          counts.pinned.load(),
          counts.streams.load(),
          counts.events.load(),
          counts.contexts.load(),
          cuda_graph_count.load()};
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool hardware_present() { return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0; }

std::string why_not(cudaError_t code, int driver) {
  int built_with = 0;
  cudaRuntimeGetVersion(&built_with);
  if (code == cudaErrorInitializationError)
    return "CUDA cannot be initialised, as in a child of fork() whose parent had used it: start processes with the "
           "spawn method, or fork before the first use";
  if (driver == 0) {
    return hardware_present() ? "no usable NVIDIA driver: libcuda.so.1 was not found, though the device files are there"
                              : "no NVIDIA driver: libcuda.so.1 was not found";
  }
  if (code == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is too old: it supports CUDA " + version_text(driver) + ", and this build needs " +
           version_text(built_with);
  }
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (code == cudaErrorNoDevice || code == cudaSuccess) {
    if (visible) return "CUDA_VISIBLE_DEVICES='" + std::string(visible) + "' leaves no device visible";
    return "the NVIDIA driver (CUDA " + version_text(driver) + ") sees no device";
  }
  return std::string("the NVIDIA driver reports ") + cudaGetErrorName(code) + ": " + cudaGetErrorString(code);
}

// Counting devices loads the driver but opens no context.
bool available(std::string* reason) {
  int driver = 0, count = 0;
  cudaDriverGetVersion(&driver);
  const cudaError_t code = cudaGetDeviceCount(&count);
  done(code);
  if (code == cudaSuccess && count > 0) return true;
  if (reason) *reason = emulates() && !why_not_emulated().empty() ? why_not_emulated() : why_not(code, driver);
  return false;
}

}  // namespace

constinit const Table cuda_calls{
    .target = "cuda",
    .device_count = device_count,
    .properties = properties,
    .error_name = error_name,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .set_device = set_device,
    .device_synchronize = device_synchronize,
    .memory_device = memory_device,
    .memory_info = memory_info,
    .reserve = reserve,
    .pool_keep = pool_keep,
    .pool_trim = pool_trim,
    .pool_free_bytes = pool_free_bytes,
    .allocate = allocate,
    .free = free_memory,
    .allocate_pinned = allocate_pinned,
    .free_pinned = free_pinned,
    .register_host = register_host,
    .unregister_host = unregister_host,
    .copy = copy,
    .pageable = is_pageable,
    .fill = fill,
    .stream_create = stream_create,
    .stream_priorities = stream_priorities,
    .stream_properties = stream_properties,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_query = stream_query,
    .stream_capturing = stream_capturing,
    .stream_wait = stream_wait,
    .host_function = host_function,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_elapsed = event_elapsed,
    .prepare = prepare,
    .launch = launch,
    .host_work = nullptr,
    .library = library,
    .managed = &cuda_managed,
    .programs = &cuda_programs,
    .graphs = &cuda_graphs,
    .inject_fault = inject_fault,
    .fault_message = fault_message,
    .outstanding = outstanding,
};

}  // namespace stator::runtime

const stator::runtime::CudaRuntime* stator_cuda_runtime() {
  using namespace stator::runtime;
  static const CudaRuntime runtime{.version = STATOR_VERSION,
                                   .table = &cuda_calls,
                                   .emulated = emulates(),
                                   .available = available,
                                   .attributes = attributes,
                                   .copy_between = copy_between,
                                   .share_memory = share_memory,
                                   .name_work = name_emulated_work,
                                   .lend = lend_emulated_memory,
                                   .nvtx_state = nvtx_state,
                                   .nvtx_push = nvtx_push,
                                   .nvtx_pop = nvtx_pop};
  return &runtime;
}
