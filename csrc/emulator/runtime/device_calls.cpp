// Devices: which there are, what they are, which is current, and errors.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace stator::emulator::runtime {
namespace {

constexpr int emulated_driver = 13000;  // CUDA 13.0, as cudaDriverGetVersion counts

// Of a context that a fault made unusable the error stays, as it does on CUDA.
int peek_at_last_error() {
  System* const s = system();
  if (const int code = thread_state().last_error; code != error::success || !s) return code;
  return here(*s).error();
}

void name_work(const char* text, size_t length) { thread_state().work = {text, length}; }

int last_error() {
  const int code = peek_at_last_error();
  thread_state().last_error = error::success;
  return code;
}

const char* fault(int index) {
  thread_local std::string text;
  System* const s = system();
  Device* const device = s ? device_at(*s, index) : nullptr;
  text = device ? device->fault() : "";
  return text.c_str();
}

int device_count(int* count) {
  return call([&](System& s) {
    *count = int(s.devices.size());
    return error::success;
  });
}

int get_device(int* device) {
  return call([&](System& s) {
    *device = here(s).index;
    return error::success;
  });
}

int set_device(int index) {
  return call([&](System& s) {
    const Device* const device = device_at(s, index);
    if (!device) return error::invalid_device;
    thread_state().device = index;
    return device->error();
  });
}

// Numbers are those of cudaDeviceAttr.
std::optional<uint64_t> value_of(const Profile& p, int attribute) {
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
    case 81: return p.shared_per_multiprocessor;
    case 82: return p.registers_per_multiprocessor;
    case 83: return 1;  // managed memory
    case 86: return 0;  // native atomics between host and device
    case 88: return 0;  // pageable memory is not the device's
    case 89: return 1;  // managed memory of host and device at once
    case 90: return 1;  // preemption
    case 91: return 1;  // registered memory by the host's pointer
    case 95: return 1;  // cooperative launches
    case 97: return p.shared_per_block_optin;
    case 99: return 1;  // cudaHostRegister
    case 106: return p.blocks_per_multiprocessor;
    case 111: return p.shared_reserved;
    case 115: return 1;  // memory pools
    case 120: return 0;  // no clusters
    default: return std::nullopt;
  }
}

int device_attribute(int* value, int attribute, int index) {
  return call([&](System& s) {
    const Device* const device = device_at(s, index);
    if (!device) return error::invalid_device;
    const std::optional<uint64_t> found = value_of(device->profile, attribute);
    if (!found) return error::invalid_value;
    *value = int(std::min<uint64_t>(*found, INT32_MAX));
    return error::success;
  });
}

int device_name(char* name, size_t capacity, uint64_t* memory, int index) {
  return call([&](System& s) {
    const Device* const device = device_at(s, index);
    if (!device) return error::invalid_device;
    std::snprintf(name, capacity, "%s", device->name.c_str());
    *memory = device->profile.memory_bytes;
    return error::success;
  });
}

int driver_version(int* version) {
  return call([&](System&) {
    *version = emulated_driver;
    return error::success;
  });
}

int device_synchronize() {
  return device_call([](System& s, Device& device, Scheduler::Lock& lock) {
    bool captured = false;
    for (const auto& stream : s.scheduler.streams()) {
      if (!stream->capture || stream->device != &device) continue;
      invalidated(stream->capture, error::capture_unsupported);
      captured = true;
    }
    if (captured) return error::capture_unsupported;
    return drain(s, lock, device) ? error::success : error::not_permitted;
  });
}

}  // namespace

void add_device_calls(Api& api) {
  api.last_error = last_error;
  api.name_work = name_work;
  api.peek_at_last_error = peek_at_last_error;
  api.fault = fault;
  api.device_count = device_count;
  api.get_device = get_device;
  api.set_device = set_device;
  api.device_attribute = device_attribute;
  api.device_name = device_name;
  api.driver_version = driver_version;
  api.device_synchronize = device_synchronize;
}

}  // namespace stator::emulator::runtime
