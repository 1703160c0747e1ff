// The CUDA runtime's functions that this library calls, as the linker hands them out (--wrap): while the environment's
// STATOR_EMULATE describes devices, those of libstator_emulator.so, else the CUDA runtime's own.
#include "runtime/cuda/shims.hpp"

#include "runtime/cuda/shim.hpp"
#include "runtime/shared_object.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace {

using stator::runtime::Api;
using stator::runtime::Emulation;
using stator::runtime::emulation;
using stator::runtime::emulation_asked;

constexpr const char* variable = "STATOR_EMULATE";

// The lowest priority that is not reserved: nvcc's constructors, which register kernels, have none and run later.
[[gnu::constructor(101)]] void read_variable() {
  const char* const text = std::getenv(variable);
  emulation_asked = text && *text;
}

Emulation open_emulation() {
  Emulation made;
  const char* const text = std::getenv(variable);
  if (!emulation_asked || !text) return made;
  const std::string file = stator::own_folder() + "libstator_emulator.so";
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const cause = dlerror();
    made.reason =
        std::string(variable) + "=" + text + ", and the emulator could not be opened: " + (cause ? cause : "");
    return made;
  }
  char reason[1024] = "";
  const auto open = reinterpret_cast<decltype(&stator_emulator_open)>(dlsym(library, "stator_emulator_open"));
  made.api = open ? open(text, reason, sizeof reason) : nullptr;
  if (made.api && made.api->bytes != sizeof(Api)) made.api = nullptr;
  if (!made.api)
    made.reason =
        std::string(variable) + "=" + text + ": " + (*reason ? reason : file + " is of another version of stator");
  return made;
}

// The numbers of cudaDeviceProp that stator or a test of it reads, as attributes.
struct Field {
  int cudaDeviceProp::* number;
  cudaDeviceAttr attribute;
};
constexpr Field fields[] = {
    {&cudaDeviceProp::regsPerBlock, cudaDevAttrMaxRegistersPerBlock},
    {&cudaDeviceProp::warpSize, cudaDevAttrWarpSize},
    {&cudaDeviceProp::maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock},
    {&cudaDeviceProp::major, cudaDevAttrComputeCapabilityMajor},
    {&cudaDeviceProp::minor, cudaDevAttrComputeCapabilityMinor},
    {&cudaDeviceProp::multiProcessorCount, cudaDevAttrMultiProcessorCount},
    {&cudaDeviceProp::canMapHostMemory, cudaDevAttrCanMapHostMemory},
    {&cudaDeviceProp::concurrentKernels, cudaDevAttrConcurrentKernels},
    {&cudaDeviceProp::asyncEngineCount, cudaDevAttrAsyncEngineCount},
    {&cudaDeviceProp::unifiedAddressing, cudaDevAttrUnifiedAddressing},
    {&cudaDeviceProp::memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth},
    {&cudaDeviceProp::l2CacheSize, cudaDevAttrL2CacheSize},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor},
    {&cudaDeviceProp::regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor},
    {&cudaDeviceProp::managedMemory, cudaDevAttrManagedMemory},
    {&cudaDeviceProp::concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess},
    {&cudaDeviceProp::cooperativeLaunch, cudaDevAttrCooperativeLaunch},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor},
    {&cudaDeviceProp::memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported},
};

int properties_of(const Api& api, cudaDeviceProp* out, int device) {
  *out = {};
  uint64_t memory = 0;
  if (const int code = api.device_name(out->name, sizeof out->name, &memory, device)) return code;
  out->totalGlobalMem = memory;
  for (const Field& field : fields)
    if (const int code = api.device_attribute(&(out->*field.number), field.attribute, device)) return code;
  const auto size = [&](size_t* to, cudaDeviceAttr attribute) {
    int value = 0;
    api.device_attribute(&value, attribute, device);
    *to = size_t(value);
  };
  size(&out->sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  size(&out->sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  size(&out->sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  size(&out->reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
  size(&out->totalConstMem, cudaDevAttrTotalConstantMemory);
  return 0;
}

int attributes_of(const Api& api, cudaPointerAttributes* out, const void* pointer) {
  int type = 0, device = 0;
  const int code = api.pointer_attributes(pointer, &type, &device);
  *out = {};
  out->type = cudaMemoryType(type);
  out->device = device;
  out->devicePointer = type ? const_cast<void*>(pointer) : nullptr;
  out->hostPointer = type == cudaMemoryTypeHost || type == cudaMemoryTypeManaged ? const_cast<void*>(pointer) : nullptr;
  return code;
}

int launch(const Api& api, const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
           cudaStream_t stream) {
  const uint32_t blocks[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
  return api.launch(function, blocks, threads, arguments, shared, stream);
}

int launch(const Api& api, const cudaLaunchConfig_t& c, const void* function, void** arguments) {
  const uint32_t blocks[] = {c.gridDim.x, c.gridDim.y, c.gridDim.z};
  const uint32_t threads[] = {c.blockDim.x, c.blockDim.y, c.blockDim.z};
  bool cooperative = false;
  for (unsigned i = 0; i < c.numAttrs; ++i)
    cooperative = cooperative || (c.attrs[i].id == cudaLaunchAttributeCooperative && c.attrs[i].val.cooperative);
  return (cooperative ? api.launch_cooperative : api.launch)(function, blocks, threads, arguments, c.dynamicSmemBytes,
                                                             c.stream);
}

int numbers_of(const Api& api, cudaFuncAttributes* out, const void* function) {
  stator::emulator::runtime::FunctionNumbers n{};
  const int code = api.function_numbers(&n, function);
  *out = {};
  out->sharedSizeBytes = n.shared_bytes;
  out->localSizeBytes = n.local_bytes;
  out->maxThreadsPerBlock = n.max_threads;
  out->numRegs = n.registers;
  out->ptxVersion = n.ptx_version;
  out->maxDynamicSharedSizeBytes = n.dynamic_shared_limit;
  return code;
}

// The log is the one option of just-in-time compilation that stator gives.
int load(const Api& api, cudaLibrary_t* library, const void* code, const cudaJitOption* options, void** values,
         unsigned count) {
  char* log = nullptr;
  size_t capacity = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == cudaJitErrorLogBuffer) log = static_cast<char*>(values[i]);
    if (options[i] == cudaJitErrorLogBufferSizeBytes) capacity = reinterpret_cast<size_t>(values[i]);
  }
  return api.library_load(reinterpret_cast<void**>(library), code, log, capacity);
}

int device_of(const cudaMemLocation& location) { return location.type == cudaMemLocationTypeDevice ? location.id : -1; }

int set_access(const Api& api, cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  int code = 0;
  for (size_t i = 0; i < count && code == 0; ++i)
    code = api.pool_set_access(pool, device_of(list[i].location), list[i].flags);
  return code;
}

}  // namespace

namespace stator::runtime {

bool emulation_asked = false;

// Opened at the first call, which is the registration of kernels when this library is loaded.
const Emulation& emulation() {
  static const Emulation* const instance = new Emulation(open_emulation());  // never destroyed, as exits still call
  return *instance;
}

// Filled while the library is loaded, and never destroyed, as exits still call.
static std::vector<RegisteredKernel>& kernels() {
  static auto* const instance = new std::vector<RegisteredKernel>;
  return *instance;
}
const std::vector<RegisteredKernel>& registered_kernels() { return kernels(); }

bool emulates() { return emulation_asked; }
const std::string& why_not_emulated() { return emulation().reason; }
void name_emulated_work(std::string_view op) {
  if (const Api* const api = emulation().api) api->name_work(op.data(), op.size());
}
void lend_emulated_memory(void* memory, size_t bytes, void* stream) {
  if (const Api* const api = emulation().api) api->lend(memory, bytes, stream);
}
std::string emulated_fault(int device) {
  const Emulation& e = emulation();
  return e.api ? e.api->fault(device) : "";
}

}  // namespace stator::runtime

extern "C" {

STATOR_SHIM(cudaGetDevice, (int* device), (device), api.get_device(device))
STATOR_SHIM(cudaSetDevice, (int device), (device), api.set_device(device))
STATOR_SHIM(cudaGetDeviceCount, (int* count), (count), api.device_count(count))
STATOR_SHIM(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr attribute, int device), (value, attribute, device),
            api.device_attribute(value, attribute, device))
STATOR_SHIM(cudaDeviceCanAccessPeer, (int* can, int device, int peer), (can, device, peer),
            api.can_access_peer(can, device, peer))
STATOR_SHIM(cudaGetDeviceProperties, (cudaDeviceProp * out, int device), (out, device), properties_of(api, out, device))
STATOR_SHIM(cudaDriverGetVersion, (int* version), (version), api.driver_version(version))
STATOR_SHIM(cudaDeviceSynchronize, (), (), api.device_synchronize())

STATOR_SHIM(cudaMemPoolCreate, (cudaMemPool_t * pool, const cudaMemPoolProps* props), (pool, props),
            api.pool_create(reinterpret_cast<void**>(pool), device_of(props->location)))
STATOR_SHIM(cudaMemPoolDestroy, (cudaMemPool_t pool), (pool), api.pool_destroy(pool))
STATOR_SHIM(cudaMemPoolSetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
            (pool, attribute, value), api.pool_set_attribute(pool, attribute, value))
STATOR_SHIM(cudaMemPoolGetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
            (pool, attribute, value), api.pool_get_attribute(pool, attribute, value))
STATOR_SHIM(cudaMemPoolSetAccess, (cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count),
            (pool, list, count), set_access(api, pool, list, count))
STATOR_SHIM(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t bytes), (pool, bytes), api.pool_trim(pool, bytes))
STATOR_SHIM(cudaMemGetInfo, (size_t* free, size_t* total), (free, total), api.memory_info(free, total))
STATOR_SHIM(cudaMallocFromPoolAsync, (void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
            (pointer, bytes, pool, stream), api.allocate_from_pool(pointer, bytes, pool, stream))
STATOR_SHIM(cudaFreeAsync, (void* pointer, cudaStream_t stream), (pointer, stream), api.free_in_order(pointer, stream))
STATOR_SHIM(cudaFree, (void* pointer), (pointer), api.free(pointer))
STATOR_SHIM(cudaHostAlloc, (void** pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
            api.host_allocate(pointer, bytes, flags))
STATOR_SHIM(cudaFreeHost, (void* pointer), (pointer), api.host_free(pointer))
STATOR_SHIM(cudaHostRegister, (void* pointer, size_t bytes, unsigned flags), (pointer, bytes, flags),
            api.host_register(pointer, bytes, flags))
STATOR_SHIM(cudaHostUnregister, (void* pointer), (pointer), api.host_unregister(pointer))

STATOR_SHIM(cudaPointerGetAttributes, (cudaPointerAttributes * out, const void* pointer), (out, pointer),
            attributes_of(api, out, pointer))

STATOR_SHIM(cudaMemcpyAsync, (void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),
            (to, from, bytes, kind, stream), api.copy(to, from, bytes, kind, stream))
STATOR_SHIM(cudaMemcpyPeerAsync,
            (void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream),
            (to, to_device, from, from_device, bytes, stream),
            api.copy_peer(to, to_device, from, from_device, bytes, stream))
STATOR_SHIM(cudaMemsetAsync, (void* pointer, int byte, size_t bytes, cudaStream_t stream),
            (pointer, byte, bytes, stream), api.fill(pointer, byte, bytes, stream))

STATOR_SHIM(cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority),
            (stream, flags, priority),
            api.stream_create_with_priority(reinterpret_cast<void**>(stream), flags, priority))
STATOR_SHIM(cudaDeviceGetStreamPriorityRange, (int* least, int* greatest), (least, greatest),
            api.stream_priority_range(least, greatest))
STATOR_SHIM(cudaStreamGetPriority, (cudaStream_t stream, int* priority), (stream, priority),
            api.stream_priority(stream, priority))
STATOR_SHIM(cudaStreamGetDevice, (cudaStream_t stream, int* device), (stream, device),
            api.stream_device(stream, device))
STATOR_SHIM(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* data), (stream, function, data),
            api.launch_host_function(stream, function, data))
STATOR_SHIM(cudaStreamDestroy, (cudaStream_t stream), (stream), api.stream_destroy(stream))
STATOR_SHIM(cudaStreamSynchronize, (cudaStream_t stream), (stream), api.stream_synchronize(stream))
STATOR_SHIM(cudaStreamQuery, (cudaStream_t stream), (stream), api.stream_query(stream))
STATOR_SHIM(cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* status), (stream, status),
            api.stream_is_capturing(stream, reinterpret_cast<int*>(status)))
STATOR_SHIM(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags),
            api.stream_wait(stream, event, flags))
STATOR_SHIM(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags),
            api.event_create(reinterpret_cast<void**>(event), flags))
STATOR_SHIM(cudaEventDestroy, (cudaEvent_t event), (event), api.event_destroy(event))
STATOR_SHIM(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream), api.event_record(event, stream))
STATOR_SHIM(cudaEventQuery, (cudaEvent_t event), (event), api.event_query(event))
STATOR_SHIM(cudaEventSynchronize, (cudaEvent_t event), (event), api.event_synchronize(event))
STATOR_SHIM(cudaEventElapsedTime, (float* milliseconds, cudaEvent_t from, cudaEvent_t to), (milliseconds, from, to),
            api.event_elapsed(milliseconds, from, to))

STATOR_SHIM(cudaFuncSetAttribute, (const void* function, cudaFuncAttribute attribute, int value),
            (function, attribute, value), api.function_attribute(function, attribute, value))
STATOR_SHIM(cudaLaunchKernel,
            (const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream),
            (function, grid, block, arguments, shared, stream),
            launch(api, function, grid, block, arguments, shared, stream))
STATOR_SHIM(__cudaLaunchKernel,
            (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream),
            (kernel, grid, block, arguments, shared, stream),
            launch(api, kernel, grid, block, arguments, shared, stream))
STATOR_SHIM(__cudaGetKernel, (cudaKernel_t * kernel, const void* function), (kernel, function),
            api.get_kernel(reinterpret_cast<void**>(kernel), function))

STATOR_SHIM(cudaLaunchKernelExC, (const cudaLaunchConfig_t* config, const void* function, void** arguments),
            (config, function, arguments), launch(api, *config, function, arguments))
STATOR_SHIM(cudaFuncGetAttributes, (cudaFuncAttributes * out, const void* function), (out, function),
            numbers_of(api, out, function))
STATOR_SHIM(cudaFuncGetParamInfo, (const void* function, size_t index, size_t* offset, size_t* bytes),
            (function, index, offset, bytes), api.parameter(function, index, offset, bytes))
STATOR_SHIM(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int* blocks, const void* function, int threads, size_t shared, unsigned flags),
            (blocks, function, threads, shared, flags), api.resident_blocks(blocks, function, threads, shared))
STATOR_SHIM(cudaLibraryLoadData,
            (cudaLibrary_t * library, const void* code, cudaJitOption* options, void** values, unsigned count,
             cudaLibraryOption* library_options, void** library_values, unsigned library_count),
            (library, code, options, values, count, library_options, library_values, library_count),
            load(api, library, code, options, values, count))
STATOR_SHIM(cudaLibraryUnload, (cudaLibrary_t library), (library), api.library_unload(library))
STATOR_SHIM(cudaLibraryGetKernel, (cudaKernel_t * kernel, cudaLibrary_t library, const char* name),
            (kernel, library, name), api.library_kernel(reinterpret_cast<void**>(kernel), library, name))

// Those that return no status.
cudaError_t __real_cudaGetLastError();
cudaError_t __wrap_cudaGetLastError() {
  if (!emulation_asked) [[likely]]
    return __real_cudaGetLastError();
  const Api* const api = emulation().api;
  return api ? cudaError_t(api->last_error()) : cudaSuccess;
}

void** __real___cudaRegisterFatBinary(void* wrapper);
void** __wrap___cudaRegisterFatBinary(void* wrapper) {
  if (!emulation_asked) return __real___cudaRegisterFatBinary(wrapper);
  const Api* const api = emulation().api;
  return api ? api->register_fat_binary(wrapper) : nullptr;
}

void __real___cudaRegisterFatBinaryEnd(void** binary);
void __wrap___cudaRegisterFatBinaryEnd(void** binary) {
  if (!emulation_asked) __real___cudaRegisterFatBinaryEnd(binary);
}

void __real___cudaUnregisterFatBinary(void** binary);
void __wrap___cudaUnregisterFatBinary(void** binary) {
  if (!emulation_asked) return __real___cudaUnregisterFatBinary(binary);
  if (const Api* const api = emulation().api) api->unregister_fat_binary(binary);
}

void __real___cudaRegisterFunction(void** binary, const char* function, char* device_function, const char* name,
                                   int thread_limit, uint3* thread, uint3* block, dim3* block_size, dim3* grid_size,
                                   int* warp_size);
void __wrap___cudaRegisterFunction(void** binary, const char* function, char* device_function, const char* name,
                                   int thread_limit, uint3* thread, uint3* block, dim3* block_size, dim3* grid_size,
                                   int* warp_size) {
  stator::runtime::kernels().push_back({function, name});
  if (!emulation_asked) {
    __real___cudaRegisterFunction(binary, function, device_function, name, thread_limit, thread, block, block_size,
                                  grid_size, warp_size);
  } else if (const Api* const api = emulation().api) {
    api->register_function(binary, function, name);
  }
}

}  // extern "C"
