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

int device_attribute(int* value, int attribute, int index) {
  return call([&](System& s) {
    const Device* const device = device_at(s, index);
    if (!device) return error::invalid_device;
    const std::optional<uint64_t> found = attribute_of(device->profile, attribute);
    if (!found) return error::invalid_value;
    *value = int(std::min<uint64_t>(*found, INT32_MAX));
    return error::success;
  });
}

int can_access_peer(int* can, int index, int peer) {
  return call([&](System& s) {
    const Device *const device = device_at(s, index), *const other = device_at(s, peer);
    if (!device || !other) return error::invalid_device;
    *can = are_peers(*device, *other);
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
  api.can_access_peer = can_access_peer;
  api.device_name = device_name;
  api.driver_version = driver_version;
  api.device_synchronize = device_synchronize;
}

}  // namespace stator::emulator::runtime
