#include "core/testing.hpp"

#include "core/context.hpp"
#include "core/text.hpp"
#include "runtime/warning.hpp"

namespace stator::testing {

void inject(const Backend& backend, const Injection& injection) {
  backend.context()->runtime().set_injection({.fail_at = injection.fail_at,
                                              .until_lifted = injection.until_lifted,
                                              .allocations = injection.allocations,
                                              .drop_wait_at = injection.drop_wait_at});
}

int64_t lift(const Backend& backend) {
  runtime::Runtime& runtime = backend.context()->runtime();
  runtime.lift_injection();
  return runtime.calls_since_injection();
}

void fault_next_launch(const Backend& backend) {
  const OpGuard guard(*backend.context(), no_op);
  backend.context()->runtime().inject_fault();
}

void leak_buffer(const Backend& backend, size_t bytes) {
  const OpGuard guard(*backend.context(), no_op);
  void* memory = nullptr;
  backend.context()->runtime().allocate(bytes, backend.context()->stream(0)->handle(no_op), &memory);
}

int64_t hold_warnings(bool hold) { return stator::hold_warnings(hold); }

std::array<int64_t, 6> outstanding(DeviceType type) {
  if (!is_available(type)) return {};
  return (type == DeviceType::cuda ? runtime::cuda_table() : runtime::host_table()).outstanding();
}

void set_block_seed(const Backend& backend, uint64_t seed) {
  const OpGuard guard(*backend.context(), no_op);
  const auto set = backend.context()->kernels().set_block_seed;
  if (!set) {
    throw UnsupportedError("set_block_seed", "the target " + backend.kernels() + " has one order of blocks",
                           "Open the backend with STATOR_HOST_MODE=checked");
  }
  set(seed);
}

}  // namespace stator::testing
