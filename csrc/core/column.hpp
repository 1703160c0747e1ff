// The kernels of a column: linked in, or the shared object for this CPU that lies beside the library.
#pragma once

#include "params/table.hpp"

#include <stator/backend.hpp>

namespace stator {

// DeviceUnavailableError, LibraryNotFoundError; ValueError for an unknown STATOR_HOST_MODE or STATOR_HOST_ISA.
const kernels::Table& column_for(DeviceType type);

}  // namespace stator
