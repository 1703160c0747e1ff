// What nvcc embeds for a source file: PTX, and machine code for some architectures.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace stator::emulator::runtime {

bool is_fat_binary(const void* image);

// The PTX for the highest architecture that is not above the capability (10 * major + minor). False with the reason
// where there is none, or none that can be read: of text compressed as zstd, without libzstd.
bool ptx_of(const void* fat_binary, uint32_t capability, std::string* text, std::string* reason);

// What machine code says of a kernel; zeros where there is none.
struct MachineCode {
  uint32_t architecture = 0;                // 10 * major + minor
  uint32_t registers = 0, local_bytes = 0;  // of a thread
};

// By the names of kernels; empty where no machine code is there, or none that can be read. Of several architectures: of
// the highest that is not above the capability, else of the lowest.
std::unordered_map<std::string, MachineCode> machine_code_of(const void* fat_binary, uint32_t capability);

}  // namespace stator::emulator::runtime
