// DeviceMemory: where device memory of a context comes from and goes back to, the runtime or an Allocator.
#pragma once

#include "runtime/runtime.hpp"

#include <memory>

namespace stator {

class Allocator;

class DeviceMemory {
 public:
  DeviceMemory(runtime::Runtime& runtime, std::shared_ptr<Allocator> allocator)
      : runtime_(runtime), allocator_(std::move(allocator)) {}
  // As Runtime::allocate. ValueError for memory that the device cannot use.
  runtime::Status allocate(size_t bytes, runtime::StreamHandle stream, void** out, uint16_t op);
  // As Runtime::free_noexcept.
  runtime::Status free_noexcept(void* memory, size_t bytes, runtime::StreamHandle stream);
  // As Runtime::lends: an emulated device knows only memory of its own by its beginning.
  bool lends() const { return !allocator_ && runtime_.lends(); }

 private:
  void check(const void* memory, uint16_t op);
  runtime::Runtime& runtime_;
  const std::shared_ptr<Allocator> allocator_;
};

}  // namespace stator
