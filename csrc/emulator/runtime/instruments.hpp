// What tests of the tests need: to change what runs on the emulated devices, without a rebuild, and to see what ran.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stator::emulator::runtime {

// May give another text in place of a module's PTX, by one call of `give` with `into`. Called when a device loads the
// module, before it is read.
using Rewrite = void (*)(void* self, const char* ptx, size_t bytes,
                         void (*give)(void* into, const char* text, size_t bytes), void* into);

}  // namespace stator::emulator::runtime

extern "C" {
// Null takes it away. For modules that are loaded from then on.
void stator_emulator_rewrite(stator::emulator::runtime::Rewrite rewrite, void* self);
// Calls `visit` with every registered kernel and how often it was launched so far.
void stator_emulator_launch_counts(void (*visit)(void* self, const char* kernel, uint64_t count), void* self);
// How many times a warp executed pmevent so far.
uint64_t stator_emulator_events();
}
