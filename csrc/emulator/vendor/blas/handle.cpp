#include "emulator/vendor/blas/handle.hpp"

#include "emulator/vendor/common/call.hpp"

#include <algorithm>

namespace stator::emulator::vendor::blas {

Registry<Handle> handles{"cublasHandle_t"};

Handle::~Handle() {
  if (own_workspace) services().release(own_workspace);
}

Handle* use(void* handle, const char* what, Status& status) {
  Handle* const found = handles.find(handle);
  if (!found) {
    status = Status::not_initialized;
  } else if (found->device != services().current_device()) {
    complain(what, "The handle was made on another device than the current one.");
    status = Status::execution_failed;
    return nullptr;
  }
  return found;
}

Status launched(int error) { return error ? Status::execution_failed : Status::success; }

Range scratch_of(Handle& handle, Status& status) {
  if (handle.workspace) return bytes_at(handle.workspace, handle.workspace_bytes);
  const uint64_t bytes = uint64_t(services().compute_capability(handle.device) >= 90 ? 32 : 4) << 20;
  if (!handle.own_workspace) handle.own_workspace = services().allocate(bytes, "cuBLAS's own workspace");
  if (!handle.own_workspace) status = Status::alloc_failed;
  // No other code reads it: only a few bytes are used.
  return bytes_at(handle.own_workspace, handle.own_workspace ? 256 : 0);
}

bool overlapping(int64_t rows, int64_t columns, int64_t ld, int64_t stride, int64_t batches) {
  if (batches <= 1 || rows == 0 || columns == 0) return false;
  const int64_t apart = stride < 0 ? -stride : stride;
  if (apart >= ld * (columns - 1) + rows) return false;
  return !(apart >= rows && apart * (batches - 1) + rows <= ld);  // side by side within the gaps of the others
}

}  // namespace stator::emulator::vendor::blas

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blas;

STATOR_VENDOR(Status, cublasCreate_v2, (void** handle), (handle)) {
  if (!handle) return Status::invalid_value;
  auto made = std::make_unique<Handle>();
  made->device = services().current_device();
  *handle = handles.add(std::move(made));
  return Status::success;
}

STATOR_VENDOR(Status, cublasDestroy_v2, (void* handle), (handle)) {
  Handle* const h = handles.find(handle);
  if (!h) return Status::not_initialized;
  if (h->device != services().current_device())
    complain("cublasDestroy", "The handle was made on another device than the current one.");
  services().synchronize(h->stream);  // as it is documented to
  handles.remove(handle);
  return Status::success;
}

STATOR_VENDOR(Status, cublasSetStream_v2, (void* handle, void* stream), (handle, stream)) {
  Handle* const h = handles.find(handle);
  if (!h) return Status::not_initialized;
  if (!services().is_stream(stream)) {
    complain("cublasSetStream", "The stream does not exist on the current device.");
    return Status::mapping_error;
  }
  h->stream = stream;
  h->workspace = nullptr;  // each change of stream goes back to the library's own
  h->workspace_bytes = 0;
  return Status::success;
}

STATOR_VENDOR(Status, cublasSetWorkspace_v2, (void* handle, void* workspace, size_t bytes),
              (handle, workspace, bytes)) {
  Handle* const h = handles.find(handle);
  if (!h) return Status::not_initialized;
  if (!aligned(workspace, 256)) return Status::invalid_value;
  h->workspace = workspace;
  h->workspace_bytes = workspace ? bytes : 0;
  return Status::success;
}

STATOR_VENDOR(Status, cublasSetMathMode, (void* handle, int mode), (handle, mode)) {
  Handle* const h = handles.find(handle);
  if (!h) return Status::not_initialized;
  constexpr int no_reduced_precision = 16;
  const int plain = mode & ~no_reduced_precision;
  if (mode < 0 || !(plain <= 4 || plain == 8)) return Status::invalid_value;
  h->math = plain;
  return Status::success;
}

STATOR_VENDOR(const char*, cublasGetStatusName, (Status status), (status)) {
  switch (status) {
    case Status::success: return "CUBLAS_STATUS_SUCCESS";
    case Status::not_initialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case Status::alloc_failed: return "CUBLAS_STATUS_ALLOC_FAILED";
    case Status::invalid_value: return "CUBLAS_STATUS_INVALID_VALUE";
    case Status::arch_mismatch: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case Status::mapping_error: return "CUBLAS_STATUS_MAPPING_ERROR";
    case Status::execution_failed: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case Status::internal_error: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case Status::not_supported: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case Status::license_error: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unrecognized status";
}

// The version of CUDA 13.0's library.
static Status version(Property property, int* value) {
  if (!value) return Status::invalid_value;
  switch (property) {
    case Property::major: *value = 13; return Status::success;
    case Property::minor: *value = 1; return Status::success;
    case Property::patch: *value = 1; return Status::success;
  }
  return Status::invalid_value;
}

STATOR_VENDOR(Status, cublasGetProperty, (Property property, int* value), (property, value)) {
  return version(property, value);
}
STATOR_VENDOR(Status, cublasLtGetProperty, (Property property, int* value), (property, value)) {
  return version(property, value);
}
