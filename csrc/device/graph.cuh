// Conditions of graphs: on cuda a node asks its handle whether the work of its body runs. The host reads what the
// kernel has written instead.
#pragma once

#include "device/target.cuh"

#include <cstdint>

namespace stator::STATOR_TARGET {

STATOR_FN void set_condition([[maybe_unused]] uint64_t handle, [[maybe_unused]] bool runs) {
#if !defined(STATOR_HOST)
  cudaGraphSetConditional(handle, runs);
#endif
}

}  // namespace stator::STATOR_TARGET
