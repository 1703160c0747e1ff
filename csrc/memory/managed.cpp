// The functions of stator/memory/managed.hpp.
#include "memory/managed.hpp"

#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/buffer.hpp"

#include <algorithm>
#include <bit>

namespace stator {
namespace {

struct Range {
  const void* begin;
  size_t bytes;
};

Managed& managed_of(const Array& array, uint16_t op) {
  Buffer& buffer = buffer_of(array, op_name(op));
  if (buffer.managed()) return *buffer.managed();
  throw ValueError(op_text(op), "got an array in ordinary memory of " + array.device().str(),
                   "Make it with Backend.memory.managed() or Backend.memory.allocate_unified()");
}

Range range_of(const Array& array, uint16_t op) {
  if (!array.is_contiguous())
    throw ValueError(op_text(op), "an array that is not contiguous", "Pass the whole array, or rows of it");
  const char* memory = static_cast<const char*>(array.buffer()->memory(op));
  return {memory + array.offset() * itemsize(array.dtype()), array.nbytes()};
}

// On a cpu the one device is the host.
void require_location(const Array& array, int location, uint16_t op) {
  const Device device = array.device();
  const int count = device_count(device.type);
  if (location == location::host || (location >= 0 && location < count)) return;
  throw ValueError(op_text(op), "got device " + std::to_string(location) + " of " + std::to_string(count),
                   "Give the index of a device that exists, or the host");
}

bool uses_location(Advice advice) {
  return advice == Advice::set_preferred_location || advice == Advice::set_accessed_by ||
         advice == Advice::unset_accessed_by;
}

}  // namespace

ManagedKind managed_kind(const Backend& backend) {
  const OpGuard guard(*backend.context(), call::managed);
  return backend.context()->runtime().managed_kind();
}

Array managed(const Backend& backend, const Dims& shape, DType dtype) {
  Context& context = *backend.context();
  const OpGuard guard(context, call::managed);
  const size_t bytes = size_t(checked_size(op_name(call::managed), shape, itemsize(dtype))) * itemsize(dtype);
  return Array(context.pool().allocate_managed(bytes, call::managed), dtype, shape, contiguous_strides(shape), 0);
}

void* lend_to_host(const Array& array) {
  constexpr uint16_t op = call::lend_to_host;
  managed_of(array, op);
  Buffer& buffer = *array.buffer();
  Context& context = buffer.context();
  const OpGuard guard(context, op);
  for (uint32_t rest = context.open_streams(buffer.users()); rest != 0; rest &= rest - 1)
    context.opened_stream(std::countr_zero(rest)).synchronize(op);
  return static_cast<char*>(buffer.export_memory(op)) + array.offset() * itemsize(array.dtype());
}

void prefetch(const Array& array, int to, const Stream& stream) {
  const uint16_t op = to == location::host ? call::prefetch_to_host : call::prefetch;
  Managed& managed = managed_of(array, op);
  Context& context = array.buffer()->context();
  const OpGuard guard(context, op);
  const Range range = range_of(array, op);
  require_location(array, to, op);
  if (range.bytes == 0) return;
  StreamBox& on = context.chosen_stream(stream, 0, op);
  array.buffer()->note_use(on.index());
  context.runtime().prefetch(range.begin, range.bytes, to, on.handle(op), op);
  managed.note_prefetch(to, range.bytes);
}

void advise(const Array& array, Advice advice, int location) {
  constexpr uint16_t op = call::advise;
  Managed& managed = managed_of(array, op);
  Context& context = array.buffer()->context();
  const OpGuard guard(context, op);
  const Range range = range_of(array, op);
  if (uses_location(advice)) require_location(array, location, op);
  if (range.bytes == 0) return;
  if (context.runtime().managed_kind() == ManagedKind::migrating) managed.note_advice();
  context.runtime().advise(range.begin, range.bytes, advice, location, op);
}

std::optional<AdviceState> advice_state(const Array& array) {
  constexpr uint16_t op = call::advice_state;
  managed_of(array, op);
  Context& context = array.buffer()->context();
  const OpGuard guard(context, op);
  const Range range = range_of(array, op);
  if (context.runtime().managed_kind() != ManagedKind::migrating) return std::nullopt;
  AdviceState state;
  if (range.bytes == 0) return state;
  const runtime::RangeAdvice advised = context.runtime().range_advice(range.begin, range.bytes, op);
  state.read_mostly = advised.read_mostly != 0;
  state.preferred = advised.preferred;
  std::copy_if(advised.accessed_by.begin(), advised.accessed_by.end(), std::back_inserter(state.accessed_by),
               [](int location) { return location != location::none; });
  std::sort(state.accessed_by.begin(), state.accessed_by.end());
  return state;
}

Migrations migrations(const Array& array) { return managed_of(array, call::migrated).asked(); }

}  // namespace stator
