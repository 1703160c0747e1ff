#include "emulator/vendor/solver/handle.hpp"

#include "emulator/vendor/common/call.hpp"

#include <cstring>

namespace stator::emulator::vendor::solver {

Registry<Handle> handles{"cusolverDnHandle_t"};
Registry<Parameters> parameters{"cusolverDnParams_t"};
Registry<JacobiInfo> jacobi_infos{"gesvdjInfo_t"};

Handle* use(void* handle, const char* what, Status& status) {
  Handle* const found = handles.find(handle);
  if (!found) {
    status = Status::not_initialized;
  } else if (found->device != services().current_device()) {
    complain(what, "The handle was made on another device than the current one.");
    status = Status::execution_failed;
    return nullptr;
  } else if (!lapack::available(what)) {
    status = Status::internal_error;
    return nullptr;
  }
  return found;
}

Status take(const Workspaces& given, const Sizes& needed) {
  if (given.device_bytes < needed.device || given.host_bytes < needed.host) return Status::invalid_value;
  if ((needed.device && !given.device) || (needed.host && !given.host)) return Status::invalid_value;
  if (given.host) std::memset(given.host, 0xff, given.host_bytes);
  return Status::success;
}

}  // namespace stator::emulator::vendor::solver

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::solver;

template <class T>
static Status create(Registry<T>& registry, void** made) {
  if (!made) return Status::invalid_value;
  *made = registry.add(std::make_unique<T>());
  return Status::success;
}

STATOR_VENDOR(Status, cusolverDnCreate, (void** handle), (handle)) {
  const Status status = create(handles, handle);
  if (status == Status::success) handles.find(*handle)->device = services().current_device();
  return status;
}
STATOR_VENDOR(Status, cusolverDnDestroy, (void* handle), (handle)) {
  return handles.remove(handle) ? Status::success : Status::not_initialized;
}
STATOR_VENDOR(Status, cusolverDnSetStream, (void* handle, void* stream), (handle, stream)) {
  Handle* const h = handles.find(handle);
  if (!h) return Status::not_initialized;
  if (!services().is_stream(stream)) {
    complain("cusolverDnSetStream", "The stream does not exist on the current device.");
    return Status::invalid_value;
  }
  h->stream = stream;
  return Status::success;
}

STATOR_VENDOR(Status, cusolverDnCreateParams, (void** made), (made)) { return create(parameters, made); }
STATOR_VENDOR(Status, cusolverDnDestroyParams, (void* object), (object)) {
  return parameters.remove(object) ? Status::success : Status::invalid_value;
}
STATOR_VENDOR(Status, cusolverDnCreateGesvdjInfo, (void** made), (made)) { return create(jacobi_infos, made); }
STATOR_VENDOR(Status, cusolverDnDestroyGesvdjInfo, (void* object), (object)) {
  return jacobi_infos.remove(object) ? Status::success : Status::invalid_value;
}

STATOR_VENDOR(Status, cusolverGetProperty, (Property property, int* value), (property, value)) {
  if (!value) return Status::invalid_value;
  switch (property) {
    case Property::major: *value = 12; return Status::success;
    case Property::minor: *value = 0; return Status::success;
    case Property::patch: *value = 4; return Status::success;
  }
  return Status::invalid_value;
}
