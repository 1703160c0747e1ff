// The kernels of a target: linked into the library, or in the shared object for this CPU beside it.
#pragma once

#include "params/launcher.hpp"

#include <stator/backend.hpp>

namespace stator {

// The kernels for a device, with every launcher bound to their functions. DeviceUnavailableError and
// LibraryNotFoundError where there are none; ValueError for an unknown STATOR_HOST_MODE or STATOR_HOST_ISA.
const kernels::TargetKernels& target_for(DeviceType type);

}  // namespace stator
