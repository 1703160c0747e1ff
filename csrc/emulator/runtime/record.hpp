// What the launches of the process did, for those who ask. While the environment's STATOR_EMULATE_RECORD names a
// folder, the process keeps a file of sums there; while stator_emulator_watch is on, each launch is kept by itself.
//
// A file is text of lines whose fields are separated by tabs; lines of the same first two fields are to be added up:
//   columns  counter, counter, ...              the names of the counters below
//   kernel   name, launches, counter, ...       in the order of the columns
//   form     opcode, instructions, executed     instructions of kernels that ran; how often warps executed them
//   call     symbol, calls                      of doubles of vendor libraries
// Lines are written at a kernel's first launch and a symbol's first call, about every second while kernels run, and at
// the process's exit, so that a process that ends otherwise loses the sums of its last second.
#pragma once

#include "emulator/emulator.hpp"

#include <cstdint>

namespace stator::emulator::runtime {

// A launch as it ran. Pointers are valid during the visit.
struct LaunchRecord {
  const char* kernel = nullptr;  // its name in PTX
  uint32_t device = 0;
  uint32_t multiprocessors = 0;
  uint32_t resident = 0;      // blocks that one multiprocessor holds at once
  uint32_t registers = 0;     // of a thread, in the machine code; 0: not known
  uint32_t architecture = 0;  // of the machine code, 10 * major + minor; 0: there is none that can be read
  uint32_t local_bytes = 0;   // of a thread, in the machine code; where there is none, in PTX
  uint32_t grid[3] = {}, block[3] = {};
  uint64_t shared_bytes = 0;           // of a block, static and dynamic
  const uint64_t* counters = nullptr;  // by stator_emulator_counter
};

// Whether launches are to count the forms of their instructions.
bool records_forms();
// Takes note of a launch that succeeded. Thread-safe.
void note_launch(const LaunchRecord& launch, const Result& result);
// The calls of a vendor library's doubles are listed in the file; called again when there are new ones.
using ListCalls = void (*)(void (*visit)(void* self, const char* name, uint64_t count), void* self);
void note_calls(ListCalls list);

}  // namespace stator::emulator::runtime

extern "C" {
// Keeps the launches of the process that run from now on, and forgets those that were kept; 0 keeps none.
STATOR_EMULATOR_API void stator_emulator_watch(int on);
// Visits the kept launches in the order in which they ended. The visitor must not call the emulator.
STATOR_EMULATOR_API void stator_emulator_launches(void (*visit)(void* self,
                                                                const stator::emulator::runtime::LaunchRecord* launch),
                                                  void* self);
// The name of a counter; null after the last.
STATOR_EMULATOR_API const char* stator_emulator_counter(uint32_t index);
// What a device could do at most: bytes of its memory and instructions of warps, each per second. False if there is
// none of the number.
STATOR_EMULATOR_API int stator_emulator_peaks(int device, double* bytes, double* instructions);
// Visits what is registered, whether it runs or not, as the first device would load it: every kernel, and every form of
// an instruction in the text of each fat binary with its number. Calls are left out, since bodies are put in their
// place.
STATOR_EMULATOR_API void stator_emulator_built(void (*kernel)(void* self, uint32_t binary, const char* name),
                                               void (*form)(void* self, const char* form, uint64_t instructions),
                                               void* self);
// Visits the PTX of each fat binary that is registered, as the first device would load it.
STATOR_EMULATOR_API void stator_emulator_ptx(void (*visit)(void* self, const char* text), void* self);
}
