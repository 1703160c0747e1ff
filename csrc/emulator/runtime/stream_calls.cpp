// Streams.
#include "emulator/runtime/calls.hpp"
#include "emulator/runtime/system.hpp"

namespace stator::emulator::runtime {
namespace {

// A call about an existing stream, on whatever device it is.
template <class F>
int stream_call(void* handle, F f) {
  return device_call([&](System& s, Device&, Scheduler::Lock& lock) {
    const std::shared_ptr<Stream> stream = find_stream(s, handle);
    if (!stream) return error::invalid_resource_handle;
    if (stream->device->failed()) return stream->device->error();
    const int code = f(s, lock, stream);
    return code == error::success ? stream->device->error() : code;
  });
}

int create(void** out, unsigned flags) {
  return device_call([&](System& s, Device& device, Scheduler::Lock&) {
    if (flags > 1) return error::invalid_value;
    auto stream = std::make_shared<Stream>(Stream{.device = &device, .blocking = flags == 0});
    s.scheduler.add(stream);
    *out = s.new_handle();
    s.streams.emplace(*out, std::move(stream));
    return error::success;
  });
}

// What the stream holds still runs.
int destroy(void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return remembered(error::invalid_resource_handle);
  return stream_call(handle, [&](System& s, Scheduler::Lock&, const std::shared_ptr<Stream>& stream) {
    stream->destroyed = true;
    s.streams.erase(handle);
    return error::success;
  });
}

int synchronize(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    return s.scheduler.wait(lock, {stream, stream->enqueued}) ? error::success : error::not_permitted;
  });
}

int query(void* handle) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    return s.scheduler.poll(lock, {stream, stream->enqueued}) ? error::success : error::not_ready;
  });
}

// An event that was never recorded orders nothing.
int wait(void* handle, void* event, unsigned flags) {
  return stream_call(handle, [&](System& s, Scheduler::Lock& lock, const std::shared_ptr<Stream>& stream) {
    const auto place = s.events.find(event);
    if (place == s.events.end()) return error::invalid_resource_handle;
    if (flags > 1) return error::invalid_value;
    submit(s, lock, stream, {.what = "cudaStreamWaitEvent", .run = {}, .after = {place->second.point}});
    return error::success;
  });
}

}  // namespace

void add_stream_calls(Api& api) {
  api.stream_create = create;
  api.stream_destroy = destroy;
  api.stream_synchronize = synchronize;
  api.stream_query = query;
  api.stream_wait = wait;
}

}  // namespace stator::emulator::runtime
