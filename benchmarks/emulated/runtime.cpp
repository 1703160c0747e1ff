// The functions of the CUDA runtime that CUB and the code that nvcc makes of algorithms.cpp call, as the emulator of
// this process has them.
#include "emulator/runtime/api.hpp"

#include <cuda_runtime_api.h>

namespace {

using stator::emulator::runtime::Api;
using stator::emulator::runtime::FunctionNumbers;

const Api& api() { return *stator_emulator_api(); }
cudaError_t error(int code) { return cudaError_t(code); }

struct Configuration {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local Configuration pushed;

cudaError_t launch(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
  const uint32_t blocks[] = {grid.x, grid.y, grid.z}, threads[] = {block.x, block.y, block.z};
  return error(api().launch(kernel, blocks, threads, arguments, shared, stream));
}

}  // namespace

extern "C" {

cudaError_t cudaGetDevice(int* device) { return error(api().get_device(device)); }
cudaError_t cudaSetDevice(int device) { return error(api().set_device(device)); }
cudaError_t cudaGetDeviceCount(int* count) { return error(api().device_count(count)); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return error(api().device_attribute(value, attribute, device));
}
cudaError_t cudaGetLastError() { return error(api().last_error()); }
cudaError_t cudaPeekAtLastError() { return error(api().peek_at_last_error()); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return error(api().copy(to, from, bytes, kind, stream));
}
cudaError_t cudaMemsetAsync(void* pointer, int byte, size_t bytes, cudaStream_t stream) {
  return error(api().fill(pointer, byte, bytes, stream));
}
__attribute__((visibility("default"))) cudaError_t finish() { return error(api().device_synchronize()); }

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  FunctionNumbers numbers{};
  *out = {};
  if (const int code = api().function_numbers(&numbers, function)) return error(code);
  out->sharedSizeBytes = numbers.shared_bytes;
  out->localSizeBytes = numbers.local_bytes;
  out->maxThreadsPerBlock = numbers.max_threads;
  out->numRegs = numbers.registers;
  out->ptxVersion = out->binaryVersion = numbers.ptx_version;
  out->maxDynamicSharedSizeBytes = numbers.dynamic_shared_limit;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t shared, unsigned) {
  return error(api().resident_blocks(blocks, function, threads, shared));
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  pushed = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared = pushed.shared;
  *static_cast<cudaStream_t*>(stream) = pushed.stream;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  return launch(kernel, grid, block, arguments, shared, stream);
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return error(api().get_kernel(reinterpret_cast<void**>(kernel), function));
}

void** __cudaRegisterFatBinary(void* wrapper) { return api().register_fat_binary(wrapper); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void** binary) { api().unregister_fat_binary(binary); }
void __cudaRegisterFunction(void** binary, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  api().register_function(binary, function, name);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

}  // extern "C"
