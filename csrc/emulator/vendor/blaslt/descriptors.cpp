#include "emulator/vendor/blaslt/descriptors.hpp"

#include "emulator/vendor/common/call.hpp"

#include <cstring>

namespace stator::emulator::vendor::blaslt {

Registry<Layout> layouts{"cublasLtMatrixLayout_t"};
Registry<Description> descriptions{"cublasLtMatmulDesc_t"};
Registry<Preference> preferences{"cublasLtMatmulPreference_t"};

namespace {

// Where an attribute lies in the double; no bytes for one that does not exist.
struct Slot {
  void* at = nullptr;
  size_t bytes = 0;
};
template <class T>
Slot slot(T& member) {
  return {&member, sizeof(T)};
}

Status set(const Slot& slot, const void* value, size_t bytes) {
  if (slot.bytes == 0 || !value || bytes != slot.bytes) return Status::invalid_value;
  std::memcpy(slot.at, value, bytes);
  return Status::success;
}

// Attributes by their numbers in cublasLt.h.
Slot find(Layout& l, int attribute) {
  switch (attribute) {
    case 0: return slot(l.type);
    case 1: return slot(l.order);
    case 2: return slot(l.rows);
    case 3: return slot(l.columns);
    case 4: return slot(l.ld);
    case 5: return slot(l.batches);
    case 6: return slot(l.stride);
    case 7: return slot(l.plane_offset);
    case 8: return slot(l.batch_mode);
  }
  return {};
}

Slot find(Description& d, int attribute) {
  switch (attribute) {
    case 0: return slot(d.compute);
    case 1: return slot(d.scale);
    case 2: return slot(d.pointer_mode);
    case 3: return slot(d.op_a);
    case 4: return slot(d.op_b);
    case 5: return slot(d.op_c);
    case 6: return slot(d.fill);
    case 7: return slot(d.epilogue);
    case 8: return slot(d.bias);
    case 10: return slot(d.bias_stride);
    case 11: return slot(d.aux);
    case 12: return slot(d.aux_ld);
    case 13: return slot(d.aux_stride);
    case 14: return slot(d.alpha_stride);
    case 15: return slot(d.multiprocessors);
    case 17: return slot(d.scale_a);
    case 18: return slot(d.scale_b);
    case 19: return slot(d.scale_c);
    case 20: return slot(d.scale_d);
    case 21: return slot(d.largest_d);
    case 22: return slot(d.aux_type);
    case 23: return slot(d.aux_scale);
    case 24: return slot(d.aux_largest);
    case 25: return slot(d.fast_accumulation);
    case 26: return slot(d.bias_type);
    case 31:
    case 32:
    case 33:
    case 34:
    case 35: return slot(d.scale_modes[attribute - 31]);
    case 36: return slot(d.scale_out);
    case 37: return slot(d.scale_modes[5]);
  }
  return {};
}

Slot find(Preference& p, int attribute) {
  switch (attribute) {
    case 0: return slot(p.search);
    case 1: return slot(p.workspace);
    case 3: return slot(p.reductions);
    case 5:
    case 6:
    case 7:
    case 8: return slot(p.alignment[attribute - 5]);
    case 9: return slot(p.waves);
    case 12: return slot(p.implementations);
  }
  return {};
}

template <class T>
Status destroy(Registry<T>& registry, void* object) {
  if (!object || registry.remove(object)) return Status::success;
  complain(registry.kind, "What does not exist any more was destroyed again.");
  return Status::invalid_value;
}

template <class T>
Status set_in(Registry<T>& registry, void* object, int attribute, const void* value, size_t bytes) {
  T* const found = registry.find(object);
  return found ? set(find(*found, attribute), value, bytes) : Status::invalid_value;
}

}  // namespace

}  // namespace stator::emulator::vendor::blaslt

using namespace stator::emulator::vendor;
using namespace stator::emulator::vendor::blaslt;

STATOR_VENDOR(Status, cublasLtMatmulDescCreate, (void** made, Compute compute, Type scale), (made, compute, scale)) {
  if (!made) return Status::invalid_value;
  auto description = std::make_unique<Description>();
  description->compute = compute;
  description->scale = scale;
  *made = descriptions.add(std::move(description));
  return Status::success;
}
STATOR_VENDOR(Status, cublasLtMatmulDescDestroy, (void* object), (object)) { return destroy(descriptions, object); }
STATOR_VENDOR(Status, cublasLtMatmulDescSetAttribute, (void* object, int attribute, const void* value, size_t bytes),
              (object, attribute, value, bytes)) {
  return set_in(descriptions, object, attribute, value, bytes);
}

STATOR_VENDOR(Status, cublasLtMatrixLayoutCreate, (void** made, Type type, uint64_t rows, uint64_t columns, int64_t ld),
              (made, type, rows, columns, ld)) {
  if (!made) return Status::invalid_value;
  auto layout = std::make_unique<Layout>();
  layout->type = type;
  layout->rows = rows;
  layout->columns = columns;
  layout->ld = ld;
  *made = layouts.add(std::move(layout));
  return Status::success;
}
STATOR_VENDOR(Status, cublasLtMatrixLayoutDestroy, (void* object), (object)) { return destroy(layouts, object); }
STATOR_VENDOR(Status, cublasLtMatrixLayoutSetAttribute, (void* object, int attribute, const void* value, size_t bytes),
              (object, attribute, value, bytes)) {
  return set_in(layouts, object, attribute, value, bytes);
}

STATOR_VENDOR(Status, cublasLtMatmulPreferenceCreate, (void** made), (made)) {
  if (!made) return Status::invalid_value;
  *made = preferences.add(std::make_unique<Preference>());
  return Status::success;
}
STATOR_VENDOR(Status, cublasLtMatmulPreferenceDestroy, (void* object), (object)) {
  return destroy(preferences, object);
}
STATOR_VENDOR(Status, cublasLtMatmulPreferenceSetAttribute,
              (void* object, int attribute, const void* value, size_t bytes), (object, attribute, value, bytes)) {
  return set_in(preferences, object, attribute, value, bytes);
}
