// The members of Runtime for managed memory.
#include "runtime/runtime.hpp"

namespace stator::runtime {

Status Runtime::allocate_managed(size_t bytes, void** out, uint16_t op) {
  Status code = enter(Call::allocate_managed);
  if (!code) code = table_.managed->allocate(context_, bytes, out);
  if (code != status::out_of_memory) check(Call::allocate_managed, code, op);
  return code;
}

Status Runtime::free_managed_noexcept(void* pointer, size_t bytes) {
  const Status injected = enter(Call::free_managed);
  const Status done = table_.managed->free(device_, pointer, bytes);
  return injected ? injected : done;
}

// A stream that is being captured cannot take it, and CUDA would end the capture.
void Runtime::prefetch(const void* pointer, size_t bytes, int to, StreamHandle stream, uint16_t op) {
  check(Call::prefetch, enter(Call::prefetch), op);
  if (is_captured(stream)) check(Call::prefetch, status::capture_unsupported, op);
  check(Call::prefetch, table_.managed->prefetch(context_, pointer, bytes, to, stream), op);
}

void Runtime::advise(const void* pointer, size_t bytes, Advice advice, int location, uint16_t op) {
  check(Call::advise, enter(Call::advise), op);
  check(Call::advise, table_.managed->advise(context_, pointer, bytes, advice, location), op);
}

RangeAdvice Runtime::range_advice(const void* pointer, size_t bytes, uint16_t op) {
  RangeAdvice found;
  check(Call::range_advice, enter(Call::range_advice), op);
  check(Call::range_advice, table_.managed->range(context_, pointer, bytes, &found), op);
  return found;
}

}  // namespace stator::runtime
