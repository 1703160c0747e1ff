#include "emulator/vendor/common/call.hpp"

#include "emulator/vendor/common/device.hpp"

namespace stator::emulator::vendor {

// Both are constant-initialised: the calls of other files register before or after.
constinit Call* Call::first = nullptr;
constinit std::atomic<const Interceptor*> Call::interceptor{nullptr};

Call::Call(const char* symbol) : name(symbol), next(first) { first = this; }

void Call::tell() {
  if (const auto count = services().count_calls) count(stator_vendor_calls);
}

namespace {

[[maybe_unused]] const bool told = (Call::tell(), true);  // when the library is loaded

}  // namespace

}  // namespace stator::emulator::vendor

using stator::emulator::vendor::Call;

void stator_vendor_calls(void (*visit)(void* self, const char* name, uint64_t count), void* self) {
  for (const Call* call = Call::first; call; call = call->next) visit(self, call->name, call->count.load());
}

void stator_vendor_intercept(const stator::emulator::vendor::Interceptor* interceptor) {
  Call::interceptor.store(interceptor, std::memory_order_release);
}
