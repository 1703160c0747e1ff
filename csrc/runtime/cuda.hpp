// What libstator_cuda.so has beside its kernels: the CUDA side of the runtime layer, as functions and a table.
#pragma once

#include "runtime/devices.hpp"
#include "runtime/nvtx.hpp"

#include <stator/export.hpp>

namespace stator::runtime {

// The members are described at the functions of the same names, which begin with cuda_ or nvtx_.
struct CudaRuntime {
  const char* version;  // of stator, which must be that of libstator.so
  const Table* table;
  bool emulated;
  bool (*available)(std::string* reason);
  Status (*attributes)(int device, Attributes*);
  Status (*copy_between)(void* to, int to_device, const void* from, int from_device, size_t bytes, StreamHandle);
  void (*share_memory)(ContextHandle) noexcept;
  void (*name_work)(std::string_view op);
  void (*lend)(void* memory, size_t bytes, StreamHandle);
  NvtxState (*nvtx_state)() noexcept;
  void (*nvtx_push)(std::string_view name) noexcept;
  void (*nvtx_pop)() noexcept;
};

}  // namespace stator::runtime

extern "C" STATOR_API const stator::runtime::CudaRuntime* stator_cuda_runtime();
