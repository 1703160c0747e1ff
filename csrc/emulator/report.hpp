// What went wrong, as a value. The emulator's interface throws nothing.
#pragma once

#include "emulator/export.hpp"

#include <cstdint>
#include <string>

namespace stator::emulator {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Dim3&) const = default;
};

enum class Fault : uint8_t {
  none,
  syntax,             // the text is not PTX
  unsupported,        // PTX that the emulator refuses, by name
  missing_entry,      // no kernel of that name
  launch_limit,       // the launch exceeds a limit of the profile or of the kernel
  parameters,         // the parameters do not fit the kernel's
  out_of_memory,      // an allocation beyond the profile's memory
  invalid_free,       // a free of what is not an allocation, or is dead
  out_of_bounds,      // an access beyond an allocation, or outside any
  use_after_free,     // an access to a dead allocation
  host_memory,        // an access to memory of the host that the device cannot reach
  misaligned,         // an access that is not aligned to its width
  uninitialised,      // a read of bytes that nothing wrote
  read_only,          // a write to constant memory or to parameters
  race,               // two accesses without an order, one of them a write
  divergent_barrier,  // lanes wait at different barriers, or some never arrive
  missing_lanes,      // a mask names lanes that do not arrive, or not the lane itself
  inactive_lane,      // a value is read from a lane that does not take part
  endless,            // the budget of instructions is spent
  trap                // the kernel executed trap
};

STATOR_EMULATOR_API const char* name_of(Fault fault);

// Fields that do not apply are zero or empty.
struct STATOR_EMULATOR_API Report {
  Fault fault = Fault::none;
  std::string kernel;
  std::string instruction;  // its PTX text
  uint32_t ptx_line = 0;    // counted from 1 in the program's text
  std::string file;         // of the source, where the PTX names it
  uint32_t source_line = 0;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  uint64_t address = 0;
  uint64_t allocation = 0, allocation_bytes = 0;  // the one that was accessed or is nearest
  std::string allocation_label;
  std::string sentence;  // says what happened

  explicit operator bool() const { return fault != Fault::none; }
  std::string str() const;  // the sentence, then where: several lines
};

}  // namespace stator::emulator
