#include "core/fault.hpp"

#include "core/text.hpp"

#include <stator/binding.hpp>
#include <stator/error.hpp>

#include <limits>
#include <string>
#include <utility>

namespace stator {
namespace {

constexpr int most_faults = 8;
constinit FaultRegistration::Thrower throwers[most_faults] = {};
constinit thread_local bool raised = false;

// Kernels report an unsigned index beyond int64 as the largest int64.
std::string index_text(int64_t value) {
  return value == std::numeric_limits<int64_t>::max() ? "an index of 2**63 - 1 or more"
                                                      : "index " + std::to_string(value);
}

}  // namespace

FaultRegistration::FaultRegistration(params::Fault fault, Thrower thrower) { throwers[int(fault)] = thrower; }

bool interop::take_fault() noexcept { return std::exchange(raised, false); }

void raise_fault(const params::FaultRecord& seen) {
  raised = true;
  if (const auto thrower = throwers[seen.fault % most_faults]) thrower(seen);
  throw IndexError(op_text(uint16_t(seen.op)),
                   index_text(seen.value) + " at position " + std::to_string(seen.position) + " is out of range",
                   "Indices must be from -n to n - 1 for an axis of n elements");
}

}  // namespace stator
