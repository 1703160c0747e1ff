// How a function of the CUDA runtime is wrapped, for the files of shims.
#pragma once

#include "emulator/runtime/api.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace stator::runtime {

using emulator::runtime::Api;

struct Emulation {
  bool asked = false;
  const Api* api = nullptr;  // null if there is none, for the reason
  std::string reason;
};
const Emulation& emulation();

// `emulated` of the emulator's functions, else `real`. Devices that were asked for and are not there are no devices.
template <class Emulated, class Real>
cudaError_t either(Emulated emulated, Real real) {
  const Emulation& e = emulation();
  if (!e.asked) [[likely]]
    return real();
  return e.api ? cudaError_t(emulated(*e.api)) : cudaErrorNoDevice;
}

}  // namespace stator::runtime

// NAME(TYPES AND NAMES)(NAMES)(EXPRESSION of the emulator's `api`)
#define STATOR_SHIM(NAME, PARAMETERS, ARGUMENTS, ...)                                                             \
  cudaError_t __real_##NAME PARAMETERS;                                                                           \
  cudaError_t __wrap_##NAME PARAMETERS {                                                                          \
    return stator::runtime::either([&]([[maybe_unused]] const stator::runtime::Api& api) { return __VA_ARGS__; }, \
                                   [&] { return __real_##NAME ARGUMENTS; });                                      \
  }
