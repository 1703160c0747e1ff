// The kernels of a target: linked in, or the shared object for this CPU that lies beside the library.
#pragma once

#include "params/launcher.hpp"

#include <stator/backend.hpp>

namespace stator {

// With every launcher bound to the target's functions. DeviceUnavailableError, LibraryNotFoundError; ValueError for an
// unknown STATOR_HOST_MODE or STATOR_HOST_ISA.
const kernels::TargetKernels& target_for(DeviceType type);

}  // namespace stator
