// Which products exist, and their plans.
#include "emulator/vendor/common/call.hpp"
#include "emulator/vendor/sparselt/objects.hpp"

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::sparselt;

namespace {

// The table of types.
bool exists(const Matmul& p, int capability) {
  const Type in = p.a.type, c = p.c.type, d = p.d.type;
  if (p.b.type != in) return false;
  switch (in) {
    case Type::r16f:
      return c == in && d == in && (p.compute == Compute::f32 || (p.compute == Compute::f16 && capability >= 90));
    case Type::r16bf:
    case Type::r32f: return c == in && d == in && p.compute == Compute::f32;
    case Type::r8i:
      return c == d && p.compute == Compute::i32 &&
             (c == Type::r8i || c == Type::r32i || c == Type::r16f || c == Type::r16bf);
    case Type::e4m3:
    case Type::e5m2:
      if (capability < 89 || p.compute != Compute::f32) return false;
      if (c == Type::r32f) return d == c;
      return (c == Type::r16f || c == Type::r16bf) && (d == c || d == in);
    default: return false;
  }
}

// Eight-bit operands have both their lines along k.
bool along_k(const Matmul& p) {
  if (size_of(p.a.type) != 1) return true;
  return p.a.by_rows() == (p.op_a == Op::none) && p.b.by_rows() == (p.op_b != Op::none);
}

}  // namespace

STATOR_VENDOR(Status, cusparseLtMatmulDescriptorInit,
              (const void* handle, void* made, Op op_a, Op op_b, const void* a, const void* b, const void* c,
               const void* d, Compute compute),
              (handle, made, op_a, op_b, a, b, c, d, compute)) {
  Status status = Status::success;
  const Handle* const h = use(handle, "cusparseLtMatmulDescriptorInit", status);
  if (!h) return status;
  const Descriptor *const fa = behind(descriptors, a), *const fb = behind(descriptors, b);
  const Descriptor *const fc = behind(descriptors, c), *const fd = behind(descriptors, d);
  if (!made || !fa || !fb || !fc || !fd) return Status::invalid_value;
  if ((op_a != Op::none && op_a != Op::transpose) || (op_b != Op::none && op_b != Op::transpose))
    return Status::invalid_value;
  if (fa->structured == fb->structured || fc->structured || fd->structured) return Status::not_supported;
  Matmul p{{fa, fb, fc, fd}, *fa, *fb, *fc, *fd, op_a, op_b, compute};
  p.m = op_a == Op::none ? fa->rows : fa->columns;
  p.k = op_a == Op::none ? fa->columns : fa->rows;
  p.n = op_b == Op::none ? fb->columns : fb->rows;
  const int64_t k = op_b == Op::none ? fb->rows : fb->columns;
  const bool fits = p.k == k && fc->rows == p.m && fc->columns == p.n && fd->rows == p.m && fd->columns == p.n &&
                    fc->order == fd->order && fc->ld == fd->ld;
  if (!fits) return Status::invalid_value;
  if (!exists(p, services().compute_capability(h->device)) || !along_k(p)) return Status::not_supported;
  const Stored stored{.matmul = p};
  std::memset(made, 0xa5, opaque_bytes);
  std::memcpy(made, &stored, sizeof(stored));
  return Status::success;
}

STATOR_VENDOR(Status, cusparseLtMatmulAlgSelectionInit,
              (const void* handle, void* made, const void* matmul, int algorithm), (handle, made, matmul, algorithm)) {
  Status status = Status::success;
  if (!use(handle, "cusparseLtMatmulAlgSelectionInit", status)) return status;
  if (Matmul found; !made || !stored_in(matmul, found) || algorithm != 0) return Status::invalid_value;
  return put_object(algorithms, made, Algorithm{});
}
STATOR_VENDOR(Status, cusparseLtMatmulAlgSelectionDestroy, (const void* object), (object)) {
  return remove_object(algorithms, object);
}

STATOR_VENDOR(Status, cusparseLtMatmulPlanInit,
              (const void* handle, void* made, const void* matmul, const void* algorithm),
              (handle, made, matmul, algorithm)) {
  Status status = Status::success;
  if (!use(handle, "cusparseLtMatmulPlanInit", status)) return status;
  Matmul found;
  if (!made || !stored_in(matmul, found) || !behind(algorithms, algorithm)) return Status::invalid_value;
  for (const void* each : found.descriptors)
    if (!descriptors.find(each)) return Status::invalid_value;
  const Descriptor& s = found.structured();
  const uint64_t elements = uint64_t(s.rows) * uint64_t(s.columns);
  Plan plan{.matmul = found};
  plan.number = uint64_t(s.rows) << 40 ^ uint64_t(s.columns) << 16 ^ uint64_t(s.type) << 8 ^ uint64_t(s.order) << 4 ^
                uint64_t(found.a.structured ? found.op_a : found.op_b) << 2 ^ uint64_t(found.a.structured) << 1 ^ 1;
  plan.compressed = (32 + elements / 2 * size_of(s.type) + elements / 2 + 15) / 16 * 16;
  plan.buffer = choose(2) ? 0 : 256;
  plan.workspace = choose(3) == 2 ? 0 : 4096 + 1024 * choose(3);
  return put_object(plans, made, plan);
}
STATOR_VENDOR(Status, cusparseLtMatmulPlanDestroy, (const void* object), (object)) {
  return remove_object(plans, object);
}

STATOR_VENDOR(Status, cusparseLtMatmulGetWorkspace, (const void* handle, const void* plan, size_t* bytes),
              (handle, plan, bytes)) {
  Status status = Status::success;
  if (!use(handle, "cusparseLtMatmulGetWorkspace", status)) return status;
  const Plan* const found = behind(plans, plan);
  if (!found || !bytes) return Status::invalid_value;
  *bytes = size_t(found->workspace);
  return Status::success;
}

STATOR_VENDOR(Status, cusparseLtSpMMACompressedSize,
              (const void* handle, const void* plan, size_t* bytes, size_t* buffer), (handle, plan, bytes, buffer)) {
  Status status = Status::success;
  if (!use(handle, "cusparseLtSpMMACompressedSize", status)) return status;
  const Plan* const found = behind(plans, plan);
  if (!found || !bytes || !buffer) return Status::invalid_value;
  *bytes = size_t(found->compressed);
  *buffer = size_t(found->buffer);
  return Status::success;
}
