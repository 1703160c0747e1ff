// How a function of the CUDA runtime is wrapped, for the files of shims.
#pragma once

#include "emulator/runtime/api.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace stator::runtime {

using emulator::runtime::Api;

// Whether devices are asked for. Set before the constructors that register kernels, so that a call to the real runtime
// costs one branch.
[[gnu::visibility("hidden")]] extern bool emulation_asked;

struct Emulation {
  const Api* api = nullptr;  // null if there is none, for the reason
  std::string reason;
};
const Emulation& emulation();

// `emulated` of the emulator's functions, else `real`. Devices that were asked for and are not there are no devices.
template <class Emulated, class Real>
cudaError_t either(Emulated emulated, Real real) {
  if (!emulation_asked) [[likely]]
    return real();
  const Api* const api = emulation().api;
  return api ? cudaError_t(emulated(*api)) : cudaErrorNoDevice;
}

}  // namespace stator::runtime

// NAME(TYPES AND NAMES)(NAMES)(EXPRESSION of the emulator's `api`)
#define STATOR_SHIM(NAME, PARAMETERS, ARGUMENTS, ...)                                                             \
  cudaError_t __real_##NAME PARAMETERS;                                                                           \
  cudaError_t __wrap_##NAME PARAMETERS {                                                                          \
    return stator::runtime::either([&]([[maybe_unused]] const stator::runtime::Api& api) { return __VA_ARGS__; }, \
                                   [&] { return __real_##NAME ARGUMENTS; });                                      \
  }
