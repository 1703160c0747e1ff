#include "memory/device_memory.hpp"

#include "core/text.hpp"

#include <stator/memory/allocator.hpp>

namespace stator {

using namespace runtime::status;

runtime::Status DeviceMemory::allocate(size_t bytes, runtime::StreamHandle stream, void** out, uint16_t op) {
  if (!allocator_) [[likely]]
    return runtime_.allocate(bytes, stream, out, op);
  const size_t asked = std::max<size_t>(bytes, 1);
  void* memory = nullptr;
  try {
    memory = allocator_->allocate(asked, stream);
  } catch (const std::exception&) {
    return out_of_memory;
  }
  if (!memory) return out_of_memory;
  try {
    check(memory, op);
  } catch (...) {
    allocator_->deallocate(memory, asked, stream);
    throw;
  }
  *out = memory;
  return success;
}

void DeviceMemory::check(const void* memory, uint16_t op) {
  const size_t alignment = runtime_.is_host() ? 64 : 256;
  if (uintptr_t(memory) % alignment != 0)
    throw ValueError(op_text(op),
                     "the allocator gave memory at an address that is not a multiple of " + std::to_string(alignment),
                     "return aligned memory");
  if (runtime_.memory_device(memory, op) != runtime_.device())
    throw ValueError(op_text(op),
                     "the allocator gave memory that the device " + std::to_string(runtime_.device()) + " does not own",
                     "Give an allocator of the backend's device");
}

// An allocator of the host knows no streams, so that the work which uses the memory is waited for.
runtime::Status DeviceMemory::free_noexcept(void* memory, size_t bytes, runtime::StreamHandle stream) {
  if (!allocator_) [[likely]]
    return runtime_.free_noexcept(memory, bytes, stream);
  runtime::Status waited = success;
  if (!stream)
    waited = runtime_.device_synchronize_noexcept();
  else if (runtime_.is_host())
    waited = runtime_.stream_synchronize_noexcept(stream);
  allocator_->deallocate(memory, std::max<size_t>(bytes, 1), stream);
  return waited;
}

}  // namespace stator
