// What emulated devices answer to cudaDeviceGetAttribute: what the profile says, and what the emulator can do.
#include "emulator/runtime/device.hpp"

namespace stator::emulator::runtime {
namespace {

// float32 multiply-adds for each of float64, from the table of arithmetic throughput in the CUDA C++ Programming Guide:
// 64 and 32 lanes of a multiprocessor for 8.0, 128 and 64 for 9.0, 128 and 2 for 8.6 and 8.9.
std::optional<uint64_t> single_to_double(const Profile& p) {
  const uint32_t capability = 10 * p.major + p.minor;
  if (capability == 80 || capability == 90) return 2;
  if (capability == 86 || capability == 89) return 64;
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> attribute_of(const Profile& p, int attribute) {
  switch (attribute) {
    case 1: return p.threads_per_block;
    case 2: return p.block_x;
    case 3: return p.block_y;
    case 4: return p.block_z;
    case 5: return p.grid_x;
    case 6: return p.grid_y;
    case 7: return p.grid_z;
    case 8: return p.shared_per_block;
    case 9: return 64 << 10;  // constant memory
    case 10: return 32;       // lanes of a warp
    case 11: return INT32_MAX;
    case 12: return p.registers_per_block;
    case 13: return p.clock_khz;
    case 14: return 512;  // alignment of textures
    case 16: return p.multiprocessors;
    case 17: return 0;  // no time limit of kernels
    case 18: return 0;  // not integrated
    case 19: return 1;  // maps memory of the host
    case 20: return 0;  // default compute mode
    case 31: return 1;  // concurrent kernels
    case 32: return 0;  // ECC
    case 33: return 1;  // PCI bus, device, domain
    case 34: return 0;
    case 36: return p.memory_clock_khz;
    case 37: return p.memory_bus_bits;
    case 38: return p.l2_bytes;
    case 39: return p.threads_per_multiprocessor;
    case 40: return 2;  // copy engines
    case 41: return 1;  // unified addresses
    case 50: return 0;
    case 75: return p.major;
    case 76: return p.minor;
    case 78: return 1;  // priorities of streams
    case 79: return 1;  // caches global and local memory in L1
    case 80: return 1;
    case 81: return p.shared_per_multiprocessor;
    case 82: return p.registers_per_multiprocessor;
    case 83: return 1;  // managed memory
    case 84: return 0;  // a board of its own
    case 86: return 0;  // native atomics between host and device
    case 87: return single_to_double(p);
    case 88: return 0;  // pageable memory is not the device's
    case 89: return p.concurrent_managed_access;
    case 90: return 1;  // preemption
    case 91: return 1;  // registered memory by the host's pointer
    case 95: return 1;  // cooperative launches
    case 97: return p.shared_per_block_optin;
    case 98: return 0;  // does not flush remote writes
    case 99: return 1;  // cudaHostRegister
    case 100: return 0;
    case 101: return 0;  // the host does not reach managed memory in place
    case 106: return p.blocks_per_multiprocessor;
    case 111: return p.shared_reserved;
    case 115: return 1;  // memory pools
    case 116: return 0;  // no RDMA
    case 120: return 0;  // no clusters
    case 125: return 0;  // no events of other processes
    case 133: return 0;  // no MPS
    default: return std::nullopt;
  }
}

}  // namespace stator::emulator::runtime
