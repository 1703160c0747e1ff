// The exceptions for faults that kernels record in the error slot of a stream.
#pragma once

#include "params/launch.hpp"

namespace stator {

// Throws the exception of the record: IndexError, or the one that a family has registered for a fault of its own.
[[noreturn]] void raise_fault(const params::FaultRecord& seen);

// `thrower` throws the exception for a record of this fault. Families register theirs when the library is loaded:
// static const FaultRegistration registration{params::Fault::..., function};
struct FaultRegistration {
  using Thrower = void (*)(const params::FaultRecord&);
  FaultRegistration(params::Fault fault, Thrower thrower);
};

}  // namespace stator
