// The version and configuration of this build.
#pragma once

#include <stator/export.hpp>

namespace stator {

struct BuildInfo {
  const char* version;   // "0.1.0"
  bool cuda;             // has the cuda target
  const char* compiler;  // of the host targets
  // The compute capabilities with machine code, "80 90"; the driver compiles the kernels for others at first use.
  const char* machine_code;
};

STATOR_API BuildInfo build_info();

}  // namespace stator
