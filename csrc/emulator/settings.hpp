// What a caller may choose about a device.
#pragma once

#include <cstdint>

namespace stator::emulator {

struct Settings {
  uint64_t seed = 0;                    // of the order of blocks and warps, and of perturbations; 0 is ascending order
  bool races = false;                   // look for accesses without an order; such launches run on one CPU thread
  bool strict = false;                  // a thread that ended must not be missing at a barrier of its block
  bool uninitialised = true;            // report reads of bytes that nothing wrote
  bool perturb = false;                 // move results of approximate functions within their documented error
  uint64_t budget = uint64_t(1) << 36;  // instructions of warps that a launch may execute
  bool cache = false;                   // model the multiprocessors' first caches: Counters::global_load_misses
  bool forms = false;                   // count how often each form of an instruction is executed: Result::forms
  uint32_t threads = 1;                 // of the CPU, among which a launch's blocks are spread
};

}  // namespace stator::emulator
