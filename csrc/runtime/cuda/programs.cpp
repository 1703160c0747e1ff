// The cuda table's calls for programs, by the CUDA runtime's libraries (cudaLibrary_t): their code is loaded on a
// device when it is first used there.
#include "runtime/cuda/graph.hpp"

namespace stator::runtime {
namespace {

cudaLibrary_t library_of(ProgramHandle handle) { return static_cast<cudaLibrary_t>(handle); }

template <class T>
cudaError_t get(T* to, cudaDeviceAttr attribute, int device) {
  int value = 0;
  const cudaError_t code = cudaDeviceGetAttribute(&value, attribute, device);
  *to = T(value);
  return code;
}

int limits(int device, LaunchLimits* out) {
  constexpr cudaDeviceAttr grid[] = {cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ};
  constexpr cudaDeviceAttr block[] = {cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ};
  for (int i = 0; i < 3; ++i) {
    if (const Status code = done(get(&out->grid[i], grid[i], device))) return code;
    if (const Status code = done(get(&out->block[i], block[i], device))) return code;
  }
  return done(get(&out->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
}

int load(ContextHandle handle, const void* image, ProgramHandle* out, char* log, size_t capacity) {
  return call(handle, [=] {
    cudaJitOption names[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
    void* values[] = {log, reinterpret_cast<void*>(capacity)};
    cudaLibrary_t library = nullptr;
    const cudaError_t code = cudaLibraryLoadData(&library, image, names, values, 2, nullptr, nullptr, 0);
    *out = library;
    return code;
  });
}

int unload(ContextHandle handle, ProgramHandle program) {
  const DeviceScope scope(cuda_calls, context_of(handle).device);
  return released(cudaLibraryUnload(library_of(program)));
}

int kernel(ContextHandle handle, ProgramHandle program, const char* name, KernelHandle* out, KernelNumbers* numbers) {
  return call(handle, [=] {
    cudaKernel_t found = nullptr;
    cudaFuncAttributes a{};
    cudaError_t code = cudaLibraryGetKernel(&found, library_of(program), name);
    if (code == cudaSuccess) code = cudaFuncGetAttributes(&a, found);
    *out = found;
    *numbers = {a.numRegs, a.maxThreadsPerBlock, a.sharedSizeBytes, a.localSizeBytes};
    return code == cudaSuccess ? opt_in(found, context_of(handle).device) : code;
  });
}

int parameter(ContextHandle handle, KernelHandle kernel, size_t index, size_t* offset, size_t* bytes) {
  return call(handle, [=] { return cudaFuncGetParamInfo(kernel, index, offset, bytes); });
}

int resident_blocks(ContextHandle handle, KernelHandle kernel, int threads, size_t shared_bytes, int* blocks) {
  return call(handle, [=] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared_bytes, 0);
  });
}

int launch(ContextHandle handle, KernelHandle kernel, const KernelLaunch& launch, StreamHandle stream) {
  const Status code = call(handle, [&] {
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    config.blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream_of(stream);
    config.attrs = &cooperative;
    config.numAttrs = launch.cooperative ? 1 : 0;
    return cudaLaunchKernelExC(&config, kernel, launch.arguments);
  });
  return code ? code
              : note_kernel(handle, kernel, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                            dim3(launch.block[0], launch.block[1], launch.block[2]), launch.shared_bytes,
                            launch.arguments, stream);
}

}  // namespace

cudaError_t opt_in(const void* kernel, int device) {
  int most = 0;
  cudaFuncAttributes a{};
  cudaError_t code = get(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (code == cudaSuccess) code = cudaFuncGetAttributes(&a, kernel);
  if (code != cudaSuccess) return code;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most - int(a.sharedSizeBytes));
}

constinit const ProgramTable cuda_programs{.limits = limits,
                                           .load = load,
                                           .unload = unload,
                                           .kernel = kernel,
                                           .parameter = parameter,
                                           .resident_blocks = resident_blocks,
                                           .launch = launch};

}  // namespace stator::runtime
