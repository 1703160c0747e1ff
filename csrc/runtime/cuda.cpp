// The cuda target's runtime layer, which is in libstator_cuda.so beside this library and is opened at its first use.
#include "runtime/cuda.hpp"

#include "runtime/shared_object.hpp"

#include <stator/error.hpp>
#include <stator/version.hpp>

#include <dlfcn.h>

#include <cstring>

namespace stator::runtime {
namespace {

// Null, with the reason, where there is none. Never closed: its exit handlers and kernels outlive every backend.
const CudaRuntime* open(std::string& reason) {
  if (!build_info().cuda) {
    reason = "stator was built without CUDA (STATOR_CUDA=OFF)";
    return nullptr;
  }
  const std::string file = own_folder() + "libstator_cuda.so";
  try {
    void* const library = open_shared_object(file, "Backend", reason);
    if (!library) return nullptr;
    const auto get = reinterpret_cast<decltype(&stator_cuda_runtime)>(dlsym(library, "stator_cuda_runtime"));
    const CudaRuntime* const found = get ? get() : nullptr;
    if (found && !std::strcmp(found->version, build_info().version)) return found;
    reason = file + " is of another version of stator";
  } catch (const LibraryNotFoundError& error) {  // no file handle is left
    reason = error.cause();
  }
  return nullptr;
}

// A failed attempt is repeated by the next call.
const CudaRuntime* find(std::string& reason) {
  static std::atomic<const CudaRuntime*> instance{nullptr};
  if (const CudaRuntime* const found = instance.load(std::memory_order_acquire)) [[likely]]
    return found;
  const CudaRuntime* const found = open(reason);
  if (found) instance.store(found, std::memory_order_release);
  return found;
}

// For calls after cuda_available() or nvtx_state() has found it.
const CudaRuntime& opened() {
  std::string reason;
  return *find(reason);
}

}  // namespace

const Table& cuda_table() { return *opened().table; }

bool cuda_available(std::string* reason) {
  std::string cause;
  if (const CudaRuntime* const cuda = find(cause)) return cuda->available(reason);
  if (reason) *reason = std::move(cause);
  return false;
}

bool cuda_emulated() {
  std::string reason;
  const CudaRuntime* const cuda = find(reason);
  return cuda && cuda->emulated;
}

Status cuda_attributes(int device, Attributes* out) { return opened().attributes(device, out); }

Status cuda_copy_between(void* to, int to_device, const void* from, int from_device, size_t bytes,
                         StreamHandle stream) {
  return opened().copy_between(to, to_device, from, from_device, bytes, stream);
}

void cuda_name_work(std::string_view op) { opened().name_work(op); }

void cuda_lend(void* memory, size_t bytes, StreamHandle stream) { opened().lend(memory, bytes, stream); }

void cuda_share_memory(ContextHandle context) noexcept { opened().share_memory(context); }

NvtxState nvtx_state() noexcept {
  try {
    std::string reason;
    if (const CudaRuntime* const cuda = find(reason)) return cuda->nvtx_state();
  } catch (const std::bad_alloc&) {}
  if (!build_info().cuda) return {"stator was built without CUDA (STATOR_CUDA=OFF)", "Build it with STATOR_CUDA=ON"};
  return {"libstator_cuda.so could not be opened", "See `python -m stator doctor`"};
}

void nvtx_push(std::string_view name) noexcept { opened().nvtx_push(name); }

void nvtx_pop() noexcept { opened().nvtx_pop(); }

}  // namespace stator::runtime
