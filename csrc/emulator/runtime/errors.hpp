// Values of cudaError_t, and which of them a fault becomes.
#pragma once

#include "emulator/report.hpp"

namespace stator::emulator::runtime {

namespace error {
inline constexpr int success = 0, invalid_value = 1, memory_allocation = 2, initialization = 3,
                     invalid_configuration = 9, invalid_memcpy_direction = 21, invalid_device_function = 98,
                     no_device = 100, invalid_device = 101, no_kernel_image = 209, invalid_ptx = 218,
                     operating_system = 304, invalid_resource_handle = 400, illegal_state = 401, not_found = 500,
                     not_ready = 600, illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702,
                     already_registered = 712, not_registered = 713, misaligned_address = 716, launch_failure = 719,
                     cooperative_launch_too_large = 720, not_permitted = 800, not_supported = 801,
                     capture_unsupported = 900, capture_invalidated = 901, capture_merge = 902, capture_unmatched = 903,
                     capture_unjoined = 904, capture_isolation = 905, capture_implicit = 906, captured_event = 907,
                     capture_wrong_thread = 908, graph_update_failure = 910, unknown = 999;
}

inline int error_of(Fault fault) {
  switch (fault) {
    case Fault::none: return error::success;
    case Fault::syntax: return error::invalid_ptx;
    case Fault::unsupported: return error::not_supported;
    case Fault::missing_entry: return error::invalid_device_function;
    case Fault::launch_limit: return error::invalid_configuration;
    case Fault::parameters:
    case Fault::invalid_free: return error::invalid_value;
    case Fault::out_of_memory: return error::memory_allocation;
    case Fault::out_of_bounds:
    case Fault::use_after_free:
    case Fault::host_memory: return error::illegal_address;
    case Fault::misaligned: return error::misaligned_address;
    case Fault::endless: return error::launch_timeout;
    case Fault::uninitialised:
    case Fault::read_only:
    case Fault::race:
    case Fault::divergent_barrier:
    case Fault::missing_lanes:
    case Fault::inactive_lane:
    case Fault::trap: break;
  }
  return error::launch_failure;
}

}  // namespace stator::emulator::runtime
