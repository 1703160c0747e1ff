// The devices that the emulator can be, as data.
#pragma once

#include "emulator/export.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace stator::emulator {

// Limits are those of CUDA's tables for the compute capability.
struct Profile {
  std::string_view name;
  std::string_view title;  // as cudaDeviceProp::name would say
  uint32_t major, minor;   // compute capability
  uint32_t multiprocessors;
  uint64_t memory_bytes;
  uint64_t l2_bytes;
  uint32_t clock_khz, memory_clock_khz, memory_bus_bits;
  uint32_t threads_per_multiprocessor, blocks_per_multiprocessor;
  uint32_t shared_per_multiprocessor;
  uint32_t shared_per_block;        // static, and dynamic without opting in
  uint32_t shared_per_block_optin;  // with it
  uint32_t shared_reserved;         // of every block, by the system
  uint32_t parameter_bytes;         // of a kernel

  uint32_t threads_per_block = 1024;
  uint32_t block_x = 1024, block_y = 1024, block_z = 64;
  uint32_t grid_x = 2147483647, grid_y = 65535, grid_z = 65535;
  uint32_t registers_per_multiprocessor = 65536, registers_per_block = 65536, registers_per_thread = 255;
  bool concurrent_managed_access = true;  // the host may use managed memory while the device works
};

// Null if there is none of the name.
STATOR_EMULATOR_API const Profile* find_profile(std::string_view name);
// "a100, h100, ...", for messages.
STATOR_EMULATOR_API std::string profile_names();

}  // namespace stator::emulator
