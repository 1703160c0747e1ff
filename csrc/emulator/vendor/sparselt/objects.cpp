#include "emulator/vendor/sparselt/objects.hpp"

#include "emulator/vendor/common/call.hpp"

namespace stator::emulator::vendor::sparselt {

Registry<Handle> handles{"cusparseLtHandle_t"};
Registry<Descriptor> descriptors{"cusparseLtMatDescriptor_t"};
Registry<Algorithm> algorithms{"cusparseLtMatmulAlgSelection_t"};
Registry<Plan> plans{"cusparseLtMatmulPlan_t"};

Handle* use(const void* handle, const char* what, Status& status) {
  Handle* const found = behind(handles, handle);
  if (!found) {
    status = Status::invalid_value;
  } else if (found->device != services().current_device()) {
    complain(what, "The handle was made on another device than the current one.");
    status = Status::execution_failed;
    return nullptr;
  }
  return found;
}

namespace {

bool known(Type type) {
  switch (type) {
    case Type::r8i:
    case Type::e4m3:
    case Type::e5m2:
    case Type::r16f:
    case Type::r16bf:
    case Type::r32i:
    case Type::r32f: return true;
    default: return false;
  }
}

Status describe(const void* handle, const char* what, void* made, Descriptor d, uint32_t alignment) {
  Status status = Status::success;
  if (!use(handle, what, status)) return status;
  if (!made || d.rows <= 0 || d.columns <= 0 || !known(d.type)) return Status::invalid_value;
  if (d.order != Order::columns && d.order != Order::rows) return Status::invalid_value;
  if (d.ld < (d.by_rows() ? d.columns : d.rows) || alignment == 0 || alignment % 16 != 0) return Status::invalid_value;
  // 16 bytes of dense elements, 32 of those that are compressed to half.
  const int64_t whole = int64_t((d.structured ? 32 : 16) / size_of(d.type));
  if (d.rows % whole || d.columns % whole || d.ld % whole) return Status::not_supported;
  if (d.structured && d.type == Type::r32i) return Status::not_supported;
  const uint64_t most = (uint64_t(1) << 32) / size_of(d.type);
  if (uint64_t(d.ld) * uint64_t(d.by_rows() ? d.rows : d.columns) >= most) return Status::not_supported;
  return put_object(descriptors, made, d);
}

}  // namespace

}  // namespace stator::emulator::vendor::sparselt

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparselt;

STATOR_VENDOR(Status, cusparseLtInit, (void* handle), (handle)) {
  if (!handle) return Status::invalid_value;
  const int device = services().current_device();
  if (services().compute_capability(device) < 80) return Status::arch_mismatch;
  return put_object(handles, handle, Handle{device});
}
STATOR_VENDOR(Status, cusparseLtDestroy, (const void* handle), (handle)) { return remove_object(handles, handle); }
STATOR_VENDOR(const char*, cusparseLtGetErrorName, (Status status), (status)) { return sparse::name_of(status); }
STATOR_VENDOR(Status, cusparseLtGetProperty, (Property property, int* value), (property, value)) {
  if (!value) return Status::invalid_value;
  switch (property) {
    case Property::major: *value = 0; return Status::success;
    case Property::minor: *value = 10; return Status::success;
    case Property::patch: *value = 0; return Status::success;
  }
  return Status::invalid_value;
}

STATOR_VENDOR(Status, cusparseLtDenseDescriptorInit,
              (const void* handle, void* made, int64_t rows, int64_t columns, int64_t ld, uint32_t alignment, Type type,
               Order order),
              (handle, made, rows, columns, ld, alignment, type, order)) {
  return describe(handle, "cusparseLtDenseDescriptorInit", made, {rows, columns, ld, type, order, false}, alignment);
}
STATOR_VENDOR(Status, cusparseLtStructuredDescriptorInit,
              (const void* handle, void* made, int64_t rows, int64_t columns, int64_t ld, uint32_t alignment, Type type,
               Order order, int sparsity),
              (handle, made, rows, columns, ld, alignment, type, order, sparsity)) {
  if (sparsity != 0) return Status::invalid_value;
  return describe(handle, "cusparseLtStructuredDescriptorInit", made, {rows, columns, ld, type, order, true},
                  alignment);
}
STATOR_VENDOR(Status, cusparseLtMatDescriptorDestroy, (const void* object), (object)) {
  return remove_object(descriptors, object);
}
