#include "emulator/vendor/common/registry.hpp"

#include "emulator/vendor/common/call.hpp"

namespace stator::emulator::vendor {

constinit Objects* Objects::first = nullptr;

Objects::Objects(const char* kind) : kind(kind), next(first) { first = this; }

}  // namespace stator::emulator::vendor

void stator_vendor_objects(void (*visit)(void* self, const char* kind, uint64_t alive), void* self) {
  using stator::emulator::vendor::Objects;
  for (const Objects* each = Objects::first; each; each = each->next) visit(self, each->kind, each->alive());
}
