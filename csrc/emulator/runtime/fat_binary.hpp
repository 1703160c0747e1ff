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

// The registers of a thread that the machine code takes, by the names of kernels; empty where no machine code is there
// or it is compressed. Of several architectures: of the highest that is not above the capability, else of the lowest.
std::unordered_map<std::string, uint32_t> registers_of(const void* fat_binary, uint32_t capability);

}  // namespace stator::emulator::runtime
