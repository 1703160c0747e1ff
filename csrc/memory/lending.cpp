// Memory of a pool that other libraries hold: exported buffers by their address.
#include "core/context.hpp"
#include "core/text.hpp"
#include "memory/buffer.hpp"

#include <stator/interop.hpp>
#include <stator/memory/allocator.hpp>

#include <map>
#include <mutex>
#include <unordered_map>

namespace stator {
namespace {

// Never destroyed, since other libraries give memory back while the process ends.
struct Lent {
  std::mutex mutex;
  std::unordered_map<void*, Ref<Buffer>> buffers;
  std::map<int, Backend> serving;  // by the number of the cuda device
};
Lent& lent() {
  static auto* const instance = new Lent;
  return *instance;
}

// The last of the backend's own streams, which has least to do, but for those that are being captured.
StreamBox& lending_stream(Context& context, uint16_t op) {
  for (int i = context.stream_count() - 1; i >= 0; --i)
    if (!context.is_captured(i)) return context.opened_stream(i);
  throw CaptureError(op_text(op), "every stream of the backend is being captured into a graph",
                     "Allocate before the capture begins, or after it has ended");
}

void* consumer_of(const Context& context, void* stream) {
  if (context.device().type != DeviceType::cuda) return nullptr;
  return stream ? stream : interop::legacy_stream();
}

Backend serving(int device) {
  Lent& all = lent();
  const std::lock_guard lock(all.mutex);
  Backend& found = all.serving[device];
  if (found.closed()) found = Backend::open(Device{DeviceType::cuda, device}.str());
  return found;
}

}  // namespace

void* lend_memory(const Backend& backend, size_t bytes, void* stream) {
  constexpr uint16_t op = call::lend;
  if (!backend.context()) throw ValueError(op_text(op), "got a default-constructed backend", "Open one first");
  Context& context = *backend.context();
  const OpGuard guard(context, op);
  StreamBox& own = lending_stream(context, op);
  void* const consumer = consumer_of(context, stream);
  Ref<Buffer> buffer = context.pool().allocate(std::max<size_t>(bytes, 1), own, op);
  void* const memory = buffer->export_memory(op);
  Lent& all = lent();
  try {
    if (consumer) interop::order(backend, own.handle(op), consumer, op_text(op));
    const std::lock_guard lock(all.mutex);
    all.buffers.emplace(memory, buffer);
  } catch (...) {
    buffer->unexport();
    throw;
  }
  return memory;
}

void return_memory(void* memory, void* stream) {
  constexpr uint16_t op = call::reclaim;
  if (!memory) return;
  Lent& all = lent();
  Ref<Buffer> buffer;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.buffers.find(memory);
    if (found == all.buffers.end())
      throw ValueError(op_text(op), "memory that was not lent, or was returned before", "Give each address back once");
    buffer = std::move(found->second);
    all.buffers.erase(found);
  }
  buffer->unexport(consumer_of(buffer->context(), stream));
  ReleaseQueue::push(buffer.detach());
}

void serve_allocations(const Backend& backend) {
  constexpr uint16_t op = call::lend;
  if (!backend.context() || backend.device().type != DeviceType::cuda)
    throw BackendMismatchError(op_text(op), "a backend that is not on cuda", "Open a cuda backend");
  Lent& all = lent();
  const std::lock_guard lock(all.mutex);
  all.serving[backend.device().index] = backend;
}

}  // namespace stator

void* stator_allocate(ssize_t size, int device, void* stream) {
  try {
    if (size < 0)
      throw stator::ValueError("stator_allocate", "size=" + std::to_string(size), "The size must be at least 0");
    return stator::lend_memory(stator::serving(device), size_t(size), stream);
  } catch (const std::exception& error) {
    stator::warn("stator: stator_allocate(%zd, %d) failed: %s", size, device, error.what());
    return nullptr;
  }
}

void stator_deallocate(void* memory, ssize_t, int device, void* stream) {
  try {
    stator::return_memory(memory, stream);
  } catch (const std::exception& error) {
    stator::warn("stator: stator_deallocate of device %d failed: %s", device, error.what());
  }
}
