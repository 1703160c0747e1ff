#include "emulator/report.hpp"

#include <cstdio>

namespace stator::emulator {

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::none: return "none";
    case Fault::syntax: return "syntax";
    case Fault::unsupported: return "unsupported";
    case Fault::missing_entry: return "missing entry";
    case Fault::launch_limit: return "launch limit";
    case Fault::parameters: return "parameters";
    case Fault::out_of_memory: return "out of memory";
    case Fault::invalid_free: return "invalid free";
    case Fault::out_of_bounds: return "out of bounds";
    case Fault::use_after_free: return "use after free";
    case Fault::host_memory: return "host memory";
    case Fault::misaligned: return "misaligned";
    case Fault::uninitialised: return "uninitialised";
    case Fault::read_only: return "read only";
    case Fault::race: return "race";
    case Fault::divergent_barrier: return "divergent barrier";
    case Fault::missing_lanes: return "missing lanes";
    case Fault::inactive_lane: return "inactive lane";
    case Fault::endless: return "endless";
    case Fault::trap: return "trap";
  }
  return "unknown";
}

std::string Report::str() const {
  if (fault == Fault::none) return {};
  std::string text = std::string(name_of(fault)) + ": " + sentence;
  const auto triple = [](const Dim3& d) {
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
  };
  if (!kernel.empty()) text += "\n  kernel " + kernel;
  if (!instruction.empty())
    text += "\n  block " + triple(block) + ", thread " + triple(thread) + "\n  PTX line " + std::to_string(ptx_line) +
            ": " + instruction;
  else if (ptx_line)
    text += "\n  PTX line " + std::to_string(ptx_line);
  if (!file.empty()) text += "\n  source " + file + ":" + std::to_string(source_line);
  if (address) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(address));
    text += std::string("\n  address ") + digits;
  }
  if (allocation) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(allocation));
    text += std::string("\n  allocation ") + digits + " of " + std::to_string(allocation_bytes) + " bytes";
    if (!allocation_label.empty()) text += ", " + allocation_label;
  }
  return text;
}

}  // namespace stator::emulator
