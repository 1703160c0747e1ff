// Conditions of graphs: on cuda a kernel sets in the handle of a conditional node whether its body runs. On the host
// the condition is read from memory that the kernel has written.
#pragma once

#include "target.cuh"

#if defined(__CUDACC_RTC__)  // nvcc includes the declaration
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
#endif

namespace stator::STATOR_TARGET {

// Sets whether the body of the conditional node runs, on cuda; does nothing elsewhere.
STATOR_FN void set_condition([[maybe_unused]] uint64_t handle, [[maybe_unused]] bool runs) {
#if !defined(STATOR_HOST)
  cudaGraphSetConditional(handle, runs);
#endif
}

}  // namespace stator::STATOR_TARGET
