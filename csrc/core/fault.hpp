// The exceptions of faults that kernels record.
#pragma once

#include "params/launch.hpp"

namespace stator {

// Throws what the record says: IndexError, or what a family has registered for a fault of its own.
[[noreturn]] void raise_fault(const params::FaultRecord& seen);

// `thrower` throws the exception of such a record. Families register theirs when the library is loaded:
// static const FaultRegistration registration{params::Fault::..., function};
struct FaultRegistration {
  using Thrower = void (*)(const params::FaultRecord&);
  FaultRegistration(params::Fault fault, Thrower thrower);
};

}  // namespace stator
