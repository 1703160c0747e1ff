// Managed memory of the host target: its own memory, whose pages stay where they are.
#include "runtime/host/calls.hpp"

#include <cstring>

namespace stator::runtime::host {
namespace {

ManagedKind kind_of_managed(int) { return ManagedKind::host; }

Status allocate_managed(ContextHandle handle, size_t bytes, void** out) {
  const Context& context = context_of(handle);
  if (const Status state = usable(context)) return state;
  if (const Status taken = take_memory(bytes, out)) return taken;
  if (context.checked) std::memset(*out, poison_byte, bytes);
  counts.memory.fetch_add(1);
  return status::success;
}

Status free_managed(int, void* pointer, size_t bytes) {
  counts.memory.fetch_sub(1);
  give_memory(pointer, bytes);
  return status::success;
}

Status prefetch(ContextHandle handle, const void*, size_t, int, StreamHandle) { return usable(context_of(handle)); }

Status advise(ContextHandle handle, const void*, size_t, Advice, int) { return usable(context_of(handle)); }

Status range(ContextHandle handle, const void*, size_t, RangeAdvice*) { return usable(context_of(handle)); }

}  // namespace

const ManagedTable managed_calls = {.kind = kind_of_managed,
                                    .allocate = allocate_managed,
                                    .free = free_managed,
                                    .prefetch = prefetch,
                                    .advise = advise,
                                    .range = range};

}  // namespace stator::runtime::host
